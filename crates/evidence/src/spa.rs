//! Is any of `K` agents better than the baseline? Hansen's test for superior predictive ability (SPA).
//!
//! ```text
//! ω² = γ0 + 2 sum_i κ_i γ_i ,  κ_i = (n - i)/n (1 - q)^i + i/n (1 - q)^(n - i)
//! T  = max(0, max_k sqrt(n) dbar_k / ω_k) ;  T* likewise of dbar* less its center ;  p = (1 + #{T* >= T}) / (B + 1)
//! ```
//!
//! Centers: `max(0, dbar)` for the lower p-value, `dbar` where `dbar >= -ω sqrt(2 ln ln n / n)` and else 0 for the
//! consistent one, `dbar` for the upper one. The draws are those of the stationary bootstrap with restart probability
//! `q`.
//!
//! Source: Hansen (2005), "A test for superior predictive ability", Journal of Business and Economic Statistics 23(4).
//! Assumptions: stationary differences, dependence short compared with `1/q` days. It does not say which agent is
//! better. `arch` 8.0.0 does not divide its maximum by ω, so it is a reference for the unstudentized form only.

use crate::block_length::bootstrap_block_length;
use crate::ewc::MIN_VERDICT_DAYS;
use crate::random::{Random, Seed, stationary_indices};
use papertape_core::metric::mean;

/// Number of draws.
const DRAWS: usize = 9_999;

/// Whether each agent's mean is divided by its ω.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaForm {
    /// Hansen's.
    Studentized,
    /// White's, with Hansen's centers.
    Unstudentized,
}

/// The result of the test. Arrays are in the order lower, consistent, upper.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaResult {
    /// `T`.
    pub statistic: f64,
    /// `ω` by agent.
    pub omegas: Vec<f64>,
    /// Number of draws with `T* >= T`.
    pub exceedances: [usize; 3],
    /// `B`.
    pub draws: usize,
}

impl SpaResult {
    /// `(1 + #{T* >= T}) / (B + 1)`; display the consistent one.
    #[must_use]
    pub fn p_values(&self) -> [f64; 3] {
        self.exceedances.map(|count| (1 + count) as f64 / (self.draws + 1) as f64)
    }
}

/// The studentized test with 9,999 draws. `differences` has the daily differences of each agent from the baseline, on
/// the same days. Blocks are as long as the longest [`bootstrap_block_length`] of them. `None` under 60 days, without
/// agents, and if the agents' days differ.
#[must_use]
pub fn spa(differences: &[Vec<f64>], seed: Seed) -> Option<SpaResult> {
    if differences.first()?.len() < MIN_VERDICT_DAYS {
        return None;
    }
    let blocks = differences.iter().map(|d| bootstrap_block_length(d)).fold(1.0, f64::max);
    let mut random = Random::new(seed);
    spa_with(differences, 1.0 / blocks, DRAWS, SpaForm::Studentized, &mut |days| {
        stationary_indices(days, 1.0 / blocks, &mut || random.uniform())
    })
}

/// The test with the caller's draws: `indices` returns the days of the next draw. `restart` is `q`.
#[must_use]
pub fn spa_with(
    differences: &[Vec<f64>],
    restart: f64,
    draws: usize,
    form: SpaForm,
    indices: &mut dyn FnMut(usize) -> Vec<usize>,
) -> Option<SpaResult> {
    let days = differences.first()?.len();
    if days < 3 || differences.iter().any(|d| d.len() != days) {
        return None;
    }
    let n = days as f64;
    let omegas: Vec<f64> = differences.iter().map(|d| omega(d, restart)).collect();
    // A constant series has no statistic.
    let agents: Vec<Agent<'_>> = differences
        .iter()
        .zip(&omegas)
        .filter(|(_, omega)| **omega > 1e-15)
        .map(|(differences, omega)| {
            let center = mean(differences);
            let is_near = center >= -omega * (2.0 * n.ln().ln() / n).sqrt();
            let centers = [center.max(0.0), if is_near { center } else { 0.0 }, center];
            let scale = if form == SpaForm::Studentized { n.sqrt() / omega } else { n.sqrt() };
            Agent { differences, center, centers, scale }
        })
        .collect();
    let statistic = agents.iter().map(|agent| agent.center * agent.scale).fold(0.0, f64::max);
    let mut exceedances = [0; 3];
    for _ in 0..draws {
        let drawn = indices(days);
        let mut highest = [0.0_f64; 3];
        for agent in &agents {
            let center = drawn.iter().fold(0.0, |sum, day| sum + agent.differences[*day]) / n;
            for (highest, own) in highest.iter_mut().zip(agent.centers) {
                *highest = highest.max((center - own) * agent.scale);
            }
        }
        for (count, highest) in exceedances.iter_mut().zip(highest) {
            *count += usize::from(highest >= statistic);
        }
    }
    Some(SpaResult { statistic, omegas, exceedances, draws })
}

struct Agent<'a> {
    differences: &'a [f64],
    center: f64,
    /// Lower, consistent, upper.
    centers: [f64; 3],
    scale: f64,
}

fn omega(differences: &[f64], restart: f64) -> f64 {
    let n = differences.len();
    let (count, center) = (n as f64, mean(differences));
    let eps: Vec<f64> = differences.iter().map(|d| d - center).collect();
    let covariance = |lag: usize| eps[lag..].iter().zip(&eps).fold(0.0, |sum, (a, b)| sum + a * b) / count;
    let mut variance = covariance(0);
    for lag in 1..n {
        let i = lag as f64;
        let kappa =
            (count - i) / count * (1.0 - restart).powf(i) + i / count * (1.0 - restart).powf(count - i);
        variance += 2.0 * kappa * covariance(lag);
    }
    variance.max(0.0).sqrt()
}
