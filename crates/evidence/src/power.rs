//! The difference that a comparison of this length can detect.
//!
//! `MDE(n) = (t(nu, 0.975) + t(nu, 0.8)) sqrt(Omega / n) Y`: the difference per year that a two-sided test at 5%
//! detects with 80% power. Computed from the variance only, never from the observed difference: power at the observed
//! difference repeats the p-value (Hoenig and Heisey, 2001, "The abuse of power").
//!
//! Assumption: future days vary as much as these.

use crate::distribution::t_quantile;
use crate::ewc::{MIN_VERDICT_DAYS, cosine_count};

/// Ten points per year.
pub const DEFAULT_TARGET: f64 = 0.10;

/// The maximum number of days that is reported.
const MAX_DAYS: usize = 100_000_000;

/// The minimum detectable difference of log returns per year over `days` days: 0.1 is ten points. `long_run_variance`
/// is per day.
///
/// ```
/// let points = 100.0 * papertape_evidence::min_detectable_effect(0.01 * 0.01, 250, 252.0);
/// assert!((points - 46.06).abs() < 0.005);
/// ```
#[must_use]
pub fn min_detectable_effect(long_run_variance: f64, days: usize, trading_days_per_year: f64) -> f64 {
    let nu = cosine_count(days) as f64;
    let quantiles = t_quantile(0.975, nu) + t_quantile(0.8, nu);
    quantiles * (long_run_variance / days as f64).sqrt() * trading_days_per_year
}

/// The smallest number of days, at least 60, whose [`min_detectable_effect`] is at most `target` per year. `None` over
/// 100 million days and for a target that is not above zero.
#[must_use]
pub fn days_needed(long_run_variance: f64, trading_days_per_year: f64, target: f64) -> Option<usize> {
    let reaches = |days| min_detectable_effect(long_run_variance, days, trading_days_per_year) <= target;
    if reaches(MIN_VERDICT_DAYS) {
        return Some(MIN_VERDICT_DAYS);
    }
    if target.is_nan() || target <= 0.0 || !reaches(MAX_DAYS) {
        return None;
    }
    // The effect decreases with the number of days: more days divide the variance, and more cosines reduce both
    // quantiles.
    let (mut below, mut enough) = (MIN_VERDICT_DAYS, MAX_DAYS);
    while enough - below > 1 {
        let middle = below + (enough - below) / 2;
        if reaches(middle) { enough = middle } else { below = middle }
    }
    Some(enough)
}
