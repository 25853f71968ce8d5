//! Everything that can change an account.

use crate::id::Symbol;
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An order's number: 1, 2, 3… over all of one agent's days in one job.
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

impl Side {
    /// Does it open or add, rather than reduce or close?
    #[must_use]
    pub fn opens(self) -> bool {
        matches!(self, Self::Buy | Self::Short)
    }

    /// Is it about a long position?
    #[must_use]
    pub fn is_long(self) -> bool {
        matches!(self, Self::Buy | Self::Sell)
    }

    /// Does the trader take shares for money, and so pay more when the price slips?
    #[must_use]
    pub fn takes_shares(self) -> bool {
        matches!(self, Self::Buy | Self::Cover)
    }

    /// The side's name: `buy`, `sell`, `short` or `cover`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
            Self::Short => "short",
            Self::Cover => "cover",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a fill came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FillCause {
    /// The agent's order.
    Order,
    /// The position's stop was reached.
    Stop,
    /// The position's target was reached.
    Target,
    /// The position's loss reached its margin.
    Liquidation,
    /// A margin call was covered by force.
    MarginCall,
    /// The instrument left the market.
    Delisting,
}

/// Shares and money changed hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// The trading day.
    pub day: Date,
    /// The order that it fills; absent where no order of the agent stands behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderId>,
    /// Why it came about.
    pub cause: FillCause,
    /// The instrument.
    pub symbol: Symbol,
    /// What it does.
    pub side: Side,
    /// How many shares or units; above zero.
    pub quantity: Quantity,
    /// The price paid or received for one, slippage included; above zero, but for a delisting that pays nothing.
    pub price: Price,
    /// The fee, zero or above.
    pub fee: Money,
    /// What the slippage cost, already in the price: `|price - reference| x quantity`.
    pub slippage: Money,
    /// The leverage of an opening fill, 1 for none. A closing fill keeps the position's.
    pub leverage: Decimal,
    /// The stop that the whole position has from now on; absent keeps what it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// The target that the whole position has from now on; absent keeps what it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
}

/// One thing that changes an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LedgerEvent {
    /// Shares and money changed hands.
    Fill(Fill),
    /// The shares of a position were exchanged.
    Split {
        /// The ex-date.
        day: Date,
        /// The instrument.
        symbol: Symbol,
        /// New shares for one old share, above zero.
        ratio: Decimal,
        /// The price of one new share: the previous close over the ratio. Pays for fractions.
        price: Price,
        /// Are fractions of a share turned into cash?
        whole_shares: bool,
    },
    /// A dividend was credited, or debited on a short position.
    Dividend {
        /// The ex-date.
        day: Date,
        /// The instrument.
        symbol: Symbol,
        /// Cash for one share.
        amount: Price,
    },
    /// The cost of a loan or of borrowed shares was charged.
    Financing {
        /// The day on which it is charged.
        day: Date,
        /// The instrument whose position is financed.
        symbol: Symbol,
        /// The charge, zero or above.
        amount: Money,
        /// The calendar nights that it pays for; absent in records of rules version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nights: Option<u32>,
        /// The charge per unit held, of which `amount` is made; absent in records of rules version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<Price>,
    },
    /// What is available fell below zero without an order of the agent. The call stands until what
    /// is available is zero or above again.
    MarginCall {
        /// The day.
        day: Date,
        /// What is missing, above zero.
        shortfall: Money,
    },
    /// Nothing is left: the portfolio value is zero or below. From here on the account trades no more.
    Insolvency {
        /// The day.
        day: Date,
        /// The portfolio value at the previous close less the present one.
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
        /// The new stop; absent keeps what it has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<Price>,
        /// The new target; absent keeps what it has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<Price>,
    },
}

impl LedgerEvent {
    /// The trading day on which it happened.
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

    /// The instrument that it is about; `None` for what is about the account.
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
