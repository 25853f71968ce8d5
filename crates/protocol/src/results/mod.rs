//! Results of a day or a range.

pub mod account;
pub mod baseline;
pub mod benchmark;
pub mod conventions;
pub mod day;
pub mod head;
pub mod history;
pub mod metrics;
pub mod point_in_time;
pub mod provenance;
pub mod range;
pub mod recorded;
pub mod refill;

use crate::deployment::Deployment;
use crate::fields::maybe_day;
use crate::results::baseline::SharedBaselines;
use crate::results::day::DayResult;
use crate::results::range::RangeResult;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which results.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ResultsQuery {
    /// A single day; not together with a range.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    pub date: Option<Date>,
    /// The first day of a range; absent: the first available day.
    #[serde(default, deserialize_with = "maybe_day")]
    pub start_date: Option<Date>,
    /// The last day of a range, included; absent: the last available day.
    #[serde(default, deserialize_with = "maybe_day")]
    pub end_date: Option<Date>,
    /// Only this agent; absent: all agents.
    pub model: Option<String>,
    /// Only this job, finished or not; absent: for each agent, the newest completed job that no other job has
    /// replaced.
    pub job_id: Option<String>,
    /// The symbol or index of the job's dataset to compare a range with; absent: the job's own benchmark. Not together
    /// with `date`.
    #[param(example = "AAPL")]
    pub benchmark: Option<String>,
    /// Where the baselines of a range are: in `each` result (the default), or `shared`, once. Not together with `date`.
    #[serde(default)]
    #[param(inline)]
    pub baselines: BaselinePlace,
    /// Which days the results of a range list in `daily_portfolio_values`: `all`, at most 100 of each (`sparse`), or
    /// `none`. Without all of them, `history.rolling_sharpe` is empty, and the response of a long run is much shorter. Not
    /// together with `date`.
    #[serde(default)]
    #[param(inline)]
    pub daily: DailyLevel,
    /// How much of the conversations to include.
    #[serde(default)]
    #[param(inline, default = "none")]
    pub reasoning: ReasoningLevel,
}

/// Where the baselines of a range are. Agents of a job with the same start and days have the same ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaselinePlace {
    /// In each result.
    #[default]
    Each,
    /// Once, in `shared_baselines`. `baselines` of each result is then `null`.
    Shared,
}

/// Which days the results of a range list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DailyLevel {
    /// Every day.
    #[default]
    All,
    /// At most [`SPARSE_DAYS`], evenly spaced, with the first and the last.
    Sparse,
    /// None.
    None,
}

/// The maximum number of days in sparse results: enough for a small chart.
pub const SPARSE_DAYS: usize = 100;

/// How much of the transcript to include.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningLevel {
    /// Nothing.
    #[default]
    None,
    /// The sessions' summaries.
    Summary,
    /// Every message.
    Full,
}

/// Results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ResultsResponse {
    /// Of one day.
    Day(DayResults),
    /// Of a range.
    Range(RangeResults),
}

/// The results of one day, one entry per model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DayResults {
    /// The trading day.
    pub date: Date,
    /// By model, in byte order.
    pub results: Vec<DayResult>,
    /// The number of results.
    pub count: usize,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The results of a range, one entry per model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RangeResults {
    /// The first day of all entries.
    pub start_date: Date,
    /// The last day of all entries.
    pub end_date: Date,
    /// By model, in byte order.
    pub results: Vec<RangeResult>,
    /// The baselines of all results, each once; absent unless requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_baselines: Option<Vec<SharedBaselines>>,
    /// The number of results.
    pub count: usize,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}
