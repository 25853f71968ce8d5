//! What an account is recomputed from besides its fills: charges, waiting orders, open positions, and its end.

use super::super::{Number, number};
use papertape_core::broker::{FillModel, PendingOrder};
use papertape_core::ledger::Insolvency;
use papertape_core::record::{OrderRow, PositionRow, SnapshotRow};
use papertape_core::time::Date;
use papertape_store::SessionResult;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// The cost of what is borrowed: `charge = |quantity| x price`, rounded half to even to 8 decimals.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
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

/// What of a session's metadata is about the account; the rest is skipped, since there may be much of it.
#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    books: Kept,
}

#[derive(Default, Deserialize)]
struct Kept {
    #[serde(default)]
    insolvent: Option<Insolvency>,
}

/// Since when an account is insolvent, of a session's metadata as it stands in the record.
pub(super) fn insolvency_of(metadata: Option<&str>) -> Option<InsolvencyResponse> {
    let metadata: Metadata = serde_json::from_str(metadata?).ok()?;
    metadata.books.insolvent.map(InsolvencyResponse::from)
}

/// The same of metadata that was read.
pub(super) fn insolvent(metadata: Option<&Value>) -> Option<InsolvencyResponse> {
    let found = metadata?.get("books")?.get("insolvent")?;
    serde_json::from_value::<Insolvency>(found.clone()).ok().map(InsolvencyResponse::from)
}

/// A row of financing.
pub(super) fn financing(row: &PositionRow) -> Option<FinancingResponse> {
    let is_financing = row.action_type == "financing";
    is_financing.then(|| FinancingResponse {
        action_id: row.action_id,
        symbol: row.symbol.as_ref().map(ToString::to_string).unwrap_or_default(),
        quantity: number(row.amount.0),
        price: number(row.price.unwrap_or_default().0),
        nights: row.terms.nights,
        cash_after: number(row.cash.0),
    })
}

/// What waits at the end of a session. A record of rules version 1 knows the orders of the day only.
pub(super) fn pending(session: &SessionResult) -> Vec<PendingOrderResponse> {
    let kept = session.metadata.as_ref().and_then(|metadata| metadata.get("books")?.get("pending_orders"));
    if let Some(kept) = kept {
        let orders: Vec<PendingOrder> = serde_json::from_value(kept.clone()).unwrap_or_default();
        return orders.iter().map(waiting).collect();
    }
    let has_ended = |order: &&OrderRow| order.status != "pending";
    let ended: BTreeSet<&str> =
        session.orders.iter().filter(has_ended).map(|order| order.order_id.as_str()).collect();
    let waits = |order: &&OrderRow| order.status == "pending" && !ended.contains(order.order_id.as_str());
    session.orders.iter().filter(waits).map(|order| placed(order, session.date)).collect()
}

fn waiting(pending: &PendingOrder) -> PendingOrderResponse {
    let order = &pending.order;
    let fills_at = match pending.fill_model {
        FillModel::Open => "open",
        FillModel::NextOpen => "next_open",
        FillModel::Close => "close",
    };
    PendingOrderResponse {
        order_id: order.id.to_string(),
        symbol: order.symbol.to_string(),
        side: order.side.to_string(),
        quantity: number(order.quantity.0),
        placed_on: pending.placed_on,
        fills_at: Some(fills_at.to_owned()),
        stop: order.stop.map(|stop| number(stop.0)),
        target: order.target.map(|target| number(target.0)),
        leverage: order.leverage.map(number),
    }
}

fn placed(order: &OrderRow, date: Date) -> PendingOrderResponse {
    PendingOrderResponse {
        order_id: order.order_id.clone(),
        symbol: order.symbol.to_string(),
        side: order.side.clone(),
        quantity: number(order.quantity.0),
        placed_on: date,
        fills_at: None,
        stop: order.stop.map(|stop| number(stop.0)),
        target: order.target.map(|target| number(target.0)),
        leverage: order.leverage.map(number),
    }
}

pub(super) fn snapshot(row: &SnapshotRow) -> PositionSnapshotResponse {
    PositionSnapshotResponse {
        symbol: row.symbol.to_string(),
        position_id: row.position_id.clone(),
        quantity: number(row.quantity.0),
        avg_price: number(row.avg_price.0),
        close: number(row.close.0),
        unrealised_pnl: number(row.unrealised_pnl.0),
        stop: row.stop.map(|stop| number(stop.0)),
        leverage: number(row.leverage),
    }
}
