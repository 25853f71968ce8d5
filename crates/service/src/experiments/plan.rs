//! Resolves a request into jobs and a manifest.

use super::seeds::seeds;
use super::windows::windows;
use super::{ExperimentRequest, MANIFEST_VERSION, mask_name};
use crate::app::App;
use crate::error::ServiceError;
use crate::trigger::{PreparedJob, Request, prepare, resolve_agents, trading_dates};
use papertape_agents::config::AgentConfig;
use papertape_core::budget::Limit;
use papertape_core::json;
use papertape_core::market::MaskKind;
use papertape_core::time::Date;
use papertape_protocol::experiments::{
    MAX_JOBS, MAX_TRIALS, MAX_WINDOWS, Manifest, PlannedAgent, VariesBy, Window,
};
use papertape_runtime::config::SimulationConfig;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the baseline in `compare`.
const BUY_AND_HOLD: &str = "buy_and_hold";
/// All pairs of agents, in `compare`.
const ALL_PAIRS: &str = "all_pairs";

/// An experiment, ready to be queued.
pub(super) struct Prepared {
    pub(super) manifest: Manifest,
    pub(super) limit: Limit,
    pub(super) jobs: Vec<PlannedJob>,
    /// The agents of the first trial, which has all of them.
    pub(super) agents: Vec<AgentConfig>,
    pub(super) warnings: Vec<String>,
}

/// A job of an experiment.
pub(super) struct PlannedJob {
    pub(super) window: u32,
    pub(super) trial: u32,
    pub(super) job: PreparedJob,
}

/// How an agent's trials differ.
struct Trials {
    agent: AgentConfig,
    planned: PlannedAgent,
    takes_seed: bool,
}

pub(super) async fn plan(app: &App, request: &ExperimentRequest) -> Result<Prepared, ServiceError> {
    let simulation = &request.simulation;
    if simulation.profile {
        return Err(ServiceError::invalid("simulation", "a profile is not an experiment"));
    }
    let Some(start) = simulation.start_date else {
        let message =
            "an experiment needs a start_date: every trial starts with a new account on the same day";
        return Err(ServiceError::invalid("start_date", message));
    };
    in_range("trials", request.trials, MAX_TRIALS)?;
    let agents = resolve_agents(app, simulation)?;
    let all: Vec<Trials> = agents.iter().map(|agent| trials_of(app, agent, request.trials)).collect();
    let trials = all.iter().map(|one| one.planned.trials).max().unwrap_or(1);
    let compare = compare(request.compare.as_deref(), &agents)?;
    let windows = match request.windows {
        Some(plan) => {
            in_range("windows", plan.count, MAX_WINDOWS)?;
            let dates = trading_dates(app, simulation)?;
            windows(&dates, plan.count, plan.days)
                .map_err(|message| ServiceError::invalid("windows", message))?
        }
        None => Vec::new(),
    };
    let arms = arms(request)?;
    let of_arm = u32::try_from(windows.len()).unwrap_or(u32::MAX).max(1);
    let count = of_arm.saturating_mul(trials).saturating_mul(u32::try_from(arms.len()).unwrap_or(u32::MAX));
    if count > MAX_JOBS {
        let message = format!("{count} jobs (windows x trials x masks) are more than {MAX_JOBS}");
        return Err(ServiceError::invalid("trials", message));
    }
    let seeds = seeds(simulation.seed.unwrap_or_default(), trials);
    let spans: Vec<(Date, Option<Date>)> = match windows.as_slice() {
        [] => vec![(start, simulation.end_date)],
        windows => windows.iter().map(|window| (window.start_date, Some(window.end_date))).collect(),
    };
    let mut jobs = Vec::new();
    let mut cells = Vec::new();
    for mask in arms {
        cells.extend(spans.iter().map(|span| (mask, *span)));
    }
    for (window, (mask, (start_date, end_date))) in (1..).zip(&cells) {
        for (trial, seed) in (1..).zip(&seeds) {
            let agents = all.iter().filter(|one| one.planned.trials >= trial);
            let request = Request {
                start_date: Some(*start_date),
                end_date: *end_date,
                models: Vec::new(),
                agents: agents.map(|one| one.configured(trial, *seed)).collect(),
                seed: Some(*seed),
                masking: *mask,
                ..simulation.clone()
            };
            jobs.push(PlannedJob { window, trial, job: prepare(app, &request).await? });
        }
    }
    let Some(first) = jobs.first() else { return Err(anyhow::anyhow!("an experiment without jobs").into()) };
    let windows = if windows.is_empty() { vec![whole_range(&first.job)?] } else { windows };
    let limit = first.job.config.budget.job;
    let common = common(&first.job.config);
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        config_hash: json::hash(&common).to_hex(),
        config: common,
        agents: all.iter().map(|one| one.planned.clone()).collect(),
        trials,
        seeds,
        masks: request.masks.iter().map(|mask| mask_name(*mask)).collect(),
        planned_last_day: windows.last().map_or(start, |window| window.end_date),
        windows,
        planned_jobs: count,
        compare,
        budget: limit.into(),
    };
    let mut warnings: Vec<String> = all
        .iter()
        .filter(|_| request.trials > 1)
        .filter_map(|one| Some(format!("{}: {}", one.planned.name, one.planned.note.as_ref()?)))
        .collect();
    warnings.extend(job_warnings(&jobs));
    for one in &mut jobs {
        // The limit is the experiment's: all jobs share it.
        one.job.config.budget.job = Limit::default();
    }
    Ok(Prepared { manifest, limit, jobs, agents, warnings })
}

