//! The metrics of one period, from its daily values and its trades.

use super::returns::{self, finite, mean};
use crate::money::Money;
use crate::time::Date;
use serde::{Deserialize, Serialize};

/// One close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayValue {
    /// The trading day.
    pub day: Date,
    /// Cash and holdings at the close.
    pub portfolio_value: Money,
    /// `sum(|quantity x close|)` of the holdings.
    pub gross_exposure: Money,
}

/// One fill, for turnover and costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TradedAmount {
    /// Quantity x price, above zero.
    pub notional: Money,
    /// Fee.
    pub fee: Money,
    /// What the slippage cost.
    pub slippage: Money,
}

/// What the metrics of a period are made of.
#[derive(Clone, Copy, Debug)]
pub struct PeriodInput<'a> {
    /// The portfolio value before the first day.
    pub initial: Money,
    /// The closes, in order.
    pub days: &'a [DayValue],
    /// Every fill.
    pub fills: &'a [TradedAmount],
    /// The net result of every closing fill.
    pub closed_pnl: &'a [Money],
    /// The risk-free return of one day, 0 for none.
    pub daily_risk_free: f64,
    /// Trading days a year in the market, above zero.
    pub trading_days_per_year: u16,
}

/// The metrics of a period. Returns are fractions: 0.01 is one percent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeriodMetrics {
    /// Trading days.
    pub days: usize,
    /// Daily returns: as many as days, or up to the day of an insolvency.
    pub returns: usize,
    /// Trading days a year, by which what follows is annualized.
    #[serde(rename = "days_a_year")]
    pub trading_days_per_year: u16,
    /// The first day whose portfolio value is zero or below; `None` if there is none. The returns end with
    /// it.
    pub insolvent_on: Option<Date>,
    /// `last / initial - 1`.
    pub total_return: Option<f64>,
    /// `(last / initial) ^ (trading_days_per_year / days) - 1`; -1 of an insolvent account.
    #[serde(rename = "annualised_return")]
    pub annualized_return: Option<f64>,
    /// Sample deviation of the daily returns x `sqrt(trading_days_per_year)`.
    pub volatility: Option<f64>,
    /// Mean excess return over its deviation x `sqrt(trading_days_per_year)`.
    pub sharpe: Option<f64>,
    /// Mean excess return a year over the downside risk.
    pub sortino: Option<f64>,
    /// The deepest fall from a peak, at or below zero.
    pub max_drawdown: Option<f64>,
    /// Annualised return over the deepest fall.
    pub calmar: Option<f64>,
    /// Closing fills with a net gain over all closing fills.
    pub win_rate: Option<f64>,
    /// Value of all fills over the mean portfolio value of the days before an insolvency.
    pub turnover: Option<f64>,
    /// Fees and slippage.
    pub costs: f64,
    /// Mean over the days before an insolvency of gross exposure over portfolio value.
    pub exposure: Option<f64>,
}

impl PeriodMetrics {
    /// Without the metrics per year, if there are fewer returns than [`MIN_ANNUALIZED_DAYS`](super::MIN_ANNUALIZED_DAYS):
    /// total return, drawdown and the metrics of trading remain.
    #[must_use]
    pub fn without_short_annualized(self) -> Self {
        if self.returns >= returns::MIN_ANNUALIZED_DAYS {
            return self;
        }
        Self { annualized_return: None, volatility: None, sharpe: None, sortino: None, calmar: None, ..self }
    }
}

/// Computes the metrics of a period. Those that come from returns are `None` if the portfolio was not above
/// zero to begin with. An insolvency ends the returns: what was lost in all, and the deepest fall, are those
/// of the whole period.
#[must_use]
pub fn period_metrics(input: &PeriodInput<'_>) -> PeriodMetrics {
    let values: Vec<f64> = input.days.iter().map(|day| day.portfolio_value.to_f64()).collect();
    let initial = input.initial.to_f64();
    let series = returns::daily_returns(initial, &values);
    let ruin = input.days.iter().position(|day| !day.portfolio_value.is_positive());
    let solvent = ruin.unwrap_or(values.len());
    let of = |metric: &dyn Fn(&[f64]) -> Option<f64>| series.as_deref().and_then(metric).map(unsigned);
    let (free, year) = (input.daily_risk_free, f64::from(input.trading_days_per_year));
    let deepest = |r: &[f64]| match ruin {
        Some(_) => returns::deepest_fall(initial, &values),
        None => returns::max_drawdown(r),
    };
    PeriodMetrics {
        days: input.days.len(),
        returns: series.as_deref().map_or(0, <[f64]>::len),
        trading_days_per_year: input.trading_days_per_year,
        insolvent_on: ruin.map(|at| input.days[at].day),
        total_return: of(&|r| match (ruin, values.last()) {
            (Some(_), Some(last)) => finite(last / initial - 1.0),
            _ => returns::total_return(r),
        }),
        annualized_return: of(&|r| returns::annualized_return(r, year)),
        volatility: of(&|r| returns::annualized_volatility(r, year)),
        sharpe: of(&|r| returns::sharpe(r, free, year)),
        sortino: of(&|r| returns::sortino(r, free, year)),
        max_drawdown: of(&|r| deepest(r)),
        calmar: of(&|r| {
            let deepest = deepest(r).filter(|deepest| *deepest < 0.0)?;
            finite(returns::annualized_return(r, year)? / deepest.abs())
        }),
        win_rate: win_rate(input.closed_pnl).map(unsigned),
        turnover: turnover(input.fills, &values[..solvent]).map(unsigned),
        costs: unsigned(input.fills.iter().map(|fill| fill.fee.to_f64() + fill.slippage.to_f64()).sum()),
        exposure: exposure(&input.days[..solvent]).map(unsigned),
    }
}

/// Zero without a sign: an empty sum of floats is a negative zero, and so is half of a negative one.
fn unsigned(value: f64) -> f64 {
    value + 0.0
}

fn win_rate(closed_pnl: &[Money]) -> Option<f64> {
    let won = closed_pnl.iter().filter(|pnl| pnl.is_positive()).count();
    finite(won as f64 / closed_pnl.len() as f64)
}

fn turnover(fills: &[TradedAmount], values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let traded: f64 = fills.iter().map(|fill| fill.notional.to_f64()).sum();
    if mean > 0.0 { finite(traded / mean) } else { None }
}

/// `None` without days, or if the portfolio was not above zero on one of them.
fn exposure(days: &[DayValue]) -> Option<f64> {
    let shares: Option<Vec<f64>> = days
        .iter()
        .map(|day| {
            let value = day.portfolio_value;
            value.is_positive().then(|| day.gross_exposure.to_f64() / value.to_f64())
        })
        .collect();
    finite(mean(&shares?))
}
