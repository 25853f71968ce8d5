//! How deep the maximum drawdown of the same days would have been in another order.
//!
//! Daily returns are drawn by the stationary bootstrap (1,999 draws, blocks of [`bootstrap_block_length`]); the band is
//! the 5th to the 95th percentile of the drawdowns. It is a *reorder band*, not a confidence interval: as one, it would
//! cover the drawdown of a new path in only 53 to 88% of cases at a nominal 95%. There is no verdict on drawdowns.
//!
//! Source of the draws: Politis and Romano (1994). Assumption: a stationary series.

use crate::block_length::bootstrap_block_length;
use crate::ewc::{Interval, MIN_VERDICT_DAYS};
use crate::random::{Random, Seed, stationary_indices};
use papertape_core::metric::{max_drawdown, percentile};

/// Number of draws.
const DRAWS: usize = 1_999;

/// The realized drawdown and those of the same days in another order, all at or below zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderBand {
    /// The realized drawdown.
    pub realized: f64,
    /// From the 5th percentile (deeper) to the 95th.
    pub band: Interval,
    /// Expected block length in days.
    pub block_length: f64,
}

/// Of daily returns. `None` under 60 days.
#[must_use]
pub fn reorder_band(returns: &[f64], seed: Seed) -> Option<ReorderBand> {
    if returns.len() < MIN_VERDICT_DAYS {
        return None;
    }
    let realized = max_drawdown(returns)?;
    let block_length = bootstrap_block_length(returns);
    let mut random = Random::new(seed);
    let mut depths = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let days = stationary_indices(returns.len(), 1.0 / block_length, &mut || random.uniform());
        let reordered: Vec<f64> = days.iter().map(|day| returns[*day]).collect();
        depths.push(max_drawdown(&reordered)?);
    }
    let band = Interval { low: percentile(&depths, 5.0)?, high: percentile(&depths, 95.0)? };
    Some(ReorderBand { realized, band, block_length })
}
