//! Everything that can change an account.

use crate::id::Symbol;
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An order's number: 1, 2, 3… across all of one agent's days in one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderId(pub u64);

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What an order does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Opens or adds to a long position.
    Buy,
    /// Reduces or closes a long position.
    Sell,
    /// Opens or adds to a short position.
    Short,
    /// Reduces or closes a short position.
    Cover,
}

crate::words!(Side { Buy = "buy", Sell = "sell", Short = "short", Cover = "cover" });

impl Side {
    /// Whether it opens or adds, as opposed to reducing or closing.
    #[must_use]
    pub fn opens(self) -> bool {
        matches!(self, Self::Buy | Self::Short)
    }

    /// Whether it acts on a long position.
    #[must_use]
    pub fn is_long(self) -> bool {
        matches!(self, Self::Buy | Self::Sell)
    }

    /// Whether the trader receives shares for money, and so pays more with slippage.
    #[must_use]
    pub fn takes_shares(self) -> bool {
        matches!(self, Self::Buy | Self::Cover)
    }
}

/// The reason for a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FillCause {
    /// The agent's order.
    Order,
    /// The position's stop was reached.
    Stop,
    /// The position's take-profit target was reached.
    Target,
    /// The position's loss reached its margin.
    Liquidation,
    /// A forced sale or cover for a margin call.
    MarginCall,
    /// The instrument was delisted.
    Delisting,
}

/// An executed trade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// The trading day.
    pub day: Date,
    /// The order that it fills; absent when it has no order of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderId>,
    /// The reason for it.
    pub cause: FillCause,
    /// The instrument.
    pub symbol: Symbol,
    /// The side.
    pub side: Side,
    /// Shares or units, above zero.
    pub quantity: Quantity,
    /// The price per unit, slippage included; above zero, except for a delisting that pays nothing.
    pub price: Price,
    /// The fee, zero or above.
    pub fee: Money,
    /// What the slippage cost, already in the price: `|price - reference| x quantity`.
    pub slippage: Money,
    /// The leverage of an opening fill, 1 for none. A closing fill uses the position's.
    pub leverage: Decimal,
    /// The stop that the whole position gets; absent leaves it unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// The target that the whole position gets; absent leaves it unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
}

/// An event that changes an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LedgerEvent {
    /// An executed trade.
    Fill(Fill),
    /// The shares of a position were exchanged.
    Split {
        /// The ex-date.
        day: Date,
        /// The instrument.
        symbol: Symbol,
        /// New shares for one old share, above zero.
        ratio: Decimal,
        /// The price of one new share: the previous close divided by the ratio. Fractions are paid out at it.
        price: Price,
        /// Whether fractions of a share are paid out in cash.
        whole_shares: bool,
    },
    /// A dividend was credited, or debited on a short position.
    Dividend {
        /// The ex-date.
        day: Date,
        /// The instrument.
        symbol: Symbol,
        /// Cash per share.
        amount: Price,
    },
    /// A charge for a loan or for borrowed shares.
    Financing {
        /// The day of the charge.
        day: Date,
        /// The instrument whose position is financed.
        symbol: Symbol,
        /// The charge, zero or above.
        amount: Money,
        /// The calendar nights it covers; absent in records of rules version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nights: Option<u32>,
        /// The charge per unit held, from which `amount` is computed; absent in records of rules version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<Price>,
    },
    /// The available amount fell below zero without an order of the agent. The call stays open until the
    /// available amount is zero or above.
    MarginCall {
        /// The day.
        day: Date,
        /// The shortfall, above zero.
        shortfall: Money,
    },
    /// The portfolio value is zero or below. The account does not trade from here on.
    Insolvency {
        /// The day.
        day: Date,
        /// The portfolio value at the previous close minus the present one.
        loss: Money,
        /// How far the portfolio value is below zero.
        owed: Money,
    },
    /// The agent moved the stop or the target of an open position.
    StopChange {
        /// The day.
        day: Date,
        /// The instrument.
        symbol: Symbol,
        /// The new stop; absent leaves it unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<Price>,
        /// The new target; absent leaves it unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<Price>,
    },
}

impl LedgerEvent {
    /// The trading day of the event.
    #[must_use]
    pub fn day(&self) -> Date {
        match self {
            Self::Fill(fill) => fill.day,
            Self::Split { day, .. }
            | Self::Dividend { day, .. }
            | Self::Financing { day, .. }
            | Self::MarginCall { day, .. }
            | Self::Insolvency { day, .. }
            | Self::StopChange { day, .. } => *day,
        }
    }

    /// The instrument; `None` for events of the whole account.
    #[must_use]
    pub fn symbol(&self) -> Option<&Symbol> {
        match self {
            Self::Fill(fill) => Some(&fill.symbol),
            Self::Split { symbol, .. }
            | Self::Dividend { symbol, .. }
            | Self::Financing { symbol, .. }
            | Self::StopChange { symbol, .. } => Some(symbol),
            Self::MarginCall { .. } | Self::Insolvency { .. } => None,
        }
    }
}
