//! A comparison of runs: differences, intervals and verdicts. The method is in `docs/method.md`.

pub mod branch;
pub mod pair;
pub mod random;

use crate::cutoff::TrainingCutoffResponse;
use crate::deployment::Deployment;
use crate::number::Number;
use branch::BranchComparison;
use pair::{ComparedPair, IntervalResponse, MeanResponse, SharpeResponse};
use papertape_core::time::Date;
use random::RandomBaselineResponse;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The maximum number of compared items.
pub const MAX_ITEMS: usize = 12;

/// What is compared.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// What to compare, separated by commas: `job:ID` or `experiment:ID` (all agents), either with `/AGENT` for one
    /// agent, `latest`, `baseline:buy_and_hold`, `baseline:equal_weight`, `baseline:random`, or `symbol:AAPL`. 2 to 12
    /// items.
    #[param(example = "latest,baseline:buy_and_hold")]
    pub select: String,
    /// The item that all others are compared with: one of `select`, or an agent's name. Absent: the family that the
    /// experiment declares, else all pairs.
    pub against: Option<String>,
    /// What the experiment varies, separated by commas: `mask`, `model`, `costs`, `prompt`. With `model` or `prompt`,
    /// agents may not differ in anything else.
    pub vary: Option<String>,
    /// The difference per year, in points, that `days_needed` is about. Default: 10.
    pub points: Option<f64>,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CompareResponse {
    /// The version of the method, which is part of every seed.
    pub method_version: u32,
    /// The family of tests.
    pub family: FamilyResponse,
    /// What the experiment varies.
    pub vary: Vec<String>,
    /// The difference per year, in points, that `days_needed` is about.
    pub target_points: f64,
    /// What is compared.
    pub items: Vec<ComparedItem>,
    /// One entry per test of the family.
    pub pairs: Vec<ComparedPair>,
    /// Whether any item is better than the one that all are compared with (SPA). A secondary statistic, never a
    /// verdict.
    pub any_better: Option<SpaResponse>,
    /// Tests against random timing and choice, if `baseline:random` was selected: one entry per agent.
    pub random: Vec<RandomBaselineResponse>,
    /// If one of two agents is a branch of the other: their first difference.
    pub branch: Option<BranchComparison>,
    /// Caveats.
    pub notes: Vec<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The family of tests whose p-values are adjusted together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FamilyResponse {
    /// `all_pairs`, or `against`: all items against one.
    pub kind: String,
    /// The item of `against`.
    pub against: Option<String>,
    /// The number of tests.
    pub tests: usize,
    /// `holm`.
    pub adjustment: String,
    /// The level of the family.
    pub level: f64,
    /// The experiment that declared the family before it ran. `null`: the family was chosen with this request.
    pub declared_by: Option<String>,
}

/// An item of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedItem {
    /// Its selection, such as `job:ID/AGENT`. Pairs name items by it.
    pub id: String,
    /// For display: the agent's name, with the job if it occurs twice.
    pub label: String,
    /// `agent`, `baseline` or `symbol`.
    pub kind: String,
    /// The agent.
    pub agent: Option<String>,
    /// `false`: a rule-based agent, not a language model.
    pub is_llm: Option<bool>,
    /// The training cut-offs of its language models, compared with its days.
    pub training_cutoffs: Vec<TrainingCutoffResponse>,
    /// The experiment that its trials are of.
    pub experiment_id: Option<String>,
    /// What is masked in its runs; absent: nothing, or it is not an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// The jobs of its trials.
    pub job_ids: Vec<String>,
    /// Trials per window.
    pub trials: u32,
    /// Windows of days.
    pub windows: u32,
    /// Closed trading days of a trial, over all windows. If trials differ, the smallest number.
    pub days: usize,
    /// The planned days.
    pub planned_days: usize,
    /// Why it is interim; `null`: it has reached its planned end.
    pub interim: Option<String>,
    /// The first day.
    pub start_date: Option<Date>,
    /// The last closed day.
    pub end_date: Option<Date>,
    /// The day on which a trial lost everything.
    pub insolvent_on: Option<Date>,
    /// The total return over its days; for several trials, the mean. `null` for several windows.
    pub total_return: Option<f64>,
    /// Its own log return per day, with its interval.
    pub mean: Option<MeanResponse>,
    /// The annualized Sharpe ratio with its interval, for a single run only.
    pub sharpe: Option<SharpeResponse>,
    /// Why there is no Sharpe ratio: `too_few_days`, `too_few_active_days`, `several_trials` or `insolvent`.
    pub sharpe_unavailable: Option<String>,
    /// Secondary statistics; `null` under 60 days and for several trials.
    pub secondary: Option<SecondaryFigures>,
    /// The maximum drawdown; for several trials, the mean.
    pub max_drawdown: Option<f64>,
    /// The drawdowns of the same days in another order, 5% to 95%: a reorder band, not a confidence interval. `null`
    /// under 60 days and for several trials.
    pub reorder_band: Option<IntervalResponse>,
    /// Days with full research in all trials.
    pub full_research_days: usize,
    /// The other days.
    pub fallback_days: usize,
    /// The sum of log returns on days without full research; for several trials, the mean.
    pub fallback_log_return: f64,
    /// The model cost in US dollars, per trial; `null` if the price of a call is unknown.
    pub model_cost_usd: Option<Number>,
    /// The total return net of model cost. It depends on the size of the account. `null` if the account is not in US
    /// dollars, or the cost is unknown.
    pub net_total_return: Option<f64>,
    /// The ranks that it can have, in a family of all pairs.
    pub rank: Option<RankResponse>,
    /// The cumulative log return at each close; for several trials, the mean.
    pub curve: Vec<CurvePoint>,
}

/// The ranks that an item can have, 1 the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RankResponse {
    /// The best of them.
    pub best: usize,
    /// The worst of them.
    pub worst: usize,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CurvePoint {
    /// The trading day.
    pub date: Date,
    /// The log return since the start.
    pub log_return: f64,
}

/// Secondary statistics of a Sharpe ratio, never a verdict. They assume independent days.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SecondaryFigures {
    /// The Sharpe ratio per day, ddof 1.
    pub daily_sharpe: f64,
    /// PSR: the probability that the true Sharpe ratio is above zero. It passes 0.95 for 8 to 9% of worthless agents
    /// whose returns have an autocorrelation of 0.2.
    pub probabilistic_sharpe: Option<f64>,
    /// MinTRL: the number of days after which this Sharpe ratio would reach a PSR of 0.95; `null` if it is not above
    /// zero.
    pub min_track_record_days: Option<f64>,
    /// DSR: the PSR over what the best of all configurations that ran on these days would reach by chance; `null` for a
    /// single configuration.
    pub deflated_sharpe: Option<f64>,
    /// The daily Sharpe ratio that DSR uses as its benchmark.
    pub expected_max_sharpe: Option<f64>,
    /// The number of distinct configurations in this database that ran on these days. At least this many were tried.
    pub configurations: usize,
}

/// SPA: is any item better than the one that all are compared with?
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SpaResponse {
    /// `T`.
    pub statistic: f64,
    /// The consistent p-value.
    pub p_value: f64,
    /// The lower p-value.
    pub p_lower: f64,
    /// The upper p-value.
    pub p_upper: f64,
    /// The number of items.
    pub items: usize,
    /// Shared days.
    pub days: usize,
}
