//! The compared items: the trials of an agent, a baseline, or a symbol, as series of log returns.

use super::conditions::{Ground, Settings, agent_of, is_deterministic};
use super::select::{Baseline, Selector};
use super::trial::{ModelCost, Refilled, Trial, TrialInput};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::cutoff::{language_models, training_cutoffs};
use crate::view::experiments::{Stored, interim, stored};
use crate::view::results::{AgentSeries, BaselineCache, RefilledValues, agent_series, opens_account};
use crate::view::{Configs, masked};
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::market::Dataset;
use papertape_core::message::ModelName;
use papertape_core::money::Money;
use papertape_core::time::Date;
use papertape_protocol::compare::MAX_ITEMS;
use papertape_protocol::cutoff::TrainingCutoffResponse;
use papertape_protocol::experiments::Manifest;
use papertape_runtime::config::SimulationConfig;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The currency in which model cost is recorded.
const COST_CURRENCY: &str = "USD";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Agent,
    Baseline,
    Symbol,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Baseline => "baseline",
            Self::Symbol => "symbol",
        }
    }
}

/// A window of planned days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlannedWindow {
    pub(super) number: u32,
    pub(super) first: Date,
    pub(super) last: Date,
    pub(super) days: usize,
}

/// One item.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) kind: Kind,
    pub(super) agent: Option<AgentName>,
    pub(super) is_llm: Option<bool>,
    /// The language models of an agent.
    pub(super) models: BTreeSet<ModelName>,
    pub(super) training_cutoffs: Vec<TrainingCutoffResponse>,
    pub(super) experiment: Option<String>,
    /// The family that its experiment declares.
    pub(super) declared: Option<Declared>,
    /// Whether it has no trial noise: rules, a baseline, a symbol.
    pub(super) is_deterministic: bool,
    pub(super) ground: Ground,
    pub(super) settings: Option<Settings>,
    pub(super) windows: Vec<PlannedWindow>,
    pub(super) interim: Option<String>,
    pub(super) trading_days_per_year: f64,
    pub(super) trials: Vec<Trial>,
}

/// What an experiment compares, as planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Declared {
    /// `all_pairs`, an agent's name or a baseline.
    pub(super) compare: String,
    pub(super) agents: BTreeSet<AgentName>,
}

impl Item {
    /// Trials per window: the smallest number.
    pub(super) fn trials_per_window(&self) -> usize {
        let of = |window: &PlannedWindow| {
            self.trials.iter().filter(|trial| trial.input.window == window.number).count()
        };
        self.windows.iter().map(of).min().unwrap_or(0)
    }

    pub(super) fn insolvent_on(&self) -> Option<Date> {
        self.trials.iter().filter_map(|trial| trial.actual.insolvent_on()).min()
    }

    /// The jobs of its trials.
    pub(super) fn jobs(&self) -> Vec<&JobId> {
        self.trials.iter().filter_map(|trial| trial.input.job.as_ref()).collect()
    }
}

/// Loads the selected items: agents first, then the baselines and symbols over the days of the first agent.
pub(super) async fn load(
    app: &App,
    configs: &mut Configs,
    selectors: &[Selector],
) -> Result<Vec<Item>, ServiceError> {
    let mut items = Vec::new();
    for selector in selectors {
        match selector {
            Selector::Job(job, agent) => items.extend(of_job(app, configs, job, agent.as_ref()).await?),
            Selector::Experiment(id, agent) => {
                let stored = stored(app, id.as_str()).await?;
                items.extend(of_experiment(app, configs, &stored, agent.as_ref()).await?);
            }
            Selector::Baseline(_) | Selector::Symbol(_) | Selector::Random => {}
        }
        check_count(items.len())?;
    }
    let mut seen = BTreeSet::new();
    items.retain(|item| seen.insert(item.id.clone()));
    for selector in selectors {
        let Some(reference) = items.first().filter(|item| item.kind == Kind::Agent) else {
            return Err(ServiceError::invalid(
                "select",
                "select at least one agent of a job or an experiment",
            ));
        };
        let built = match selector {
            Selector::Baseline(baseline) => Some(baseline_item(app, configs, reference, *baseline).await?),
            Selector::Symbol(symbol) => Some(symbol_item(app, configs, reference, symbol).await?),
            Selector::Job(..) | Selector::Experiment(..) | Selector::Random => None,
        };
        items.extend(built);
    }
    check_count(items.len())?;
    for item in &mut items {
        let days = item.trials.iter().flat_map(|trial| trial.actual.days().iter().copied()).collect();
        item.training_cutoffs = training_cutoffs(app, &item.models, &days);
    }
    label(&mut items);
    Ok(items)
}

