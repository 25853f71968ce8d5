//! From what somebody asks for to a job that depends on nothing but itself.

use crate::app::App;
use crate::config::Mode;
use papertape_agents::config::AgentConfig;
use papertape_agents::day::StartState;
use papertape_core::broker::MarketProfile;
use papertape_core::id::{AgentName, ContentHash, JobId, Symbol};
use papertape_core::json::to_value;
use papertape_core::market::Dataset;
use papertape_core::message::{ModelName, Usage};
use papertape_core::money::Money;
use papertape_core::ports::{Queue as _, Record as _};
use papertape_core::record::{JobStatus, NewDay, NewJob, Text};
use papertape_core::tape::expand;
use papertape_core::time::{Date, Timestamp};
use papertape_runtime::branch::check_cut;
use papertape_runtime::budget::Budget;
use papertape_runtime::config::{Branch, Continues, DatasetRef, SimulationConfig};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// The models of a job that names none.
const HOUSE: &[&str] = &["house::momentum", "house::contrarian", "house::buy_and_hold"];

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// First day; `None`: each agent goes on where its newest completed job ended.
    pub start_date: Option<Date>,
    /// Last day, included.
    pub end_date: Option<Date>,
    /// Names of configured agents, or models (`provider::model`) as solo agents.
    pub models: Vec<String>,
    /// Agents, given whole.
    pub agents: Vec<AgentConfig>,
    /// What may be traded; empty: the config's, else all that the dataset has.
    pub symbols: Vec<String>,
    /// The dataset's name or hash prefix.
    pub dataset: Option<String>,
    /// The market profile's name.
    pub market: Option<String>,
    /// What each agent starts with.
    pub initial_cash: Option<Decimal>,
    /// The job's seed.
    pub seed: Option<u64>,
    /// What it may use.
    pub budget: Option<Budget>,
    /// Write summaries?
    pub summaries: Option<bool>,
    /// Do again what has been done, and mark the jobs that did it as superseded.
    pub replace_existing: bool,
}

/// A job that was queued.
#[derive(Clone, Debug)]
pub struct Triggered {
    /// Its id.
    pub job: JobId,
    /// Model-days in all, the skipped ones included.
    pub total_model_days: usize,
    /// Of these, skipped.
    pub skipped: usize,
    /// What the one who asked should know.
    pub warnings: Vec<String>,
}

