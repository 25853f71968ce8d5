//! The Sharpe ratio and the difference of two, with intervals from influence functions.
//!
//! `z = (r - m) / s` (ddof = 0), `S = m / s`. The influence of a day is `z - S/2 (z² - 1)`; the long-run variance of
//! the influences is that of `S` ([`MeanEstimate`]). For a difference, it is that of the difference of the two
//! influences. A constant factor converts the estimate and its interval to ddof = 1 and annualizes them.
//!
//! Source: Lo (2002), "The statistics of Sharpe ratios"; Ledoit and Wolf (2008), "Robust performance hypothesis testing
//! with the Sharpe ratio". Assumptions: stationary returns with four finite moments, at least 60 days, and 60 days on
//! which each agent's return is nonzero.

use crate::ewc::{Interval, MIN_VERDICT_DAYS, MeanEstimate};
use papertape_core::metric::mean;
use serde::{Deserialize, Serialize};

/// A daily Sharpe ratio (ddof = 0), or the difference of two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharpeEstimate {
    /// Per day, ddof = 0.
    pub sharpe: f64,
    /// Of the influences: its standard error is that of `sharpe`.
    pub influence: MeanEstimate,
}

impl SharpeEstimate {
    /// Per day, ddof = 0.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.influence.standard_error()
    }

    /// The 95% interval per day, ddof = 0.
    #[must_use]
    pub fn interval(&self) -> Interval {
        let half = self.influence.critical(0.05) * self.standard_error();
        Interval { low: self.sharpe - half, high: self.sharpe + half }
    }

    /// Point and 95% interval, ddof = 1, annualized: the ratio of `docs/metrics.md`.
    #[must_use]
    pub fn annualized(&self, trading_days_per_year: f64) -> (f64, Interval) {
        let n = self.influence.days as f64;
        let factor = ((n - 1.0) / n * trading_days_per_year).sqrt();
        let Interval { low, high } = self.interval();
        (self.sharpe * factor, Interval { low: low * factor, high: high * factor })
    }
}

/// Of daily returns in excess of the risk-free rate. `None` under 60 days, or under 60 days with a nonzero return.
#[must_use]
pub fn sharpe_estimate(returns: &[f64]) -> Option<SharpeEstimate> {
    if !is_active(returns) {
        return None;
    }
    let (sharpe, influence) = sharpe_influence(returns)?;
    Some(SharpeEstimate { sharpe, influence: MeanEstimate::of(&influence)? })
}

/// The Sharpe ratio of `a` minus that of `b`, on the same days. `None` if either has none, or if they differ in length.
#[must_use]
pub fn sharpe_difference(a: &[f64], b: &[f64]) -> Option<SharpeEstimate> {
    if a.len() != b.len() || !is_active(a) || !is_active(b) {
        return None;
    }
    let ((sharpe_a, of_a), (sharpe_b, of_b)) = (sharpe_influence(a)?, sharpe_influence(b)?);
    let influence: Vec<f64> = of_a.iter().zip(&of_b).map(|(a, b)| a - b).collect();
    Some(SharpeEstimate { sharpe: sharpe_a - sharpe_b, influence: MeanEstimate::of(&influence)? })
}

/// `S` (ddof = 0) and the influence of each day, for any number of days. `None` if the returns do not vary.
#[must_use]
pub fn sharpe_influence(returns: &[f64]) -> Option<(f64, Vec<f64>)> {
    let m = mean(returns);
    let squares: Vec<f64> = returns.iter().map(|r| (r - m).powi(2)).collect();
    let s = mean(&squares).sqrt();
    // Below this, the deviation is only rounding error.
    if returns.len() < 2 || s <= 1e-12 {
        return None;
    }
    let sharpe = m / s;
    let influence = returns.iter().map(|r| {
        let z = (r - m) / s;
        z - sharpe / 2.0 * (z * z - 1.0)
    });
    Some((sharpe, influence.collect()))
}

fn is_active(returns: &[f64]) -> bool {
    returns.iter().filter(|r| r.abs() > 0.0).count() >= MIN_VERDICT_DAYS
}
