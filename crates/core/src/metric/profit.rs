//! Gains over losses.

use super::returns::finite;
use crate::money::Money;

/// Sum of the net gains of closing fills over the sum of their net losses. `None` without a loss.
#[must_use]
pub fn profit_factor(closed_pnl: &[Money]) -> Option<f64> {
    gains_over_losses(closed_pnl.iter().map(|pnl| pnl.to_f64()))
}

/// Sum of the positive daily returns over the sum of the negative ones: `profit_factor` of `quantstats`. `None` without a
/// loss.
#[must_use]
pub fn profit_factor_days(returns: &[f64]) -> Option<f64> {
    gains_over_losses(returns.iter().copied())
}

fn gains_over_losses(results: impl Iterator<Item = f64>) -> Option<f64> {
    let (gains, losses) = results.fold((0.0, 0.0), |(gains, losses), result| {
        if result > 0.0 { (gains + result, losses) } else { (gains, losses - result) }
    });
    if losses > 0.0 { finite(gains / losses) } else { None }
}
