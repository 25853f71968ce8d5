//! Resolves a request against the config, the data and the database.

use super::check::{agents, benchmark, check_agent, check_budget, tradable, without_members};
use super::done::{self, PlannedDays, SkippableDays, import_state};
use super::inherit::{self, Ancestor};
use super::masking::{check_memory, masked_world};
use super::memory::{embedding, import_memory, memory_settings};
use super::{PreparedJob, Request};
use crate::app::App;
use crate::config::{MAX_INITIAL_CASH, is_initial_cash};
use crate::error::ServiceError;
use papertape_agents::config::AgentConfig;
use papertape_agents::day::StartState;
use papertape_core::broker::MarketProfile;
use papertape_core::id::{AgentName, ContentHash, JobId, Symbol};
use papertape_core::market::Dataset;
use papertape_core::money::Money;
use papertape_core::ports::RecordStore as _;
use papertape_core::record::{JobKind, NewModelDay, SkippedDay, StoredText, Supersession};
use papertape_core::time::Date;
use papertape_runtime::config::{Continuation, DatasetRef, SimulationConfig};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of symbols in a warning.
const MAX_NAMED: usize = 8;

pub(super) async fn plan(app: &App, request: &Request) -> Result<PreparedJob, ServiceError> {
    let defaults = &app.config.simulation;
    let name = request.dataset.as_deref().unwrap_or(&defaults.dataset);
    let dataset =
        app.catalogue.open(name).map_err(|error| ServiceError::invalid("dataset", error.to_string()))?;
    let end_date = request.end_date.ok_or_else(|| ServiceError::invalid("end_date", "it is missing"))?;
    let market = request.costs.unwrap_or(defaults.costs).of(market(app, request, &dataset)?);
    let cash = request.initial_cash.unwrap_or(defaults.initial_cash);
    if !is_initial_cash(cash) {
        let message = format!("must be above 0 and at most {MAX_INITIAL_CASH}");
        return Err(ServiceError::invalid("initial_cash", message));
    }
    let budget = request.budget.unwrap_or(defaults.budget);
    check_budget(budget)?;
    let agents = agents(app, request)?;
    for agent in &agents {
        check_agent(app, agent, budget)?;
    }
    let (symbols, universe) = tradable(&dataset, request, defaults)?;
    if request.rerun_degraded && request.replace_existing {
        return Err(ServiceError::invalid(
            "rerun_degraded",
            "not allowed together with `replace_existing`, which runs every day again",
        ));
    }
    let memory = memory_settings(request, defaults.memory)?;
    let world = masked_world(app, request, &dataset, &agents).await?;
    let mut config = SimulationConfig {
        dataset: DatasetRef { name: dataset.name().to_owned(), hash: dataset.hash() },
        start_date: request.start_date.unwrap_or(end_date),
        end_date,
        symbols,
        universe,
        agents,
        market,
        initial_cash: Money(cash),
        seed: request.seed.unwrap_or_default(),
        prompts: app.services.prompts.hash(),
        summaries: request.summaries.unwrap_or(defaults.summaries),
        benchmark: request
            .benchmark
            .as_ref()
            .or(defaults.benchmark.as_ref())
            .map(|name| Symbol::new(name.trim())),
        memory,
        embedding: embedding(app, memory)?,
        memory_from: request.memory_from.clone(),
        starts: BTreeMap::new(),
        continues: BTreeMap::new(),
        branch: None,
        masking: None,
        imported: None,
        budget,
    };
    let source = dataset;
    let (dataset, start_date) = match &world {
        None => (Arc::clone(&source), request.start_date),
        Some(world) => {
            world.translate(&source, &mut config)?;
            (Arc::clone(&world.dataset), request.start_date.map(|_| config.start_date))
        }
    };
    if let Some(job) = &request.memory_from {
        check_memory(app, job, &config).await?;
    }
    let request = Request { start_date, ..request.clone() };
    let masking = config.translation().cloned();
    let planned = plan_days(app, &request, &dataset, config).await;
    let Some(masking) = masking else { return planned };
    // What is said about the masked days is said about the requested ones.
    let mut job = planned.map_err(|error| match error {
        ServiceError::Invalid { field, message } => ServiceError::invalid(field, masking.real_text(&message)),
        other => other,
    })?;
    job.warnings = job.warnings.iter().map(|warning| masking.real_text(warning)).collect();
    Ok(job)
}

