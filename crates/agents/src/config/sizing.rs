//! The sizing table: target weights of ratings, and limits.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Target weights of ratings and limits of positions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SizingConfig {
    /// The target of each rating as a fraction of the cap of one symbol.
    pub weights: Weights,
    /// The cap of one symbol: its maximum value as a fraction of equity; above 0, up to 10.
    pub symbol_cap: Decimal,
    /// The cap of all positions together, long and short, as a fraction of equity; above 0, up to 10.
    pub gross_cap: Decimal,
    /// The fraction of equity that opening orders leave in cash, 0 to below 1.
    pub cash_reserve: Decimal,
    /// Minimum value of an order, as a fraction of equity; 0 for none. A position can always be closed in
    /// full.
    #[serde(rename = "least_order")]
    pub min_order: Decimal,
    /// Whether a Sell may open a short position, if the market allows it.
    pub shorting: bool,
    /// The maximum leverage that a proposal may use, if the market allows it; at least 1.
    pub max_leverage: Decimal,
}

/// Target weights as fractions of the cap of one symbol. A Hold has none: it changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// Above 0 to 1.
    pub buy: Decimal,
    /// Above 0 to `buy`.
    pub overweight: Decimal,
    /// 0 to `overweight`. A smaller position is not increased to it.
    pub underweight: Decimal,
    /// -1 to `underweight`; below 0 is short and needs `shorting`.
    pub sell: Decimal,
}

impl Default for SizingConfig {
    fn default() -> Self {
        Self {
            weights: Weights::default(),
            symbol_cap: Decimal::new(25, 2),
            gross_cap: Decimal::ONE,
            cash_reserve: Decimal::new(2, 2),
            min_order: Decimal::new(1, 3),
            shorting: false,
            max_leverage: Decimal::ONE,
        }
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            buy: Decimal::ONE,
            overweight: Decimal::new(6, 1),
            underweight: Decimal::new(3, 1),
            sell: Decimal::ZERO,
        }
    }
}

impl SizingConfig {
    /// Checks that the numbers are within their limits.
    ///
    /// # Errors
    /// A sentence that names the first invalid field.
    pub fn validate(&self) -> Result<(), String> {
        let zero = Decimal::ZERO;
        let share = |value: Decimal| value > zero && value <= Decimal::TEN;
        let w = &self.weights;
        let checks = [
            (share(self.symbol_cap), "symbol_cap must be above 0 and at most 10"),
            (share(self.gross_cap), "gross_cap must be above 0 and at most 10"),
            (
                self.cash_reserve >= zero && self.cash_reserve < Decimal::ONE,
                "cash_reserve must be from 0 to below 1",
            ),
            (
                self.min_order >= zero && self.min_order < Decimal::ONE,
                "least_order must be from 0 to below 1",
            ),
            (self.max_leverage >= Decimal::ONE, "max_leverage must be 1 or above"),
            (w.buy > zero && w.buy <= Decimal::ONE, "weights.buy must be above 0 and at most 1"),
            (
                w.overweight > zero && w.overweight <= w.buy,
                "weights.overweight must be above 0 and at most weights.buy",
            ),
            (
                w.underweight >= zero && w.underweight <= w.overweight,
                "weights.underweight must be from 0 to weights.overweight",
            ),
            (
                w.sell >= -Decimal::ONE && w.sell <= w.underweight,
                "weights.sell must be from -1 to weights.underweight",
            ),
            (w.sell >= zero || self.shorting, "weights.sell below 0 needs shorting = true"),
        ];
        match checks.into_iter().find(|(holds, _)| !holds) {
            Some((_, problem)) => Err(problem.to_owned()),
            None => Ok(()),
        }
    }
}
