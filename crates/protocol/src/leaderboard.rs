//! Leaderboards: configurations ranked over runs that are comparable. `docs/leaderboard.md` has the rules.

use crate::compare::RankResponse;
use crate::compare::pair::{IntervalResponse, MeanResponse, SharpeResponse};
use crate::cutoff::TrainingCutoffResponse;
use crate::deployment::Deployment;
use crate::experiments::Spread;
use crate::number::Number;
use crate::results::point_in_time::PointInTimeReason;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The maximum number of boards in a response.
pub const MAX_BOARDS: u32 = 100;
/// The number of boards in a response by default.
pub const DEFAULT_BOARDS: u32 = 10;
/// The maximum number of configurations that a board evaluates: those with the newest runs.
pub const MAX_CONFIGURATIONS: usize = 40;
/// The maximum number of trials of a configuration that a board evaluates: the newest.
pub const MAX_TRIALS: usize = 10;
/// The maximum number of runs that a response evaluates. Boards beyond it have no entries.
pub const MAX_RUNS: usize = 400;

/// Which boards.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LeaderboardQuery {
    /// Only this board.
    pub board: Option<String>,
    /// Boards on this dataset, by name or content hash.
    #[param(example = "us-daily-2000-2013")]
    pub dataset: Option<String>,
    /// Boards of this market profile.
    #[param(example = "us-equity")]
    pub market: Option<String>,
    /// Boards with a run of this model or agent. Their other entries stay, because ranks depend on them.
    pub model: Option<String>,
    /// `true`: only list the boards, without entries.
    #[serde(default)]
    pub summary: bool,
    /// Max boards. Default: 10.
    #[param(minimum = 1, maximum = 100)]
    pub limit: Option<u32>,
}

/// Leaderboards, those with the newest runs first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LeaderboardResponse {
    /// The version of the method.
    pub method_version: u32,
    /// The number of boards in this response.
    pub count: usize,
    /// The number of boards that match.
    pub total: usize,
    /// Whether boards, or entries of boards, are missing.
    pub is_truncated: bool,
    /// The boards.
    pub boards: Vec<Board>,
    /// Runs that are on no board.
    pub excluded: ExcludedRuns,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// Completed runs that are on no board: they did not start fresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExcludedRuns {
    /// Branches: they share days with their parent.
    pub branches: usize,
    /// Runs that continue an account from before their first day.
    pub continued: usize,
    /// Runs that start with the memory of another job.
    pub with_memory: usize,
    /// Jobs whose config cannot be read.
    pub unreadable: usize,
}

/// Comparable runs: the same dataset, market, universe, costs, fill, mask and days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Board {
    /// Its ID, the hash of its conditions.
    pub board_id: String,
    /// The dataset's name.
    pub dataset: String,
    /// The dataset's content hash.
    pub dataset_hash: String,
    /// The market profile.
    pub market: String,
    /// The hash of its rules.
    pub market_hash: String,
    /// The symbols, or the index.
    pub universe: String,
    /// The hash of the symbols and the index.
    pub universe_hash: String,
    /// `with costs` or `frictionless`.
    pub costs: String,
    /// The hash of fees, slippage, financing and participation.
    pub costs_hash: String,
    /// The price at which orders fill.
    pub fill: String,
    /// What is masked; `null`: nothing.
    pub mask: Option<String>,
    /// The first planned day.
    pub start_date: Date,
    /// The last planned day.
    pub end_date: Date,
    /// Completed runs of agents.
    pub runs: usize,
    /// Different configurations among them.
    pub configurations: usize,
    /// When the newest run was requested; `null` if the record does not say.
    pub newest_run: Option<Timestamp>,
    /// The models of its configurations, house models included.
    pub models: Vec<String>,
    /// The number of entries that are ranked.
    pub ranked: usize,
    /// The number of tests whose p-values are adjusted together.
    pub tests: usize,
    /// Configurations that are left out: only those with the newest runs are evaluated.
    pub omitted_configurations: usize,
    /// The entries, ranked ones first; `null` if they were not requested, or the response has too many runs.
    pub entries: Option<Vec<LeaderboardEntry>>,
    /// Caveats.
    pub notes: Vec<String>,
}

