//! Collects the adjustments of a sizing.

use super::{Adjustment, AdjustmentCode};
use papertape_core::broker::Rejection;
use papertape_core::id::Symbol;
use rust_decimal::Decimal;

#[derive(Debug, Default)]
pub(super) struct Adjustments(Vec<Adjustment>);

impl Adjustments {
    pub(super) fn add(
        &mut self,
        symbol: &Symbol,
        code: AdjustmentCode,
        message: String,
        numbers: &[(&str, Decimal)],
    ) {
        let numbers = numbers.iter().map(|(name, value)| ((*name).to_owned(), value.normalize())).collect();
        self.0.push(Adjustment { symbol: symbol.clone(), code, message, numbers });
    }

    /// Adds a rejection by the broker, with the broker's numbers.
    pub(super) fn add_rejection(&mut self, symbol: &Symbol, rejection: &Rejection) {
        let message = format!("{} ({})", rejection.message, rejection.code);
        let (code, numbers) = (AdjustmentCode::Refused, rejection.numbers.clone());
        self.0.push(Adjustment { symbol: symbol.clone(), code, message, numbers });
    }

    /// Adds a correction after a rejection, with the broker's numbers.
    pub(super) fn add_correction(
        &mut self,
        symbol: &Symbol,
        rejection: &Rejection,
        code: AdjustmentCode,
        message: String,
    ) {
        let numbers = rejection.numbers.iter().map(|(name, value)| (name.as_str(), *value));
        self.add(symbol, code, message, &numbers.collect::<Vec<_>>());
    }

    pub(super) fn sorted_by_symbol(mut self) -> Vec<Adjustment> {
        self.0.sort_by(|a, b| a.symbol.cmp(&b.symbol));
        self.0
    }
}