fn check_count(count: usize) -> Result<(), ServiceError> {
    if count > MAX_ITEMS {
        let message = format!("{count} items are more than {MAX_ITEMS}; name agents as ID/AGENT");
        return Err(ServiceError::invalid("select", message));
    }
    Ok(())
}

/// An agent's name, with the end of its job's or experiment's ID if several items have it.
fn label(items: &mut [Item]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for item in items.iter() {
        *count.entry(item.label.clone()).or_default() += 1;
    }
    for item in items.iter_mut().filter(|item| count.get(&item.label).is_some_and(|count| *count > 1)) {
        let of = item.experiment.clone().or_else(|| item.jobs().first().map(ToString::to_string));
        if let Some(of) = of {
            let short = of.get(of.len().saturating_sub(8)..).unwrap_or(&of);
            item.label = format!("{} ({short})", item.label);
        }
    }
}

pub(super) async fn of_job(
    app: &App,
    configs: &mut Configs,
    job: &JobId,
    agent: Option<&AgentName>,
) -> Result<Vec<Item>, ServiceError> {
    let all = agent_series(app, configs, job, agent).await?;
    if all.is_empty() {
        return Err(no_agent(agent, &format!("job {job}")));
    }
    let config = config(app, configs, job).await?;
    // One run of an experiment belongs to its plan.
    let of_plan = match app.store.experiment_of(job).await? {
        Some((id, ..)) => {
            let Stored { manifest, jobs, .. } = stored(app, id.as_str()).await?;
            interim(&manifest, &jobs)
        }
        None => None,
    };
    let mut items = Vec::new();
    for series in all {
        let (agent, planned) = (series.agent.clone(), series.planned.len());
        let interim = (series.open > 0)
            .then(|| format!("{} of {planned} planned days have ended", planned - series.open))
            .or_else(|| of_plan.clone());
        let trials = vec![trial(&config, series, 1)];
        let id = format!("job:{job}/{agent}");
        items.push(Item { interim, ..item(id, &agent, &config, trials) });
    }
    Ok(items)
}

async fn of_experiment(
    app: &App,
    configs: &mut Configs,
    Stored { row, manifest, jobs }: &Stored,
    only: Option<&AgentName>,
) -> Result<Vec<Item>, ServiceError> {
    let (only, only_mask) = arm_of(manifest, only);
    let mut trials: BTreeMap<(AgentName, Option<&str>), Vec<Trial>> = BTreeMap::new();
    let mut first: BTreeMap<Option<&str>, SimulationConfig> = BTreeMap::new();
    for one in jobs {
        let (window, mask) = manifest.place_of(one.window);
        if only_mask.is_some_and(|only| Some(only) != mask) {
            continue;
        }
        let config = config(app, configs, &one.job).await?;
        for series in agent_series(app, configs, &one.job, only.as_ref()).await? {
            trials.entry((series.agent.clone(), mask)).or_default().push(trial(&config, series, window));
        }
        first.entry(mask).or_insert(config);
    }
    if first.is_empty() {
        return Err(ServiceError::Conflict(format!("experiment {} has no jobs", row.id)));
    }
    let interim = interim(manifest, jobs);
    let declared = Declared {
        compare: manifest.compare.clone(),
        agents: manifest.agents.iter().map(|planned| AgentName::new(&planned.name)).collect(),
    };
    let mut items = Vec::new();
    for (planned, mask) in
        manifest.agents.iter().flat_map(|it| manifest.arms().into_iter().map(move |m| (it, m)))
    {
        let agent = AgentName::new(&planned.name);
        let (Some(trials), Some(config)) = (trials.remove(&(agent.clone(), mask)), first.get(&mask)) else {
            continue;
        };
        let label = mask.map_or_else(|| agent.to_string(), |mask| format!("{agent}@{mask}"));
        let id = format!("experiment:{}/{label}", row.id);
        items.push(Item {
            label,
            interim: interim.clone(),
            experiment: Some(row.id.to_string()),
            declared: Some(declared.clone()),
            ..item(id, &agent, config, trials)
        });
    }
    match items.is_empty() {
        true => Err(no_agent(only.as_ref(), &format!("experiment {}", row.id))),
        false => Ok(items),
    }
}

