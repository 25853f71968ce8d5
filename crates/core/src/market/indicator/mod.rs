//! Technical indicators over the complete bars of a view.
//!
//! Indicators are floats: they are never used for accounting. [`formula`] has the formulas and their sources.
//!
//! A read costs the same after many years as at the start: a value over a window reads its window, and a value that
//! depends on every bar continues from the newest of the checkpoints at or before it.

mod checkpoints;
pub mod formula;
mod name;
mod running;

pub(super) use checkpoints::{Checkpoints, SeriesCheckpoints};

use crate::time::Date;
use checkpoints::EVERY;
use running::Running;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::{Deserialize, Serialize};

/// An indicator with its parameters; windows count bars.
///
/// Its text form is a name, with parameters in parentheses, or none for the defaults: `sma(50)`, `ema` (20),
/// `macd` (12, 26, 9), `rsi` (14), `bollinger` (20, 2), `atr` (14), `vwma` (20), `mfi` (14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Indicator {
    /// Simple moving average of the close.
    Sma {
        /// Bars averaged.
        window: usize,
    },
    /// Exponential moving average of the close.
    Ema {
        /// Bars of the equivalent simple average.
        window: usize,
    },
    /// Moving average convergence/divergence: three columns, the line, its signal and their
    /// difference.
    Macd {
        /// The fast average's window.
        fast: usize,
        /// The slow average's window, longer than the fast one's.
        slow: usize,
        /// The signal's window.
        signal: usize,
    },
    /// Wilder's relative strength index.
    Rsi {
        /// Changes averaged.
        window: usize,
    },
    /// Bollinger bands: three columns, middle, upper and lower.
    Bollinger {
        /// Bars averaged.
        window: usize,
        /// The bands' distance in standard deviations.
        deviations: Decimal,
    },
    /// Wilder's average true range.
    Atr {
        /// Ranges averaged.
        window: usize,
    },
    /// Volume-weighted moving average of the close.
    Vwma {
        /// Bars averaged.
        window: usize,
    },
    /// Money flow index.
    Mfi {
        /// Flows summed.
        window: usize,
    },
}

/// One line of an indicator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndicatorColumn {
    /// The indicator's text form; each of several lines has its own name, such as `macd_signal(12,26,9)`.
    pub name: String,
    /// A value for each date; `None` while there is too little data, or if the formula divides by zero.
    pub values: Vec<Option<f64>>,
}

/// Indicators by date, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndicatorTable {
    /// The trading days.
    pub dates: Vec<Date>,
    /// The lines, in the requested order.
    pub columns: Vec<IndicatorColumn>,
}

/// A symbol's complete bars from some row on, in the share units of the instant, oldest first.
pub(super) struct Input {
    pub(super) high: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) close: Vec<f64>,
    pub(super) volume: Vec<f64>,
}

/// Where the computation of an indicator's newest values begins.
#[derive(Clone, Copy)]
enum Start {
    /// The first bar of the window of the first value.
    Window(usize),
    /// The bar after this state.
    Running(usize, Running),
}

impl Start {
    fn row(self) -> usize {
        match self {
            Self::Window(row) | Self::Running(row, _) => row,
        }
    }
}

impl IndicatorTable {
    /// The values of the newest bars, one for each of these dates, of a series of `rows` complete bars. `input` returns
    /// the series from a row on.
    pub(super) fn of(
        indicators: &[Indicator],
        (rows, dates): (usize, Vec<Date>),
        checkpoints: SeriesCheckpoints<'_>,
        input: impl FnOnce(usize) -> Input,
    ) -> Self {
        let first = rows - dates.len();
        let starts: Vec<Start> =
            indicators.iter().map(|indicator| indicator.start(first, checkpoints)).collect();
        let begin = starts.iter().map(|start| start.row()).min().unwrap_or(rows);
        let input = input(begin);
        let columns = indicators.iter().zip(starts).flat_map(|(indicator, start)| match start {
            Start::Window(row) => indicator.windowed(&input, row - begin, first - row),
            Start::Running(row, running) => {
                let from = Continuation { row, running, begin, first };
                indicator.continued(&input, from, checkpoints)
            }
        });
        Self { columns: columns.collect(), dates }
    }
}

/// From where to where a running indicator is computed, in rows of the whole series.
struct Continuation {
    /// The first row that the state does not include.
    row: usize,
    running: Running,
    /// The row of the input's first bar.
    begin: usize,
    /// The row of the first value to return.
    first: usize,
}

impl Indicator {
    /// Where to begin, so that the values from row `first` on are those of the whole series.
    fn start(self, first: usize, checkpoints: SeriesCheckpoints<'_>) -> Start {
        if let Some(running) = Running::of(self) {
            let (row, running) = checkpoints.newest(self, first).unwrap_or((0, running));
            return Start::Running(row, running);
        }
        let before = match self {
            // Its flows compare each bar of the window with the bar before it.
            Self::Mfi { window } => window,
            Self::Sma { window } | Self::Bollinger { window, .. } | Self::Vwma { window } => {
                window.saturating_sub(1)
            }
            Self::Ema { .. } | Self::Macd { .. } | Self::Rsi { .. } | Self::Atr { .. } => first,
        };
        Start::Window(first.saturating_sub(before))
    }

