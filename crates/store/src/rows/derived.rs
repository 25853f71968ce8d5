//! Rows derived from a step, read back in the form from which they were made.

use super::memory;
use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::value::{FromRow, from_row, params};
use papertape_core::record::chain::DailyFigures;
use papertape_core::record::{
    ActionTerms, DerivedRow, ExposureRow, MessageRow, OrderRow, PositionRow, SessionId, SnapshotRow,
};
use std::collections::BTreeMap;

/// A session's derived rows by step, in the step's order, each with its table.
pub(crate) type BySteps = BTreeMap<i64, BTreeMap<i64, DerivedRow>>;

/// Reads all derived rows of a session.
pub(crate) async fn load_session(db: &mut dyn Db, session: SessionId) -> Result<BySteps> {
    let mut found = BySteps::new();
    let rows = &mut found;
    let select = |columns: &str, table: &str| {
        format!("SELECT step_id, ord, {columns} FROM {table} WHERE session_id = $1")
    };
    collect(db, session, MESSAGES, rows, DerivedRow::Message).await?;
    collect(db, session, &select(EXPOSURE, "exposures"), rows, DerivedRow::Exposure).await?;
    // The session's close writes the day's profit and return to the last row, and chains them there.
    collect(db, session, &select(POSITION, "positions"), rows, |row| {
        DerivedRow::Position(PositionRow { daily_profit: None, daily_return_pct: None, ..row })
    })
    .await?;
    collect(db, session, &select(ORDER, "orders"), rows, |row| DerivedRow::Order(Box::new(row))).await?;
    collect(db, session, &select(SNAPSHOT, "position_snapshots"), rows, DerivedRow::Snapshot).await?;
    let rounds = select(memory::ROUND, "trader_round_memory");
    collect(db, session, &rounds, rows, |row| DerivedRow::Round(Box::new(row))).await?;
    let contexts = select(memory::CONTEXT, "open_position_contexts");
    collect(db, session, &contexts, rows, |row| DerivedRow::Context(Box::new(row))).await?;
    let reflections = select(memory::REFLECTION, "trade_reflections");
    collect(db, session, &reflections, rows, |row| DerivedRow::Reflection(Box::new(row))).await?;
    collect(db, session, &select(memory::GIVEN, "session_memory"), rows, DerivedRow::Given).await?;
    Ok(found)
}

async fn collect<T: FromRow>(
    db: &mut dyn Db,
    session: SessionId,
    sql: &str,
    found: &mut BySteps,
    derived: fn(T) -> DerivedRow,
) -> Result<()> {
    for (step, ord, row) in db.all::<(Option<i64>, Option<i64>, T)>(sql, params![session]).await? {
        // Rows without a step were imported with their session and are not part of a chain.
        if let (Some(step), Some(ord)) = (step, ord)
            && found.entry(step).or_default().insert(ord, derived(row)).is_some()
        {
            return Err(StoreError::inconsistent(format!("two rows are number {ord} of a step")));
        }
    }
    Ok(())
}

/// Reads the day's profit and return. Only the last row may have them.
pub(crate) async fn daily_figures(db: &mut dyn Db, session: SessionId) -> Result<DailyFigures> {
    let sql = "SELECT daily_profit, daily_return_pct FROM positions WHERE session_id = $1 ORDER BY action_id";
    let mut last = DailyFigures::default();
    for figures in db.all::<DailyFigures>(sql, params![session]).await? {
        if last != DailyFigures::default() {
            return Err(StoreError::inconsistent("a row of positions before the last has the day's figures"));
        }
        last = figures;
    }
    Ok(last)
}

const MESSAGES: &str = "SELECT m.step_id, m.ord, m.role, t.hash, m.tool_name, m.tool_input
    FROM reasoning_log_rows m JOIN texts t ON t.id = m.content_id WHERE m.session_id = $1";
/// The columns that [`read_position`] reads.
pub(crate) const POSITION: &str = "action_id, action_type, symbol, amount, price, cash, portfolio_value,
    daily_profit, daily_return_pct, order_id, fee, slippage, realised_pnl, leverage, stop, target, ratio,
    nights";
/// The columns that [`read_order`] reads.
pub(crate) const ORDER: &str = "order_id, symbol, side, quantity, status, code, message, numbers, price, fee,
    slippage, realised_pnl, stop, target, leverage";
/// The columns that [`read_exposure`] reads.
pub(crate) const EXPOSURE: &str = "(SELECT d.hash FROM exposure_datasets d WHERE d.id = dataset_id),
    series, first_date, last_date, row_count, latest_known_at";
/// The columns that [`read_snapshot`] reads.
pub(crate) const SNAPSHOT: &str =
    "symbol, position_id, quantity, avg_price, close, unrealised_pnl, stop, leverage";

from_row! { impl row => DailyFigures { profit, return_pct } }

from_row! { impl row => MessageRow { role, content, tool_name, tool_input } }

from_row! { impl row => ExposureRow { dataset, series, first, last, rows, latest_known_at } }

from_row! { impl row => PositionRow {
    action_id, action_type, symbol, amount, price, cash, portfolio_value, daily_profit, daily_return_pct, terms,
} }

from_row! { impl row => ActionTerms {
    order_id, fee, slippage, realized_pnl, leverage, stop, target, ratio, nights,
} }

from_row! { impl row => OrderRow {
    order_id, symbol, side, quantity, status, code, message, numbers, price, fee, slippage, realized_pnl,
    stop, target, leverage,
} }

from_row! { impl row => SnapshotRow {
    symbol, position_id, quantity, avg_price, close, unrealised_pnl, stop, leverage,
} }