/// The agent and the arm of a selected agent, `NAME` or `NAME@MASK`.
fn arm_of<'a>(manifest: &'a Manifest, only: Option<&AgentName>) -> (Option<AgentName>, Option<&'a str>) {
    let Some(only) = only else { return (None, None) };
    let arm = only.as_str().rsplit_once('@').and_then(|(agent, arm)| {
        Some((AgentName::new(agent), manifest.masks.iter().find(|mask| *mask == arm)?.as_str()))
    });
    match arm {
        Some((agent, arm)) => (Some(agent), Some(arm)),
        None => (Some(only.clone()), None),
    }
}

fn no_agent(agent: Option<&AgentName>, of: &str) -> ServiceError {
    ServiceError::NotFound(match agent {
        Some(agent) => format!("{of} has no agent {}", agent.as_str().escape_default()),
        None => format!("{of} has no model-days"),
    })
}

async fn config(app: &App, configs: &mut Configs, job: &JobId) -> Result<SimulationConfig, ServiceError> {
    let config = configs.of(app, job).await?.cloned();
    config.ok_or_else(|| ServiceError::invalid("select", format!("{job} is not a simulation")))
}

fn item(id: String, agent: &AgentName, config: &SimulationConfig, trials: Vec<Trial>) -> Item {
    let of = agent_of(config, agent);
    let mut windows: Vec<PlannedWindow> = Vec::new();
    for trial in &trials {
        let planned = trial.series.as_ref().map(|series| series.planned.as_slice()).unwrap_or_default();
        if let (Some(first), Some(last)) = (planned.first(), planned.last())
            && windows.iter().all(|window| window.number != trial.input.window)
        {
            let (number, days) = (trial.input.window, planned.len());
            windows.push(PlannedWindow { number, first: *first, last: *last, days });
        }
    }
    let span = span_of(&windows);
    Item {
        id,
        label: agent.to_string(),
        kind: Kind::Agent,
        agent: Some(agent.clone()),
        is_llm: of.map(|agent| !agent.is_rule_based()),
        models: language_models(config, agent),
        training_cutoffs: Vec::new(),
        experiment: None,
        declared: None,
        is_deterministic: of.is_some_and(is_deterministic),
        ground: Ground::of(config, span),
        settings: of.map(|agent| Settings::of(config, agent)),
        windows,
        interim: None,
        trading_days_per_year: f64::from(config.market.trading_days_per_year),
        trials,
    }
}

/// The first and the last day of all windows.
pub(super) fn span_of(windows: &[PlannedWindow]) -> Option<(Date, Date)> {
    windows.iter().map(|one| one.first).min().zip(windows.iter().map(|one| one.last).max())
}

fn trial(config: &SimulationConfig, series: AgentSeries, window: u32) -> Trial {
    let values = |values: &[(Date, Money)]| -> Vec<(Date, f64)> {
        values.iter().map(|(date, value)| (*date, value.to_f64())).collect()
    };
    let closes: Vec<(Date, Money)> = series.days.iter().map(|day| (day.date, day.value)).collect();
    let unpriced: u64 = series.days.iter().map(|day| day.unpriced).sum();
    let is_free = unpriced == 0 && series.days.iter().all(|day| day.cost.is_zero());
    let model_cost = match is_in_usd(config, series.dataset.as_deref()) {
        _ if is_free => ModelCost::Free,
        None => ModelCost::NoDataset,
        Some(false) => ModelCost::OtherCurrency,
        Some(true) if unpriced > 0 => ModelCost::Unpriced(unpriced),
        Some(true) => ModelCost::Daily(series.days.iter().map(|day| Money(day.cost).to_f64()).collect()),
    };
    let input = TrialInput {
        window,
        job: Some(series.job.clone()),
        initial: series.initial.to_f64(),
        values: values(&closes),
        refilled: match &series.refilled {
            RefilledValues::Same => Refilled::Same,
            RefilledValues::Values(found) => Refilled::Values(values(found)),
            RefilledValues::Unavailable(why) => Refilled::Unavailable(why.clone()),
        },
        model_cost,
        fallback: series.days.iter().filter(|day| !day.is_full).map(|day| day.date).collect(),
        cost: (unpriced == 0).then(|| series.days.iter().map(|day| day.cost).sum()),
    };
    Trial { series: Some(series), ..Trial::from(input) }
}

