//! Rows derived from a step, written with it.

use super::commit::CommitApplier;
use super::head::{Head, Origin};
use super::memory;
use crate::db::Db;
use crate::error::StoreError;
use crate::fence::Fence;
use crate::search;
use crate::value::params;
use papertape_core::record::{DerivedRow, MessageRow, OrderRow};
use serde_json::json;

/// Writes the step's row number `ord`; `event` is its prepared event.
pub(super) async fn insert(
    applying: &mut CommitApplier<'_>,
    origin: Origin<'_>,
    ord: usize,
    row: &DerivedRow,
    event: &str,
) -> Result<(), StoreError> {
    if let DerivedRow::Message(row) = row {
        return insert_message(applying, origin, ord, row, event).await;
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
        DerivedRow::Exposure(row) => db
            .execute(
                "INSERT INTO exposures (session_id, dataset, series, first_date, last_date, row_count,
                 latest_known_at, step_id, ord) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                params![
                    head.id,
                    row.dataset,
                    &row.series,
                    row.first,
                    row.last,
                    row.rows,
                    row.latest_known_at,
                    origin.step_id,
                    ord
                ],
            )
            .await
            .map(drop),
        DerivedRow::Position(row) => db
            .execute(
                "INSERT INTO positions (job_id, date, model, action_id, action_type, symbol, amount, price,
                 cash, portfolio_value, session_id, created_at, step_id, ord, order_id, fee, slippage,
                 realised_pnl, leverage, stop, target, ratio, nights)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
                 $20, $21, $22, $23)",
                params![
                    &head.job,
                    head.date,
                    &head.agent,
                    row.action_id,
                    &row.action_type,
                    row.symbol.as_ref(),
                    row.amount,
                    row.price,
                    row.cash,
                    row.portfolio_value,
                    head.id,
                    origin.at,
                    origin.step_id,
                    ord,
                    row.terms.order_id.as_ref(),
                    row.terms.fee,
                    row.terms.slippage,
                    row.terms.realized_pnl,
                    row.terms.leverage,
                    row.terms.stop,
                    row.terms.target,
                    row.terms.ratio,
                    row.terms.nights
                ],
            )
            .await
            .map(drop),
        DerivedRow::Snapshot(row) => db
            .execute(
                "INSERT INTO position_snapshots (session_id, symbol, position_id, quantity, avg_price,
                 close, unrealised_pnl, stop, leverage, step_id, ord)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                params![
                    head.id,
                    &row.symbol,
                    &row.position_id,
                    row.quantity,
                    row.avg_price,
                    row.close,
                    row.unrealised_pnl,
                    row.stop,
                    row.leverage,
                    origin.step_id,
                    ord
                ],
            )
            .await
            .map(drop),
    }
}

async fn insert_message(
    applying: &mut CommitApplier<'_>,
    origin: Origin<'_>,
    ord: usize,
    row: &MessageRow,
    event: &str,
) -> Result<(), StoreError> {
    let CommitApplier { db, fence, head, texts, .. } = applying;
    let db = &mut **db;
    let (content_id, words) = texts
        .find(db, row.content)
        .await?
        .ok_or_else(|| StoreError::inconsistent(format!("the message of {} has no text", origin.path)))?;
    search::deferred_index::later(db, content_id, words).await?;
    let index = head.message();
    let n = fence.event_text(db, "message", head.message_event(index, event), origin.at).await?;
    db.execute(
        "INSERT INTO reasoning_log_rows (session_id, message_index, role, content_id, tool_name, tool_input,
         timestamp, path, node, step_id, ord, n) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        params![
            head.id,
            index,
            row.role.as_str(),
            content_id,
            row.tool_name.as_ref(),
            row.tool_input.as_ref(),
            origin.at,
            origin.path,
            origin.path.node(),
            origin.step_id,
            ord,
            n
        ],
    )
    .await
    .map(drop)
}

async fn insert_order(
    db: &mut dyn Db,
    fence: &mut Fence,
    head: &Head,
    origin: Origin<'_>,
    ord: usize,
    row: &OrderRow,
) -> Result<(), StoreError> {
    let event = json!({
        "session": head.id, "agent": head.agent, "date": head.date, "path": origin.path,
        "order_id": row.order_id, "symbol": row.symbol, "side": row.side, "quantity": row.quantity,
        "status": row.status, "code": row.code, "price": row.price,
    });
    let n = fence.event(db, "order", &event, origin.at).await?;
    db.execute(
        "INSERT INTO orders (session_id, order_id, symbol, side, quantity, status, code, message, numbers,
         price, fee, slippage, realised_pnl, stop, target, leverage, created_at, step_id, ord, n)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)",
        params![
            head.id,
            &row.order_id,
            &row.symbol,
            &row.side,
            row.quantity,
            &row.status,
            row.code.as_ref(),
            row.message.as_ref(),
            row.numbers.as_ref(),
            row.price,
            row.fee,
            row.slippage,
            row.realized_pnl,
            row.stop,
            row.target,
            row.leverage,
            origin.at,
            origin.step_id,
            ord,
            n
        ],
    )
    .await
    .map(drop)
}
