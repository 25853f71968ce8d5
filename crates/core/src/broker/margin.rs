//! The margin and fee of opening a position, and the largest affordable quantity.

use super::profile::MarketProfile;
use super::terms::{FillTerms, Venue};
use crate::id::Symbol;
use crate::ledger::{LedgerError, Side, checked};
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;

/// The amount that must be available to open or add to a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningNeeds {
    /// Its margin at the fill's price, slippage included.
    pub margin: Money,
    /// The fee.
    pub fee: Money,
}

impl OpeningNeeds {
    /// Margin and fee.
    ///
    /// # Errors
    /// [`LedgerError::Overflow`].
    pub fn total(self) -> Result<Money, LedgerError> {
        checked::plus(self.margin, self.fee)
    }
}

/// The amount that must be available to open or add to a position on a day, with the profile's fill model.
/// `reference` is the price before slippage.
///
/// # Errors
/// [`LedgerError::Overflow`], or a price that is below zero after slippage.
pub fn initial_margin_requirement(
    profile: &MarketProfile,
    (symbol, day): (&Symbol, Date),
    side: Side,
    quantity: Quantity,
    reference: Price,
    leverage: Decimal,
) -> Result<OpeningNeeds, LedgerError> {
    needed(&FillTerms::at(Venue::for_order(profile, symbol, day), side, quantity, reference)?, leverage)
}

pub(super) fn needed(terms: &FillTerms, leverage: Decimal) -> Result<OpeningNeeds, LedgerError> {
    // A later rule rejects a leverage below 1; here it must not make the order cheaper or the division fail.
    let divisor = leverage.max(Decimal::ONE);
    let margin = checked::div(terms.value.0, divisor)?;
    let margin =
        Money(if divisor == Decimal::ONE { margin } else { checked::round(margin, checked::MONEY_DP) });
    Ok(OpeningNeeds { margin, fee: terms.fee })
}

/// The largest quantity that this money can open on a day, costs included. `reference` is the price before
/// slippage. Zero if not even the smallest order fits.
#[must_use]
pub fn affordable(
    profile: &MarketProfile,
    (at, side, leverage): ((&Symbol, Date), Side, Decimal),
    money: Money,
    reference: Price,
) -> Quantity {
    if !money.is_positive() || !reference.is_positive() {
        return Quantity::ZERO;
    }
    let rule = profile.lot_rule(at.0);
    let step = rule.step.0;
    let fits = |steps: Decimal| {
        let needed = steps.checked_mul(step).is_some_and(|quantity| {
            let quantity = Quantity(quantity);
            let needed = initial_margin_requirement(profile, at, side, quantity, reference, leverage);
            needed.and_then(OpeningNeeds::total).is_ok_and(|needed| needed <= money)
        });
        steps.is_zero() || needed
    };
    // The upper bound without costs; the requirement grows with the quantity.
    let without =
        money.0.checked_div(reference.0).and_then(|units| units.checked_mul(leverage.max(Decimal::ONE)));
    let without = without.and_then(|units| units.checked_div(step));
    // Slippage can make a short sale cheaper than its reference.
    let without = without.map(|steps| if side == Side::Short { steps * Decimal::TWO } else { steps });
    let (mut low, mut high) = (Decimal::ZERO, without.unwrap_or_default().floor());
    if fits(high) {
        low = high;
    }
    while high - low > Decimal::ONE {
        let middle = ((low + high) / Decimal::TWO).floor();
        if fits(middle) { low = middle } else { high = middle }
    }
    rule.round_down(Quantity(low.checked_mul(step).unwrap_or_default()))
}