/// Whether prices, and so the account, are in the currency of model cost; `None` without the dataset.
fn is_in_usd(config: &SimulationConfig, dataset: Option<&Dataset>) -> Option<bool> {
    let dataset = dataset?;
    let currency = |symbol: &Symbol| dataset.instrument(symbol).map(|found| found.currency.as_str());
    let is_usd = |symbol| currency(symbol).is_none_or(|currency| currency == COST_CURRENCY);
    Some(config.symbols.iter().all(is_usd))
}

/// Of a baseline or a symbol: the same conditions, windows and days as the reference.
fn over_same_days(reference: &Item, id: String, label: String, kind: Kind, trials: Vec<Trial>) -> Item {
    Item {
        id,
        label,
        kind,
        agent: None,
        is_llm: None,
        models: BTreeSet::new(),
        training_cutoffs: Vec::new(),
        experiment: None,
        declared: None,
        is_deterministic: true,
        ground: reference.ground.clone(),
        settings: None,
        windows: reference.windows.clone(),
        interim: reference.interim.clone(),
        trading_days_per_year: reference.trading_days_per_year,
        trials,
    }
}

/// The trial of each window with the most closed days.
fn longest(reference: &Item) -> Vec<(u32, &AgentSeries)> {
    let longest = |window: &PlannedWindow| {
        let of = reference.trials.iter().filter(|trial| trial.input.window == window.number);
        let longest = of.filter_map(|trial| trial.series.as_ref()).max_by_key(|series| series.days.len())?;
        Some((window.number, longest)).filter(|(_, series)| !series.days.is_empty())
    };
    reference.windows.iter().filter_map(longest).collect()
}

pub(super) async fn baseline_item(
    app: &App,
    configs: &mut Configs,
    reference: &Item,
    baseline: Baseline,
) -> Result<Item, ServiceError> {
    let mut trials = Vec::new();
    for (window, series) in longest(reference) {
        let config = config(app, configs, &series.job).await?;
        let dataset = series.dataset.clone().ok_or_else(no_dataset)?;
        let dates = series.days.iter().map(|day| day.closed.date).collect();
        let mut cache = BaselineCache::default();
        let found = cache.of(dataset, (&series.job, &config), series.initial, dates).await?;
        let Some(both) = found else { continue };
        let found = match baseline {
            Baseline::BuyAndHold => both.buy_and_hold,
            Baseline::EqualWeight => both.equal_weight,
        };
        let real = |date| masked::real_date(Some(&config), date);
        let values = found.daily_portfolio_values.iter();
        let values: Vec<(Date, f64)> =
            values.map(|day| (real(day.date), day.portfolio_value.to_f64())).collect();
        trials.push(Trial::plain(window, series.initial.to_f64(), values));
    }
    let name = baseline.as_str();
    Ok(over_same_days(reference, format!("baseline:{name}"), name.replace('_', " "), Kind::Baseline, trials))
}

async fn symbol_item(
    app: &App,
    configs: &mut Configs,
    reference: &Item,
    symbol: &Symbol,
) -> Result<Item, ServiceError> {
    let mut trials = Vec::new();
    for (window, series) in longest(reference) {
        let config = config(app, configs, &series.job).await?;
        let dataset = series.dataset.clone().ok_or_else(no_dataset)?;
        let own = masked::own_symbol(app, &config, symbol);
        if dataset.instrument(&own).is_none() {
            let message = crate::view::unknown_benchmark(&dataset, symbol);
            return Err(ServiceError::invalid("select", message));
        }
        let dates: Vec<Date> = series.days.iter().map(|day| day.closed.date).collect();
        let opens =
            dates.first().is_some_and(|first| opens_account(&config, Some(&*dataset), &series.agent, *first));
        let found = dataset
            .benchmark(&own, &dates, opens)
            .map_err(|why| ServiceError::invalid("select", why.to_string()))?;
        let days = series.days.iter().map(|day| day.date);
        let values: Vec<(Date, f64)> = days.zip(found.values).collect();
        trials.push(Trial::plain(window, 1.0, values));
    }
    let (id, label) = (format!("symbol:{symbol}"), symbol.to_string());
    Ok(over_same_days(reference, id, label, Kind::Symbol, trials))
}

fn no_dataset() -> ServiceError {
    ServiceError::Conflict("the job's dataset is not available; import it again".to_owned())
}
