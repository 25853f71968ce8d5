//! How much an amount of money buys.

use crate::broker::profile::MarketProfile;
use crate::broker::{OpeningNeeds, needed_to_open};
use crate::id::Symbol;
use crate::ledger::{Side, exact};
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;

/// The largest quantity that may be bought for this money on a day, costs included, without leverage. `reference`
/// is the price before slippage. Zero where not even the smallest order fits.
#[must_use]
pub fn affordable(
    profile: &MarketProfile,
    (symbol, day): (&Symbol, Date),
    money: Money,
    reference: Price,
) -> Quantity {
    if !money.is_positive() || !reference.is_positive() {
        return Quantity::ZERO;
    }
    let step = if profile.fractional { Decimal::new(1, exact::QUANTITY_DP) } else { profile.lot.0 };
    let fits = |steps: Decimal| {
        let needed = steps.checked_mul(step).is_some_and(|quantity| {
            let quantity = Quantity(quantity);
            let needed = needed_to_open(profile, (symbol, day), Side::Buy, quantity, reference, Decimal::ONE);
            needed.and_then(OpeningNeeds::total).is_ok_and(|needed| needed <= money)
        });
        steps.is_zero() || needed
    };
    // Without costs it would be this much; what is needed grows with the quantity.
    let without = money.0.checked_div(reference.0).and_then(|units| units.checked_div(step));
    let (mut low, mut high) = (Decimal::ZERO, without.unwrap_or_default().floor());
    if fits(high) {
        low = high;
    }
    while high - low > Decimal::ONE {
        let middle = ((low + high) / Decimal::TWO).floor();
        if fits(middle) { low = middle } else { high = middle }
    }
    Quantity(low.checked_mul(step).unwrap_or_default().normalize())
}
