//! Metrics of daily returns relative to a benchmark's on the same days.
//!
//! `empyrical-reloaded` is the oracle: `alpha`, `beta`, `up_capture` and `down_capture` are its functions of these
//! names, `information_ratio` is its `excess_sharpe` annualized, `tracking_error` its `annual_volatility` of the
//! differences.

use super::returns::{MIN_ANNUALIZED_DAYS, annualized_return, deviation, finite, mean, total_return};
use serde::{Deserialize, Serialize};

/// Below this variance of the benchmark's returns a slope means nothing; the bound is empyrical's.
const MIN_VARIANCE: f64 = 1e-30;

/// Below this deviation of the daily differences the two are the same series, and what is left is rounding.
const MIN_TRACKING: f64 = 1e-12;

/// What relative metrics are made of.
#[derive(Clone, Copy, Debug)]
pub struct RelativeInput<'a> {
    /// The daily returns, as [`daily_returns`](super::daily_returns) gives them: they end with a day on which
    /// everything was lost.
    pub returns: &'a [f64],
    /// The benchmark's on the same days, likewise.
    pub benchmark: &'a [f64],
    /// The total return over all days, including those after an insolvency.
    pub total_return: Option<f64>,
    /// Trading days per year in the market, above zero.
    pub trading_days_per_year: u16,
}

/// Metrics relative to a benchmark. Returns are fractions: 0.01 is one percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RelativeMetrics {
    /// `product(1 + b) - 1`.
    pub benchmark_return: Option<f64>,
    /// Total return less the benchmark's.
    pub excess_return: Option<f64>,
    /// `(1 + mean(r - beta b)) ^ trading_days_per_year - 1`.
    pub alpha: Option<f64>,
    /// `cov(r, b) / var(b)`.
    pub beta: Option<f64>,
    /// Pearson's coefficient.
    pub correlation: Option<f64>,
    /// Sample deviation of `r - b`, x `sqrt(trading_days_per_year)`.
    pub tracking_error: Option<f64>,
    /// `mean(r - b)` over its sample deviation, x `sqrt(trading_days_per_year)`.
    pub information_ratio: Option<f64>,
    /// Annualized return over the benchmark's, of the days on which the benchmark rose.
    pub up_capture: Option<f64>,
    /// The same of the days on which it fell.
    pub down_capture: Option<f64>,
}

/// Computes them from the days that both series have: where one was lost, up to that day.
#[must_use]
pub fn relative_metrics(input: &RelativeInput<'_>) -> RelativeMetrics {
    let days = input.returns.len().min(input.benchmark.len());
    let (returns, benchmark) = (&input.returns[..days], &input.benchmark[..days]);
    let year = f64::from(input.trading_days_per_year);
    let benchmark_return = total_return(input.benchmark);
    let excess = input.total_return.zip(benchmark_return).map(|(own, other)| own - other);
    RelativeMetrics {
        benchmark_return,
        excess_return: excess.and_then(finite),
        alpha: alpha(returns, benchmark, year),
        beta: beta(returns, benchmark),
        correlation: correlation(returns, benchmark),
        tracking_error: tracking_error(returns, benchmark, year),
        information_ratio: information_ratio(returns, benchmark, year),
        up_capture: capture(returns, benchmark, year, |b| b > 0.0),
        down_capture: capture(returns, benchmark, year, |b| b < 0.0),
    }
    .unsigned()
}

impl RelativeMetrics {
    /// Without the metrics per year, if there are fewer `returns` of the agent than [`MIN_ANNUALIZED_DAYS`](super::MIN_ANNUALIZED_DAYS).
    #[must_use]
    pub fn without_short_annualized(self, returns: usize) -> Self {
        if returns >= MIN_ANNUALIZED_DAYS {
            return self;
        }
        let (up_capture, down_capture) = (None, None);
        let (alpha, tracking_error, information_ratio) = (None, None, None);
        Self { alpha, tracking_error, information_ratio, up_capture, down_capture, ..self }
    }

    /// Zero without a sign.
    fn unsigned(self) -> Self {
        let of = |value: Option<f64>| value.map(|value| value + 0.0);
        Self {
            benchmark_return: of(self.benchmark_return),
            excess_return: of(self.excess_return),
            alpha: of(self.alpha),
            beta: of(self.beta),
            correlation: of(self.correlation),
            tracking_error: of(self.tracking_error),
            information_ratio: of(self.information_ratio),
            up_capture: of(self.up_capture),
            down_capture: of(self.down_capture),
        }
    }
}

/// `None` for fewer than two days, or if the benchmark's returns do not vary.
fn beta(returns: &[f64], benchmark: &[f64]) -> Option<f64> {
    if benchmark.len() < 2 {
        return None;
    }
    let center = mean(benchmark);
    let residues: Vec<f64> = benchmark.iter().map(|b| b - center).collect();
    let variance = mean(&residues.iter().map(|x| x * x).collect::<Vec<_>>());
    if variance < MIN_VARIANCE {
        return None;
    }
    let products: Vec<f64> = residues.iter().zip(returns).map(|(x, r)| x * r).collect();
    finite(mean(&products) / variance)
}

fn alpha(returns: &[f64], benchmark: &[f64], year: f64) -> Option<f64> {
    let beta = beta(returns, benchmark)?;
    let residues: Vec<f64> = returns.iter().zip(benchmark).map(|(r, b)| r - beta * b).collect();
    // An even power would make a fortune of a loss of more than everything.
    finite((1.0 + mean(&residues)).max(0.0).powf(year) - 1.0)
}

/// `None` for fewer than two days, and where one of the two does not vary.
fn correlation(returns: &[f64], benchmark: &[f64]) -> Option<f64> {
    let spread = deviation(returns)?;
    if spread.powi(2) < MIN_VARIANCE {
        return None;
    }
    let value = finite(beta(returns, benchmark)? * deviation(benchmark)? / spread)?;
    Some(value.clamp(-1.0, 1.0))
}

fn tracking_error(returns: &[f64], benchmark: &[f64], year: f64) -> Option<f64> {
    deviation(&active(returns, benchmark)).and_then(|deviation| finite(deviation * year.sqrt()))
}

/// `None` for fewer than two days, or if the differences do not vary.
fn information_ratio(returns: &[f64], benchmark: &[f64], year: f64) -> Option<f64> {
    let active = active(returns, benchmark);
    let deviation = deviation(&active).filter(|deviation| *deviation > MIN_TRACKING)?;
    finite(mean(&active) / deviation * year.sqrt())
}

fn active(returns: &[f64], benchmark: &[f64]) -> Vec<f64> {
    returns.iter().zip(benchmark).map(|(r, b)| r - b).collect()
}

/// `None` if the benchmark had no such day.
fn capture(returns: &[f64], benchmark: &[f64], year: f64, wanted: fn(f64) -> bool) -> Option<f64> {
    let days = returns.iter().zip(benchmark).filter(|(_, b)| wanted(**b));
    let (own, other): (Vec<f64>, Vec<f64>) = days.map(|(r, b)| (*r, *b)).unzip();
    finite(annualized_return(&own, year)? / annualized_return(&other, year)?)
}
