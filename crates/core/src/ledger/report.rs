//! What applying an event says: what changed, what was earned, and why something is impossible.

use super::event::FillCause;
use super::position::PositionId;
use crate::id::Symbol;
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// The side of the market that a position stands on.
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
pub struct Applied {
    /// The account's version after the event.
    pub version: u64,
    /// What the event put into the cash (below zero: took from it).
    pub cash_change: Money,
    /// The position that the event is about, if it is about one.
    pub position: Option<PositionId>,
    /// Did this event open the position?
    pub opened: bool,
    /// The position's quantity after the event, zero where it is closed; `None` without a position.
    pub quantity: Option<Quantity>,
    /// What a closing fill (or the cash for a fraction of a share) realised.
    pub realised: Option<Realised>,
}

/// The result of closing a position or a part of it.
///
/// Over all closings of a position that is closed in the end, the sum of `pnl` is exactly what the
/// position did to the cash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Realised {
    /// The position.
    pub position: PositionId,
    /// The instrument.
    pub symbol: Symbol,
    /// Long or short.
    pub direction: Direction,
    /// Why it was closed; `None` where a split paid out a fraction.
    pub cause: Option<FillCause>,
    /// How much was closed, above zero.
    pub quantity: Quantity,
    /// The average price at which it was opened.
    pub entry_price: Price,
    /// The price at which it was closed.
    pub exit_price: Price,
    /// Money at work: the absolute cost of what was closed.
    pub notional: Money,
    /// The trader's own money in it: `notional / leverage`.
    pub margin: Money,
    /// The position's leverage, 1 for none.
    pub leverage: Decimal,
    /// `(exit - entry) x quantity` for a long position, the reverse for a short one.
    pub gross_pnl: Money,
    /// Fees of this closing and its share of the fees of opening.
    pub fees: Money,
    /// Its share of dividends received (owed on shorts: below zero) less financing.
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
    /// Calendar days from the one to the other.
    pub holding_days: i32,
    /// Is nothing of the position left?
    pub position_closed: bool,
}

impl Realised {
    /// The result against the trader's own money: `pnl / margin x 100`, in percent; `None` where
    /// there was no margin or the figure does not fit.
    #[must_use]
    pub fn return_pct(&self) -> Option<Decimal> {
        let ratio = self.pnl.0.checked_div(self.margin.0)?;
        ratio.checked_mul(Decimal::ONE_HUNDRED).map(|pct| super::exact::round(pct, 10))
    }
}

/// An event that cannot be: it is a fault of the caller or of the data, and changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// A number does not fit a decimal.
    #[error("a number is too large for the books")]
    Overflow,
    /// A number that must be above zero (or not below it) is not.
    #[error("{what} is out of range: {value}")]
    OutOfRange {
        /// What the number is.
        what: &'static str,
        /// The number.
        value: Decimal,
    },
    /// The event needs a position that is not there, or stands on the other side.
    #[error("the account has no such position in {symbol}")]
    NoPosition {
        /// The instrument.
        symbol: Symbol,
    },
    /// More is closed than is held.
    #[error("{asked} {symbol} cannot be closed where {held} are held")]
    TooMuch {
        /// The instrument.
        symbol: Symbol,
        /// What is held, as a magnitude.
        held: Quantity,
        /// What was to be closed.
        asked: Quantity,
    },
    /// A position's leverage cannot change while it is open.
    #[error("{symbol} is held with another leverage")]
    LeverageDiffers {
        /// The instrument.
        symbol: Symbol,
    },
    /// Days only go forward.
    #[error("{day} comes too late: the books have reached {reached}")]
    DayGoesBack {
        /// The day that was reached.
        reached: Date,
        /// The event's day.
        day: Date,
    },
    /// A position has no price to be valued at.
    #[error("there is no price for {symbol}")]
    NoMark {
        /// The instrument.
        symbol: Symbol,
    },
}
