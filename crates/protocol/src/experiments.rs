//! Experiments: one configuration, run several times over the same days, over several windows of days, or both.

mod results;

pub use results::{AgentTrials, ExperimentResults, Spread, TrialResult, TrialSpread, WindowTrials};

use crate::deployment::Deployment;
use crate::fields::JsonObject;
use crate::number::{Number, number};
use crate::progress::Progress;
use crate::query::rows;
use crate::simulate::{LimitBody, TriggerBody};
use crate::usage::UsageSummary;
use papertape_core::budget::Limit;
use papertape_core::record::JobStatus;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// The maximum number of trials of an experiment.
pub const MAX_TRIALS: u32 = 100;
/// The maximum number of windows of an experiment.
pub const MAX_WINDOWS: u32 = 100;
/// The maximum number of jobs of an experiment.
pub const MAX_JOBS: u32 = 256;

/// An experiment: a simulation, the number of its trials, and its windows.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "simulation": { "start_date": "2012-01-03", "end_date": "2012-12-31", "models": ["openai::gpt-4o-mini"] },
    "trials": 3,
    "windows": { "count": 2, "days": 60 },
    "compare": "all_pairs"
}))]
pub struct ExperimentBody {
    /// The simulation that every job runs. It needs a `start_date`, and its `budget.job` is the limit of all jobs
    /// together.
    #[schema(value_type = TriggerBody)]
    pub simulation: JsonObject<TriggerBody>,
    /// How many times each agent runs each window, each time with another seed. Default: 1. Rule-based agents run once.
    #[schema(minimum = 1, maximum = 100)]
    pub trials: Option<u32>,
    /// Windows of trading days; absent: one window, from `start_date` to `end_date`.
    #[schema(value_type = Option<WindowsBody>)]
    pub windows: Option<JsonObject<WindowsBody>>,
    /// What will be compared: `all_pairs` of the agents (the default), or all agents against a baseline, which is an
    /// agent's name or `buy_and_hold`.
    pub compare: Option<String>,
    /// Arms that differ in what is masked: `none`, `dates`, `entities`, `all`. Every agent runs all trials of all windows
    /// in each. Absent: one arm, as in `simulation.masking`.
    #[schema(min_items = 2, max_items = 4)]
    pub masks: Option<Vec<String>>,
}

/// Windows of trading days: they do not overlap, and are evenly spaced from `start_date` to `end_date`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowsBody {
    /// The number of windows.
    #[schema(minimum = 1, maximum = 100)]
    pub count: u32,
    /// The trading days of each.
    #[schema(minimum = 1)]
    pub days: u32,
}

/// What an experiment plans. It never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Manifest {
    /// The version of this format.
    pub version: u32,
    /// What all jobs have in common: the configuration of a simulation without days, seed, start states and budget.
    #[schema(value_type = Object)]
    pub config: Value,
    /// blake3 of the canonical JSON of `config`, 64 hex digits. Experiments with the same hash differ only in their
    /// seeds and days.
    pub config_hash: String,
    /// The agents.
    pub agents: Vec<PlannedAgent>,
    /// The number of trials of the agents that run several times.
    pub trials: u32,
    /// The seed of each trial. The first is the configuration's own.
    pub seeds: Vec<u64>,
    /// The windows, oldest first.
    pub windows: Vec<Window>,
    /// The arms that differ in what is masked; absent: there is one arm. The job of window `w` in the arm `a`, both from
    /// 0, has the window number `a * windows + w + 1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masks: Vec<String>,
    /// The last trading day of the last window. Before it is done in all trials, a comparison is interim.
    pub planned_last_day: Date,
    /// The number of jobs: windows x trials, in each arm.
    pub planned_jobs: u32,
    /// What will be compared: `all_pairs`, an agent's name or `buy_and_hold`.
    pub compare: String,
    /// The limit of all jobs together, without summaries, as planned.
    pub budget: PlannedLimit,
}

impl Manifest {
    /// The window of a job, from 1, and its arm, from its window number.
    #[must_use]
    pub fn place_of(&self, number: u32) -> (u32, Option<&str>) {
        let windows = u32::try_from(self.windows.len()).unwrap_or(u32::MAX).max(1);
        let before = number.saturating_sub(1);
        let arm = usize::try_from(before / windows).ok().and_then(|at| self.masks.get(at));
        match arm {
            Some(arm) => (before % windows + 1, Some(arm)),
            None => (number, None),
        }
    }

    /// The arms: one without a name, unless the experiment varies the mask.
    #[must_use]
    pub fn arms(&self) -> Vec<Option<&str>> {
        if self.masks.is_empty() {
            vec![None]
        } else {
            self.masks.iter().map(|mask| Some(mask.as_str())).collect()
        }
    }
}

/// A limit on spending; `null`: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlannedLimit {
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// US dollars.
    pub usd: Option<Number>,
}

/// An agent of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlannedAgent {
    /// Its name: `model` elsewhere.
    pub name: String,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: bool,
    /// How many times it runs each window.
    pub trials: u32,
    /// What its trials differ in: `seed`, sent with every request; `chance`, if its provider takes no seed; or
    /// `nothing`, if it runs once.
    #[schema(value_type = String)]
    pub varies_by: VariesBy,
    /// Why it runs once, or why its trials differ only by chance.
    pub note: Option<String>,
}

/// What the trials of an agent differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariesBy {
    /// The seed in its requests.
    Seed,
    /// Chance: its provider takes no seed.
    Chance,
    /// Nothing: it runs once.
    Nothing,
}

