//! The compared items: the trials of an agent, a baseline, or a symbol, as series of log returns.

use super::conditions::{Ground, Settings, agent_of, is_deterministic};
use super::select::{Baseline, Selector};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::Configs;
use crate::view::cutoff::{language_models, training_cutoffs};
use crate::view::experiments::{Stored, interim, stored};
use crate::view::results::{AgentSeries, BaselineCache, RefilledValues, agent_series, opens_account};
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::market::Dataset;
use papertape_core::message::ModelName;
use papertape_core::money::Money;
use papertape_core::time::Date;
use papertape_evidence::{ReturnSeries, net_of_cost};
use papertape_protocol::compare::MAX_ITEMS;
use papertape_protocol::cutoff::TrainingCutoffResponse;
use papertape_runtime::config::SimulationConfig;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// The currency in which model cost is recorded.
const COST_CURRENCY: &str = "USD";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedWindow {
    pub(super) number: u32,
    pub(super) first: Date,
    pub(super) last: Date,
    pub(super) days: usize,
}

/// One item.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// `all_pairs`, an agent's name or a baseline.
    pub(super) compare: String,
    pub(super) agents: BTreeSet<AgentName>,
}

/// One trial of an item in one window.
pub(super) struct Trial {
    pub(super) window: u32,
    pub(super) actual: ReturnSeries,
    /// The same orders at the next open, or why there are none.
    pub(super) refilled: Result<ReturnSeries, String>,
    /// Net of model cost, or why there is none.
    pub(super) net: Result<ReturnSeries, NoNet>,
    /// Days without full research.
    pub(super) fallback: BTreeSet<Date>,
    /// In US dollars; `None` if a call has no known price.
    pub(super) cost: Option<Decimal>,
    /// Of an agent.
    pub(super) series: Option<AgentSeries>,
}

/// Why there is no net series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoNet {
    /// The account is not in US dollars: the check does not apply.
    OtherCurrency,
    /// The dataset is not available, so the account's currency is unknown.
    NoDataset,
    /// The price of some calls is unknown.
    Unpriced(u64),
}

impl Item {
    /// Trials per window: the smallest number.
    pub(super) fn trials_per_window(&self) -> usize {
        let of =
            |window: &PlannedWindow| self.trials.iter().filter(|trial| trial.window == window.number).count();
        self.windows.iter().map(of).min().unwrap_or(0)
    }

    pub(super) fn insolvent_on(&self) -> Option<Date> {
        self.trials.iter().filter_map(|trial| trial.actual.insolvent_on()).min()
    }

