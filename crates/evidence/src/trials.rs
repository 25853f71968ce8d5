//! Trials on exactly the same days: Welch's t test over the trials' means.
//!
//! `G_i = mean_t g_i(t)`; `t = (mean G_A - mean G_B) / sqrt(s_A²/N_A + s_B²/N_B)` with the degrees of freedom of Welch
//! and Satterthwaite; against a baseline, which has no trial noise, the one-sample t. At least three trials per agent.
//!
//! Source: Welch (1947), "The generalization of Student's problem when several different population variances are
//! involved". It shows how far two agents differ on these days, beyond run-to-run noise. It is displayed as a spread
//! and never as "better": trials are not draws from the market, and by trials only, two agents with the same
//! distribution are called different in 14 to 28% of cases.

use crate::distribution::{t_quantile, t_two_sided};
use crate::ewc::{Interval, ratio};
use papertape_core::metric::{deviation, mean};

/// The minimum number of trials per agent, for this test and for a claim about a configuration.
pub(crate) const MIN_TRIALS: usize = 3;

/// How far two agents differ on these days, as mean log returns per day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialComparison {
    /// Mean of the trials of A minus that of B.
    pub difference: f64,
    /// Of the difference.
    pub standard_error: f64,
    /// Of Welch and Satterthwaite; `N - 1` against a baseline.
    pub degrees_of_freedom: f64,
    /// Two-sided.
    pub p_value: f64,
    /// Sample deviation of A's trials.
    pub spread_a: f64,
    /// Sample deviation of B's trials; `None` of a baseline.
    pub spread_b: Option<f64>,
}

impl TrialComparison {
    /// The 95% interval of the difference on these days.
    #[must_use]
    pub fn interval(&self) -> Interval {
        let half = t_quantile(0.975, self.degrees_of_freedom) * self.standard_error;
        Interval { low: self.difference - half, high: self.difference + half }
    }
}

/// Compares trials, each a slice of daily log returns on the same days. A `b` of one trial is a baseline. `None` for
/// fewer than three trials (of `b`: for two or none), and for trials that do not vary at all.
#[must_use]
pub fn compare_trials(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<TrialComparison> {
    if a.len() < MIN_TRIALS || (b.len() != 1 && b.len() < MIN_TRIALS) {
        return None;
    }
    let means = |trials: &[Vec<f64>]| trials.iter().map(|g| mean(g)).collect::<Vec<_>>();
    let (means_a, means_b) = (means(a), means(b));
    let part = |means: &[f64]| deviation(means).map(|s| (s, s * s / means.len() as f64));
    let (spread_a, of_a) = part(&means_a)?;
    let (spread_b, of_b) = part(&means_b).map_or((None, 0.0), |(s, v)| (Some(s), v));
    let difference = mean(&means_a) - mean(&means_b);
    let standard_error = (of_a + of_b).sqrt();
    let term = |v: f64, n: usize| if n > 1 { v * v / (n - 1) as f64 } else { 0.0 };
    let degrees_of_freedom = (of_a + of_b).powi(2) / (term(of_a, a.len()) + term(of_b, b.len()));
    if !degrees_of_freedom.is_finite() {
        return None;
    }
    let p_value = t_two_sided(ratio(difference, standard_error), degrees_of_freedom);
    Some(TrialComparison { difference, standard_error, degrees_of_freedom, p_value, spread_a, spread_b })
}
