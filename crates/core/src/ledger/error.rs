//! Why an event is impossible.

use crate::id::Symbol;
use crate::money::Quantity;
use crate::time::Date;
use rust_decimal::Decimal;

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