/// Why there is no job.
#[derive(Debug, thiserror::Error)]
pub enum TriggerError {
    /// The caller must ask otherwise.
    #[error("{field}: {message}")]
    Bad {
        /// The field that is wrong.
        field: &'static str,
        /// Why.
        message: String,
    },
    /// There is no such job.
    #[error("there is no job {0}")]
    NotFound(String),
    /// The job is not in a state for this.
    #[error("{0}")]
    Conflict(String),
    /// The record failed.
    #[error(transparent)]
    Record(#[from] anyhow::Error),
}

fn bad(field: &'static str, message: impl Into<String>) -> TriggerError {
    TriggerError::Bad { field, message: message.into() }
}

/// Resolves a request and queues its job.
///
/// # Errors
/// A field that is wrong, named; or the record's.
pub async fn trigger(app: &App, request: Request) -> Result<Triggered, TriggerError> {
    let mut planned = plan(app, &request).await?;
    let job = JobId::new(uuid::Uuid::now_v7().to_string());
    let total = planned.days.len();
    let skipped = planned.days.iter().filter(|day| day.skipped.is_some()).count();
    planned.warnings.sort();
    planned.warnings.dedup();
    enqueue(app, job.clone(), &planned, None).await?;
    Ok(Triggered { job, total_model_days: total, skipped, warnings: planned.warnings })
}

/// Where to branch off, and what to change.
#[derive(Clone, Debug)]
pub struct BranchRequest {
    /// The agent; needed where the parent has several.
    pub agent: Option<String>,
    /// The day in which the cut lies.
    pub date: Date,
    /// A node (`solo#1`) or a step (`solo#1/model#3`); `None`: the conversation, `solo#1`.
    pub at: Option<String>,
    /// Another model from the cut on.
    pub model: Option<String>,
    /// Other instructions from the cut on.
    pub instructions: Option<String>,
    /// Other sampling from the cut on.
    pub sampling: Option<papertape_core::message::Sampling>,
}

/// Queues a job that shares its parent's past up to a cut.
///
/// # Errors
/// A field that is wrong, named; no such job; or the record's.
pub async fn branch(app: &App, parent: &JobId, request: BranchRequest) -> Result<Triggered, TriggerError> {
    let row = app.store.job(parent).await.map_err(anyhow::Error::from)?;
    let row = row.ok_or_else(|| TriggerError::NotFound(parent.to_string()))?;
    if row.kind != "simulate" {
        return Err(TriggerError::Conflict(format!("a job of the kind `{}` has no branches", row.kind)));
    }
    let config: SimulationConfig = serde_json::from_value(row.config)
        .map_err(|error| anyhow::anyhow!("the config of {parent} cannot be read: {error}"))?;
    let agent = pick_agent(&config, request.agent.as_deref())?;
    let at = request.at.unwrap_or_else(|| "solo#1".to_owned());
    check_cut(&at).map_err(|message| bad("node", message))?;
    let session =
        app.store.find_session(parent, &agent.name, request.date).await.map_err(anyhow::Error::from)?;
    if session.is_none() {
        return Err(bad("date", format!("{} has no session on {} in {parent}", agent.name, request.date)));
    }
    let mut changed = agent.clone();
    if let Some(model) = &request.model {
        changed.model = model.parse().map_err(|message: String| bad("model", message))?;
    }
    changed.instructions = request.instructions.or(changed.instructions);
    changed.sampling = request.sampling.unwrap_or(changed.sampling);
    let differs = changed.fingerprint() != agent.fingerprint();
    if differs && at.contains('/') {
        return Err(bad(
            "node",
            "a change needs a cut at a node, for the steps before it were asked otherwise",
        ));
    }
    check_agent(app, &changed, config.budget)?;
    let mut next = SimulationConfig {
        agents: vec![agent.clone()],
        branch: Some(Branch {
            job: parent.clone(),
            date: request.date,
            at,
            agent: differs.then_some(changed),
        }),
        ..config
    };
    next.starts.retain(|name, _| *name == agent.name);
    next.continues.retain(|name, _| *name == agent.name);
    let dataset = app.catalogue.open(&next.dataset.hash.to_hex()).map_err(anyhow::Error::from)?;
    let start = next.starts.get(&agent.name).copied();
    let start = start.ok_or_else(|| anyhow::anyhow!("{} has no start state in {parent}", agent.name))?;
    let hash = next.agent_hash(&agent, start);
    let after = next.done_until(&agent.name);
    let days = dataset
        .trading_days(next.start_date, next.end_date)
        .iter()
        .filter(|day| after.is_none_or(|after| day.date > after))
        .map(|day| NewDay { date: day.date, agent: agent.name.clone(), agent_hash: hash, skipped: None })
        .collect();
    let planned =
        Planned { config: next, days, texts: Vec::new(), warnings: Vec::new(), supersedes: Vec::new() };
    let job = JobId::new(uuid::Uuid::now_v7().to_string());
    let total = planned.days.len();
    enqueue(app, job.clone(), &planned, Some(parent.clone())).await?;
    Ok(Triggered { job, total_model_days: total, skipped: 0, warnings: planned.warnings })
}

/// Puts a stopped job back into the queue.
///
/// # Errors
/// No such job; one that is completed, queued or running.
pub async fn resume(app: &App, job: &JobId) -> Result<JobStatus, TriggerError> {
    let row = app.store.job(job).await.map_err(anyhow::Error::from)?;
    let row = row.ok_or_else(|| TriggerError::NotFound(job.to_string()))?;
    match row.status {
        JobStatus::Completed => return Err(TriggerError::Conflict(format!("job {job} is completed"))),
        JobStatus::Queued | JobStatus::Running => return Ok(row.status),
        JobStatus::Partial | JobStatus::Failed | JobStatus::Cancelled => {}
    }
    app.store.requeue(job).await.map_err(anyhow::Error::from)?;
    app.ring();
    Ok(JobStatus::Queued)
}

/// A job, ready to be queued.
struct Planned {
    config: SimulationConfig,
    days: Vec<NewDay>,
    texts: Vec<Text>,
    warnings: Vec<String>,
    supersedes: Vec<JobId>,
}

async fn enqueue(app: &App, id: JobId, planned: &Planned, parent: Option<JobId>) -> Result<(), TriggerError> {
    let job = NewJob {
        id,
        kind: "simulate".to_owned(),
        config: to_value(&planned.config),
        fingerprint: planned.config.fingerprint(),
        warnings: planned.warnings.clone(),
        days: planned.days.clone(),
        parent,
        supersedes: planned.supersedes.clone(),
        texts: planned.texts.clone(),
        created_at: app.services.clock.now(),
    };
    app.store.enqueue(job).await.map_err(anyhow::Error::from)?;
    app.ring();
    Ok(())
}

async fn plan(app: &App, request: &Request) -> Result<Planned, TriggerError> {
    let defaults = &app.config.simulation;
    let wanted = request.dataset.as_deref().unwrap_or(&defaults.dataset);
    let dataset = app.catalogue.open(wanted).map_err(|error| bad("dataset", error.to_string()))?;
    let end_date = request.end_date.ok_or_else(|| bad("end_date", "it is missing"))?;
    let market = request.market.as_deref().unwrap_or(&defaults.market);
    let market = app.config.market(market).map_err(|message| bad("market", message))?;
    let cash = request.initial_cash.unwrap_or(defaults.initial_cash);
    if cash <= Decimal::ZERO || cash > Decimal::from(1_000_000_000_000_u64) {
        return Err(bad("initial_cash", "it must be above 0 and at most 1000000000000"));
    }
    let budget = request.budget.unwrap_or(defaults.budget);
    let agents = agents(app, request)?;
    for agent in &agents {
        check_agent(app, agent, budget)?;
    }
    let symbols =
        symbols(&dataset, if request.symbols.is_empty() { &defaults.symbols } else { &request.symbols })?;
    let mut config = SimulationConfig {
        dataset: DatasetRef { name: dataset.name().to_owned(), hash: dataset.hash() },
        start_date: request.start_date.unwrap_or(end_date),
        end_date,
        symbols,
        agents,
        market,
        initial_cash: Money(cash),
        seed: request.seed.unwrap_or_default(),
        prompts: app.services.prompts.hash(),
        summaries: request.summaries.unwrap_or(defaults.summaries),
        starts: BTreeMap::new(),
        continues: BTreeMap::new(),
        branch: None,
        budget,
    };
    let mut planned = Plan { app, dataset: &dataset, request, texts: BTreeMap::new(), warnings: Vec::new() };
    let (days, supersedes) = planned.resolve(&mut config).await?;
    let Plan { texts, mut warnings, .. } = planned;
    if days.is_empty() {
        let range = format!("from {} to {}", config.start_date, config.end_date);
        return Err(bad("end_date", format!("the dataset has no trading day {range}")));
    }
    for agent in config.agents.iter().filter(|agent| !agent.tools.is_empty()) {
        warnings.push(format!(
            "{} uses outside tools: what they answer is not bounded in time, so its results carry \
             point_in_time = unverified",
            agent.name
        ));
    }
    Ok(Planned { config, days, texts: texts.into_values().collect(), warnings, supersedes })
}

/// The part of planning that asks the record what there is already.
struct Plan<'a> {
    app: &'a App,
    dataset: &'a Dataset,
    request: &'a Request,
    texts: BTreeMap<ContentHash, Text>,
    warnings: Vec<String>,
}

