//! Positions from opening to close, derived from the ledger's events of a running day, an imported log or a
//! replayed one.

use super::origin::{Origin, RecalledFrom};
use papertape_core::broker::{ActionType, LedgerEntry};
use papertape_core::id::Symbol;
use papertape_core::ledger::{
    Account, AppliedEvent, Direction, FillCause, LedgerError, LedgerEvent, RealizedPnl, Side,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::record::{ContextState, OpenPositionContextRow, RoundMemoryRow};
use papertape_core::time::{Date, Timestamp};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An open position, with how and why it was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenPosition {
    /// The instrument.
    pub symbol: Symbol,
    /// Long or short.
    pub side: Direction,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// Price of the opening fill. This and the figures below are in today's share units.
    pub entry_price: Price,
    /// The price at which the opening order was checked.
    pub planned_entry: Price,
    /// Units of the opening fill.
    pub quantity: Quantity,
    /// The largest quantity held.
    pub most: Quantity,
    /// The stop at entry.
    pub stop: Option<Price>,
    /// The target at entry.
    pub target: Option<Price>,
    /// Leverage, 1 for none.
    pub leverage: Decimal,
    /// New shares per old share, over all splits since entry.
    pub split_ratio: Decimal,
    /// How many times it was added to.
    pub adds: u32,
    /// How many times a part of it was closed.
    pub closings: u32,
    /// The round whose summary is the thesis.
    pub round_id: Option<u64>,
    /// The thesis at entry. Once written it is never overwritten.
    pub summary: Option<String>,
    /// Whether that round was degraded.
    #[serde(default)]
    pub degraded: bool,
    /// When the thesis was written and may first be read: the close of that round's session. Absent without a
    /// thesis, and in states of rules version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_at: Option<Timestamp>,
    /// The origin of the thesis.
    #[serde(flatten)]
    pub origin: Origin,
}

impl OpenPosition {
    /// Sets the thesis at entry, unless there is one already.
    pub(super) fn explain(&mut self, round: &RecalledFrom<RoundMemoryRow>) -> bool {
        if self.summary.is_some() {
            return false;
        }
        let RecalledFrom { origin, row } = round;
        self.round_id = Some(row.round_id);
        self.summary = Some(row.summary.clone());
        self.degraded = row.degraded;
        self.known_at = Some(row.known_at);
        self.origin = origin.clone();
        true
    }

    /// The row for the state of its context.
    #[must_use]
    pub fn row(&self, id: &str, state: ContextState, known_at: Timestamp) -> OpenPositionContextRow {
        OpenPositionContextRow {
            position_id: id.to_owned(),
            symbol: self.symbol.clone(),
            side: self.side,
            state,
            round_id: self.round_id,
            summary: self.summary.clone().unwrap_or_default(),
            opened_at: self.opened_at,
            entry_price: self.entry_price,
            quantity: self.quantity,
            stop_loss: self.stop,
            take_profit: self.target,
            leverage: self.leverage,
            split_ratio: self.split_ratio,
            known_at,
        }
    }

    /// A position whose opening was not observed, reconstructed from its closing.
    fn seen_late(realized: &RealizedPnl) -> Self {
        Self {
            symbol: realized.symbol.clone(),
            side: realized.direction,
            opened_at: midnight(realized.opened_on),
            entry_price: realized.entry_price,
            planned_entry: realized.entry_price,
            quantity: realized.quantity,
            most: realized.quantity,
            stop: realized.stop,
            target: realized.target,
            leverage: realized.leverage,
            split_ratio: Decimal::ONE,
            adds: 0,
            closings: 0,
            round_id: None,
            summary: None,
            degraded: false,
            known_at: None,
            origin: Origin::default(),
        }
    }
}

/// A full or partial closing of a position by a recorded fill.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedTrade {
    /// The ledger's result.
    pub realized: RealizedPnl,
    /// The cause: `sell`, `cover`, `stop`, `target`, `liquidation` or `delisting`.
    pub cause: ActionType,
    /// The time.
    pub at: Timestamp,
    /// 1-based number of this closing within the position.
    pub part: u32,
    /// The position before the closing.
    pub open: OpenPosition,
}

/// What an event means for its position.
#[derive(Clone, Debug, PartialEq)]
pub enum TradeEvent {
    /// Nothing relevant to the memory.
    Nothing,
    /// The position was opened.
    Opened(String),
    /// A split converted the position.
    Converted(String),
    /// The position was closed, fully or in part.
    Closed(Box<ClosedTrade>),
    /// A split paid the position out: nothing is left of it, and no decision caused it.
    Vanished(String, Box<OpenPosition>),
}