    /// The columns of an indicator over a window, computed from a row of the input on, without the first `skipped`
    /// values.
    fn windowed(self, input: &Input, from: usize, skipped: usize) -> Vec<IndicatorColumn> {
        let [high, low, close, volume] =
            [&input.high, &input.low, &input.close, &input.volume].map(|column| &column[from..]);
        let lines = match self {
            Self::Sma { window } => vec![formula::sma(close, window)],
            Self::Vwma { window } => vec![formula::vwma(close, volume, window)],
            Self::Mfi { window } => vec![formula::mfi(high, low, close, volume, window)],
            Self::Bollinger { window, deviations } => {
                let deviations = deviations.to_f64().unwrap_or(f64::NAN);
                let bands = formula::bollinger(close, window, deviations);
                vec![bands.middle, bands.upper, bands.lower]
            }
            Self::Ema { .. } | Self::Macd { .. } | Self::Rsi { .. } | Self::Atr { .. } => Vec::new(),
        };
        let rest = |mut line: Vec<Option<f64>>| line.split_off(skipped);
        self.columns(lines.into_iter().map(rest))
    }

    /// The columns of an indicator that depends on every bar. Adds the checkpoints that it passes.
    fn continued(
        self,
        input: &Input,
        from: Continuation,
        checkpoints: SeriesCheckpoints<'_>,
    ) -> Vec<IndicatorColumn> {
        let Continuation { row, mut running, begin, first } = from;
        let rows = begin + input.close.len();
        let mut lines = [(); 3].map(|()| Vec::with_capacity(rows - first));
        let mut passed = Vec::new();
        for at in row..rows {
            let values = running.push(input, at - begin);
            if at >= first {
                lines.iter_mut().zip(values).for_each(|(line, value)| line.push(value));
            }
            if (at + 1).is_multiple_of(EVERY) {
                passed.push(running);
            }
        }
        checkpoints.add(self, row / EVERY, passed);
        self.columns(lines.into_iter())
    }

    /// The lines under their names.
    fn columns(self, lines: impl Iterator<Item = Vec<Option<f64>>>) -> Vec<IndicatorColumn> {
        let text = self.to_string();
        let names: &[&str] = match self {
            Self::Macd { .. } => &["macd", "macd_signal", "macd_histogram"],
            Self::Bollinger { .. } => &["bollinger_middle", "bollinger_upper", "bollinger_lower"],
            Self::Sma { .. }
            | Self::Ema { .. }
            | Self::Rsi { .. }
            | Self::Atr { .. }
            | Self::Vwma { .. }
            | Self::Mfi { .. } => &[],
        };
        if names.is_empty() {
            return lines.take(1).map(|values| IndicatorColumn { name: text.clone(), values }).collect();
        }
        let arguments = text.find('(').map_or("", |at| &text[at..]);
        let named =
            |(name, values): (&&str, _)| IndicatorColumn { name: format!("{name}{arguments}"), values };
        names.iter().zip(lines).map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Symbol;
    use std::cell::Cell;

    /// The bars from a row on of an endless series.
    fn series(from: usize, rows: usize) -> Input {
        let price = |row: usize| 100.0 + formula::float(row * 37 % 101) / 10.0;
        let column = |more: f64| (from..rows).map(|row| price(row) + more).collect();
        Input { high: column(1.0), low: column(-1.0), close: column(0.0), volume: column(900.0) }
    }

    // Goal: a day's read of the usual indicators touches as many bars after 3,000 days as after 300, whether the days are
    // read in order or one of them is read again.
    #[test]
    fn a_read_touches_the_same_bars_after_many_days() {
        let names = ["sma(50)", "ema(12)", "ema(26)", "macd", "rsi", "bollinger", "atr", "vwma", "mfi"];
        let indicators = names.map(|name| name.parse::<Indicator>().expect(name));
        let checkpoints = Checkpoints::default();
        let symbol = Symbol::new("AAA");
        let touched = |rows: usize| {
            let touched = Cell::new(0);
            let today = vec![Date::constant(2024, 1, 2)];
            let checkpoints = checkpoints.series(&symbol, None);
            let table = IndicatorTable::of(&indicators, (rows, today), checkpoints, |from| {
                touched.set(rows - from);
                series(from, rows)
            });
            assert!(table.columns.iter().all(|column| column.values.len() == 1));
            touched.get()
        };
        let by_day: Vec<usize> = (1..=3_000).map(touched).collect();
        let (early, late) = (&by_day[300..556], &by_day[2_744..]);
        assert_eq!(early.iter().max(), late.iter().max());
        assert_eq!(early.iter().sum::<usize>(), late.iter().sum::<usize>());
        assert!(by_day.iter().all(|touched| *touched <= EVERY), "{:?}", by_day.iter().max());
        assert_eq!(touched(1_500), by_day[1_499]);
    }
}