/// A configuration on a board, or a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LeaderboardEntry {
    /// For display: the agent's name, with a part of the configuration's hash if the name occurs twice.
    pub label: String,
    /// `agent` or `baseline`.
    pub kind: String,
    /// The agent.
    pub agent: Option<String>,
    /// Its models.
    pub models: Vec<String>,
    /// `false`: a rule-based agent, not a language model. `null`: a baseline.
    pub is_llm: Option<bool>,
    /// The hash of the agent's settings and the board's conditions, without its seed.
    pub configuration: Option<String>,
    /// The jobs of its trials, newest first.
    pub job_ids: Vec<String>,
    /// The experiments of these jobs.
    pub experiment_ids: Vec<String>,
    /// Trials that are evaluated.
    pub trials: u32,
    /// Runs that are not trials: repeated days, repeated runs of rules, and trials beyond the newest.
    pub omitted_runs: usize,
    /// Closed days of a trial. If trials differ, the days that all closed.
    pub days: usize,
    /// The planned days.
    pub planned_days: usize,
    /// The ranks that it can have. Entries whose ranks overlap are not distinguishable. `null`: not ranked.
    pub rank: Option<RankResponse>,
    /// Why it is not ranked: `insolvent`, `interim`, `too_few_days`, `two_trials` or `only_entry`; `null` if it is.
    pub unranked: Option<String>,
    /// How it compares with the other ranked entries.
    pub against: AgainstOthers,
    /// The total return; of several trials, from the mean of their log returns.
    pub total_return: Option<f64>,
    /// The 95% interval of the total return, on days like these; `null` under 20 days, and for two trials.
    pub interval: Option<IntervalResponse>,
    /// The total returns of its trials.
    pub return_spread: Option<Spread>,
    /// Its log return per day, with its interval.
    pub mean: Option<MeanResponse>,
    /// The annualized return; `null` under 60 days.
    pub annualized_return: Option<f64>,
    /// The annualized Sharpe ratio with its interval, for a single run only.
    pub sharpe: Option<SharpeResponse>,
    /// Why there is no Sharpe ratio: `too_few_days`, `too_few_active_days`, `several_trials` or `insolvent`.
    pub sharpe_unavailable: Option<String>,
    /// The maximum drawdown; of several trials, the mean. It has no interval.
    pub max_drawdown: Option<f64>,
    /// The model cost in US dollars, per trial; `null` if the price of a call is unknown.
    pub model_cost_usd: Option<Number>,
    /// The total return net of model cost; of several trials, the mean.
    pub net_total_return: Option<f64>,
    /// The quality of its model-days; `null` for a baseline.
    pub quality: Option<EntryQuality>,
    /// `verified` where all days of all trials are point-in-time, else `unverified`; `null` for a baseline.
    pub point_in_time: Option<String>,
    /// Why the first unverified day of a trial is unverified.
    pub point_in_time_reason: Option<PointInTimeReason>,
    /// The program that the runs were imported from.
    pub imported_from: Option<String>,
    /// What is masked in its runs.
    pub mask: Option<String>,
    /// The day on which a trial lost everything.
    pub insolvent_on: Option<Date>,
    /// Why a trial is interim.
    pub interim: Option<String>,
    /// The training cut-offs of its language models, compared with its days.
    pub training_cutoffs: Vec<TrainingCutoffResponse>,
}

/// The verdicts of an entry's pairs with the other ranked entries, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgainstOthers {
    /// Entries that it is better than.
    pub better: usize,
    /// Entries that it is worse than.
    pub worse: usize,
    /// Entries that it is not distinguishable from, identical ones included.
    pub not_distinguishable: usize,
    /// Entries that it cannot be compared with: single runs with configurations of several trials, or too few days that
    /// differ.
    pub not_compared: usize,
}

/// The quality of the model-days of all trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EntryQuality {
    /// Closed model-days.
    pub model_days: usize,
    /// Days without full research, with those below.
    pub degraded_days: usize,
    /// The fraction of degraded days.
    pub degraded_share: Option<f64>,
    /// Days without a decision.
    pub no_decision_days: usize,
    /// The fraction of days without a decision.
    pub no_decision_share: Option<f64>,
    /// Days whose session failed.
    pub failed_days: usize,
}

impl EntryQuality {
    /// The sum of two, with its fractions.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let model_days = self.model_days + other.model_days;
        let share = |days: usize| (model_days > 0).then(|| days as f64 / model_days as f64);
        let degraded_days = self.degraded_days + other.degraded_days;
        let no_decision_days = self.no_decision_days + other.no_decision_days;
        Self {
            model_days,
            degraded_days,
            degraded_share: share(degraded_days),
            no_decision_days,
            no_decision_share: share(no_decision_days),
            failed_days: self.failed_days + other.failed_days,
        }
    }
}
