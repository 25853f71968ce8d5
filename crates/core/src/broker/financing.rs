//! Financing: the cost of borrowed money or shares, by calendar night.
//!
//! Every night is charged once, to the holder of the position: at the close for the nights until the next
//! trading day, so a position bought on a Friday pays for the weekend. If more nights follow than were known
//! at the close (a holiday right after the end of a dataset), the rest is charged before the next open.

use super::books::{Books, LedgerEntry};
use super::profile::{MarketProfile, basis_points_per_unit};
use crate::id::Symbol;
use crate::ledger::{LedgerError, LedgerEvent, Position, checked};
use crate::money::{Money, Price};
use crate::time::Date;
use jiff::Unit;
use rust_decimal::Decimal;

/// Days per year of an annual rate.
const DAYS_PER_YEAR: i64 = 365;

/// Charges the nights from `from` to `until` that have not been charged yet.
pub(super) fn charge(
    books: &mut Books,
    entries: &mut Vec<LedgerEntry>,
    day: Date,
    from: Date,
    until: Date,
) -> Result<(), LedgerError> {
    let from = books.financed_until.map_or(from, |paid| paid.max(from));
    let Some(nights) = nights(from, until) else { return Ok(()) };
    books.financed_until = Some(until);
    let positions: Vec<(Symbol, Position)> =
        books.account.positions().iter().map(|(s, p)| (s.clone(), p.clone())).collect();
    for (symbol, position) in positions {
        let mark = books.marks.get(&symbol).copied().unwrap_or(position.avg_price);
        let unit = charge_per_unit(&books.profile, &position, mark, nights)?;
        let amount = checked::value(unit, position.quantity.abs())?;
        let amount = Money(checked::round(amount.0, checked::MONEY_DP));
        if amount.is_positive() {
            let (nights, unit) = (Some(nights), Some(unit));
            books.record_entry(entries, LedgerEvent::Financing { day, symbol, amount, nights, unit })?;
        }
    }
    Ok(())
}

/// The cost of one unit of a position over these nights: the financed amount x the annual rate (for a short
/// position, of borrowed shares) x nights / 365 over the units held, rounded half to even to 16 decimals.
fn charge_per_unit(
    profile: &MarketProfile,
    position: &Position,
    mark: Price,
    nights: u32,
) -> Result<Price, LedgerError> {
    let is_long = position.quantity.is_positive();
    let bps = if is_long { profile.annual_financing_bps } else { profile.short_borrow_bps() };
    let yearly = checked::div(bps, basis_points_per_unit())?;
    if yearly.is_zero() {
        return Ok(Price::ZERO);
    }
    let financed = financed(position, mark)?;
    let total = checked::mul(checked::mul(financed.0, yearly)?, Decimal::from(nights))?;
    let total = checked::div(total, Decimal::from(DAYS_PER_YEAR))?;
    let unit = checked::div(total, position.quantity.abs().0)?;
    Ok(Price(checked::round(unit, checked::UNIT_CHARGE_DP)))
}

/// The loan of a long position, the market value of a short one.
fn financed(position: &Position, mark: Price) -> Result<Money, LedgerError> {
    if position.quantity.is_positive() {
        checked::minus(position.cost, position.margin)
    } else {
        checked::value(mark, position.quantity).map(Money::abs)
    }
}

/// Calendar nights from one date to another; `None` if there are none.
fn nights(from: Date, until: Date) -> Option<u32> {
    let span = from.until((Unit::Day, until)).ok()?;
    u32::try_from(span.get_days()).ok().filter(|nights| *nights > 0)
}
