//! The benchmark of a range, and metrics relative to it.

use crate::number::Number;
use crate::number::figure;
use crate::results::baseline::ValueAtClose;
use crate::results::metrics::Metrics;
use papertape_core::metric;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The benchmark of a range, with its metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BenchmarkResponse {
    /// The symbol or index.
    pub symbol: String,
    /// `stock` or `index`; `null` if the dataset does not have it.
    #[serde(rename = "type")]
    pub instrument_type: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// The basis of its returns: `total_return`, dividends reinvested at the close of their ex-date, or, of an index, `level`:
    /// from level to level, a price or a total return index as it was imported.
    pub basis: Option<String>,
    /// Its starting price; `null` if it is not available.
    pub start: Option<BenchmarkStartResponse>,
    /// The agent's starting value invested in it, at each close, without costs, oldest first.
    pub daily_portfolio_values: Vec<ValueAtClose>,
    /// Days without a complete bar of it: they repeat the previous value.
    pub missing_days: Vec<Date>,
    /// Its own metrics, over all days; `null` if it is not available.
    pub period_metrics: Option<Metrics>,
    /// The agent's metrics relative to it, over all days.
    pub relative_metrics: RelativeMetrics,
    /// Why it is not available; `null` if it is.
    pub unavailable: Option<String>,
}

/// The starting price of a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BenchmarkStartResponse {
    /// Its day.
    pub date: Date,
    /// The price, in the share units of that day.
    pub price: Number,
    /// `first_open`: the first day's open, as the account opens then; `previous_close`: the last close before the first day,
    /// as the account held positions overnight. Where there is no such price, the other one.
    pub at: String,
}

/// An agent's metrics relative to a benchmark on the same days. Returns are fractions: 0.01 is one percent. `null` if
/// undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RelativeMetrics {
    /// The benchmark's total return.
    pub benchmark_return: Option<f64>,
    /// The agent's total return less the benchmark's.
    pub excess_return: Option<f64>,
    /// `(1 + mean(r - beta b)) ^ trading_days_per_year - 1`; risk-free rate 0.
    pub alpha: Option<f64>,
    /// `cov(r, b) / var(b)`.
    pub beta: Option<f64>,
    /// Pearson's coefficient of the daily returns.
    pub correlation: Option<f64>,
    /// Sample deviation of `r - b`, x `sqrt(trading_days_per_year)`.
    pub tracking_error: Option<f64>,
    /// `mean(r - b)` over its sample deviation, x `sqrt(trading_days_per_year)`.
    pub information_ratio: Option<f64>,
    /// Annualized return over the benchmark's, on the days on which the benchmark rose.
    pub up_capture: Option<f64>,
    /// The same on the days on which it fell.
    pub down_capture: Option<f64>,
}

impl From<metric::RelativeMetrics> for RelativeMetrics {
    fn from(metrics: metric::RelativeMetrics) -> Self {
        let metric::RelativeMetrics {
            benchmark_return,
            excess_return,
            alpha,
            beta,
            correlation,
            tracking_error,
            information_ratio,
            up_capture,
            down_capture,
        } = metrics;
        Self {
            benchmark_return: benchmark_return.map(figure),
            excess_return: excess_return.map(figure),
            alpha: alpha.map(figure),
            beta: beta.map(figure),
            correlation: correlation.map(figure),
            tracking_error: tracking_error.map(figure),
            information_ratio: information_ratio.map(figure),
            up_capture: up_capture.map(figure),
            down_capture: down_capture.map(figure),
        }
    }
}
