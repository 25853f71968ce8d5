//! The generator of the known answers, and series from it.

use papertape_core::time::Date;
use papertape_evidence::ReturnSeries;

/// `x <- (1103515245 x + 12345) mod 2^31`, `u = x / 2^31`.
pub(crate) struct Lcg(u64);

impl Lcg {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 = (1_103_515_245 * self.0 + 12_345) % (1 << 31);
        self.0 as f64 / (1_u64 << 31) as f64
    }
}

/// `level + width (u - 0.5)`.
pub(crate) fn uniform(seed: u64, n: usize, level: f64, width: f64) -> Vec<f64> {
    let mut lcg = Lcg::new(seed);
    (0..n).map(|_| level + width * (lcg.next() - 0.5)).collect()
}

pub(crate) fn day(at: usize) -> Date {
    let first: Date = "2020-01-01".parse().expect("a date");
    first.checked_add(jiff::Span::new().days(i64::try_from(at).expect("fits"))).expect("a date")
}

pub(crate) fn series(returns: &[f64]) -> ReturnSeries {
    let rows: Vec<_> = returns.iter().enumerate().map(|(at, r)| (day(at), *r)).collect();
    ReturnSeries::from_returns(&rows).expect("a series")
}

/// Equal to the digits that were given, of `digits` significant ones.
#[track_caller]
pub(crate) fn assert_digits(ours: f64, expected: f64, digits: i32) {
    let tolerance = 0.5000001 * 10_f64.powi(expected.abs().log10().floor() as i32 + 1 - digits);
    assert!((ours - expected).abs() <= tolerance, "{ours:e} is not {expected:e} to {digits} digits");
}
