//! The rules for stops and targets.

use super::reject::{RejectCode, RejectReason};
use crate::ledger::{Direction, LedgerError, checked};
use crate::money::Price;
use rust_decimal::Decimal;

/// The maximum loss of a leveraged position at its stop, times the leverage: `|entry - stop| / entry x
/// leverage <= 0.10`. Without leverage, a stop can be anywhere on the losing side of the price.
pub const MAX_LEVERAGED_LOSS: Decimal = Decimal::from_parts(10, 0, 0, false, 2);

/// A stop must be above zero and on the losing side of `price`, a target on the gaining side.
pub(super) fn check_stop_side(
    direction: Direction,
    price: Price,
    stop: Option<Price>,
    target: Option<Price>,
) -> Result<(), RejectReason> {
    let (losing, gaining) = match direction {
        Direction::Long => ("below", "above"),
        Direction::Short => ("above", "below"),
    };
    if let Some(stop) = stop.filter(|stop| !stop.is_positive() || !is_worse(direction, *stop, price)) {
        let message = format!(
            "The stop of a {} position must be above zero and {losing} the price of {price}; \
             {stop} is not.",
            name(direction)
        );
        let numbers = [("stop", stop.0), ("price", price.0)];
        return Err(RejectReason::new(RejectCode::StopWrongSide, message, numbers));
    }
    if let Some(target) =
        target.filter(|target| !target.is_positive() || !is_worse(direction, price, *target))
    {
        let message = format!(
            "The target of a {} position must be above zero and {gaining} the price of {price}; \
             {target} is not.",
            name(direction)
        );
        let numbers = [("target", target.0), ("price", price.0)];
        return Err(RejectReason::new(RejectCode::TargetWrongSide, message, numbers));
    }
    Ok(())
}

/// The leveraged loss at the stop is within [`MAX_LEVERAGED_LOSS`], if there is leverage. A stop beyond the
/// entry locks in a gain and is always within it.
pub(super) fn check_stop_distance(
    direction: Direction,
    entry: Price,
    stop: Price,
    leverage: Decimal,
) -> Result<(), RejectReason> {
    if leverage <= Decimal::ONE {
        return Ok(());
    }
    let too_large = |_: LedgerError| RejectReason::too_large(LedgerError::Overflow);
    let distance = match direction {
        Direction::Long => checked::sub(entry.0, stop.0),
        Direction::Short => checked::sub(stop.0, entry.0),
    }
    .map_err(too_large)?;
    let allowed = checked::mul(entry.0, MAX_LEVERAGED_LOSS).map_err(too_large)?;
    if checked::mul(distance, leverage).map_err(too_large)? <= allowed {
        return Ok(());
    }
    let largest = checked::div(allowed, leverage).map_err(too_large)?;
    // Truncated, not rounded: the reported distance must itself be admissible.
    let largest = largest.trunc_with_scale(checked::PRICE_DP).normalize();
    let furthest = match direction {
        Direction::Long => checked::sub(entry.0, largest),
        Direction::Short => checked::add(entry.0, largest),
    }
    .map_err(too_large)?;
    let message = format!(
        "A stop of {stop} is {} away from the entry of {entry}; with a leverage of {leverage} the \
         largest admissible distance is {largest} (a stop of {furthest}), because the leveraged \
         loss may be at most 10%.",
        Price(distance),
    );
    let numbers = [
        ("entry", entry.0),
        ("stop", stop.0),
        ("leverage", leverage),
        ("distance", distance),
        ("largest_distance", largest),
        ("furthest_stop", furthest),
    ];
    Err(RejectReason::new(RejectCode::StopTooFar, message, numbers))
}

/// Rejects a stop that is further away than the old one.
pub(super) fn check_stop_tightened(
    direction: Direction,
    old: Option<Price>,
    new: Option<Price>,
) -> Result<(), RejectReason> {
    let (Some(old), Some(new)) = (old, new) else { return Ok(()) };
    if !is_worse(direction, new, old) {
        return Ok(());
    }
    let message =
        format!("A stop may be tightened, never loosened: it is at {old} and cannot move to {new}.");
    let numbers = [("stop", old.0), ("asked", new.0)];
    Err(RejectReason::new(RejectCode::StopLoosened, message, numbers))
}

/// Whether `a` is a worse price than `b` for a position of this direction.
pub(super) fn is_worse(direction: Direction, a: Price, b: Price) -> bool {
    match direction {
        Direction::Long => a < b,
        Direction::Short => a > b,
    }
}

fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Long => "long",
        Direction::Short => "short",
    }
}
