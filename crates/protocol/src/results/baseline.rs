//! Baselines: buy and hold, equal weight.

use crate::number::Number;
use crate::results::metrics::Metrics;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Baselines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Baselines {
    /// Equal amounts bought at the first open, and held.
    pub buy_and_hold: BaselineResult,
    /// Equal weights, restored at the first open of every month.
    pub equal_weight: BaselineResult,
}

/// Baselines that several results have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SharedBaselines {
    /// The agents whose baselines these are. The dataset of an agent that is in no entry is not available.
    pub models: Vec<String>,
    /// The baselines.
    pub baselines: Baselines,
}

/// The result of a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BaselineResult {
    /// The closes, oldest first.
    pub daily_portfolio_values: Vec<ValueAtClose>,
    /// Over all days.
    pub period_metrics: Metrics,
    /// The mean over the days of the share of the portfolio value that was not invested at the close: `1 -
    /// exposure`. `null` if undefined.
    pub uninvested: Option<f64>,
    /// Whether that is more than 5%: the baseline is then not fully invested.
    pub is_underinvested: bool,
}

/// A portfolio value at a close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ValueAtClose {
    /// The trading day.
    pub date: Date,
    /// Cash and holdings at the close.
    pub portfolio_value: Number,
}
