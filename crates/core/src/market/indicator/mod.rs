//! Technical indicators over the complete bars of a view.
//!
//! Indicators are floats: they are never used for accounting. [`formula`] has the formulas and their sources.

pub mod formula;
mod name;

use crate::time::Date;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::{Deserialize, Serialize};

/// An indicator with its parameters; windows count bars.
///
/// Its text form is a name, with parameters in parentheses, or none for the defaults: `sma(50)`, `ema` (20),
/// `macd` (12, 26, 9), `rsi` (14), `bollinger` (20, 2), `atr` (14), `vwma` (20), `mfi` (14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A symbol's complete bars in the share units of the instant, oldest first.
pub(super) struct Input {
    pub(super) high: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) close: Vec<f64>,
    pub(super) volume: Vec<f64>,
}

impl IndicatorTable {
    pub(super) fn of(input: &Input, dates: &[Date], indicators: &[Indicator], limit: usize) -> Self {
        let skipped = dates.len().saturating_sub(limit);
        let mut columns: Vec<IndicatorColumn> =
            indicators.iter().flat_map(|indicator| indicator.columns(input)).collect();
        columns.iter_mut().for_each(|column| drop(column.values.drain(..skipped)));
        Self { dates: dates[skipped..].to_vec(), columns }
    }
}

impl Indicator {
    fn columns(self, input: &Input) -> Vec<IndicatorColumn> {
        let Input { high, low, close, volume } = input;
        let text = self.to_string();
        let one = |values| vec![IndicatorColumn { name: text.clone(), values }];
        let line = |name: &str, values| {
            let arguments = text.find('(').map_or("", |at| &text[at..]);
            IndicatorColumn { name: format!("{name}{arguments}"), values }
        };
        match self {
            Self::Sma { window } => one(formula::sma(close, window)),
            Self::Ema { window } => one(formula::ema(close, window)),
            Self::Rsi { window } => one(formula::rsi(close, window)),
            Self::Atr { window } => one(formula::atr(high, low, close, window)),
            Self::Vwma { window } => one(formula::vwma(close, volume, window)),
            Self::Mfi { window } => one(formula::mfi(high, low, close, volume, window)),
            Self::Macd { fast, slow, signal } => {
                let macd = formula::macd(close, fast, slow, signal);
                vec![
                    line("macd", macd.line),
                    line("macd_signal", macd.signal),
                    line("macd_histogram", macd.histogram),
                ]
            }
            Self::Bollinger { window, deviations } => {
                let deviations = deviations.to_f64().unwrap_or(f64::NAN);
                let bands = formula::bollinger(close, window, deviations);
                vec![
                    line("bollinger_middle", bands.middle),
                    line("bollinger_upper", bands.upper),
                    line("bollinger_lower", bands.lower),
                ]
            }
        }
    }
}
