//! The difference that a comparison of this length can detect.
//!
//! `MDE(n) = (t(nu, 0.975) + t(nu, 0.8)) sqrt(Omega / n) Y`: the difference per year that a two-sided test at 5%
//! detects with 80% power. Computed from the variance only, never from the observed difference: power at the observed
//! difference repeats the p-value (Hoenig and Heisey, 2001, "The abuse of power").
//!
//! With several trials, `Omega / n` is the variance between days only. `E` is added to it, because more days do not reduce
//! the variance between trials. The degrees of freedom are those of `n` days, as in [`two_way`](crate::two_way).
//!
//! Assumption: days to come vary as these did.

use crate::distribution::t_quantile;
use crate::ewc::{MIN_VERDICT_DAYS, cosine_count};

/// Ten points per year.
pub const DEFAULT_TARGET: f64 = 0.10;

/// The maximum number of days that is reported.
const MAX_DAYS: usize = 100_000_000;
/// With trials, the first number of days that is enough is searched for in steps of this factor.
const STEP: f64 = 1.1;

/// The variance that more days reduce, and that of the trials, which they do not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// `Omega` of the days, per day.
    pub long_run_variance: f64,
    /// `E`; 0 without trials.
    pub trial_variance: f64,
    /// The degrees of freedom of `E`.
    pub trial_freedom: f64,
}

impl From<f64> for Noise {
    /// An `Omega` without trials.
    fn from(long_run_variance: f64) -> Self {
        Self { long_run_variance, trial_variance: 0.0, trial_freedom: 0.0 }
    }
}

/// Those of `V`, by Satterthwaite: `nu` if `E` is 0.
pub(crate) fn degrees_of_freedom(
    days: usize,
    day_variance: f64,
    (trial_variance, trial_freedom): (f64, f64),
) -> f64 {
    let nu = cosine_count(days) as f64;
    if trial_variance > 0.0 {
        (day_variance + trial_variance).powi(2)
            / (day_variance.powi(2) / nu + trial_variance.powi(2) / trial_freedom)
    } else {
        nu
    }
}

/// The min. detectable difference of log returns per year, of `days` days: 0.1 is ten points. The noise is per day.
///
/// ```
/// let points = 100.0 * papertape_evidence::min_detectable_effect(0.01 * 0.01, 250, 252.0);
/// assert!((points - 46.06).abs() < 0.005);
/// ```
#[must_use]
pub fn min_detectable_effect(noise: impl Into<Noise>, days: usize, trading_days_per_year: f64) -> f64 {
    let Noise { long_run_variance, trial_variance, trial_freedom } = noise.into();
    let day_variance = long_run_variance / days as f64;
    let freedom = degrees_of_freedom(days, day_variance, (trial_variance, trial_freedom));
    let quantiles = t_quantile(0.975, freedom) + t_quantile(0.8, freedom);
    quantiles * (day_variance + trial_variance).sqrt() * trading_days_per_year
}

/// The smallest number of days, at least 60, whose [`min_detectable_effect`] is at most `target` per year. `None` over
/// 100 million days, if the trials alone differ by too much, and for a target that is not above zero.
#[must_use]
pub fn days_needed(noise: impl Into<Noise>, trading_days_per_year: f64, target: f64) -> Option<usize> {
    let noise = noise.into();
    let reaches = |days| min_detectable_effect(noise, days, trading_days_per_year) <= target;
    if reaches(MIN_VERDICT_DAYS) {
        return Some(MIN_VERDICT_DAYS);
    }
    if target.is_nan() || target <= 0.0 {
        return None;
    }
    // Without trials the effect falls with the days: more days divide a variance, and more cosines shrink both quantiles.
    // With trials it may rise again, once few degrees of freedom are left.
    let step = if noise.trial_variance > 0.0 { STEP } else { MAX_DAYS as f64 };
    let (mut below, mut enough) = (MIN_VERDICT_DAYS, next(MIN_VERDICT_DAYS, step));
    while !reaches(enough) {
        if enough == MAX_DAYS {
            return None;
        }
        (below, enough) = (enough, next(enough, step));
    }
    while enough - below > 1 {
        let middle = below + (enough - below) / 2;
        if reaches(middle) { enough = middle } else { below = middle }
    }
    Some(enough)
}

fn next(days: usize, step: f64) -> usize {
    ((days as f64 * step).ceil() as usize).min(MAX_DAYS)
}
