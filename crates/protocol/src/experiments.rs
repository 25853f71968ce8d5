//! Experiments: one configuration, run several times over the same days, over several windows of days, or both.

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
    /// The last trading day of the last window. Before it is done in all trials, a comparison is interim.
    pub planned_last_day: Date,
    /// The number of jobs: windows x trials.
    pub planned_jobs: u32,
    /// What will be compared: `all_pairs`, an agent's name or `buy_and_hold`.
    pub compare: String,
    /// The limit of all jobs together, without summaries, as planned.
    pub budget: PlannedLimit,
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

/// The results of an experiment: every trial, and the mean and the spread of the trials of each window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExperimentResults {
    /// The experiment.
    pub experiment_id: String,
    /// Why it is interim; `null`: it is complete.
    pub interim: Option<String>,
    /// By agent, as planned.
    pub agents: Vec<AgentTrials>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The results of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentTrials {
    /// The agent, and what its trials differ in.
    pub agent: PlannedAgent,
    /// By window, oldest first.
    pub windows: Vec<WindowTrials>,
}

/// The trials of an agent in a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WindowTrials {
    /// The window, from 1.
    pub number: u32,
    /// Its days.
    pub window: Window,
    /// The total return of buying and holding over the window; `null` until a trial has completed it.
    pub buy_and_hold: Option<f64>,
    /// Every planned trial that has a job.
    pub trials: Vec<TrialResult>,
    /// Mean and spread of the trials that have completed the window.
    pub spread: TrialSpread,
}

/// The result of one trial. Metrics are `null` before its first completed day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrialResult {
    /// The trial, from 1.
    pub trial: u32,
    /// Its seed.
    pub seed: u64,
    /// Its job.
    pub job_id: String,
    /// The status of the job.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Whether all days of the window are closed. Only such trials count in `spread`.
    pub is_complete: bool,
    /// Closed trading days.
    pub days: u32,
    /// Of these, days that failed.
    pub failed_days: u32,
    /// Of these, days without full research, the failed ones included.
    pub degraded_days: u32,
    /// The portfolio value at the last close.
    pub ending_portfolio_value: Option<Number>,
    /// `last / initial - 1`.
    pub total_return: Option<f64>,
    /// The mean of `ln(1 + r)` over the days.
    pub mean_daily_log_return: Option<f64>,
    /// The sample deviation of the daily returns, not annualized.
    pub daily_deviation: Option<f64>,
    /// The largest decline from a peak, at or below zero.
    pub max_drawdown: Option<f64>,
    /// The annualized return; `null` under 60 days.
    pub annualized_return: Option<f64>,
    /// The annualized Sharpe ratio, risk-free rate 0; `null` under 60 days.
    pub sharpe: Option<f64>,
    /// The first day on which the account was insolvent; `null`: never.
    pub insolvent_on: Option<Date>,
    /// Cost of the agent's calls in this job, summaries included, in US dollars; `null` if a price is unknown.
    pub cost_usd: Option<Number>,
}

/// Mean and spread of completed trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrialSpread {
    /// The number of trials that have completed the window.
    pub trials: u32,
    /// Of the total return.
    pub total_return: Option<Spread>,
    /// Of the mean daily log return.
    pub mean_daily_log_return: Option<Spread>,
    /// Of the maximum drawdown.
    pub max_drawdown: Option<Spread>,
    /// Of the Sharpe ratio; `null` under 60 days.
    pub sharpe: Option<Spread>,
}

/// Mean and spread of a number over trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Spread {
    /// The number of trials in which it is defined.
    pub n: u32,
    /// Their mean.
    pub mean: f64,
    /// Their sample deviation (ddof 1); `null` for one trial.
    pub deviation: Option<f64>,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl From<Limit> for PlannedLimit {
    fn from(limit: Limit) -> Self {
        Self { tokens: limit.tokens, usd: limit.usd.map(number) }
    }
}

impl Spread {
    /// Of these numbers; `None` if there are none.
    #[must_use]
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let numbers: Vec<f64> = numbers.into_iter().collect();
        let n = u32::try_from(numbers.len()).ok().filter(|n| *n > 0)?;
        let mean = numbers.iter().sum::<f64>() / f64::from(n);
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        Some(Self {
            n,
            mean,
            deviation: (n > 1).then(|| (squares / f64::from(n - 1)).sqrt()),
            min: numbers.iter().copied().fold(f64::INFINITY, f64::min),
            max: numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    /// Goal: the deviation is the sample's (ddof 1), and one trial has none.
    #[test]
    fn a_spread_is_the_samples() {
        let spread = Spread::of([0.01, 0.03, 0.02]).expect("numbers");
        assert_eq!(
            (spread.n, spread.min.to_bits(), spread.max.to_bits()),
            (3, 0.01_f64.to_bits(), 0.03_f64.to_bits())
        );
        assert!(
            (spread.mean - 0.02).abs() < 1e-15 && (spread.deviation.expect("three") - 0.01).abs() < 1e-15
        );
        assert_eq!(Spread::of([0.5]).expect("one").deviation, None);
        assert_eq!(Spread::of([]), None);
    }
}