    /// The jobs of its trials.
    pub(super) fn jobs(&self) -> Vec<&JobId> {
        self.trials.iter().filter_map(|trial| Some(&trial.series.as_ref()?.job)).collect()
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

async fn of_job(
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
    let mut trials: BTreeMap<AgentName, Vec<Trial>> = BTreeMap::new();
    let mut first = None;
    for one in jobs {
        let config = config(app, configs, &one.job).await?;
        for series in agent_series(app, configs, &one.job, only).await? {
            trials.entry(series.agent.clone()).or_default().push(trial(&config, series, one.window));
        }
        first.get_or_insert(config);
    }
    let Some(config) = first else {
        return Err(ServiceError::Conflict(format!("experiment {} has no jobs", row.id)));
    };
    let interim = interim(manifest, jobs);
    let declared = Declared {
        compare: manifest.compare.clone(),
        agents: manifest.agents.iter().map(|planned| AgentName::new(&planned.name)).collect(),
    };
    let mut items = Vec::new();
    for planned in &manifest.agents {
        let agent = AgentName::new(&planned.name);
        let Some(trials) = trials.remove(&agent) else { continue };
        let id = format!("experiment:{}/{agent}", row.id);
        items.push(Item {
            interim: interim.clone(),
            experiment: Some(row.id.to_string()),
            declared: Some(declared.clone()),
            ..item(id, &agent, &config, trials)
        });
    }
    if items.is_empty() { Err(no_agent(only, &format!("experiment {}", row.id))) } else { Ok(items) }
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
            && windows.iter().all(|window| window.number != trial.window)
        {
            let (number, days) = (trial.window, planned.len());
            windows.push(PlannedWindow { number, first: *first, last: *last, days });
        }
    }
    let span = windows.iter().map(|one| one.first).min().zip(windows.iter().map(|one| one.last).max());
    Item {
        id,
        label: agent.to_string(),
        kind: Kind::Agent,
        agent: Some(agent.clone()),
        is_llm: of.map(|agent| agent.models().iter().any(|model| !model.is_house())),
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

fn trial(config: &SimulationConfig, series: AgentSeries, window: u32) -> Trial {
    let values: Vec<(Date, f64)> = series.days.iter().map(|day| (day.date, day.value.to_f64())).collect();
    let actual = returns(series.initial, &values);
    let refilled = match &series.refilled {
        RefilledValues::Same => Ok(actual.clone()),
        RefilledValues::Values(values) => {
            let values: Vec<(Date, f64)> =
                values.iter().map(|(date, value)| (*date, value.to_f64())).collect();
            Ok(returns(series.initial, &values))
        }
        RefilledValues::Unavailable(why) => Err(why.clone()),
    };
    let unpriced: u64 = series.days.iter().map(|day| day.unpriced).sum();
    let costs: Vec<f64> = series.days.iter().map(|day| Money(day.cost).to_f64()).collect();
    let is_free = unpriced == 0 && series.days.iter().all(|day| day.cost.is_zero());
    let net = if is_free {
        Ok(actual.clone())
    } else {
        match is_in_usd(config, series.dataset.as_deref()) {
            None => Err(NoNet::NoDataset),
            Some(false) => Err(NoNet::OtherCurrency),
            Some(true) if unpriced > 0 => Err(NoNet::Unpriced(unpriced)),
            Some(true) => Ok(returns(series.initial, &net_of_cost(&values, &costs))),
        }
    };
    Trial {
        window,
        refilled,
        net,
        fallback: series.days.iter().filter(|day| !day.is_full).map(|day| day.date).collect(),
        cost: (unpriced == 0).then(|| series.days.iter().map(|day| day.cost).sum()),
        actual,
        series: Some(series),
    }
}

/// The books have finite values in date order. An account without a starting value has no returns.
fn returns(initial: Money, values: &[(Date, f64)]) -> ReturnSeries {
    ReturnSeries::from_values(initial.to_f64(), values).unwrap_or_default()
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

/// A trial without orders of an agent and without cost.
fn plain_trial(window: u32, actual: ReturnSeries) -> Trial {
    Trial {
        window,
        refilled: Ok(actual.clone()),
        net: Ok(actual.clone()),
        actual,
        fallback: BTreeSet::new(),
        cost: Some(Decimal::ZERO),
        series: None,
    }
}

/// The trial of each window with the most closed days.
fn longest(reference: &Item) -> Vec<(u32, &AgentSeries)> {
    let longest = |window: &PlannedWindow| {
        let of = reference.trials.iter().filter(|trial| trial.window == window.number);
        let longest = of.filter_map(|trial| trial.series.as_ref()).max_by_key(|series| series.days.len())?;
        Some((window.number, longest)).filter(|(_, series)| !series.days.is_empty())
    };
    reference.windows.iter().filter_map(longest).collect()
}

async fn baseline_item(
    app: &App,
    configs: &mut Configs,
    reference: &Item,
    baseline: Baseline,
) -> Result<Item, ServiceError> {
    let mut trials = Vec::new();
    for (window, series) in longest(reference) {
        let config = config(app, configs, &series.job).await?;
        let dataset = series.dataset.clone().ok_or_else(no_dataset)?;
        let dates = series.days.iter().map(|day| day.date).collect();
        let mut cache = BaselineCache::default();
        let found = cache.of(dataset, (&series.job, &config), series.initial, dates).await?;
        let Some(both) = found else { continue };
        let found = match baseline {
            Baseline::BuyAndHold => both.buy_and_hold,
            Baseline::EqualWeight => both.equal_weight,
        };
        let values: Vec<(Date, f64)> =
            found.daily_portfolio_values.iter().map(|day| (day.date, day.portfolio_value.to_f64())).collect();
        trials.push(plain_trial(window, returns(series.initial, &values)));
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
        if dataset.instrument(symbol).is_none() {
            let message = crate::view::unknown_benchmark(&dataset, symbol);
            return Err(ServiceError::invalid("select", message));
        }
        let dates: Vec<Date> = series.days.iter().map(|day| day.date).collect();
        let opens =
            dates.first().is_some_and(|first| opens_account(&config, Some(&*dataset), &series.agent, *first));
        let found = dataset
            .benchmark(symbol, &dates, opens)
            .map_err(|why| ServiceError::invalid("select", why.to_string()))?;
        let values: Vec<(Date, f64)> = dates.into_iter().zip(found.values).collect();
        let actual = ReturnSeries::from_values(1.0, &values).unwrap_or_default();
        trials.push(plain_trial(window, actual));
    }
    let (id, label) = (format!("symbol:{symbol}"), symbol.to_string());
    Ok(over_same_days(reference, id, label, Kind::Symbol, trials))
}

fn no_dataset() -> ServiceError {
    ServiceError::Conflict("the job's dataset is not available; import it again".to_owned())
}
