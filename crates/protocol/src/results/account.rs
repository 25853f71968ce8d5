//! The parts of an account besides its fills: charges, pending orders, open positions, insolvency.

use crate::number::Number;
use crate::number::number;
use papertape_core::ledger::Insolvency;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The cost of what is borrowed: `charge = |quantity| x price`, rounded half to even to 8 decimals.
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

/// An order that waits for its price at the end of a day.
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
    /// Stop that goes with it.
    pub stop: Option<Number>,
    /// Target that goes with it.
    pub target: Option<Number>,
    /// Leverage asked for; `null`: that of the open position, or 1.
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
    /// The close, or the last known price where the instrument has no bar.
    pub close: Number,
    /// `quantity x (close - avg_price)`.
    pub unrealised_pnl: Number,
    /// The stop in force.
    pub stop: Option<Number>,
    /// Its leverage, 1 for none.
    pub leverage: Number,
}

/// The end of an account: its portfolio value fell to zero or below, and it trades no more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InsolvencyResponse {
    /// The day on which that was found, at its open or its close.
    pub since: Date,
    /// The portfolio value at the close before less the value when it was found.
    pub loss: Number,
    /// How far the portfolio value was below zero then.
    pub owed: Number,
}

impl From<Insolvency> for InsolvencyResponse {
    fn from(found: Insolvency) -> Self {
        Self { since: found.since, loss: number(found.loss.0), owed: number(found.owed.0) }
    }
}
