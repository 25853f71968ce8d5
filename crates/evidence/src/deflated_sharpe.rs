//! Secondary statistics of a Sharpe ratio, never a verdict: PSR, MinTRL and DSR. `SR` is daily with ddof = 1; `g3` and
//! `g4` are the population skewness and kurtosis (3 for a normal distribution).
//!
//! ```text
//! PSR    = Phi((SR - SR0) sqrt(n - 1) / sqrt(1 - g3 SR + (g4 - 1)/4 SR²))
//! MinTRL = 1 + (1 - g3 SR + (g4 - 1)/4 SR²) (z_.95 / (SR - SR0))²
//! DSR    = PSR at SR0 = sqrt(V) ((1 - γ) Z(1 - 1/K) + γ Z(1 - 1/(K e)))
//! ```
//!
//! Sources: Bailey and López de Prado (2012), "The Sharpe ratio efficient frontier"; (2014), "The deflated Sharpe
//! ratio". Assumption: independent, identically distributed returns. The assumption matters: PSR passes 0.95 for 8 to
//! 9% of worthless agents whose returns have an autocorrelation of 0.2.

use crate::distribution::{normal_cdf, normal_quantile};
use crate::ewc::MIN_VERDICT_DAYS;
use papertape_core::metric::{deviation, mean};
use serde::{Deserialize, Serialize};

/// The Euler-Mascheroni constant.
const GAMMA: f64 = 0.577_215_664_9;

/// A daily Sharpe ratio and the moments of its returns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharpeMoments {
    /// `SR`: daily, ddof = 1.
    pub sharpe: f64,
    /// `n`.
    pub days: usize,
    /// `g3`, of the population.
    pub skewness: f64,
    /// `g4`, of the population: 3 for a normal distribution.
    pub kurtosis: f64,
}

impl SharpeMoments {
    /// Of daily returns in excess of the risk-free rate. `None` under 60 days, and for returns that do not vary.
    #[must_use]
    pub fn of(returns: &[f64]) -> Option<Self> {
        if returns.len() < MIN_VERDICT_DAYS {
            return None;
        }
        let (center, spread) = (mean(returns), deviation(returns)?);
        let moment = |power: i32| {
            let powers: Vec<f64> = returns.iter().map(|r| (r - center).powi(power)).collect();
            mean(&powers)
        };
        let variance = moment(2);
        let of = Self {
            sharpe: center / spread,
            days: returns.len(),
            skewness: moment(3) / variance.powf(1.5),
            kurtosis: moment(4) / (variance * variance),
        };
        (of.sharpe.is_finite() && of.skewness.is_finite() && of.kurtosis.is_finite()).then_some(of)
    }

    /// `1 - g3 SR + (g4 - 1)/4 SR²`.
    fn variance_factor(&self) -> f64 {
        1.0 - self.skewness * self.sharpe + (self.kurtosis - 1.0) / 4.0 * self.sharpe * self.sharpe
    }
}

/// PSR: the probability that the true Sharpe ratio is above `benchmark_sharpe` (daily). `None` if no series has these
/// moments.
#[must_use]
pub fn probabilistic_sharpe(moments: &SharpeMoments, benchmark_sharpe: f64) -> Option<f64> {
    let factor = moments.variance_factor();
    if factor.is_nan() || factor <= 0.0 || moments.days < 2 {
        return None;
    }
    let z = (moments.sharpe - benchmark_sharpe) * ((moments.days - 1) as f64).sqrt() / factor.sqrt();
    Some(normal_cdf(z))
}

/// MinTRL: the number of days after which this Sharpe ratio would reach a PSR of 0.95. `None` if it is not above
/// `benchmark_sharpe`.
#[must_use]
pub fn min_track_record_length(moments: &SharpeMoments, benchmark_sharpe: f64) -> Option<f64> {
    let ahead = moments.sharpe - benchmark_sharpe;
    (ahead > 0.0).then(|| 1.0 + moments.variance_factor() * (normal_quantile(0.95) / ahead).powi(2))
}

/// The Sharpe ratio that the best of `configurations` worthless ones is expected to have: `SR0` of DSR. `variance` is
/// that of their Sharpe ratios, ddof = 1. `None` for fewer than two.
#[must_use]
pub fn expected_max_sharpe(variance: f64, configurations: usize) -> Option<f64> {
    if configurations < 2 || variance.is_nan() || variance < 0.0 {
        return None;
    }
    let k = configurations as f64;
    let near = normal_quantile(1.0 - 1.0 / k);
    let far = normal_quantile(1.0 - 1.0 / (k * std::f64::consts::E));
    Some(variance.sqrt() * ((1.0 - GAMMA) * near + GAMMA * far))
}

/// DSR, with its benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeflatedSharpe {
    /// `SR0`, daily.
    pub expected_max: f64,
    /// PSR at `SR0`.
    pub probability: f64,
    /// `K`: display it as "at least K", because a database knows only the runs in it.
    pub configurations: usize,
}

/// DSR of a variance of Sharpe ratios over `configurations`. `None` for fewer than two configurations.
#[must_use]
pub fn deflated_sharpe(
    moments: &SharpeMoments,
    variance: f64,
    configurations: usize,
) -> Option<DeflatedSharpe> {
    let expected_max = expected_max_sharpe(variance, configurations)?;
    let probability = probabilistic_sharpe(moments, expected_max)?;
    Some(DeflatedSharpe { expected_max, probability, configurations })
}

/// DSR, from the daily Sharpe ratio (ddof = 1) of every distinct configuration in the database that ran on these days,
/// including the selected one. Trials of one configuration count once: pass one number for them.
#[must_use]
pub fn deflated_sharpe_of(moments: &SharpeMoments, configurations: &[f64]) -> Option<DeflatedSharpe> {
    deflated_sharpe(moments, deviation(configurations)?.powi(2), configurations.len())
}
