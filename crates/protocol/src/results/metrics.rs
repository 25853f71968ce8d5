//! Performance metrics of a period.

use crate::number::figure;
use papertape_core::metric::PeriodMetrics;
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
    /// `(last / initial) ^ (trading_days_per_year / days) - 1`; -1 of an insolvent account.
    pub annualized_return: Option<f64>,
    /// Sample deviation of the daily returns x `sqrt(trading_days_per_year)`.
    pub volatility: Option<f64>,
    /// Mean return over its deviation x `sqrt(trading_days_per_year)`; risk-free rate 0.
    pub sharpe: Option<f64>,
    /// Annualized mean return over the downside risk; required return 0.
    pub sortino: Option<f64>,
    /// The largest decline from a peak, at or below zero.
    pub max_drawdown: Option<f64>,
    /// Annualized return over the maximum drawdown.
    pub calmar: Option<f64>,
    /// Closing fills with a net gain over all closing fills.
    pub win_rate: Option<f64>,
    /// Value of all fills over the mean portfolio value of the days before an insolvency.
    pub turnover: Option<f64>,
    /// Fees and slippage, in money.
    pub costs: f64,
    /// Mean over the days before an insolvency of gross exposure over portfolio value.
    pub exposure: Option<f64>,
}

impl From<PeriodMetrics> for Metrics {
    fn from(metrics: PeriodMetrics) -> Self {
        let PeriodMetrics {
            days,
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
        } = metrics;
        Self {
            days,
            trading_days_per_year,
            insolvent_on,
            total_return: total_return.map(figure),
            annualized_return: annualized_return.map(figure),
            volatility: volatility.map(figure),
            sharpe: sharpe.map(figure),
            sortino: sortino.map(figure),
            max_drawdown: max_drawdown.map(figure),
            calmar: calmar.map(figure),
            win_rate: win_rate.map(figure),
            turnover: turnover.map(figure),
            costs: figure(costs),
            exposure: exposure.map(figure),
        }
    }
}
