//! A period in parts: its months, its drawdowns, and a rolling Sharpe ratio.

use super::returns::{finite, sharpe};
use crate::time::Date;
use serde::{Deserialize, Serialize};

/// Days of the window of [`rolling_sharpe`].
pub const ROLLING_DAYS: usize = 60;

/// The return of one calendar month. Days are those of the exchange's zone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MonthReturn {
    /// The calendar year.
    pub year: i16,
    /// 1 to 12.
    pub month: i8,
    /// `product(1 + r) - 1`.
    pub total_return: f64,
    /// Days with a return.
    pub days: usize,
    /// Whether the month has more trading days than these.
    pub is_partial: bool,
}

/// The months of a series of daily returns in date order. `trading_days(year, month)` is the number of trading days of a month.
#[must_use]
pub fn monthly_returns(returns: &[(Date, f64)], trading_days: impl Fn(i16, i8) -> usize) -> Vec<MonthReturn> {
    let months = returns.chunk_by(|(a, _), (b, _)| (a.year(), a.month()) == (b.year(), b.month()));
    let months = months.filter_map(|rows| {
        let (year, month) = rows.first().map(|(day, _)| (day.year(), day.month()))?;
        let total_return = rows.iter().map(|(_, r)| 1.0 + r).product::<f64>() - 1.0;
        let is_partial = rows.len() < trading_days(year, month);
        Some(MonthReturn { year, month, total_return, days: rows.len(), is_partial })
    });
    months.collect()
}

/// A fall from a peak, until the peak is reached again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawdown {
    /// The day of the peak; `None` is the start, before the first return.
    pub peak: Option<Date>,
    /// The day of the lowest value.
    pub trough: Date,
    /// The first day at or above the peak; `None` if it is still open.
    pub recovery: Option<Date>,
    /// Below zero.
    pub depth: f64,
    /// Trading days from the peak to the recovery or the last day.
    pub days: usize,
}

/// Every drawdown in date order. A fall by rounding (under 1e-12) is not one.
#[must_use]
pub fn drawdowns(returns: &[(Date, f64)]) -> Vec<Drawdown> {
    let mut found: Vec<Drawdown> = Vec::new();
    let (mut level, mut top, mut peak) = (1.0_f64, 1.0_f64, None);
    let mut is_open = false;
    for (day, r) in returns {
        level *= 1.0 + r;
        let depth = (level - top) / top;
        if depth < -1e-12 {
            match found.last_mut().filter(|_| is_open) {
                Some(open) => {
                    open.days += 1;
                    if depth < open.depth {
                        (open.depth, open.trough) = (depth, *day);
                    }
                }
                None => found.push(Drawdown { peak, trough: *day, recovery: None, depth, days: 1 }),
            }
            is_open = true;
            continue;
        }
        if let Some(open) = found.last_mut().filter(|_| is_open) {
            open.recovery = Some(*day);
            open.days += 1;
        }
        is_open = false;
        top = top.max(level);
        peak = Some(*day);
    }
    found
}

/// The annualized Sharpe ratio (ddof = 1) of each window of [`ROLLING_DAYS`] days, one per day from the 60th. Neighbors share 59
/// of their days. `None` of a window that does not vary.
#[must_use]
pub fn rolling_sharpe(
    returns: &[(Date, f64)],
    daily_risk_free: f64,
    trading_days_per_year: f64,
) -> Vec<(Date, Option<f64>)> {
    let windows = returns.windows(ROLLING_DAYS).filter_map(|window| {
        let values: Vec<f64> = window.iter().map(|(_, r)| *r).collect();
        let value = sharpe(&values, daily_risk_free, trading_days_per_year).and_then(finite);
        window.last().map(|(day, _)| (*day, value))
    });
    windows.collect()
}