/// A window of trading days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Window {
    /// Its first trading day.
    pub start_date: Date,
    /// Its last trading day.
    pub end_date: Date,
    /// The number of its trading days.
    pub days: u32,
}

/// Which experiments.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExperimentsQuery {
    /// Max experiments.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// An experiment in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExperimentSummary {
    /// The experiment.
    pub experiment_id: String,
    /// `running` while any job runs, else `queued` while any job waits; else `completed`, `cancelled` or `failed` if all
    /// jobs are, and `partial` otherwise.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Why it is interim: before all planned jobs have completed all planned days. `null`: it is complete.
    pub interim: Option<String>,
    /// Model-days of all jobs by status.
    pub progress: Progress,
    /// The number of planned jobs.
    pub planned_jobs: u32,
    /// The number of completed jobs.
    pub completed_jobs: u32,
    /// The agents.
    pub agents: Vec<String>,
    /// The number of trials.
    pub trials: u32,
    /// The number of windows.
    pub windows: u32,
    /// The first day of the first window.
    pub start_date: Date,
    /// The last trading day of the last window.
    pub planned_last_day: Date,
    /// Usage of all jobs, summaries included.
    pub usage: UsageSummary,
    /// When it was requested.
    pub created_at: Timestamp,
}

/// A page of experiments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExperimentsResponse {
    /// The experiments, newest first.
    pub experiments: Vec<ExperimentSummary>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One experiment, with its jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExperimentResponse {
    /// The experiment.
    pub experiment: ExperimentSummary,
    /// What is planned.
    pub manifest: Manifest,
    /// blake3 of the manifest's canonical JSON, 64 hex digits.
    pub manifest_hash: String,
    /// The limit of all jobs together now, without summaries. A resume can raise it.
    pub budget: PlannedLimit,
    /// Its jobs, by window and trial.
    pub jobs: Vec<ExperimentJobResponse>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A job of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExperimentJobResponse {
    /// The job.
    pub job_id: String,
    /// Its window, from 1.
    pub window: u32,
    /// Its arm: what is masked; absent if the experiment has one arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// Its trial, from 1.
    pub trial: u32,
    /// Its seed.
    pub seed: u64,
    /// Its status.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Why it stopped early.
    pub error: Option<String>,
    /// Its model-days by status.
    pub progress: Progress,
    /// Its usage, summaries included.
    pub usage: UsageSummary,
    /// When a worker first picked it up.
    pub started_at: Option<Timestamp>,
    /// When it stopped.
    pub completed_at: Option<Timestamp>,
}

/// A queued experiment.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct QueuedExperimentResponse {
    /// The experiment.
    pub experiment_id: String,
    /// `queued`.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Its jobs, by window and trial.
    pub jobs: Vec<String>,
    /// Trading days x agents of all jobs, the skipped ones included.
    pub total_model_days: usize,
    /// A human-readable message.
    pub message: String,
    /// Warnings.
    pub warnings: Vec<String>,
    /// What is planned.
    pub manifest: Manifest,
    /// What it may take.
    pub estimate: Estimate,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// What an experiment would be and may take. Nothing is queued.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EstimateResponse {
    /// What would be planned.
    pub manifest: Manifest,
    /// What it may take.
    pub estimate: Estimate,
    /// Warnings.
    pub warnings: Vec<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// What the model-days that are not completed yet may take. All numbers are estimates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Estimate {
    /// By agent.
    pub agents: Vec<AgentEstimate>,
    /// Jobs.
    pub jobs: u32,
    /// Model-days to run.
    pub model_days: u64,
    /// Calls of language models.
    pub calls: u64,
    /// Their input tokens.
    pub input_tokens: u64,
    /// Their output tokens.
    pub output_tokens: u64,
    /// US dollars; `null` if the price of any model is unknown.
    pub cost_usd: Option<Number>,
    /// Whether the estimate exceeds the budget.
    pub exceeds_budget: bool,
}

/// What an agent may take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentEstimate {
    /// The agent.
    pub model: String,
    /// Model-days to run, in all trials and windows.
    pub model_days: u64,
    /// Model-days that earlier jobs completed with the same configuration and seed. They take nothing.
    pub skipped_days: u64,
    /// Calls of language models.
    pub calls: u64,
    /// Their input tokens.
    pub input_tokens: u64,
    /// Their output tokens.
    pub output_tokens: u64,
    /// US dollars; `null` if the price of a model is unknown.
    pub cost_usd: Option<Number>,
    /// What the estimate rests on: `record`, earlier days of the same agent; `assumption`; or `rules`, for an agent that
    /// calls no language model.
    #[schema(value_type = String)]
    pub basis: EstimateBasis,
    /// The same in words, with the numbers per day.
    pub explanation: String,
}

/// What an estimate rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimateBasis {
    /// Earlier days of the same agent.
    Record,
    /// An assumption for agents of its kind.
    Assumption,
    /// The agent calls no language model.
    Rules,
}

/// The new status of an experiment.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChangedExperimentResponse {
    /// The experiment.
    pub experiment_id: String,
    /// Its status now.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// The number of jobs that the request changed.
    pub jobs: usize,
    /// A human-readable message.
    pub message: String,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// Changes before the jobs resume. Optional.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "budget": { "tokens": 5_000_000 } }))]
pub struct ResumeExperimentBody {
    /// The new limit of all jobs together, without summaries. An absent unit keeps its limit.
    #[schema(value_type = Option<LimitBody>)]
    pub budget: Option<JsonObject<LimitBody>>,
}

impl From<Limit> for PlannedLimit {
    fn from(limit: Limit) -> Self {
        Self { tokens: limit.tokens, usd: limit.usd.map(number) }
    }
}
