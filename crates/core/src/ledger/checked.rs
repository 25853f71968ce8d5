//! Checked decimal arithmetic: overflow is an error, never a panic.

use super::error::LedgerError;
use crate::money::{Money, Price, Quantity};
use rust_decimal::{Decimal, RoundingStrategy};

/// Decimals of money computed from a rate or as a fraction of an amount.
pub(crate) const MONEY_DP: u32 = 8;
/// Decimals of a computed price.
pub(crate) const PRICE_DP: u32 = 10;
/// Decimals of a charge per unit, which for a cheap unit over one night is far below the unit's price.
pub(crate) const UNIT_CHARGE_DP: u32 = 16;
/// Decimals of a quantity: the smallest tradable unit.
pub(crate) const QUANTITY_DP: u32 = 8;

type Exact<T> = Result<T, LedgerError>;

/// Rounds half to even, without trailing zeros.
pub(crate) fn round(value: Decimal, dp: u32) -> Decimal {
    value.round_dp_with_strategy(dp, RoundingStrategy::MidpointNearestEven).normalize()
}

pub(crate) fn add(a: Decimal, b: Decimal) -> Exact<Decimal> {
    a.checked_add(b).map(|sum| sum.normalize()).ok_or(LedgerError::Overflow)
}

pub(crate) fn sub(a: Decimal, b: Decimal) -> Exact<Decimal> {
    a.checked_sub(b).map(|rest| rest.normalize()).ok_or(LedgerError::Overflow)
}

pub(crate) fn mul(a: Decimal, b: Decimal) -> Exact<Decimal> {
    a.checked_mul(b).map(|product| product.normalize()).ok_or(LedgerError::Overflow)
}

pub(crate) fn div(a: Decimal, b: Decimal) -> Exact<Decimal> {
    a.checked_div(b).ok_or(LedgerError::Overflow)
}

/// Price x quantity, exact.
pub(crate) fn value(price: Price, quantity: Quantity) -> Exact<Money> {
    mul(price.0, quantity.0).map(Money)
}

pub(crate) fn plus(a: Money, b: Money) -> Exact<Money> {
    add(a.0, b.0).map(Money)
}

pub(crate) fn minus(a: Money, b: Money) -> Exact<Money> {
    sub(a.0, b.0).map(Money)
}

/// The fraction `part / whole` of an amount, rounded; the exact amount when the part is the whole.
pub(crate) fn share(amount: Money, part: Quantity, whole: Quantity) -> Exact<Money> {
    if part == whole {
        return Ok(amount);
    }
    Ok(Money(round(div(mul(amount.0, part.0)?, whole.0)?, MONEY_DP)))
}
