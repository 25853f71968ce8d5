//! The indicators whose value depends on every bar so far, computed bar by bar: EMA, MACD, RSI and ATR. The state
//! after a bar is all that later bars need, so a computation can continue from any bar.

use super::formula::{finite, float};
use super::{Indicator, Input};

/// An average in which each new value has a fixed weight: `average + weight x (value - average)`. It starts with
/// the simple average of the first `window` values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Average {
    window: usize,
    weight: f64,
    seen: usize,
    /// The sum of the values while there are fewer than `window`, then the average.
    value: f64,
}

impl Average {
    /// The exponential moving average: the weight is 2 / (`window` + 1).
    fn exponential(window: usize) -> Self {
        Self::new(window, 2.0 / (float(window) + 1.0))
    }

    /// Wilder's average: the weight is 1 / `window`.
    fn wilder(window: usize) -> Self {
        Self::new(window, 1.0 / float(window))
    }

    fn new(window: usize, weight: f64) -> Self {
        // A sum of floats starts with this value, which differs from 0.0 in its sign.
        let value = std::iter::empty::<f64>().sum();
        Self { window, weight, seen: 0, value }
    }

    /// The average including the next value; `None` while there are too few.
    fn push(&mut self, value: f64) -> Option<f64> {
        if self.window == 0 {
            return None;
        }
        if self.seen == self.window {
            self.value += self.weight * (value - self.value);
            return Some(self.value);
        }
        self.seen += 1;
        self.value += value;
        if self.seen < self.window {
            return None;
        }
        self.value /= float(self.window);
        Some(self.value)
    }
}

/// The state of an indicator after some bars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Running {
    /// The exponential moving average of the close.
    Ema(Average),
    /// MACD: the fast exponential average minus the slow one, and an exponential average of that as the signal.
    Macd { fast: Average, slow: Average, signal: Average },
    /// Wilder's relative strength index: `100 x gain / (gain + loss)`, which is his
    /// `100 - 100 / (1 + gain / loss)`, of the averages of the gains and the losses from close to close. A series
    /// that has never moved has none.
    Rsi { close: Option<f64>, gains: Average, losses: Average },
    /// Wilder's average true range: the true range is the greatest of high minus low and the distances of high and
    /// low from the previous close, so the first bar has none.
    Atr { close: Option<f64>, ranges: Average },
}

impl Running {
    /// The state before the first bar; `None` for an indicator whose value depends on a window of bars only.
    pub(super) fn of(indicator: Indicator) -> Option<Self> {
        Some(match indicator {
            Indicator::Ema { window } => Self::Ema(Average::exponential(window)),
            Indicator::Macd { fast, slow, signal } => Self::Macd {
                fast: Average::exponential(fast),
                slow: Average::exponential(slow),
                signal: Average::exponential(signal),
            },
            Indicator::Rsi { window } => {
                let average = Average::wilder(window);
                Self::Rsi { close: None, gains: average, losses: average }
            }
            Indicator::Atr { window } => Self::Atr { close: None, ranges: Average::wilder(window) },
            Indicator::Sma { .. }
            | Indicator::Bollinger { .. }
            | Indicator::Vwma { .. }
            | Indicator::Mfi { .. } => return None,
        })
    }

    /// Takes the next bar, a row of the input, and returns the value of each line. A single line is the first.
    pub(super) fn push(&mut self, input: &Input, row: usize) -> [Option<f64>; 3] {
        let now = input.close[row];
        match self {
            Self::Ema(average) => [average.push(now), None, None],
            Self::Macd { fast, slow, signal } => {
                let line = difference(fast.push(now), slow.push(now));
                let signal = line.and_then(|line| signal.push(line));
                [line, signal, difference(line, signal)]
            }
            Self::Rsi { close, gains, losses } => {
                let Some(before) = close.replace(now) else { return [None; 3] };
                let change = now - before;
                let (gain, loss) = (gains.push(change.max(0.0)), losses.push((-change).max(0.0)));
                let share = |(gain, loss): (f64, f64)| finite(100.0 * gain / (gain + loss));
                [gain.zip(loss).and_then(share), None, None]
            }
            Self::Atr { close, ranges } => {
                let Some(before) = close.replace(now) else { return [None; 3] };
                [ranges.push(input.high[row].max(before) - input.low[row].min(before)), None, None]
            }
        }
    }
}

fn difference(left: Option<f64>, right: Option<f64>) -> Option<f64> {
    finite(left? - right?)
}
