//! The result of applying an event: what changed and what was realized.

use super::event::FillCause;
use super::position::{Direction, PositionId};
use crate::id::Symbol;
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

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
    #[serde(rename = "realised")]
    pub realized: Option<RealizedPnl>,
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