/// The masks of the arms.
fn arms(request: &ExperimentRequest) -> Result<Vec<Option<MaskKind>>, ServiceError> {
    if request.masks.is_empty() {
        return Ok(vec![request.simulation.masking]);
    }
    let distinct: BTreeSet<_> = request.masks.iter().collect();
    if distinct.len() < 2 || distinct.len() < request.masks.len() {
        return Err(ServiceError::invalid("masks", "name two or more different masks"));
    }
    if request.simulation.masking.is_some() {
        return Err(ServiceError::invalid("masks", "not allowed together with `masking`, which is one mask"));
    }
    Ok(request.masks.clone())
}

fn in_range(field: &'static str, value: u32, max: u32) -> Result<(), ServiceError> {
    match (1..=max).contains(&value) {
        true => Ok(()),
        false => Err(ServiceError::invalid(field, format!("{value} is out of range; expected 1 to {max}"))),
    }
}

impl Trials {
    /// The agent's configuration in a trial. The first trial is the configuration as it is.
    fn configured(&self, trial: u32, seed: u64) -> AgentConfig {
        let mut agent = self.agent.clone();
        if trial > 1 && self.takes_seed {
            agent.sampling.seed = Some(seed);
        }
        agent
    }
}

fn trials_of(app: &App, agent: &AgentConfig, trials: u32) -> Trials {
    let models = agent.models();
    let llms: Vec<_> = models.iter().filter(|model| !model.is_house()).collect();
    let without: Vec<String> = llms
        .iter()
        .filter(|model| !app.gateway.takes_seed(model))
        .map(|model| format!("`{model}`"))
        .collect();
    let (trials, varies_by, note) = if agent.external.is_some() {
        let note = "trials differ only by what the external agent does by itself: it gets no seed";
        (trials, VariesBy::Chance, (trials > 1).then(|| note.to_owned()))
    } else if llms.is_empty() && agent.tools.is_empty() {
        let note = "runs once: it is rule-based, so every trial would be the same";
        (1, VariesBy::Nothing, (trials > 1).then(|| note.to_owned()))
    } else if trials == 1 {
        (1, VariesBy::Nothing, None)
    } else if llms.is_empty() {
        let note = "trials differ only by what its external tools return: its models are rule-based";
        (trials, VariesBy::Chance, Some(note.to_owned()))
    } else if without.is_empty() {
        (trials, VariesBy::Seed, None)
    } else {
        let note =
            format!("trials differ only by chance: the provider of {} takes no seed", without.join(", "));
        (trials, VariesBy::Chance, Some(note))
    };
    let planned = PlannedAgent {
        name: agent.name.to_string(),
        is_llm: !agent.is_rule_based(),
        trials,
        varies_by,
        note,
    };
    let takes_seed = agent.external.is_none() && llms.len() > without.len();
    Trials { agent: agent.clone(), planned, takes_seed }
}

fn compare(requested: Option<&str>, agents: &[AgentConfig]) -> Result<String, ServiceError> {
    let name = requested.unwrap_or(ALL_PAIRS);
    if [ALL_PAIRS, BUY_AND_HOLD].contains(&name) || agents.iter().any(|agent| agent.name.as_str() == name) {
        return Ok(name.to_owned());
    }
    let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
    let message = format!(
        "unknown baseline `{}`; expected {ALL_PAIRS}, {BUY_AND_HOLD} or one of {}",
        name.escape_default(),
        names.join(", ")
    );
    Err(ServiceError::invalid("compare", message))
}

/// The only window of an experiment without `windows`: the days of its jobs.
fn whole_range(job: &PreparedJob) -> Result<Window, ServiceError> {
    let real = |date| job.config.translation().map_or(date, |masking| masking.real_date(date));
    let mut dates: Vec<_> = job.days.iter().map(|day| real(day.date)).collect();
    dates.sort_unstable();
    dates.dedup();
    let days = u32::try_from(dates.len()).unwrap_or(u32::MAX);
    match (dates.first(), dates.last()) {
        (Some(start_date), Some(end_date)) => {
            Ok(Window { start_date: *start_date, end_date: *end_date, days })
        }
        _ => Err(ServiceError::invalid("end_date", "the range has no trading day")),
    }
}

/// What the jobs have in common.
fn common(config: &SimulationConfig) -> Value {
    let mut common = json::to_value(config);
    if let Some(fields) = common.as_object_mut() {
        for field in ["start_date", "end_date", "seed", "starts", "continues", "budget", "benchmark"] {
            fields.remove(field);
        }
    }
    common
}

/// The warnings of the jobs: each once, with the jobs that it applies to, unless it applies to all.
fn job_warnings(jobs: &[PlannedJob]) -> Vec<String> {
    let mut about: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in jobs {
        for warning in &one.job.warnings {
            about.entry(warning).or_default().push(format!("window {}, trial {}", one.window, one.trial));
        }
    }
    let text = |(warning, about): (&str, Vec<String>)| match about.as_slice() {
        about if about.len() == jobs.len() => warning.to_owned(),
        [only] => format!("{only}: {warning}"),
        several => format!("{} of {} jobs: {warning}", several.len(), jobs.len()),
    };
    about.into_iter().map(text).collect()
}
