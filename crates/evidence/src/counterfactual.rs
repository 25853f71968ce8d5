//! The counterfactual future: names and dates are real, but from one instant on the dataset continues on a resampled
//! path.
//!
//! Without memory, positions on the resampled path cannot correlate with the *real* future. The statistic is the mean
//! over days of `sum over symbols of weight x real next-5-day return`. For its distribution without memory, the real
//! future is rotated by a uniform number of days and cut into blocks of at least 20 days, which are joined in random
//! order, all symbols together. `p = (1 + #{null >= observed}) / (R + 1)`, R = 999.
//!
//! Source: block permutation as in Politis, Romano and Wolf (1999), "Subsampling", and Phipson and Smyth (2010) for the
//! p-value. Assumption: the real future is stationary, and its dependence is short compared with 20 days. Only this arm
//! shows whether recall was *used*. It does not detect recall that changed no position.

use crate::distribution::normal_quantile;
use crate::holm::FAMILY_LEVEL;
use crate::random::{Random, Seed};
use crate::random_baseline::upper_tail_p;
use serde::{Deserialize, Serialize};

/// Min. length of a block.
pub const MIN_BLOCK_DAYS: usize = 20;
/// With fewer blocks there is no test.
const MIN_BLOCKS: usize = 3;
const DRAWS: usize = 999;
/// The power that "would have seen" refers to.
const POWER: f64 = 0.8;

/// The result of the arm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterfactualResult {
    /// Mean of weight x real next-5-day return.
    pub statistic: f64,
    /// One-sided.
    pub p_value: f64,
    /// `R`.
    pub draws: usize,
    /// The statistic that would be detected at 5% with 80% power: 2.49 standard deviations of the null.
    pub detectable: f64,
}

impl CounterfactualResult {
    /// As displayed. A point is 1% of equity per five days.
    #[must_use]
    pub fn words(&self) -> String {
        if self.p_value <= FAMILY_LEVEL {
            return "recall shown".to_owned();
        }
        format!("not shown (would have seen ≥ {:.2} points)", 100.0 * self.detectable)
    }
}

/// `weights` are the fractions of equity at each close, by day and symbol; `real_returns` are the real returns of the
/// five days that follow. `None` under 60 days, or if their days or symbols differ.
#[must_use]
pub fn counterfactual_future(
    weights: &[Vec<f64>],
    real_returns: &[Vec<f64>],
    seed: Seed,
) -> Option<CounterfactualResult> {
    let days = weights.len();
    let blocks = days / MIN_BLOCK_DAYS;
    let is_aligned = days == real_returns.len()
        && weights.iter().zip(real_returns).all(|(weights, returns)| weights.len() == returns.len());
    if blocks < MIN_BLOCKS || !is_aligned {
        return None;
    }
    let own: Vec<usize> = (0..days).collect();
    let statistic = overlap(weights, real_returns, &own);
    let mut random = Random::new(seed);
    let mut nulls = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let rotation = random.below(days);
        let mut order = Vec::with_capacity(days);
        for block in random.permutation(blocks) {
            let range = block * days / blocks..(block + 1) * days / blocks;
            order.extend(range.map(|day| (day + rotation) % days));
        }
        nulls.push(overlap(weights, real_returns, &order));
    }
    let mean = nulls.iter().sum::<f64>() / DRAWS as f64;
    let variance = nulls.iter().map(|null| (null - mean).powi(2)).sum::<f64>() / (DRAWS - 1) as f64;
    let quantiles = normal_quantile(1.0 - FAMILY_LEVEL) + normal_quantile(POWER);
    Some(CounterfactualResult {
        statistic,
        p_value: upper_tail_p(statistic, &nulls),
        draws: DRAWS,
        detectable: quantiles * variance.sqrt(),
    })
}

fn overlap(weights: &[Vec<f64>], returns: &[Vec<f64>], order: &[usize]) -> f64 {
    let by_day = weights.iter().zip(order).map(|(weights, day)| {
        weights.iter().zip(&returns[*day]).fold(0.0, |sum, (weight, r)| sum + weight * r)
    });
    by_day.fold(0.0, |sum, day| sum + day) / weights.len() as f64
}
