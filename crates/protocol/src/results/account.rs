//! The parts of an account besides its fills: charges, pending orders, open positions, insolvency.

use crate::number::Number;
use crate::number::number;
use papertape_core::ledger::Insolvency;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A financing charge: `charge = |quantity| x price`, rounded half to even to 8 decimals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FinancingResponse {
    /// From 1 in a session.
    pub action_id: u64,
    /// The instrument.
    pub symbol: String,
    /// Units held; below zero for a short position.
    pub quantity: Number,
    /// The charge per unit.
    pub price: Number,
    /// The calendar nights that it pays for.
    pub nights: Option<u32>,
    /// Cash after it.
    pub cash_after: Number,
}

/// An order that is pending at the end of a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PendingOrderResponse {
    /// The order.
    pub order_id: String,
    /// The instrument.
    pub symbol: String,
    /// `buy`, `sell`, `short` or `cover`.
    pub side: String,
    /// Units.
    pub quantity: Number,
    /// The day on which it was placed.
    pub placed_on: Date,
    /// `next_open` or `close`; `null` in records of rules version 1.
    pub fills_at: Option<String>,
    /// The stop of the order.
    pub stop: Option<Number>,
    /// The target of the order.
    pub target: Option<Number>,
    /// Requested leverage; `null`: that of the open position, or 1.
    pub leverage: Option<Number>,
}

/// An open position at a close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PositionSnapshotResponse {
    /// The instrument.
    pub symbol: String,
    /// The position.
    pub position_id: String,
    /// Units; below zero for a short position.
    pub quantity: Number,
    /// The average price at which it was opened.
    pub avg_price: Number,
    /// The close, or the last known price if the instrument has no bar.
    pub close: Number,
    /// `quantity x (close - avg_price)`.
    pub unrealised_pnl: Number,
    /// The stop in force.
    pub stop: Option<Number>,
    /// Its leverage, 1 for none.
    pub leverage: Number,
}

/// An insolvency: the portfolio value fell to zero or below, and the account stops trading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InsolvencyResponse {
    /// The day on which it occurred, at the open or the close.
    pub since: Date,
    /// The portfolio value at the previous close less the value at the insolvency.
    pub loss: Number,
    /// How far the portfolio value was below zero.
    pub owed: Number,
}

impl From<Insolvency> for InsolvencyResponse {
    fn from(found: Insolvency) -> Self {
        Self { since: found.since, loss: number(found.loss.0), owed: number(found.owed.0) }
    }
}