impl Plan<'_> {
    /// Fixes where each agent starts, and which of its days are done.
    async fn resolve(
        &mut self,
        config: &mut SimulationConfig,
    ) -> Result<(Vec<NewDay>, Vec<JobId>), TriggerError> {
        if let Some(start) = self.request.start_date {
            if config.end_date < start {
                return Err(bad("end_date", format!("{} is before start_date {start}", config.end_date)));
            }
        } else {
            self.go_on(config).await?;
        }
        let mut days = Vec::new();
        let mut supersedes = BTreeSet::new();
        for agent in config.agents.clone() {
            let base = match config.starts.get(&agent.name) {
                Some(start) => *start,
                None => self.fresh_start(&agent, &config.market, config.initial_cash, config.seed),
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
            let done = self.app.store.completed_days(hash, config.start_date, config.end_date);
            let done = done.await.map_err(anyhow::Error::from)?;
            let mut until = None;
            if self.request.replace_existing {
                supersedes.extend(done.into_iter().map(|day| day.job));
            } else {
                // Only a run of days from the first one on leads to a state that can be gone on from.
                for date in &dates {
                    let Some(day) = done.iter().find(|day| day.date == *date) else { break };
                    until = Some(Continues { job: day.job.clone(), date: *date });
                }
            }
            if let Some(until) = &until {
                self.skip(config, &agent.name, until).await?;
            }
            let skip = until.as_ref().map(|until| (until.date, format!("completed in job {}", until.job)));
            days.extend(dates.into_iter().map(|date| NewDay {
                date,
                agent: agent.name.clone(),
                agent_hash: hash,
                skipped: skip.as_ref().filter(|(until, _)| date <= *until).map(|(_, reason)| reason.clone()),
            }));
        }
        Ok((days, supersedes.into_iter().collect()))
    }

    /// Lets every agent go on where its newest completed job ended.
    async fn go_on(&mut self, config: &mut SimulationConfig) -> Result<(), TriggerError> {
        let mut first = None;
        for agent in &config.agents {
            let newest =
                self.app.store.newest_completed_job(&agent.name).await.map_err(anyhow::Error::from)?;
            let Some(newest) = newest else {
                let message = format!("{} has no completed job to go on from; give a start_date", agent.name);
                return Err(bad("start_date", message));
            };
            let end = config.end_date;
            let next = newest.date.tomorrow().map_err(|error| bad("end_date", error.to_string()))?;
            if next > end {
                let message = format!("{} has already gone to {}", agent.name, newest.date);
                return Err(bad("end_date", message));
            }
            first = Some(first.map_or(next, |first: Date| first.min(next)));
            let hash = self.import(&newest.state.state).await?;
            config.starts.insert(agent.name.clone(), hash);
            let continues = Continues { job: newest.job, date: newest.date };
            config.continues.insert(agent.name.clone(), continues);
        }
        config.start_date = first.unwrap_or(config.end_date);
        Ok(())
    }

    /// Lets an agent start from where another job left it, for its days until then are done.
    async fn skip(
        &mut self,
        config: &mut SimulationConfig,
        agent: &AgentName,
        until: &Continues,
    ) -> Result<(), TriggerError> {
        let state = self.app.store.agent_state(&until.job, agent, Some(until.date)).await;
        let state = state.map_err(anyhow::Error::from)?;
        let Some(state) = state.filter(|state| state.after == Some(until.date)) else {
            return Err(
                anyhow::anyhow!("job {} has no state of {agent} after {}", until.job, until.date).into()
            );
        };
        let hash = self.import(&state.state).await?;
        config.starts.insert(agent.clone(), hash);
        config.continues.insert(agent.clone(), until.clone());
        self.warnings.push(format!(
            "{agent}: days up to {} were completed by job {} and are skipped; replace_existing does them again",
            until.date, until.job
        ));
        Ok(())
    }

    /// A state of the record as a document of this job.
    async fn import(&mut self, stored: &serde_json::Value) -> Result<ContentHash, TriggerError> {
        let texts = self.app.store.texts(papertape_core::tape::references(stored)).await;
        let texts = texts.map_err(anyhow::Error::from)?;
        let whole = expand(stored, &|hash| texts.get(&hash).cloned()).map_err(anyhow::Error::from)?;
        let doc = papertape_core::tape::Doc::of(&whole);
        self.texts.extend(doc.texts.into_iter().map(|text| (text.hash, text)));
        Ok(doc.hash)
    }

    fn fresh_start(
        &mut self,
        agent: &AgentConfig,
        market: &MarketProfile,
        cash: Money,
        seed: u64,
    ) -> ContentHash {
        let doc = StartState::new(agent, market.clone(), cash, seed).to_doc();
        self.texts.extend(doc.texts.into_iter().map(|text| (text.hash, text)));
        doc.hash
    }
}

