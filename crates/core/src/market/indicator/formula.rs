//! The formulas over a window of bars. Each takes its series oldest first and returns a value per bar: `None` while
//! there is too little data, or if it would divide by zero. A value depends on the bars of its window only, so a
//! series that begins later has the same values from its first complete window on.
//!
//! A window of zero bars has no values.
//!
//! Sources, also of the indicators that depend on every bar: J. Welles Wilder, *New Concepts in Technical Trading
//! Systems* (1978), for RSI and ATR; Gerald Appel, *Technical Analysis: Power Tools for Active Investors* (2005), for
//! MACD; John Bollinger, *Bollinger on Bollinger Bands* (2001); Gene Quong and Avrum Soudack, "Volume-Weighted RSI:
//! Money Flow", *Stocks & Commodities* 7:3 (1989), for MFI. If a source does not define the first value of an
//! average, it is the simple average of the first window.

/// The three lines of Bollinger bands.
#[derive(Clone, Debug, PartialEq)]
pub struct Bollinger {
    /// The simple moving average.
    pub middle: Vec<Option<f64>>,
    /// The middle plus the given number of standard deviations.
    pub upper: Vec<Option<f64>>,
    /// The middle minus the given number of standard deviations.
    pub lower: Vec<Option<f64>>,
}

/// Simple moving average: the mean of the newest `window` values.
#[must_use]
pub fn sma(values: &[f64], window: usize) -> Vec<Option<f64>> {
    rolling(values.len(), window, |range| Some(mean(&values[range])))
}

/// Bollinger bands: the simple moving average, and the given number of population standard deviations (ddof
/// 0) of the same window above and below it.
#[must_use]
pub fn bollinger(values: &[f64], window: usize, deviations: f64) -> Bollinger {
    let middle = sma(values, window);
    let spread = rolling(values.len(), window, |range| {
        let values = &values[range];
        let mean = mean(values);
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Some(deviations * (squares / float(values.len())).sqrt())
    });
    let upper = pairwise(&middle, &spread, |middle, spread| middle + spread);
    let lower = pairwise(&middle, &spread, |middle, spread| middle - spread);
    Bollinger { middle, upper, lower }
}

/// Volume-weighted moving average: the sum of close times volume over the sum of the volumes.
#[must_use]
pub fn vwma(closes: &[f64], volumes: &[f64], window: usize) -> Vec<Option<f64>> {
    rolling(closes.len(), window, |range| {
        let volume: f64 = volumes[range.clone()].iter().sum();
        let traded: f64 = range.map(|at| closes[at] * volumes[at]).sum();
        finite(traded / volume)
    })
}

/// Money flow index: `100 x up / (up + down)`, which is `100 - 100 / (1 + up / down)`, where a bar's
/// flow is its typical price, (high + low + close) / 3, times its volume, and counts as up or down
/// as the typical price rose or fell from the bar before; of the newest `window` bars.
#[must_use]
pub fn mfi(highs: &[f64], lows: &[f64], closes: &[f64], volumes: &[f64], window: usize) -> Vec<Option<f64>> {
    let typical: Vec<f64> = (0..closes.len()).map(|at| (highs[at] + lows[at] + closes[at]) / 3.0).collect();
    let flow = |up: bool| -> Vec<f64> {
        (1..typical.len())
            .map(|at| {
                let counts = if up { typical[at] > typical[at - 1] } else { typical[at] < typical[at - 1] };
                if counts { typical[at] * volumes[at] } else { 0.0 }
            })
            .collect()
    };
    let (ups, downs) = (flow(true), flow(false));
    let share = rolling(ups.len(), window, |range| {
        let up: f64 = ups[range.clone()].iter().sum();
        let down: f64 = downs[range].iter().sum();
        finite(100.0 * up / (up + down))
    });
    after_first(closes.len(), share)
}

fn rolling(
    length: usize,
    window: usize,
    value: impl Fn(std::ops::Range<usize>) -> Option<f64>,
) -> Vec<Option<f64>> {
    (1..=length)
        .map(|end| if window > 0 && end >= window { value(end - window..end) } else { None })
        .collect()
}

fn pairwise(
    left: &[Option<f64>],
    right: &[Option<f64>],
    value: impl Fn(f64, f64) -> f64,
) -> Vec<Option<f64>> {
    left.iter().zip(right).map(|(&left, &right)| finite(value(left?, right?))).collect()
}

/// Prepends the first bar, which has no change.
fn after_first(length: usize, mut changes: Vec<Option<f64>>) -> Vec<Option<f64>> {
    if length > 0 {
        changes.insert(0, None);
    }
    changes
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / float(values.len())
}

pub(super) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[expect(clippy::cast_precision_loss, reason = "a number of bars is far below 2^52")]
pub(super) fn float(count: usize) -> f64 {
    count as f64
}
