//! How much an amount of money buys.

use crate::broker::profile::MarketProfile;
use crate::broker::{OpeningNeeds, initial_margin_requirement};
use crate::id::Symbol;
use crate::ledger::Side;
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;

/// The largest quantity that may be opened with this money on a day, costs included. `reference` is the price
/// before slippage. Zero where not even the smallest order fits.
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
    // Without costs it would be this much; what is needed grows with the quantity.
    let without =
        money.0.checked_div(reference.0).and_then(|units| units.checked_mul(leverage.max(Decimal::ONE)));
    let without = without.and_then(|units| units.checked_div(step));
    // Slippage may make what is sold short cheaper than its reference.
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
