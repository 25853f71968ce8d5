//! The parts of a range: its months, its drawdowns and a rolling Sharpe ratio.

use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The parts of a range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HistoryResponse {
    /// By month, oldest first.
    pub months: Vec<MonthResponse>,
    /// The deepest drawdowns, at most 10, the deepest first.
    pub drawdowns: Vec<DrawdownResponse>,
    /// The annualized Sharpe ratio of the last 60 days, from the 60th day on. Neighbors share 59 of their days.
    pub rolling_sharpe: Vec<RollingSharpe>,
}

/// The return of a calendar month, in the exchange's zone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MonthResponse {
    /// The year.
    pub year: i16,
    /// 1 to 12.
    pub month: i8,
    /// Its total return.
    pub total_return: f64,
    /// Its days in the range.
    pub days: usize,
    /// Whether the month has more trading days than these; `null` if the dataset is not available.
    pub is_partial: Option<bool>,
}

/// A decline from a peak until the peak is reached again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DrawdownResponse {
    /// The day of the peak; `null`: the start, before the first day.
    pub peak: Option<Date>,
    /// The day of the lowest value.
    pub trough: Date,
    /// The first day at or above the peak; `null`: it is open.
    pub recovery: Option<Date>,
    /// Below zero.
    pub depth: f64,
    /// Trading days from the peak to the recovery or the last day.
    pub days: usize,
}

/// A point of the rolling Sharpe ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RollingSharpe {
    /// The last of its 60 days.
    pub date: Date,
    /// Annualized, ddof 1; `null` if the returns do not vary.
    pub sharpe: Option<f64>,
}
