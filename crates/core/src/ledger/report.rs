//! The result of applying an event: what changed, what was realized, or why the event is impossible.

use super::event::FillCause;
use super::position::PositionId;
use crate::id::Symbol;
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// The direction of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Gains when the price rises.
    Long,
    /// Gains when the price falls.
    Short,
}

/// What an applied event did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedEvent {
    /// The account's version after the event.
    pub version: u64,
    /// What the event added to the cash (negative: took from it).
    pub cash_change: Money,
    /// The position that the event affects, if any.
    pub position: Option<PositionId>,
    /// Whether this event opened the position.
    pub opened: bool,
    /// The position's quantity after the event, zero when it is closed; `None` without a position.
    pub quantity: Option<Quantity>,
    /// The result of a closing fill, or of the cash paid for a fraction of a share.
    pub realised: Option<RealizedPnl>,
}

/// The result of closing a position or a part of it.
///
/// For a position that is fully closed, `pnl` summed over all its closings is exactly its effect on the cash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealizedPnl {
    /// The position.
    pub position: PositionId,
    /// The instrument.
    pub symbol: Symbol,
    /// Long or short.
    pub direction: Direction,
    /// Why it was closed; `None` when a split paid out a fraction.
    pub cause: Option<FillCause>,
    /// The quantity closed, above zero.
    pub quantity: Quantity,
    /// The average entry price.
    pub entry_price: Price,
    /// The exit price.
    pub exit_price: Price,
    /// Capital employed: the absolute cost of the closed part.
    pub notional: Money,
    /// The trader's own money in it: `notional / leverage`.
    pub margin: Money,
    /// The position's leverage, 1 for none.
    pub leverage: Decimal,
    /// `(exit - entry) x quantity` for a long position, the reverse for a short one.
    pub gross_pnl: Money,
    /// The fees of this closing and its share of the opening fees.
    pub fees: Money,
    /// Its share of dividends received (owed on shorts: below zero) minus financing.
    pub income: Money,
    /// `gross_pnl - fees + income`.
    pub pnl: Money,
    /// The stop that the position had.
    pub stop: Option<Price>,
    /// The target that the position had.
    pub target: Option<Price>,
    /// When the position was opened.
    pub opened_on: Date,
    /// When this part was closed.
    pub closed_on: Date,
    /// Calendar days from opening to closing.
    pub holding_days: i32,
    /// Whether the position is fully closed.
    pub position_closed: bool,
}

impl RealizedPnl {
    /// The return on the trader's own money: `pnl / margin x 100`, in percent; `None` when there was no
    /// margin or the result overflows.
    #[must_use]
    pub fn return_pct(&self) -> Option<Decimal> {
        let ratio = self.pnl.0.checked_div(self.margin.0)?;
        ratio.checked_mul(Decimal::ONE_HUNDRED).map(|pct| super::checked::round(pct, 10))
    }
}

/// An impossible event. It indicates a bug in the caller or bad data, and changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// A number overflows a decimal.
    #[error("a number is too large for the books")]
    Overflow,
    /// A number that must be positive (or non-negative) is not.
    #[error("{what} is out of range: {value}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// The number.
        value: Decimal,
    },
    /// The event needs a position that does not exist or has the other direction.
    #[error("the account has no such position in {symbol}")]
    NoPosition {
        /// The instrument.
        symbol: Symbol,
    },
    /// More would be closed than is held.
    #[error("{asked} {symbol} cannot be closed where {held} are held")]
    ExceedsPosition {
        /// The instrument.
        symbol: Symbol,
        /// The quantity held, as a magnitude.
        held: Quantity,
        /// The quantity to close.
        asked: Quantity,
    },
    /// A position's leverage cannot change while it is open.
    #[error("{symbol} is held with another leverage")]
    LeverageDiffers {
        /// The instrument.
        symbol: Symbol,
    },
    /// Events must be in order of their days.
    #[error("{day} comes too late: the books have reached {reached}")]
    OutOfOrder {
        /// The day of the latest event.
        reached: Date,
        /// The event's day.
        day: Date,
    },
    /// A position has no price to be marked at.
    #[error("there is no price for {symbol}")]
    MissingMark {
        /// The instrument.
        symbol: Symbol,
    },
}
