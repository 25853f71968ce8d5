//! The block length of a stationary bootstrap.
//!
//! Politis and White (2004), "Automatic block-length selection for the dependent bootstrap", with the flat-top kernel
//! and the correction of Patton, Politis and White (2009). Matches `arch` 8.0.0 to 1e-9, including its details:
//! `log10`, autocorrelations scaled by the two parts of the series, the cap `ceil(min(3 sqrt n, n / 3))`.
//!
//! Used for reorder bands and the SPA test only. Assumption: a stationary series.

use papertape_core::metric::mean;

/// Expected block lengths, in days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockLength {
    /// For the stationary bootstrap.
    pub stationary: f64,
    /// For the circular block bootstrap.
    pub circular: f64,
}

/// The lengths as `arch` returns them. `None` under 8 values, where `arch` raises an exception, and where it returns
/// NaN.
#[must_use]
pub fn politis_white(values: &[f64]) -> Option<BlockLength> {
    let n = values.len();
    if n < 8 {
        return None;
    }
    let (count, center) = (n as f64, mean(values));
    let eps: Vec<f64> = values.iter().map(|x| x - center).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
    let cap = (3.0 * count.sqrt()).min(count / 3.0).ceil();
    let run = (count.log10() as usize).max(5);
    let max_lag = count.sqrt().ceil() as usize + run;
    let bound = 2.0 * (count.log10() / count).sqrt();
    let (mut autocovariance, mut autocorrelation) = (Vec::new(), Vec::new());
    let mut chosen = None;
    for lag in 0..=max_lag {
        let (later, earlier) = (&eps[(lag + 1).min(n)..], &eps[..n.saturating_sub(lag + 1)]);
        let product = dot(&eps[lag.min(n)..], &eps[..n.saturating_sub(lag)]);
        autocovariance.push(product / count);
        autocorrelation.push(product.abs() / (dot(later, later) * dot(earlier, earlier)).sqrt());
        if chosen.is_none() && lag >= run && autocorrelation[lag - run..lag].iter().all(|r| *r < bound) {
            chosen = Some(lag - run);
        }
    }
    let bandwidth = chosen.map_or(max_lag, |lag| 2 * lag.max(1)).min(max_lag);
    let (mut g, mut variance) = (0.0, autocovariance[0]);
    for (k, covariance) in autocovariance.iter().enumerate().take(bandwidth + 1).skip(1) {
        let share = k as f64 / bandwidth as f64;
        let weight = if share <= 0.5 { 1.0 } else { 2.0 * (1.0 - share) };
        g += 2.0 * weight * k as f64 * covariance;
        variance += 2.0 * weight * covariance;
    }
    let length = |d: f64| ((2.0 * g * g) / d).powf(1.0 / 3.0) * count.powf(1.0 / 3.0);
    let (stationary, circular) = (length(2.0 * variance * variance), length(4.0 / 3.0 * variance * variance));
    if stationary.is_nan() || circular.is_nan() {
        return None;
    }
    Some(BlockLength { stationary: stationary.min(cap), circular: circular.min(cap) })
}

/// `clamp(PW, n^(1/3), n / 6)`, at least 1; the lower bound where [`politis_white`] has no length.
#[must_use]
pub fn bootstrap_block_length(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let floor = n.powf(1.0 / 3.0).max(1.0);
    let chosen = politis_white(values).map_or(floor, |length| length.stationary);
    chosen.max(floor).min((n / 6.0).max(1.0))
}
