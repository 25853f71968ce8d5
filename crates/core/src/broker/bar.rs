//! The bar phase: what the day's prices did to open positions.

use super::books::{Books, LedgerEntry, PhaseResult};
use super::conditions::PriceBand;
use super::stops::is_worse;
use crate::id::Symbol;
use crate::ledger::{FillCause, LedgerError, Position};
use crate::money::Price;
use crate::time::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One day's prices of an instrument, in the share units of that day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ohlc {
    /// The first price.
    pub open: Price,
    /// The highest price.
    pub high: Price,
    /// The lowest price.
    pub low: Price,
    /// The last price.
    pub close: Price,
}

/// Closes the positions whose stop, liquidation price or target lies inside the day's bar, in symbol order:
/// at that price, or at the open if the open is already beyond it. A bar does not say which level was reached
/// first, so a stop or a liquidation comes before a target; of a stop and a liquidation, the one nearer to
/// the price comes first.
///
/// With isolated margin, a liquidation takes the margin and nothing more, even if the price has gapped beyond
/// it. Without, it fills at a market price like any other fill, and a gap's loss beyond the margin is the
/// account's.
///
/// An instrument that is locked at a price limit (its high and its low are the limit) triggers no stop and no
/// target. A liquidation is forced by the market and closes the position anyway.
///
/// Under T+1, shares bought today cannot be closed by a stop or a target, but can be liquidated.
///
/// # Errors
/// A number that overflows; the books are then unchanged.
pub fn bar(books: &mut Books, day: Date, bars: &BTreeMap<Symbol, Ohlc>) -> Result<PhaseResult, LedgerError> {
    books.atomically(|books| {
        let mut out = PhaseResult::default();
        let prices = |symbol: &Symbol| bars.get(symbol).map(|bar| (bar.open, Some(*bar)));
        trigger_all(books, &mut out.entries, day, prices)?;
        Ok(out)
    })
}

/// Closes every position that is triggered by the open or, if there is one, by the bar.
pub(super) fn trigger_all(
    books: &mut Books,
    entries: &mut Vec<LedgerEntry>,
    day: Date,
    prices: impl Fn(&Symbol) -> Option<(Price, Option<Ohlc>)>,
) -> Result<(), LedgerError> {
    let positions: Vec<(Symbol, Position)> =
        books.account.positions().iter().map(|(s, p)| (s.clone(), p.clone())).collect();
    for (symbol, position) in positions {
        let Some((open, bar)) = prices(&symbol).filter(|(open, _)| open.is_positive()) else {
            continue;
        };
        let inside = || bar.and_then(|bar| inside(&position, bar));
        let Some((cause, price)) = gapped(&position, open).or_else(inside) else { continue };
        if cause != FillCause::Liquidation && is_locked(books, &symbol, &position, open, bar) {
            continue;
        }
        let quantity = match cause {
            FillCause::Liquidation => position.quantity.abs(),
            _ => position.closable(day, books.profile.t_plus_one),
        };
        if quantity.is_positive() {
            books.force_close(entries, day, &symbol, &position, (cause, quantity, price))?;
        }
    }
    Ok(())
}

/// Whether the instrument is locked at the price limit that prevents closing the position: the open is at the
/// limit, and so is the whole bar, if it is known.
fn is_locked(books: &Books, symbol: &Symbol, position: &Position, open: Price, bar: Option<Ohlc>) -> bool {
    let stops = |band: PriceBand| {
        let is_still = bar.is_none_or(|bar| bar.high == bar.low);
        is_still && band.stops(position.closing_side(), open)
    };
    books.conditions_of(symbol).band.is_some_and(stops)
}

/// The level that the open is already beyond; it fills at the open.
fn gapped(position: &Position, open: Price) -> Option<(FillCause, Price)> {
    let direction = position.direction();
    let lost = |level: Option<Price>| level.is_some_and(|level| !is_worse(direction, level, open));
    let won = position.target.is_some_and(|target| !is_worse(direction, open, target));
    let cause = if lost(position.liquidation_price()) {
        FillCause::Liquidation
    } else if lost(position.stop) {
        FillCause::Stop
    } else if won {
        FillCause::Target
    } else {
        return None;
    };
    Some((cause, open))
}

/// The level that the bar reached after its open; it fills at the level.
fn inside(position: &Position, bar: Ohlc) -> Option<(FillCause, Price)> {
    let direction = position.direction();
    let (worst, best) = match direction {
        crate::ledger::Direction::Long => (bar.low, bar.high),
        crate::ledger::Direction::Short => (bar.high, bar.low),
    };
    let stop = position.stop.map(|stop| (FillCause::Stop, stop));
    let liquidation = position.liquidation_price().map(|price| (FillCause::Liquidation, price));
    let nearer = match (stop, liquidation) {
        (Some(stop), Some(liquidation)) if is_worse(direction, stop.1, liquidation.1) => Some(liquidation),
        (stop, liquidation) => stop.or(liquidation),
    };
    let lost = nearer.filter(|(_, level)| !is_worse(direction, *level, worst));
    let target = position.target.filter(|target| !is_worse(direction, best, *target));
    lost.or_else(|| target.map(|target| (FillCause::Target, target)))
}