/// Plans the days of a job over its dataset.
async fn plan_days(
    app: &App,
    request: &Request,
    dataset: &Dataset,
    mut config: SimulationConfig,
) -> Result<PreparedJob, ServiceError> {
    let defaults = &app.config.simulation;
    let mut plan = Plan { app, dataset, request, texts: BTreeMap::new(), warnings: Vec::new() };
    let (days, supersedes) = plan.resolve(&mut config).await?;
    let Plan { texts, mut warnings, .. } = plan;
    if days.is_empty() {
        let range = format!("from {} to {}", config.start_date, config.end_date);
        return Err(ServiceError::invalid("end_date", format!("the dataset has no trading day {range}")));
    }
    warnings.extend(benchmark(dataset, &mut config, &days, request.benchmark.is_some())?);
    warnings.extend(out_of_range_warning(dataset, config.start_date, config.end_date));
    warnings.extend(without_members(dataset, &config, &days)?);
    let is_named = !request.symbols.is_empty() || !defaults.symbols.is_empty();
    let named = is_named && config.universe.is_none();
    let late = not_listed(dataset, &config, &days).filter(|_| named);
    if let Some(late) = late.as_ref().filter(|_| request.profile) {
        return Err(ServiceError::invalid("symbols", late.clone()));
    }
    warnings.extend(late);
    for agent in config.agents.iter().filter(|agent| !agent.tools.is_empty()) {
        warnings.push(format!(
            "{} uses outside tools: what they answer is not bounded in time, so its results carry \
             point_in_time = unverified",
            agent.name
        ));
    }
    for agent in config.agents.iter().filter(|agent| agent.external.is_some()) {
        warnings.push(format!(
            "{} is an external agent: what it knows and reads is not bounded in time, so its results carry \
             point_in_time = unverified",
            agent.name
        ));
    }
    let kind = if request.profile { JobKind::Profile } else { JobKind::Simulate };
    Ok(PreparedJob { config, days, texts: texts.into_values().collect(), warnings, supersedes, kind })
}

/// The trading days of the requested dataset from the request's first day to its last.
pub(crate) fn trading_dates(app: &App, request: &Request) -> Result<Vec<Date>, ServiceError> {
    let name = request.dataset.as_deref().unwrap_or(&app.config.simulation.dataset);
    let dataset =
        app.catalogue.open(name).map_err(|error| ServiceError::invalid("dataset", error.to_string()))?;
    let end = request.end_date.ok_or_else(|| ServiceError::invalid("end_date", "it is missing"))?;
    let start = request.start_date.ok_or_else(|| ServiceError::invalid("start_date", "it is missing"))?;
    Ok(dataset.trading_days(start, end).iter().map(|day| day.date).collect())
}

/// A warning if the requested days start before the dataset's, or end after them. Up to a week is ignored: it may be a
/// holiday.
fn out_of_range_warning(dataset: &Dataset, start: Date, end: Date) -> Option<String> {
    let (first, last) = (dataset.days().first()?.date, dataset.days().last()?.date);
    let week = jiff::ToSpan::days(7);
    let is_early = start.checked_add(week).is_ok_and(|start| start < first);
    let is_late = last.checked_add(week).is_ok_and(|last| last < end);
    (is_early || is_late).then(|| {
        format!(
            "the dataset {} has days from {first} to {last}: of what was asked for, {start} to {end}, the rest is \
             not run",
            dataset.name()
        )
    })
}

/// A warning about symbols that are not listed on the first day. Each becomes tradable with its first bar.
fn not_listed(dataset: &Dataset, config: &SimulationConfig, days: &[NewModelDay]) -> Option<String> {
    let first = days.iter().map(|day| day.date).min()?;
    let at_open = dataset.view(dataset.day(first)?.open);
    let late = config.symbols.iter().filter(|symbol| !at_open.is_listed(symbol));
    let texts: Vec<String> = late
        .map(|symbol| {
            let bars = dataset.contents().daily_bars(symbol);
            bars.first().map_or_else(|| symbol.to_string(), |bar| format!("{symbol} on {}", bar.date))
        })
        .collect();
    let more = texts.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = texts.get(..MAX_NAMED).unwrap_or(&texts).join(", ");
    (!texts.is_empty()).then(|| {
        format!("not listed on {first}: each symbol enters with its first bar, {named}{more}; before that no agent hears of it")
    })
}

/// The market profile: the request's, else the dataset's own, else the config's.
fn market(app: &App, request: &Request, dataset: &Dataset) -> Result<MarketProfile, ServiceError> {
    if let Some(name) = &request.market {
        return app.config.market(name).map_err(|message| ServiceError::invalid("market", message));
    }
    match app.catalogue.default_market(dataset) {
        Some(own) => app.config.market(&own).map_err(|message| {
            ServiceError::invalid(
                "market",
                format!("{} uses the market `{own}`, but: {message}", dataset.name()),
            )
        }),
        None => app
            .config
            .market(&app.config.simulation.market)
            .map_err(|message| ServiceError::invalid("market", message)),
    }
}

/// The part of planning that reads the database.
struct Plan<'a> {
    app: &'a App,
    dataset: &'a Dataset,
    request: &'a Request,
    texts: BTreeMap<ContentHash, StoredText>,
    warnings: Vec<String>,
}

