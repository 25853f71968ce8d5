//! The mean of an autocorrelated series with its interval: equal-weighted cosines (EWC).
//!
//! ```text
//! nu    = max(6, floor(0.8 n^(2/3) + 0.5))
//! L_j   = sqrt(2/n) sum_t x_t cos(pi j (t + 1/2) / n),  j = 1..nu
//! Omega = mean_j L_j^2 ; se = sqrt(Omega / n) ; mean ± t(nu, 0.975) se ; p = 2 P(T_nu > |mean / se|)
//! ```
//!
//! Source: Lazarus, Lewis, Stock and Watson (2018), "HAR inference: recommendations for practice", Journal of Business
//! and Economic Statistics 36(4); with more cosines than their rule, because daily differences have little
//! autocorrelation.
//!
//! Assumptions: the series is stationary, and its dependence is short compared with `n / nu` days. There is no
//! bootstrap, so there is no seed, number of draws or block length.

use crate::distribution::{t_quantile, t_two_sided};
use papertape_core::metric::mean;
use serde::{Deserialize, Serialize};

/// The minimum number of days for an interval.
pub const MIN_INTERVAL_DAYS: usize = 20;
/// The minimum number of days for a verdict.
pub const MIN_VERDICT_DAYS: usize = 60;

/// The bounds of an estimate, in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// The number of cosines, which is the number of degrees of freedom: 6 for 20 days, 12 for 60, 32 for 250.
#[must_use]
pub fn cosine_count(days: usize) -> usize {
    let n = days as f64;
    ((0.8 * n.powf(2.0 / 3.0) + 0.5).floor() as usize).max(6)
}

/// `Omega`, the long-run variance, with the default number of cosines.
#[must_use]
pub fn long_run_variance(values: &[f64]) -> f64 {
    long_run_variance_with(values, cosine_count(values.len()))
}

/// `Omega` of the first `cosines` cosines. With `n - 1` of them it is the sample variance (ddof = 1).
#[must_use]
pub fn long_run_variance_with(values: &[f64], cosines: usize) -> f64 {
    let n = values.len();
    if n == 0 || cosines == 0 {
        return f64::NAN;
    }
    // cos(pi j (t + 1/2) / n) has the period 4n in j (2t + 1).
    let period = 4 * n;
    let table: Vec<f64> =
        (0..period).map(|k| (std::f64::consts::PI * k as f64 / (2 * n) as f64).cos()).collect();
    // A constant contributes to none of them; removing it avoids rounding errors in the sums.
    let center = mean(values);
    let mut sum = 0.0;
    for j in 1..=cosines {
        let mut at = j % period;
        let step = 2 * j % period;
        let mut l = 0.0;
        for x in values {
            l += (x - center) * table[at];
            at += step;
            if at >= period {
                at -= period;
            }
        }
        sum += l * l;
    }
    sum * 2.0 / n as f64 / cosines as f64
}

/// The mean of a daily series, with its long-run variance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanEstimate {
    /// Number of days.
    pub days: usize,
    /// Mean per day.
    pub mean: f64,
    /// `Omega`.
    pub long_run_variance: f64,
    /// `nu`, the degrees of freedom.
    pub cosines: usize,
}

impl MeanEstimate {
    /// `None` under [`MIN_INTERVAL_DAYS`] days.
    ///
    /// ```
    /// use papertape_evidence::MeanEstimate;
    /// let differences: Vec<f64> = (0..60).map(|day| if day % 3 == 0 { -0.01 } else { 0.006 }).collect();
    /// let estimate = MeanEstimate::of(&differences).expect("60 days");
    /// assert_eq!(estimate.cosines, 12);
    /// assert!(estimate.p_value() > 0.0);
    /// ```
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let days = values.len();
        (days >= MIN_INTERVAL_DAYS).then(|| Self {
            days,
            mean: mean(values),
            long_run_variance: long_run_variance(values),
            cosines: cosine_count(days),
        })
    }

    /// `sqrt(Omega / n)`.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        (self.long_run_variance / self.days as f64).sqrt()
    }

    /// `mean / se`; 0 if both are zero, infinite if only `se` is.
    #[must_use]
    pub fn t(&self) -> f64 {
        ratio(self.mean, self.standard_error())
    }

    /// Two-sided.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        t_two_sided(self.t(), self.cosines as f64)
    }

    /// The t quantile of a two-sided test at `level`: 0.05, or one of [`holm_levels`](crate::holm_levels) within a
    /// family.
    #[must_use]
    pub fn critical(&self, level: f64) -> f64 {
        t_quantile(1.0 - level / 2.0, self.cosines as f64)
    }

    /// The 95% interval of the mean per day.
    #[must_use]
    pub fn interval(&self) -> Interval {
        self.interval_at(0.05)
    }

    /// The interval of the mean per day with a coverage of `1 - level`.
    #[must_use]
    pub fn interval_at(&self, level: f64) -> Interval {
        let half = self.critical(level) * self.standard_error();
        Interval { low: self.mean - half, high: self.mean + half }
    }
}

/// A t statistic; zero over zero is 0.
pub(crate) fn ratio(numerator: f64, denominator: f64) -> f64 {
    if numerator.abs() > 0.0 { numerator / denominator } else { 0.0 }
}
