//! The parts of an account besides its fills: charges, pending orders, open positions, insolvency.

use papertape_core::broker::{FillModel, PendingOrder};
use papertape_core::ledger::Insolvency;
use papertape_core::record::{OrderRow, PositionRow, SnapshotRow};
use papertape_core::time::Date;
use papertape_protocol::number::number;
use papertape_protocol::results::account::{
    FinancingResponse, InsolvencyResponse, PendingOrderResponse, PositionSnapshotResponse,
};
use papertape_store::SessionResult;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// The account in a session's metadata; the rest is not parsed, since there may be much of it.
#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    books: StoredBooks,
}

#[derive(Default, Deserialize)]
struct StoredBooks {
    #[serde(default)]
    insolvent: Option<Insolvency>,
}

/// The insolvency of an account, from a session's stored metadata.
pub(super) fn insolvency_of(metadata: Option<&str>) -> Option<InsolvencyResponse> {
    let metadata: Metadata = serde_json::from_str(metadata?).ok()?;
    metadata.books.insolvent.map(InsolvencyResponse::from)
}

/// The same from parsed metadata.
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

/// The pending orders at the end of a session. Rules version 1 records only the orders of the day.
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
