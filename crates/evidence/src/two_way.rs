//! Two configurations with several trials each: variance over days and over trials.
//!
//! ```text
//! D    = mean(gbar_A - gbar_B) ; Vday = Omega(gbar_A - gbar_B) / n
//! T    = var(G_i, ddof 1) / N ; I = sum_i Omega(g_i - gbar) / n / (N (N - 1))     per side with N >= 2
//! E    = sum over sides of max(0, T - I) ; V = Vday + E
//! df   = nu if E = 0, else V² / (Vday² / nu + E² / sum(N - 1)) ; t = D / sqrt(V)
//! ```
//!
//! `gbar` is the mean of a side's trials by day, `G_i` the mean of trial `i` over the days. `T - I` is the variance
//! between trials beyond the noise of their days, such as a lasting difference in skill, which more days do not average
//! out. A baseline is one trial without trial noise; so is a single run, but then the claim is about *this run* only.
//!
//! Windows are disjoint ranges of days, each with its own trials. Days are joined in date order, and the `E` of the
//! windows are summed with the weights `(n_w / n)²`; `sum(N - 1)` runs over windows and sides. Overlapping windows are
//! not pooled.
//!
//! Source: crossed random effects as in Owen (2007), "The pigeonhole bootstrap", with EWC for the days and
//! Satterthwaite (1946) for the degrees of freedom. Assumptions: those of [`MeanEstimate`](crate::MeanEstimate), and
//! trials that are independent given the days.

use crate::distribution::{t_quantile, t_two_sided};
use crate::ewc::{
    Interval, MIN_INTERVAL_DAYS, cosine_count, long_run_variance, long_run_variance_with, ratio,
};
use crate::power::{Noise, degrees_of_freedom};
use crate::series::{ReturnSeries, align};
use papertape_core::metric::{deviation, mean};
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};

/// The trials of two sides on the same days.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialPanel {
    /// The days, ascending.
    pub days: Vec<Date>,
    /// Daily log returns of the trials of A.
    pub a: Vec<Vec<f64>>,
    /// Those of B; one of a baseline.
    pub b: Vec<Vec<f64>>,
}

impl TrialPanel {
    /// On the days that all trials closed.
    #[must_use]
    pub fn align(a: &[ReturnSeries], b: &[ReturnSeries]) -> Self {
        let all: Vec<&ReturnSeries> = a.iter().chain(b).collect();
        let aligned = align(&all);
        let mut of_a = aligned.log_returns;
        let of_b = of_a.split_off(a.len());
        Self { days: aligned.days, a: of_a, b: of_b }
    }
}

/// Why panels cannot be pooled. The caller chose days or trials that do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TwoWayError {
    /// No panel, or one without trials on a side, or trials of different lengths.
    #[error("every window needs trials on both sides, with a return on each of its days")]
    Incomplete,
    /// All windows together are too short.
    #[error("there are {0} shared days, and {MIN_INTERVAL_DAYS} are needed")]
    TooFewDays(usize),
    /// Two windows share a day.
    #[error("the windows overlap on {0}; overlapping windows are not pooled")]
    Overlap(Date),
}

/// The trial variance of one side in one window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideVariance {
    /// Number of trials.
    pub trials: usize,
    /// `T`: variance of the mean of the trials.
    pub total: f64,
    /// `I`: the part of it that the noise of the days explains.
    pub from_days: f64,
}

/// The difference of two sides, in log return per day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoWay {
    /// Number of days.
    pub days: usize,
    /// `D`.
    pub difference: f64,
    /// `Vday`.
    pub day_variance: f64,
    /// `E`.
    pub trial_variance: f64,
    /// `df`.
    pub degrees_of_freedom: f64,
    /// Of A and B, window by window.
    pub sides: Vec<[SideVariance; 2]>,
    /// Number of windows in which A was ahead of B.
    pub windows_ahead: usize,
}

impl TwoWay {
    /// `sqrt(V)`.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        (self.day_variance + self.trial_variance).sqrt()
    }

    /// `D / sqrt(V)`.
    #[must_use]
    pub fn t(&self) -> f64 {
        ratio(self.difference, self.standard_error())
    }

    /// Two-sided.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        t_two_sided(self.t(), self.degrees_of_freedom)
    }

    /// The 95% interval of `D`.
    #[must_use]
    pub fn interval(&self) -> Interval {
        let half = t_quantile(0.975, self.degrees_of_freedom) * self.standard_error();
        Interval { low: self.difference - half, high: self.difference + half }
    }

    /// `n V`: equal to `Omega` if `E` is 0.
    #[must_use]
    pub fn long_run_variance(&self) -> f64 {
        (self.day_variance + self.trial_variance) * self.days as f64
    }

    /// For [`min_detectable_effect`](crate::min_detectable_effect).
    #[must_use]
    pub fn noise(&self) -> Noise {
        Noise {
            long_run_variance: self.day_variance * self.days as f64,
            trial_variance: self.trial_variance,
            trial_freedom: trial_freedom(&self.sides),
        }
    }
}

