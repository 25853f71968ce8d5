//! Sizing: from the day's decisions to the day's orders, against the one account. Pure code.
//!
//! 1. A rating is a target weight of equity (see [`SizingConfig::weights`]); the Trader's
//!    `position_sizing` takes its place where it goes the same way, within the limits.
//! 2. What closes positions goes first, in the order of symbols.
//! 3. What opens them shares what is then available, less a reserve: scaled pro rata, fees and
//!    slippage included, and rounded down to lots.
//!
//! Each order is tried on a copy of the books as the broker would check it, so that what comes out is
//! what the broker accepts. Whatever makes an order smaller than wanted, or none, is a [`Cut`] with its
//! numbers. Hold, an unparseable answer and a fallback make no order.

mod config;
mod plan;
mod size;
mod target;

pub use config::{SizingConfig, Weights};
pub use plan::size;
pub use size::{Amount, Size};

use super::answer::{Rating, TraderProposal};
use papertape_core::broker::{Order, OrderId, Side};
use papertape_core::id::Symbol;
use papertape_core::money::{Price, Quantity};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the desk decided about one symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// The Portfolio Manager's rating, with what the Trader proposed, where that could be read.
    Rated {
        /// The rating.
        rating: Rating,
        /// The proposal.
        proposal: Option<TraderProposal>,
    },
    /// There is no opinion: the answer was unparseable, or the node failed. It makes no order.
    None {
        /// Why, in a sentence.
        why: String,
    },
}

/// An order to be placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedOrder {
    /// The instrument.
    pub symbol: Symbol,
    /// What it does.
    pub side: Side,
    /// How many shares or units, above zero.
    pub quantity: Quantity,
    /// Where the position is to be closed at a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// Where it is to be closed at a gain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
    /// The leverage of an opening order; absent for 1, or that of the open position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leverage: Option<Decimal>,
    /// Why, in a sentence with the numbers.
    pub reason: String,
}

impl PlannedOrder {
    /// The order with a number of the books.
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

/// Why an order is smaller than was wanted, other than was wanted, or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutCode {
    /// There was no opinion.
    NoDecision,
    /// The symbol has no price today.
    NoPrice,
    /// An order of the symbol waits already.
    WaitingOrder,
    /// The Trader's sizing could not be read: no order.
    SizingUnreadable,
    /// The Trader's sizing is zero: no order.
    SizingZero,
    /// The Trader wanted the other way than the rating; its sizing was not taken.
    SizingIgnored,
    /// More was wanted than the cap of one symbol.
    SymbolCap,
    /// More was wanted than the cap of all positions together.
    GrossCap,
    /// The cash did not suffice for all.
    Cash,
    /// What was acquired today cannot be sold today.
    TPlusOne,
    /// More was to be sold than is held.
    Held,
    /// More was wanted than may be traded of the instrument's volume.
    Participation,
    /// The rest after whole lots.
    Lot,
    /// The order was too small to be worth it.
    TooSmall,
    /// A short position was wanted and is not allowed, by the market or the config.
    Shorting,
    /// The leverage was lowered.
    Leverage,
    /// The stop was moved or left out.
    Stop,
    /// The target was left out.
    Target,
    /// The broker would refuse it for another reason; the numbers are the broker's.
    Refused,
}

impl CutCode {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::NoDecision,
        Self::NoPrice,
        Self::WaitingOrder,
        Self::SizingUnreadable,
        Self::SizingZero,
        Self::SizingIgnored,
        Self::SymbolCap,
        Self::GrossCap,
        Self::Cash,
        Self::TPlusOne,
        Self::Held,
        Self::Participation,
        Self::Lot,
        Self::TooSmall,
        Self::Shorting,
        Self::Leverage,
        Self::Stop,
        Self::Target,
        Self::Refused,
    ];
}

/// One cut, recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// The instrument.
    pub symbol: Symbol,
    /// Why.
    pub code: CutCode,
    /// Why, in a sentence.
    pub message: String,
    /// The numbers that decided, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, Decimal>,
}

/// The day's orders in the order in which they are to be placed, and what was cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizing {
    /// Closing orders, then opening ones, each in the order of symbols.
    pub orders: Vec<PlannedOrder>,
    /// In the order of symbols.
    pub cuts: Vec<Cut>,
}
