//! The checks of an order against the market's conditions.

use super::conditions::Conditions;
use super::order::{Order, Quote, QuoteState};
use super::profile::MarketProfile;
use super::reject::{RejectCode, RejectReason};
use crate::id::Symbol;
use crate::ledger::{Account, checked};
use crate::money::{Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;

/// Rejects opening or enlarging a position outside of the universe. An unknown symbol gets the same answer,
/// so the answer does not reveal whether the symbol exists.
pub(super) fn check_universe(quote: &Quote, symbol: &Symbol, opens: bool) -> Result<(), RejectReason> {
    if !quote.conditions.outside_universe || !(opens || quote.state == QuoteState::Unknown) {
        return Ok(());
    }
    let message = format!(
        "{symbol} is not in the universe of this run on {}: a position in it can be reduced or closed, not opened \
         or increased.",
        quote.day
    );
    Err(RejectReason::new(RejectCode::NotInUniverse, message, []))
}

/// Rejects a buy at limit up and a sale at limit down.
pub(super) fn check_band(conditions: &Conditions, order: &Order, price: Price) -> Result<(), RejectReason> {
    let Some(band) = conditions.band.filter(|band| band.stops(order.side, price)) else { return Ok(()) };
    let (code, what, limit) = if order.side.takes_shares() {
        (RejectCode::LimitUp, "up", band.up)
    } else {
        (RejectCode::LimitDown, "down", band.down)
    };
    let message = format!(
        "{} is at limit {what}: its price of {price} has reached the limit of {limit}, set by the previous close of {}; you cannot {} there.",
        order.symbol, band.previous_close, order.side
    );
    let numbers = [("price", price.0), ("limit", limit.0), ("previous_close", band.previous_close.0)];
    Err(RejectReason::new(code, message, numbers))
}

/// Rejects more of the volume than the profile allows, including the account's trades of today.
pub(super) fn check_participation(
    account: &Account,
    profile: &MarketProfile,
    conditions: &Conditions,
    order: &Order,
    day: Date,
) -> Result<(), RejectReason> {
    let (Some(rule), Some(volume)) = (profile.participation, conditions.volume) else { return Ok(()) };
    let cap = checked::mul(volume.mean.0, rule.share_pct)
        .and_then(|share| checked::div(share, Decimal::ONE_HUNDRED))
        .map_err(RejectReason::too_large)?;
    let traded = account.traded_on(day, &order.symbol);
    let rest = Quantity((cap - traded.0).max(Decimal::ZERO));
    let largest = profile.round_to_lot(&order.symbol, rest);
    // An odd lot may be closed as a whole.
    if order.quantity <= rest {
        return Ok(());
    }
    let (symbol, share, bars) = (&order.symbol, rule.share_pct.normalize(), volume.bars);
    let already =
        if traded.is_zero() { String::new() } else { format!(" {traded} were already traded today.") };
    let message = format!(
        "At most {share}% of the mean volume of the last {bars} bars may be traded in {symbol} per day: {share}% of {} \
         is {}.{already} The largest admissible quantity is {largest}; {} were requested, and there are no partial fills.",
        volume.mean,
        checked::round(cap, checked::QUANTITY_DP),
        order.quantity
    );
    let numbers = [
        ("asked", order.quantity.0),
        ("largest", largest.0),
        ("mean_volume", volume.mean.0),
        ("bars", Decimal::from(bars)),
        ("traded", traded.0),
    ];
    Err(RejectReason::new(RejectCode::ParticipationCap, message, numbers))
}
