//! The figures that one role passes to the next: one bracket of names and numbers in its text.

use crate::number;
use crate::strategy::IndicatorValues;
use rust_decimal::Decimal;
use std::fmt::Write as _;

const MARK: &str = "Figures: [";

/// The figures that the Market Analyst read. Each may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) price: Option<Decimal>,
    pub(super) sma_20: Option<Decimal>,
    pub(super) sma_50: Option<Decimal>,
    pub(super) rsi_14: Option<Decimal>,
    pub(super) atr_14: Option<Decimal>,
}

impl Figures {
    fn fields(&mut self) -> [(&'static str, &mut Option<Decimal>); 5] {
        [
            ("price", &mut self.price),
            ("sma_20", &mut self.sma_20),
            ("sma_50", &mut self.sma_50),
            ("rsi_14", &mut self.rsi_14),
            ("atr_14", &mut self.atr_14),
        ]
    }

    /// The form in which they are passed on: `Figures: [price=100; sma_20=95.5]`, at most six decimals.
    pub(super) fn write(mut self) -> String {
        let mut text = String::new();
        for (name, value) in self.fields() {
            if let Some(value) = value {
                let gap = if text.is_empty() { "" } else { "; " };
                // Writing to a String cannot fail.
                let _ = write!(text, "{gap}{name}={}", value.round_dp(6).normalize());
            }
        }
        format!("{MARK}{text}]")
    }

    /// The first figures in a text; empty when it has none.
    pub(super) fn read(text: &str) -> Self {
        let mut figures = Self::default();
        let inside = text.split_once(MARK).and_then(|(_, rest)| rest.split_once(']'));
        for (name, value) in
            inside.iter().flat_map(|(list, _)| list.split(';')).filter_map(|f| f.split_once('='))
        {
            let value = number::read(&value.into());
            for (field, place) in figures.fields() {
                if field == name.trim() {
                    *place = value;
                }
            }
        }
        figures
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The input for the strategies' rules.
    pub(super) fn facts(self, symbol: &str, held: Decimal) -> IndicatorValues {
        IndicatorValues {
            symbol: symbol.to_owned(),
            price: self.price,
            sma_20: self.sma_20,
            sma_50: self.sma_50,
            rsi_14: self.rsi_14,
            held,
        }
    }
}