/// Compares two sides over one panel, or over several disjoint windows.
///
/// ```
/// use papertape_evidence::{ReturnSeries, TrialPanel, two_way};
/// # fn trial(seed: f64) -> ReturnSeries {
/// #     let first: papertape_core::time::Date = "2024-01-02".parse().unwrap();
/// #     let days = first.series(jiff::Span::new().days(1)).take(60).enumerate();
/// #     let rows: Vec<_> = days.map(|(i, day)| (day, 0.01 * (seed * (i as f64 + 1.0)).sin())).collect();
/// #     ReturnSeries::from_returns(&rows).unwrap()
/// # }
/// # let (a, b) = ([trial(1.0), trial(2.0), trial(3.0)], [trial(4.0), trial(5.0), trial(6.0)]);
/// let compared = two_way(&[TrialPanel::align(&a, &b)])?;
/// assert_eq!(compared.days, 60);
/// assert!(compared.p_value() <= 1.0);
/// # Ok::<(), papertape_evidence::TwoWayError>(())
/// ```
///
/// # Errors
/// If a side has no trials, the windows have fewer than 20 days together, or windows overlap.
pub fn two_way(panels: &[TrialPanel]) -> Result<TwoWay, TwoWayError> {
    let mut ordered: Vec<&TrialPanel> = panels.iter().collect();
    ordered.sort_by_key(|panel| panel.days.first().copied());
    check(&ordered)?;
    ordered.retain(|panel| !panel.days.is_empty());
    let mut joined: Vec<(Date, f64)> = Vec::new();
    for panel in &ordered {
        let (a, b) = (daily_mean(&panel.a), daily_mean(&panel.b));
        joined.extend(panel.days.iter().zip(a.iter().zip(&b)).map(|(day, (a, b))| (*day, a - b)));
    }
    joined.sort_by_key(|(day, _)| *day);
    if let Some(pair) = joined.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(TwoWayError::Overlap(pair[0].0));
    }
    let differences: Vec<f64> = joined.iter().map(|(_, d)| *d).collect();
    let n = differences.len() as f64;
    let day_variance = long_run_variance(&differences) / n;
    let (mut trial_variance, mut windows_ahead) = (0.0, 0);
    let mut sides = Vec::with_capacity(ordered.len());
    for panel in &ordered {
        let of = [side(&panel.a), side(&panel.b)];
        let weight = (panel.days.len() as f64 / n).powi(2);
        for side in of.iter().filter(|side| side.trials > 1) {
            trial_variance += weight * (side.total - side.from_days).max(0.0);
        }
        let ahead = mean(&daily_mean(&panel.a)) > mean(&daily_mean(&panel.b));
        windows_ahead += usize::from(ahead);
        sides.push(of);
    }
    let degrees_of_freedom =
        degrees_of_freedom(differences.len(), day_variance, (trial_variance, trial_freedom(&sides)));
    Ok(TwoWay {
        days: differences.len(),
        difference: mean(&differences),
        day_variance,
        trial_variance,
        degrees_of_freedom,
        sides,
        windows_ahead,
    })
}

fn check(panels: &[&TrialPanel]) -> Result<(), TwoWayError> {
    let is_complete = |panel: &&TrialPanel| {
        let mut trials = panel.a.iter().chain(&panel.b);
        !panel.a.is_empty() && !panel.b.is_empty() && trials.all(|g| g.len() == panel.days.len())
    };
    if panels.is_empty() || !panels.iter().all(is_complete) {
        return Err(TwoWayError::Incomplete);
    }
    match panels.iter().map(|panel| panel.days.len()).sum() {
        days if days < MIN_INTERVAL_DAYS => Err(TwoWayError::TooFewDays(days)),
        _ => Ok(()),
    }
}

/// `sum(N - 1)`, over the windows and the sides with several trials.
fn trial_freedom(sides: &[[SideVariance; 2]]) -> f64 {
    sides.iter().flatten().map(|side| side.trials.saturating_sub(1) as f64).sum()
}

fn daily_mean(trials: &[Vec<f64>]) -> Vec<f64> {
    let days = trials.first().map_or(0, Vec::len);
    (0..days).map(|day| trials.iter().fold(0.0, |sum, g| sum + g[day]) / trials.len() as f64).collect()
}

fn side(trials: &[Vec<f64>]) -> SideVariance {
    let count = trials.len() as f64;
    let means: Vec<f64> = trials.iter().map(|g| mean(g)).collect();
    let Some(spread) = deviation(&means) else {
        return SideVariance { trials: trials.len(), total: 0.0, from_days: 0.0 };
    };
    let center = daily_mean(trials);
    // The noise of a single day cannot be told from that of the trials.
    let of_days = trials.iter().filter(|g| g.len() > 1).fold(0.0, |sum, g| {
        let own: Vec<f64> = g.iter().zip(&center).map(|(g, c)| g - c).collect();
        // A short window has fewer cosines than days.
        let cosines = cosine_count(own.len()).min(own.len() - 1);
        sum + long_run_variance_with(&own, cosines) / own.len() as f64
    });
    SideVariance {
        trials: trials.len(),
        total: spread * spread / count,
        from_days: of_days / (count * (count - 1.0)),
    }
}
