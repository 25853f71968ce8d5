//! An agent against random trading with its own turnover.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The tests of an agent against random timing and choice: on this path, with the same turnover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RandomBaselineResponse {
    /// The item.
    pub item: String,
    /// Trading days.
    pub days: usize,
    /// The agent's total return, from its own weights through the same broker.
    pub schedule_return: Option<f64>,
    /// The three nulls.
    pub nulls: Vec<NullResponse>,
    /// Why there is no test at all.
    pub unavailable: Option<String>,
    /// The milliseconds that all draws took when they were computed.
    pub elapsed_ms: u64,
}

/// One null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NullResponse {
    /// What is random: `timing`, `choice` or `both`.
    pub null: String,
    /// `(1 + #{null >= agent}) / (R + 1)`; `null` if no test is possible.
    pub p_value: Option<f64>,
    /// `R`.
    pub draws: usize,
    /// Number of draws that were discarded because bars were missing.
    pub discarded: usize,
    /// Number of distinct schedules.
    pub distinct: usize,
    /// The total returns of the draws: 5th, 50th and 95th percentile.
    pub percentiles: Option<[f64; 3]>,
    /// The result in words.
    pub words: String,
}
