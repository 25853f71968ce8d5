//! Rows derived from a step, written with it.

use super::commit::CommitApplier;
use super::memory;
use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::fence::Fence;
use crate::read::message_event;
use crate::search;
use crate::session_head::{Head, Origin};
use crate::value::{columns, params};
use papertape_core::record::{DerivedRow, ExposureRow, MessageRow, OrderRow};
use serde_json::json;

/// Writes the step's row number `ord`.
pub(super) async fn insert(
    applying: &mut CommitApplier<'_>,
    origin: Origin<'_>,
    ord: usize,
    row: &DerivedRow,
) -> Result<(), StoreError> {
    if let DerivedRow::Message(row) = row {
        return insert_message(applying, origin, ord, row).await;
    }
    let CommitApplier { db, fence, head, .. } = applying;
    let db = &mut **db;
    match row {
        DerivedRow::Message(_) => Ok(()),
        DerivedRow::Order(row) => insert_order(db, fence, head, origin, ord, row).await,
        DerivedRow::Round(row) => memory::insert_round(db, head, origin, ord, row).await,
        DerivedRow::Context(row) => memory::insert_context(db, head, origin, ord, row).await,
        DerivedRow::Reflection(row) => memory::insert_reflection(db, head, origin, ord, row).await,
        DerivedRow::Given(row) => memory::insert_given(db, head, origin, ord, row).await,
        DerivedRow::Exposure(row) => insert_exposure(db, head, origin, ord, row).await,
        DerivedRow::Position(row) => {
            let terms = &row.terms;
            let columns = columns! {
                job_id: &head.job, date: head.date, model: &head.agent, action_id: row.action_id,
                action_type: &row.action_type, symbol: row.symbol.as_ref(), amount: row.amount, price: row.price,
                cash: row.cash, portfolio_value: row.portfolio_value, session_id: head.id, created_at: origin.at,
                step_id: origin.step_id, ord, order_id: terms.order_id.as_ref(), fee: terms.fee,
                slippage: terms.slippage, realised_pnl: terms.realized_pnl, leverage: terms.leverage,
                stop: terms.stop, target: terms.target, ratio: terms.ratio, nights: terms.nights,
            };
            db.insert("positions", columns).await
        }
        DerivedRow::Snapshot(row) => {
            let columns = columns! {
                session_id: head.id, symbol: &row.symbol, position_id: &row.position_id, quantity: row.quantity,
                avg_price: row.avg_price, close: row.close, unrealised_pnl: row.unrealised_pnl, stop: row.stop,
                leverage: row.leverage, step_id: origin.step_id, ord,
            };
            db.insert("position_snapshots", columns).await
        }
    }
}

async fn insert_message(
    applying: &mut CommitApplier<'_>,
    origin: Origin<'_>,
    ord: usize,
    row: &MessageRow,
) -> Result<(), StoreError> {
    let CommitApplier { db, fence, head, texts, .. } = applying;
    let db = &mut **db;
    let (content_id, words) = texts
        .find(db, row.content)
        .await?
        .ok_or_else(|| StoreError::inconsistent(format!("the message of {} has no text", origin.path)))?;
    search::deferred_index::later(db, content_id, words).await?;
    let index = head.message();
    let n = fence.event_text(db, "message", message_event(head.id, index), origin.at).await?;
    db.execute(
        "INSERT INTO reasoning_log_rows (session_id, message_index, role, content_id, tool_name, tool_input,
         timestamp, step_id, ord, n) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        params![
            head.id,
            index,
            row.role.as_str(),
            content_id,
            row.tool_name.as_ref(),
            row.tool_input.as_ref(),
            origin.at,
            origin.step_id,
            ord,
            n
        ],
    )
    .await
    .map(drop)
}

async fn insert_exposure(
    db: &mut dyn Db,
    head: &Head,
    origin: Origin<'_>,
    ord: usize,
    row: &ExposureRow,
) -> Result<()> {
    let sql = "INSERT INTO exposures (session_id, dataset_id, series, first_date, last_date, row_count,
            latest_known_at, step_id, ord)
        SELECT CAST($1 AS BIGINT), d.id, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT),
            CAST($5 AS BIGINT), CAST($6 AS BIGINT), CAST($7 AS BIGINT), CAST($8 AS BIGINT)
        FROM exposure_datasets d WHERE d.hash = $9";
    let values = params![
        head.id,
        &row.series,
        row.first,
        row.last,
        row.rows,
        row.latest_known_at,
        origin.step_id,
        ord,
        row.dataset
    ];
    if db.execute(sql, values).await? > 0 {
        return Ok(());
    }
    // The first read of this dataset.
    let new = "INSERT INTO exposure_datasets (hash) VALUES ($1) ON CONFLICT (hash) DO NOTHING";
    db.execute(new, params![row.dataset]).await?;
    db.execute(sql, values).await.map(drop)
}

async fn insert_order(
    db: &mut dyn Db,
    fence: &mut Fence,
    head: &Head,
    origin: Origin<'_>,
    ord: usize,
    row: &OrderRow,
) -> Result<()> {
    let event = json!({
        "session": head.id, "agent": head.agent, "date": head.date, "path": origin.path,
        "order_id": row.order_id, "symbol": row.symbol, "side": row.side, "quantity": row.quantity,
        "status": row.status, "code": row.code, "price": row.price,
    });
    let n = fence.event(db, "order", &event, origin.at).await?;
    let columns = columns! {
        session_id: head.id, order_id: &row.order_id, symbol: &row.symbol, side: &row.side,
        quantity: row.quantity, status: &row.status, code: row.code.as_ref(), message: row.message.as_ref(),
        numbers: row.numbers.as_ref(), price: row.price, fee: row.fee, slippage: row.slippage,
        realised_pnl: row.realized_pnl, stop: row.stop, target: row.target, leverage: row.leverage,
        created_at: origin.at, step_id: origin.step_id, ord, n,
    };
    db.insert("orders", columns).await
}