/// Applies one event of the ledger.
pub fn follow(
    open: &mut BTreeMap<String, OpenPosition>,
    at: Timestamp,
    event: &LedgerEvent,
    applied: &AppliedEvent,
) -> TradeEvent {
    let Some(id) = applied.position.as_ref().map(|id| id.as_str().to_owned()) else {
        return TradeEvent::Nothing;
    };
    match event {
        LedgerEvent::Fill(fill) if fill.side.opens() => {
            if let Some(known) = open.get_mut(&id).filter(|_| !applied.opened) {
                known.adds += 1;
                let held = applied.quantity.map_or(known.most, Quantity::abs);
                known.most = known.most.max(held);
                return TradeEvent::Nothing;
            }
            if !applied.opened {
                return TradeEvent::Nothing;
            }
            // The slippage per share; the fill gives it for the whole quantity.
            let slip = fill.slippage.0.checked_div(fill.quantity.0).unwrap_or_default();
            let slip = if fill.side.takes_shares() { -slip } else { slip };
            let position = OpenPosition {
                symbol: fill.symbol.clone(),
                side: if fill.side == Side::Buy { Direction::Long } else { Direction::Short },
                opened_at: at,
                entry_price: fill.price,
                planned_entry: Price((fill.price.0 + slip).round_dp(6).normalize()),
                quantity: fill.quantity,
                most: fill.quantity,
                stop: fill.stop,
                target: fill.target,
                leverage: fill.leverage,
                split_ratio: Decimal::ONE,
                adds: 0,
                closings: 0,
                round_id: None,
                summary: None,
                degraded: false,
                known_at: None,
                origin: Origin::default(),
            };
            open.insert(id.clone(), position);
            TradeEvent::Opened(id)
        }
        LedgerEvent::Fill(fill) => {
            let Some(realized) = applied.realized.clone() else { return TradeEvent::Nothing };
            let mut position = open.remove(&id).unwrap_or_else(|| OpenPosition::seen_late(&realized));
            position.closings += 1;
            if !realized.position_closed {
                open.insert(id, position.clone());
            }
            let cause = match (fill.cause, fill.side) {
                (FillCause::Stop, _) => ActionType::Stop,
                (FillCause::Target, _) => ActionType::Target,
                (FillCause::Liquidation | FillCause::MarginCall, _) => ActionType::Liquidation,
                (FillCause::Delisting, _) => ActionType::Delisting,
                (FillCause::Order, Side::Cover | Side::Short) => ActionType::Cover,
                (FillCause::Order, Side::Sell | Side::Buy) => ActionType::Sell,
            };
            let part = position.closings;
            TradeEvent::Closed(Box::new(ClosedTrade { realized, cause, at, part, open: position }))
        }
        LedgerEvent::Split { ratio, .. } => {
            let closes_position = applied.realized.as_ref().is_some_and(|realized| realized.position_closed);
            if closes_position {
                let position = open.remove(&id).map(Box::new);
                return position.map_or(TradeEvent::Nothing, |position| TradeEvent::Vanished(id, position));
            }
            let Some(position) = open.get_mut(&id) else { return TradeEvent::Nothing };
            convert(position, *ratio);
            TradeEvent::Converted(id)
        }
        LedgerEvent::Dividend { .. }
        | LedgerEvent::Financing { .. }
        | LedgerEvent::MarginCall { .. }
        | LedgerEvent::Insolvency { .. }
        | LedgerEvent::StopChange { .. } => TradeEvent::Nothing,
    }
}

/// Applies one entry of the books.
pub fn follow_entry(
    open: &mut BTreeMap<String, OpenPosition>,
    at: Timestamp,
    entry: &LedgerEntry,
) -> TradeEvent {
    match (&entry.event, &entry.applied) {
        (Some(event), Some(applied)) => follow(open, at, event, applied),
        _ => TradeEvent::Nothing,
    }
}

/// Every closing of an imported or replayed log of ledger events, in order. Each event comes with its
/// instant.
///
/// # Errors
/// The first event that the account rejects.
pub fn closings(initial: Account, log: &[(Timestamp, LedgerEvent)]) -> Result<Vec<ClosedTrade>, LedgerError> {
    let (mut account, mut open, mut found) = (initial, BTreeMap::new(), Vec::new());
    for (at, event) in log {
        let applied = account.apply(event)?;
        if let TradeEvent::Closed(closing) = follow(&mut open, *at, event, &applied) {
            found.push(*closing);
        }
    }
    Ok(found)
}

fn convert(position: &mut OpenPosition, ratio: Decimal) {
    let over = |price: Price| {
        price.0.checked_div(ratio).map_or(price, |price| Price(price.round_dp(10).normalize()))
    };
    let times = |quantity: Quantity| {
        quantity.0.checked_mul(ratio).map_or(quantity, |units| Quantity(units.round_dp(8).normalize()))
    };
    position.entry_price = over(position.entry_price);
    position.planned_entry = over(position.planned_entry);
    position.stop = position.stop.map(over);
    position.target = position.target.map(over);
    position.quantity = times(position.quantity);
    position.most = times(position.most);
    position.split_ratio = position.split_ratio.checked_mul(ratio).unwrap_or(ratio).normalize();
}

/// A day as an instant, when nothing more precise is known.
fn midnight(day: Date) -> Timestamp {
    day.to_zoned(jiff::tz::TimeZone::UTC).map(|zoned| zoned.timestamp()).unwrap_or(Timestamp::UNIX_EPOCH)
}
