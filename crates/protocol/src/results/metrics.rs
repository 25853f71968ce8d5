//! Performance metrics of a period.

use crate::compare::pair::IntervalResponse;
use crate::number::figure;
use papertape_core::metric::{MIN_ANNUALIZED_DAYS, PeriodMetrics};
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Metrics of a period. Returns are fractions: 0.01 is one percent. `null` if undefined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Metrics {
    /// Trading days.
    pub days: usize,
    /// Trading days per year in the market, by which metrics are annualized.
    pub trading_days_per_year: u16,
    /// The first day whose portfolio value is zero or below; the returns end with it.
    pub insolvent_on: Option<Date>,
    /// `last / initial - 1`.
    pub total_return: Option<f64>,
    /// The 95% interval of the mean log return per day; `null` under 20 days.
    pub mean_interval: Option<MeanIntervalResponse>,
    /// Sample deviation of the daily returns, ddof 1.
    pub daily_deviation: Option<f64>,
    /// Why nothing is annualized: `too_few_days`, under 60.
    pub annualized_unavailable: Option<String>,
    /// `(last / initial) ^ (trading_days_per_year / days) - 1`; -1 of an insolvent account. `null` under 60 days, like all
    /// metrics per year.
    pub annualized_return: Option<f64>,
    /// Sample deviation of the daily returns x `sqrt(trading_days_per_year)`.
    pub volatility: Option<f64>,
    /// Mean return over its deviation x `sqrt(trading_days_per_year)`; risk-free rate 0.
    pub sharpe: Option<f64>,
    /// The 95% interval of `sharpe`; `null` under 60 days with a return that is not zero.
    pub sharpe_interval: Option<IntervalResponse>,
    /// Annualized mean return over the downside risk; required return 0.
    pub sortino: Option<f64>,
    /// The largest decline from a peak, at or below zero.
    pub max_drawdown: Option<f64>,
    /// Annualized return over the maximum drawdown; `null` under a year of trading days.
    pub calmar: Option<f64>,
    /// The return of the worst day in twenty, losses negative; `null` under 100 days.
    pub value_at_risk: Option<f64>,
    /// The mean of the returns at or below it; `null` under 100 days.
    pub conditional_value_at_risk: Option<f64>,
    /// The 95th percentile of the daily returns over the 5th, both without sign; `null` under 100 days.
    pub tail_ratio: Option<f64>,
    /// Sum of the net gains of closing fills over the sum of their net losses; `null` without a loss.
    pub profit_factor: Option<f64>,
    /// The same of daily returns.
    pub profit_factor_days: Option<f64>,
    /// Closing fills with a net gain over all closing fills.
    pub win_rate: Option<f64>,
    /// Value of all fills over the mean portfolio value of the days before an insolvency.
    pub turnover: Option<f64>,
    /// Fees and slippage, in money.
    pub costs: f64,
    /// Mean over the days before an insolvency of gross exposure over portfolio value.
    pub exposure: Option<f64>,
}

/// The mean log return per day between its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MeanIntervalResponse {
    /// The mean.
    pub mean: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl From<PeriodMetrics> for Metrics {
    /// Without metrics per year of short periods, and without the intervals and metrics that need the daily returns.
    fn from(metrics: PeriodMetrics) -> Self {
        let is_short = metrics.returns < MIN_ANNUALIZED_DAYS;
        let PeriodMetrics {
            days,
            returns: _,
            trading_days_per_year,
            insolvent_on,
            total_return,
            annualized_return,
            volatility,
            sharpe,
            sortino,
            max_drawdown,
            calmar,
            win_rate,
            turnover,
            costs,
            exposure,
        } = metrics.without_short_annualized();
        let has_year = days >= usize::from(trading_days_per_year);
        Self {
            days,
            trading_days_per_year,
            insolvent_on,
            total_return: total_return.map(figure),
            mean_interval: None,
            daily_deviation: None,
            annualized_unavailable: is_short.then(|| "too_few_days".to_owned()),
            annualized_return: annualized_return.map(figure),
            volatility: volatility.map(figure),
            sharpe: sharpe.map(figure),
            sharpe_interval: None,
            sortino: sortino.map(figure),
            max_drawdown: max_drawdown.map(figure),
            calmar: calmar.filter(|_| has_year).map(figure),
            value_at_risk: None,
            conditional_value_at_risk: None,
            tail_ratio: None,
            profit_factor: None,
            profit_factor_days: None,
            win_rate: win_rate.map(figure),
            turnover: turnover.map(figure),
            costs: figure(costs),
            exposure: exposure.map(figure),
        }
    }
}