/// The agents of a request: those given whole, and those named.
fn agents(app: &App, request: &Request) -> Result<Vec<AgentConfig>, TriggerError> {
    let mut agents = request.agents.clone();
    for name in &request.models {
        agents.push(named(app, name)?);
    }
    if agents.is_empty() {
        agents.clone_from(&app.config.agents);
    }
    if agents.is_empty() {
        agents = HOUSE.iter().map(|name| named(app, name)).collect::<Result<_, _>>()?;
    }
    let mut names = BTreeSet::new();
    for agent in &agents {
        let name = agent.name.as_str();
        if name.trim().is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
            return Err(bad("agents", "an agent's name is a text of 1 to 200 characters"));
        }
        if !names.insert(&agent.name) {
            return Err(bad("agents", format!("the name `{name}` stands twice")));
        }
    }
    Ok(agents)
}

fn named(app: &App, name: &str) -> Result<AgentConfig, TriggerError> {
    if let Some(agent) = app.config.agents.iter().find(|agent| agent.name.as_str() == name) {
        return Ok(agent.clone());
    }
    let model: ModelName = name.parse().map_err(|_| {
        let known: Vec<&str> = app.config.agents.iter().map(|agent| agent.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        bad(
            "models",
            format!("`{name}` is neither a configured agent ({known}) nor of the form provider::model"),
        )
    })?;
    Ok(AgentConfig::solo(AgentName::new(name), model))
}

fn check_agent(app: &App, agent: &AgentConfig, budget: Budget) -> Result<(), TriggerError> {
    app.services.models.check(&agent.model).map_err(|message| bad("models", message))?;
    if app.config.mode == Mode::Dev && !agent.model.is_house() {
        return Err(bad("models", format!("{}: dev mode runs house models alone", agent.model)));
    }
    if budget.bounds_money() && app.services.models.cost(&agent.model, &Usage::default()).is_none() {
        return Err(bad("budget", format!("a budget in USD needs a price for {}", agent.model)));
    }
    for tool in &agent.tools {
        let Some(server) = app.config.tools.get(tool) else {
            return Err(bad(
                "agents",
                format!("{}: there is no tool server `{tool}` in the config", agent.name),
            ));
        };
        if !server.allow_unbounded {
            let message = format!(
                "{}: `{tool}` can see later than the day that is simulated; set allow_unbounded = true in \
                 [tools.{tool}] to let it, and have the results marked as unverified",
                agent.name
            );
            return Err(bad("agents", message));
        }
    }
    if agent.limits.max_steps == 0 || agent.limits.call_timeout_secs == 0 {
        return Err(bad("agents", format!("{}: limits must be above 0", agent.name)));
    }
    Ok(())
}

fn pick_agent(config: &SimulationConfig, name: Option<&str>) -> Result<AgentConfig, TriggerError> {
    let names = || config.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ");
    match (name, config.agents.as_slice()) {
        (None, [agent]) => Ok(agent.clone()),
        (None, _) => Err(bad("agent", format!("the job has several agents; name one of: {}", names()))),
        (Some(name), agents) => agents
            .iter()
            .find(|agent| agent.name.as_str() == name)
            .cloned()
            .ok_or_else(|| bad("agent", format!("the job has no agent `{name}`; it has: {}", names()))),
    }
}

fn symbols(dataset: &Dataset, wanted: &[String]) -> Result<BTreeSet<Symbol>, TriggerError> {
    let all: BTreeSet<Symbol> = dataset.all_symbols().cloned().collect();
    if wanted.is_empty() {
        return Ok(all);
    }
    let wanted: BTreeSet<Symbol> = wanted.iter().map(|symbol| Symbol::new(symbol.trim())).collect();
    match wanted.iter().find(|symbol| !all.contains(*symbol)) {
        None => Ok(wanted),
        Some(unknown) => {
            let known: Vec<&str> = all.iter().take(20).map(Symbol::as_str).collect();
            let more = if all.len() > known.len() { ", …" } else { "" };
            Err(bad(
                "symbols",
                format!("{} has no `{unknown}`; it has: {}{more}", dataset.name(), known.join(", ")),
            ))
        }
    }
}

/// The present, for callers that show it.
#[must_use]
pub fn now(app: &App) -> Timestamp {
    app.services.clock.now()
}