impl Plan<'_> {
    /// Determines where each agent starts, and which of its days are skipped.
    async fn resolve(
        &mut self,
        config: &mut SimulationConfig,
    ) -> Result<(Vec<NewModelDay>, Vec<Supersession>), ServiceError> {
        if let Some(start) = self.request.start_date {
            if config.end_date < start {
                return Err(ServiceError::invalid(
                    "end_date",
                    format!("{} is before start_date {start}", config.end_date),
                ));
            }
        } else {
            if self.request.rerun_degraded {
                let message = "requires a start_date, because it runs days of a range again";
                return Err(ServiceError::invalid("rerun_degraded", message));
            }
            if self.request.memory_from.is_some() {
                let message = "requires a start_date, because an agent that continues keeps its own memory";
                return Err(ServiceError::invalid("memory_from", message));
            }
            self.continue_from_previous(config).await?;
        }
        let mut days = Vec::new();
        let mut supersedes = Vec::new();
        for agent in config.agents.clone() {
            let base = match config.starts.get(&agent.name) {
                Some(start) => *start,
                None => self.fresh_start(&agent, config).await?,
            };
            let hash = config.agent_hash(&agent, base);
            config.starts.entry(agent.name.clone()).or_insert(base);
            let after = config.done_until(&agent.name);
            let dates: Vec<Date> = self
                .dataset
                .trading_days(config.start_date, config.end_date)
                .iter()
                .map(|day| day.date)
                .filter(|date| after.is_none_or(|after| *date > after))
                .collect();
            let mut done = Vec::new();
            if !self.request.profile {
                let rerun_degraded = self.request.rerun_degraded;
                let planned = PlannedDays { config, agent: &agent, hash, dates: &dates, rerun_degraded };
                if self.request.replace_existing {
                    supersedes.extend(self.replace(&planned).await?);
                } else {
                    done = self.skippable_days(&planned).await?;
                }
            }
            if let (Some(last), Some(date)) = (done.last(), done.len().checked_sub(1).map(|at| dates[at])) {
                self.skip(config, &agent.name, &Continuation { job: last.job.clone(), date }).await?;
            }
            let mut done = done.into_iter();
            days.extend(dates.into_iter().map(|date| NewModelDay {
                date,
                agent: agent.name.clone(),
                agent_hash: hash,
                skipped: done.next(),
            }));
        }
        Ok((days, supersedes))
    }

    /// The agent's skipped days. Adds warnings about them.
    async fn skippable_days(&mut self, planned: &PlannedDays<'_>) -> Result<Vec<SkippedDay>, ServiceError> {
        let SkippableDays { days, degraded } = done::skippable_days(self.app, planned).await?;
        let (agent, dates) = (&planned.agent.name, planned.dates);
        if let Some(last) = days.len().checked_sub(1) {
            self.warnings.push(format!(
                "{agent}: days up to {} were completed by {} and are skipped; replace_existing runs them again",
                dates[last],
                done::by_jobs(&days, dates)
            ));
        }
        match degraded.first() {
            Some(first) if planned.rerun_degraded => self.warnings.push(format!(
                "{agent}: {first} was degraded; it and all days after it run again, since they follow from it"
            )),
            Some(first) => self.warnings.push(format!(
                "{agent}: {} of the skipped days are degraded, the first is {first}; rerun_degraded runs it and all \
                 days after it again",
                degraded.len()
            )),
            None => {}
        }
        let is_rerun = planned.rerun_degraded && !degraded.is_empty();
        if let (Some(next), Some(last), false) = (dates.get(days.len()), dates.last(), is_rerun) {
            let spans = self.app.store.completed_spans(agent, planned.hash, (*next, *last)).await?;
            for (job, from, to) in spans {
                self.warnings.push(format!(
                    "{agent}: job {job} completed days from {from} to {to}, but no account without a gap leads to \
                     them from {}; they run again",
                    dates[0]
                ));
            }
        }
        Ok(days)
    }

    /// The jobs in which the agent's days are replaced.
    async fn replace(&mut self, planned: &PlannedDays<'_>) -> Result<Vec<Supersession>, ServiceError> {
        let agent = &planned.agent.name;
        let (jobs, following) = done::replaced(self.app, planned).await?;
        for job in &following {
            self.warnings
                .push(format!("{agent}: job {job} continues days that are replaced, and is replaced too"));
        }
        let jobs = jobs.into_iter().chain(following);
        Ok(jobs.map(|job| Supersession { agent: agent.clone(), job }).collect())
    }

    /// Makes every agent continue after the end of its newest completed job.
    async fn continue_from_previous(&mut self, config: &mut SimulationConfig) -> Result<(), ServiceError> {
        let mut first = None;
        for agent in &config.agents {
            let newest = self.app.store.newest_completed_job(&agent.name).await?;
            let Some(newest) = newest else {
                let message = format!("{} has no completed job to continue; give a start_date", agent.name);
                return Err(ServiceError::invalid("start_date", message));
            };
            self.ensure_compatible(config, agent, &newest.job).await?;
            let end = config.end_date;
            let next = newest
                .date
                .tomorrow()
                .map_err(|error| ServiceError::invalid("end_date", error.to_string()))?;
            if next > end {
                let message = format!("{} is already completed up to {}", agent.name, newest.date);
                return Err(ServiceError::invalid("end_date", message));
            }
            first = Some(first.map_or(next, |first: Date| first.min(next)));
            let ancestor = Ancestor { job: &newest.job, agent: &agent.name, until: newest.date };
            let hash = self.import(ancestor, &newest.state.state).await?;
            config.starts.insert(agent.name.clone(), hash);
            let continues = Continuation { job: newest.job, date: newest.date };
            config.continues.insert(agent.name.clone(), continues);
        }
        config.start_date = first.unwrap_or(config.end_date);
        if self.request.initial_cash.is_some() {
            self.warnings.push(
                "initial_cash is not used: each model goes on with the account that its newest job left"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// An account can be continued only on the same dataset and market.
    async fn ensure_compatible(
        &self,
        config: &SimulationConfig,
        agent: &AgentConfig,
        job: &JobId,
    ) -> Result<(), ServiceError> {
        let row = self.app.services.queue.get_job(job).await?;
        let before = row.and_then(|row| serde_json::from_value::<SimulationConfig>(row.config).ok());
        let Some(before) = before else {
            return Err(anyhow::anyhow!("job {job} has no simulation config").into());
        };
        if before.imported.is_some() && before.branch.is_none() {
            let message = format!(
                "the newest job of {}, {job}, was imported: a run cannot continue it by its agent's name; give a start_date, \
                 or branch from it",
                agent.name
            );
            return Err(ServiceError::invalid("start_date", message));
        }
        let differs = |what: &str, before: &str, now: &str| {
            let name = &agent.name;
            let message = format!(
                "the newest job of {name}, {job}, uses the {what} {before}, not {now}: its account cannot be continued; give a \
                 start_date"
            );
            Err(ServiceError::invalid("start_date", message))
        };
        if before.dataset.name != config.dataset.name {
            return differs("dataset", &before.dataset.name, &config.dataset.name);
        }
        if before.market != config.market {
            let (old, new) = (before.market.label(), config.market.label());
            let new = if old == new { format!("{new} as now configured") } else { new };
            return differs("market", &old, &new);
        }
        Ok(())
    }

    /// Makes an agent start from its state in another job, because its days until then are completed.
    async fn skip(
        &mut self,
        config: &mut SimulationConfig,
        agent: &AgentName,
        until: &Continuation,
    ) -> Result<(), ServiceError> {
        let state = self.app.store.agent_state(&until.job, agent, Some(until.date)).await?;
        let Some(state) = state.filter(|state| state.after == Some(until.date)) else {
            return Err(
                anyhow::anyhow!("job {} has no state of {agent} after {}", until.job, until.date).into()
            );
        };
        let ancestor = Ancestor { job: &until.job, agent, until: until.date };
        let hash = self.import(ancestor, &state.state).await?;
        config.starts.insert(agent.clone(), hash);
        config.continues.insert(agent.clone(), until.clone());
        Ok(())
    }

    /// A stored state as a document of this job.
    async fn import(
        &mut self,
        ancestor: Ancestor<'_>,
        stored: &serde_json::Value,
    ) -> Result<ContentHash, ServiceError> {
        let (doc, mark) = import_state(self.app, ancestor, stored).await?;
        self.warnings.extend(mark.map(|mark| inherit::warning(ancestor, &mark)));
        self.texts.extend(doc.texts.into_iter().map(|text| (text.hash, text)));
        Ok(doc.hash)
    }

    /// The initial state of an agent: cash, and memory from another job if requested.
    async fn fresh_start(
        &mut self,
        agent: &AgentConfig,
        config: &SimulationConfig,
    ) -> Result<ContentHash, ServiceError> {
        let mut state = StartState::new(agent, config.market.clone(), config.initial_cash, config.seed);
        if let Some(job) = &self.request.memory_from {
            let first = self.dataset.trading_days(config.start_date, config.end_date).first();
            if let Some(first) = first {
                state.memory = import_memory(self.app, job, agent, first).await?;
                let mark = state.memory.unverified().map(|mark| {
                    inherit::warning(Ancestor { job, agent: &agent.name, until: first.date }, mark)
                });
                self.warnings.extend(mark);
            }
        }
        let doc = state.to_doc();
        self.texts.extend(doc.texts.into_iter().map(|text| (text.hash, text)));
        Ok(doc.hash)
    }
}
