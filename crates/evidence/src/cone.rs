//! The cone of a chart of cumulative differences.
//!
//! The cone is `± c sqrt(t Omega)` around 0 on day `t = 1..n`, where `c` is a critical value. With `c = t(nu, 0.975)`,
//! its width on the last day is that of the interval of `n x mean`. For a displayed family, `c` is the Holm critical
//! value ([`MeanEstimate::critical`] of [`holm_levels`](crate::holm_levels)).
//!
//! Assumptions: those of [`MeanEstimate`]. The cone applies to its last day: a path that leaves it earlier and returns
//! supports no verdict.

use crate::ewc::MeanEstimate;

/// The half-width of the cone on each day.
///
/// ```
/// use papertape_evidence::{MeanEstimate, cone};
/// let d: Vec<f64> = (0..60).map(|day| 0.001 * f64::from(day % 7)).collect();
/// let estimate = MeanEstimate::of(&d).expect("60 days");
/// let half_widths = cone(&estimate, estimate.critical(0.05));
/// let total = 60.0 * (estimate.interval().high - estimate.mean);
/// assert!((half_widths[59] - total).abs() < 1e-12);
/// ```
#[must_use]
pub fn cone(estimate: &MeanEstimate, critical: f64) -> Vec<f64> {
    (1..=estimate.days).map(|t| critical * (t as f64 * estimate.long_run_variance).sqrt()).collect()
}
