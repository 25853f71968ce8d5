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

/// Closes the positions whose stop, liquidation price or target lies inside the day's bar, in the
/// order of their symbols: at that price, or at the open where the open is already beyond it. A
/// stop, and a liquidation, comes before a target that lies inside the same bar, for a bar does not
/// say which was first; of a stop and a liquidation, the nearer to the price.
///
/// Where margin is isolated, a liquidation takes the margin and nothing more, also where the price has
/// gapped beyond. Elsewhere it fills at a price of the market like any other fill, and what a gap takes
/// beyond the margin is the account's loss.
///
/// An instrument that is locked at a price limit (its high and its low are the limit) triggers no stop and no
/// target; a liquidation, which the market forces, closes all the same.
///
/// Under T+1 what was acquired today cannot be closed by a stop or a target; a liquidation, which
/// the market forces, closes it.
///
/// # Errors
/// A number that does not fit. The books are then as they were.
pub fn bar(books: &mut Books, day: Date, bars: &BTreeMap<Symbol, Ohlc>) -> Result<PhaseResult, LedgerError> {
    books.atomically(|books| {
        let mut out = PhaseResult::default();
        let prices = |symbol: &Symbol| bars.get(symbol).map(|bar| (bar.open, Some(*bar)));
        trigger_all(books, &mut out.entries, day, prices)?;
        Ok(out)
    })
}

/// Closes every position that its open, and its bar where there is one, triggers.
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

/// Is the instrument locked at the price limit that keeps the position from being closed? The open is at the limit,
/// and so is the whole bar, if it is known.
fn is_locked(books: &Books, symbol: &Symbol, position: &Position, open: Price, bar: Option<Ohlc>) -> bool {
    let stops = |band: PriceBand| {
        let is_still = bar.is_none_or(|bar| bar.high == bar.low);
        is_still && band.stops(position.closing_side(), open)
    };
    books.conditions_of(symbol).band.is_some_and(stops)
}

/// What the open has already gone beyond: it fills at the open.
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

/// What the bar reached after its open: it fills at the level.
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
