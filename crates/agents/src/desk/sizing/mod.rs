//! Sizing: from the day's decisions to the day's orders, against the one account. Pure code.
//!
//! 1. A rating is a target weight of equity (see [`SizingConfig::weights`](crate::config::SizingConfig::weights)); the Trader's `position_sizing`
//!    replaces it when both have the same direction, within the limits.
//! 2. Orders that close positions come first, sorted by symbol.
//! 3. Orders that open positions share the cash then available, less a reserve: scaled pro rata, fees and
//!    slippage included, and rounded down to lots.
//!
//! Each order is tried on a copy of the books with the broker's checks, so every resulting order is one that
//! the broker accepts. Whatever reduces or drops an order is an [`Adjustment`] with its numbers. Hold, an unparseable
//! answer and a fallback give no order.

mod adjustments;
mod gross;
mod open_intent;
mod plan;
mod size;
mod target;

pub use plan::size;
pub use size::{Amount, Size};

use super::answer::{Rating, TraderProposal};
use papertape_core::broker::{Order, OrderId, Side};
use papertape_core::id::Symbol;
use papertape_core::money::{Price, Quantity};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The desk's decision on one symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// The Portfolio Manager's rating, with the Trader's proposal if it could be parsed.
    Rated {
        /// The rating.
        rating: Rating,
        /// The proposal.
        proposal: Option<TraderProposal>,
    },
    /// No opinion: the answer was unparseable, or the node failed. It gives no order.
    None {
        /// The reason in a sentence.
        why: String,
    },
}

/// An order to place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedOrder {
    /// The instrument.
    pub symbol: Symbol,
    /// The side.
    pub side: Side,
    /// Shares or units, above zero.
    pub quantity: Quantity,
    /// The stop price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// The target price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
    /// The leverage of an opening order; absent: 1, or that of the open position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leverage: Option<Decimal>,
    /// The reason in a sentence with the numbers.
    pub reason: String,
}

impl PlannedOrder {
    /// The order under an ID of the books.
    #[must_use]
    pub fn order(&self, id: OrderId) -> Order {
        Order {
            id,
            symbol: self.symbol.clone(),
            side: self.side,
            quantity: self.quantity,
            stop: self.stop,
            target: self.target,
            leverage: self.leverage,
            reason: Some(self.reason.clone()),
        }
    }
}

/// Why an order was reduced, changed or dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdjustmentCode {
    /// There was no opinion.
    NoDecision,
    /// The symbol has no price today.
    NoPrice,
    /// The symbol already has a pending order.
    WaitingOrder,
    /// The Trader's sizing could not be parsed: no order.
    SizingUnreadable,
    /// The Trader's sizing is zero: no order.
    SizingZero,
    /// The Trader's direction differs from the rating's; its sizing was ignored.
    SizingIgnored,
    /// The target exceeded the cap of one symbol.
    SymbolCap,
    /// The targets exceeded the cap of all positions together.
    GrossCap,
    /// The cash did not suffice for all orders.
    Cash,
    /// A quantity acquired today cannot be sold today.
    TPlusOne,
    /// The sale exceeded the holding.
    Held,
    /// The order exceeded the allowed participation in the instrument's volume.
    Participation,
    /// The remainder after whole lots.
    Lot,
    /// The order was below the minimum.
    TooSmall,
    /// A short position is not allowed, by the market or the config.
    Shorting,
    /// The leverage was lowered.
    Leverage,
    /// The stop was moved or dropped.
    Stop,
    /// The target was dropped.
    Target,
    /// The broker would reject it for another reason; the numbers are the broker's.
    Refused,
}

papertape_core::words!(AdjustmentCode {
    NoDecision = "no_decision", NoPrice = "no_price", WaitingOrder = "waiting_order",
    SizingUnreadable = "sizing_unreadable", SizingZero = "sizing_zero",
    SizingIgnored = "sizing_ignored", SymbolCap = "symbol_cap", GrossCap = "gross_cap",
    Cash = "cash", TPlusOne = "t_plus_one", Held = "held", Participation = "participation",
    Lot = "lot", TooSmall = "too_small", Shorting = "shorting", Leverage = "leverage",
    Stop = "stop", Target = "target", Refused = "refused",
});

/// A recorded adjustment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjustment {
    /// The instrument.
    pub symbol: Symbol,
    /// The reason code.
    pub code: AdjustmentCode,
    /// The reason in a sentence.
    pub message: String,
    /// The numbers behind it, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, Decimal>,
}

/// The day's orders in the order of placement, and the adjustments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizing {
    /// Closing orders, then opening ones, each sorted by symbol.
    pub orders: Vec<PlannedOrder>,
    /// Sorted by symbol.
    #[serde(rename = "cuts")]
    pub adjustments: Vec<Adjustment>,
}
