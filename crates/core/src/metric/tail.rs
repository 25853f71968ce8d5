//! The worst and the best days of a series of daily returns.
//!
//! `empyrical-reloaded` is the oracle: `value_at_risk`, `conditional_value_at_risk` and `tail_ratio`.

use super::returns::{finite, mean};

/// Under this number of days a tail has too few of them.
pub const MIN_TAIL_DAYS: usize = 100;

/// The tail, in percent.
const TAIL_PERCENT: f64 = 5.0;

/// The percentile of `percent` (0 to 100), interpolated linearly between the two nearest values. `None` without values, or
/// if one is NaN.
#[must_use]
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    if values.iter().any(|value| value.is_nan()) || !(0.0..=100.0).contains(&percent) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = percent / 100.0 * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (*sorted.get(position.floor() as usize)?, *sorted.get(position.ceil() as usize)?);
    finite(low + (high - low) * position.fract())
}

/// The return of the worst day in twenty: the 5th percentile, losses negative. `None` under 100 days.
#[must_use]
pub fn value_at_risk(returns: &[f64]) -> Option<f64> {
    if returns.len() < MIN_TAIL_DAYS { None } else { percentile(returns, TAIL_PERCENT) }
}

/// The mean of the `floor(0.05 (n - 1)) + 1` lowest returns. `None` under 100 days.
#[must_use]
pub fn conditional_value_at_risk(returns: &[f64]) -> Option<f64> {
    if returns.len() < MIN_TAIL_DAYS {
        return None;
    }
    let mut sorted = returns.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = ((returns.len() - 1) as f64 * TAIL_PERCENT / 100.0).floor() as usize + 1;
    finite(mean(&sorted[..count]))
}

/// `|95th percentile| / |5th percentile|`. `None` under 100 days, and if the 5th percentile is zero.
#[must_use]
pub fn tail_ratio(returns: &[f64]) -> Option<f64> {
    if returns.len() < MIN_TAIL_DAYS {
        return None;
    }
    finite(percentile(returns, 100.0 - TAIL_PERCENT)?.abs() / percentile(returns, TAIL_PERCENT)?.abs())
}
