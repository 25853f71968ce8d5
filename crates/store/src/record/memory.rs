//! Rows of the trader's memory, written with their step.

use crate::db::Db;
use crate::error::Result;
use crate::rows::memory::search_text;
use crate::search;
use crate::session_head::{Head, Origin};
use crate::value::{columns, params};
use papertape_core::json;
use papertape_core::record::{OpenPositionContextRow, RecalledMemoryRow, ReflectionRow, RoundMemoryRow};

pub(super) async fn insert_round(
    db: &mut dyn Db,
    head: &Head,
    origin: Origin<'_>,
    ord: usize,
    row: &RoundMemoryRow,
) -> Result<()> {
    let columns = columns! {
        job_id: &head.job, model: &head.agent, session_id: head.id, round_id: row.round_id,
        situation: &row.situation, summary: &row.summary, source: row.source, note: row.note.as_ref(),
        assets: &json::to_value(&row.assets), is_open_entry: row.is_open_entry, degraded: row.degraded,
        known_at: row.known_at, prunes_through: row.prunes_through, created_at: origin.at,
        step_id: origin.step_id, ord,
    };
    db.insert("trader_round_memory", columns).await?;
    if let Some(through) = row.prunes_through {
        db.execute(
            "UPDATE trader_round_memory SET pruned = 1
             WHERE job_id = $1 AND model = $2 AND round_id <= $3 AND pruned = 0",
            params![&head.job, &head.agent, through],
        )
        .await?;
    }
    Ok(())
}

pub(super) async fn insert_context(
    db: &mut dyn Db,
    head: &Head,
    origin: Origin<'_>,
    ord: usize,
    row: &OpenPositionContextRow,
) -> Result<()> {
    let columns = columns! {
        job_id: &head.job, model: &head.agent, session_id: head.id, position_id: &row.position_id,
        symbol: &row.symbol, side: row.side, state: row.state, round_id: row.round_id, summary: &row.summary,
        opened_at: row.opened_at, entry_price: row.entry_price, quantity: row.quantity,
        stop_loss: row.stop_loss, take_profit: row.take_profit, leverage: row.leverage,
        split_ratio: row.split_ratio, known_at: row.known_at, created_at: origin.at, step_id: origin.step_id, ord,
    };
    db.insert("open_position_contexts", columns).await
}

pub(super) async fn insert_reflection(
    db: &mut dyn Db,
    head: &Head,
    origin: Origin<'_>,
    ord: usize,
    row: &ReflectionRow,
) -> Result<()> {
    let text_id = search::store_and_index(db, papertape_core::tape::text(search_text(row))).await?;
    let columns = columns! {
        job_id: &head.job, model: &head.agent, session_id: head.id, trade_id: row.trade_id,
        position_id: &row.position_id, part: row.part, position_closed: row.position_closed, cause: &row.cause,
        symbol: &row.symbol, side: row.side, entry_time: row.entry_time, exit_time: row.exit_time,
        holding_days: i64::from(row.holding_days), quantity: row.quantity, entry_price: row.entry_price,
        exit_price: row.exit_price, pnl: row.pnl, return_pct: row.return_pct, leverage: row.leverage,
        notional: row.notional, summary: &row.summary,
        execution_deviation: &json::to_value(&row.execution_deviation),
        hypothesis_check: &json::to_value(&row.hypothesis_check),
        error_tags: &json::to_value(&row.error_tags), value_assessment: row.value_assessment,
        next_rules: &json::to_value(&row.next_rules), thesis: row.thesis.as_ref(), source: row.source,
        note: row.note.as_ref(), known_at: row.known_at, text_id, created_at: origin.at,
        step_id: origin.step_id, ord,
    };
    db.insert("trade_reflections", columns).await
}

pub(super) async fn insert_given(
    db: &mut dyn Db,
    head: &Head,
    origin: Origin<'_>,
    ord: usize,
    row: &RecalledMemoryRow,
) -> Result<()> {
    let columns = columns! {
        session_id: head.id, kind: row.kind, memory_id: &row.memory_id, job: row.job.as_ref(),
        known_at: row.known_at, step_id: origin.step_id, ord,
    };
    db.insert("session_memory", columns).await
}
