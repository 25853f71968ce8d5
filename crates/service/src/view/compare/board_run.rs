//! The runs of a leaderboard: where they belong, and what is known about each.

use super::conditions::{Ground, Settings, is_deterministic};
use super::input::ComparisonInput;
use super::items::{Item, Kind, PlannedWindow};
use crate::board_cache::{AgentKey, NotFresh, RunKey};
use papertape_core::id::{AgentName, JobId};
use papertape_core::time::Date;
use papertape_protocol::leaderboard::{Board, EntryQuality};
use papertape_protocol::results::point_in_time::PointInTimeReason;
use papertape_protocol::results::range::RangeResult;
use papertape_runtime::config::SimulationConfig;
use std::collections::BTreeSet;

/// Why an agent's run does not start fresh. `first`: the first planned day in the job's own books.
fn not_fresh(config: &SimulationConfig, agent: &AgentName, first: Date) -> Option<NotFresh> {
    if config.branch.is_some() {
        return Some(NotFresh::Branch);
    }
    if config.memory_from.is_some() {
        return Some(NotFresh::WithMemory);
    }
    // Days of this window that an earlier job completed are the run's own.
    config.continues.get(agent).is_some_and(|before| before.date < first).then_some(NotFresh::Continued)
}

/// Whether an agent's run starts fresh.
pub(crate) fn starts_fresh(config: &SimulationConfig, agent: &AgentName, first: Date) -> bool {
    not_fresh(config, agent, first).is_none()
}

/// Where the runs of a job belong. `first`: the first planned day in the job's own books; `days`: the real first and
/// last one.
pub(crate) fn run_key(config: &SimulationConfig, first: Date, days: (Date, Date)) -> Option<RunKey> {
    let ground = Ground::of(config, Some(days));
    let (mut agents, mut excluded) = (Vec::new(), Vec::new());
    for agent in &config.agents {
        if let Some(why) = not_fresh(config, &agent.name, first) {
            excluded.push(why);
            continue;
        }
        let settings = Settings::of(config, agent);
        agents.push(AgentKey {
            agent: agent.name.clone(),
            configuration: settings.fingerprint(&ground),
            models: settings.models(),
            is_deterministic: is_deterministic(agent),
        });
    }
    Some(RunKey { board: ground.board()?, agents, excluded })
}

/// What the record says about a run, besides its values.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunRecord {
    pub(crate) quality: EntryQuality,
    pub(crate) is_unverified: bool,
    pub(crate) unverified: Option<PointInTimeReason>,
    /// The sessions that its days are, by job and day.
    pub(crate) sessions: BTreeSet<(JobId, Date)>,
    pub(crate) imported_from: Option<String>,
}

impl RunRecord {
    /// Of an agent's results in a job.
    pub(crate) fn of(result: &RangeResult, config: &SimulationConfig) -> Self {
        let provenance = &result.provenance;
        let state = |state: &str| provenance.reasons.iter().filter(|day| day.state == state).count();
        let days = &result.daily_portfolio_values;
        let quality = EntryQuality {
            model_days: days.len(),
            degraded_days: provenance.degraded_days.len(),
            no_decision_days: state("no_decision"),
            failed_days: provenance.failed_days.len(),
            ..EntryQuality::default()
        };
        Self {
            quality,
            is_unverified: provenance.point_in_time.as_deref() != Some("verified"),
            unverified: provenance.point_in_time_reason.clone(),
            sessions: days.iter().map(|day| (JobId::new(&day.job_id), day.date)).collect(),
            imported_from: config.imported.as_ref().map(|imported| imported.format.clone()),
        }
    }
}

/// A completed run of one agent over one window.
pub(crate) struct BoardRun {
    pub(super) item: Item,
    pub(super) configuration: String,
    pub(super) record: RunRecord,
}

/// A baseline over the days of a board.
pub(crate) struct BoardBaseline(pub(super) Item);

impl BoardRun {
    /// `None` for a run that has no settings or no closed day.
    pub(super) fn new(item: Item, record: RunRecord) -> Option<Self> {
        let configuration = item.settings.as_ref()?.fingerprint(&item.ground);
        let has_days = item.trials.iter().any(|trial| !trial.actual.days().is_empty());
        has_days.then_some(Self { item, configuration, record })
    }

    /// The board that it belongs to, without entries.
    pub(crate) fn board(&self) -> Option<Board> {
        self.item.ground.board()
    }

    /// Its configuration.
    pub(crate) fn configuration(&self) -> &str {
        &self.configuration
    }

    /// Its models.
    pub(crate) fn models(&self) -> Vec<String> {
        self.item.settings.as_ref().map(Settings::models).unwrap_or_default()
    }

    /// Its job.
    pub(crate) fn job(&self) -> Option<&JobId> {
        self.item.jobs().first().copied()
    }

    /// Its agent.
    pub(crate) fn agent(&self) -> Option<&AgentName> {
        self.item.agent.as_ref()
    }
}

impl BoardBaseline {
    pub(super) fn new(item: Item) -> Option<Self> {
        let has_days = item.trials.iter().any(|trial| !trial.actual.days().is_empty());
        has_days.then_some(Self(item))
    }

    /// The board that it belongs to.
    pub(crate) fn board(&self) -> Option<Board> {
        self.0.ground.board()
    }
}

impl ComparisonInput {
    /// The single runs of its agents, with what `record` says about a job's agent, and the baselines by window. Runs
    /// without a record are left out.
    pub(crate) fn into_runs(
        self,
        record: impl Fn(&JobId, &AgentName) -> Option<RunRecord>,
    ) -> (Vec<BoardRun>, Vec<BoardBaseline>) {
        let (mut runs, mut baselines) = (Vec::new(), Vec::new());
        for item in self.items {
            let is_buy_and_hold = item.id == "baseline:buy_and_hold";
            for single in single_runs(item) {
                match single.kind {
                    Kind::Agent => {
                        let job = single.jobs().first().map(|job| (*job).clone());
                        let of = job.as_ref().zip(single.agent.as_ref());
                        let record = of.and_then(|(job, agent)| record(job, agent));
                        runs.extend(record.and_then(|record| BoardRun::new(single, record)));
                    }
                    Kind::Baseline if is_buy_and_hold => baselines.extend(BoardBaseline::new(single)),
                    Kind::Baseline | Kind::Symbol => {}
                }
            }
        }
        (runs, baselines)
    }
}

/// One item per trial, each over its own window.
fn single_runs(item: Item) -> Vec<Item> {
    let Item { trials, windows, .. } = item;
    let mut found = Vec::new();
    for mut trial in trials {
        let Some(window) = windows.iter().find(|window| window.number == trial.input.window) else {
            continue;
        };
        trial.input.window = 1;
        let mut ground = item.ground.clone();
        ground.conditions.days = Some((window.first, window.last));
        found.push(Item {
            id: item.id.clone(),
            label: item.agent.as_ref().map_or_else(|| item.label.clone(), ToString::to_string),
            kind: item.kind,
            agent: item.agent.clone(),
            is_llm: item.is_llm,
            models: item.models.clone(),
            training_cutoffs: item.training_cutoffs.clone(),
            experiment: item.experiment.clone(),
            declared: None,
            is_deterministic: item.is_deterministic,
            ground,
            settings: item.settings.clone(),
            windows: vec![PlannedWindow { number: 1, ..*window }],
            interim: item.interim.clone(),
            trading_days_per_year: item.trading_days_per_year,
            trials: vec![trial],
        });
    }
    found
}
