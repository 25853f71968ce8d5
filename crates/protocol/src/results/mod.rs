//! Results of a day or a range.

pub mod account;
pub mod baseline;
pub mod benchmark;
pub mod conventions;
pub mod day;
pub mod head;
pub mod metrics;
pub mod point_in_time;
pub mod provenance;
pub mod range;
pub mod recorded;
pub mod refill;

use crate::deployment::Deployment;
use crate::results::day::DayResult;
use crate::results::range::RangeResult;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
    /// The number of results.
    pub count: usize,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}
