//! Rows derived from a step, read back in the form from which they were made.

use super::memory;
use crate::chain::DailyFigures;
use crate::db::Db;
use crate::error::StoreError;
use crate::value::{Row, from_row, params};
use papertape_core::id::ContentHash;
use papertape_core::record::{
    ActionTerms, DerivedRow, ExposureRow, MessageRow, OrderRow, PositionRow, SessionId, SnapshotRow,
};
use std::collections::BTreeMap;

/// A session's derived rows by step, in the step's order, each with its table.
pub(crate) type BySteps = BTreeMap<i64, BTreeMap<i64, DerivedRow>>;

/// Reads all derived rows of a session.
pub(crate) async fn load_session(db: &mut dyn Db, session: SessionId) -> Result<BySteps, StoreError> {
    let mut found = BySteps::new();
    let mut collect = |rows: Vec<Row>, read: fn(&mut Row) -> Result<DerivedRow, StoreError>| {
        for mut row in rows {
            let (step, ord): (Option<i64>, Option<i64>) = (row.get()?, row.get()?);
            // Rows without a step were imported with their session and are not part of a chain.
            if let (Some(step), Some(ord)) = (step, ord) {
                let implied = read(&mut row)?;
                if found.entry(step).or_default().insert(ord, implied).is_some() {
                    return Err(StoreError::inconsistent(format!("two rows are number {ord} of a step")));
                }
            }
        }
        Ok(())
    };
    let session = params![session];
    collect(db.query(MESSAGES, session).await?, |row| {
        Ok(DerivedRow::Message(MessageRow {
            role: role(&row.get::<String>()?)?,
            content: row.get()?,
            tool_name: row.get()?,
            tool_input: row.get()?,
        }))
    })?;
    let select = |columns: &str, table: &str| {
        format!("SELECT step_id, ord, {columns} FROM {table} WHERE session_id = $1")
    };
    let exposures = db.query(&select(EXPOSURE, "exposures"), session).await?;
    collect(exposures, |row| Ok(DerivedRow::Exposure(read_exposure(row)?)))?;
    let positions = db.query(&select(POSITION, "positions"), session).await?;
    collect(positions, |row| {
        // The session's close writes the day's profit and return to the last row, and chains them there.
        let row = read_position(row)?;
        Ok(DerivedRow::Position(PositionRow { daily_profit: None, daily_return_pct: None, ..row }))
    })?;
    let orders = db.query(&select(ORDER, "orders"), session).await?;
    collect(orders, |row| Ok(DerivedRow::Order(Box::new(read_order(row)?))))?;
    let snapshots = db.query(&select(SNAPSHOT, "position_snapshots"), session).await?;
    collect(snapshots, |row| Ok(DerivedRow::Snapshot(read_snapshot(row)?)))?;
    collect(db.query(&select(memory::ROUND, "trader_round_memory"), session).await?, |row| {
        Ok(DerivedRow::Round(Box::new(memory::read_round(row)?)))
    })?;
    collect(db.query(&select(memory::CONTEXT, "open_position_contexts"), session).await?, |row| {
        Ok(DerivedRow::Context(Box::new(memory::read_context(row)?)))
    })?;
    collect(db.query(&select(memory::REFLECTION, "trade_reflections"), session).await?, |row| {
        Ok(DerivedRow::Reflection(Box::new(memory::read_reflection(row)?)))
    })?;
    collect(db.query(&select(memory::GIVEN, "session_memory"), session).await?, |row| {
        Ok(DerivedRow::Given(memory::read_given(row)?))
    })?;
    Ok(found)
}

/// Reads the day's profit and return. Only the last row may have them.
pub(crate) async fn daily_figures(db: &mut dyn Db, session: SessionId) -> Result<DailyFigures, StoreError> {
    let sql = "SELECT daily_profit, daily_return_pct FROM positions WHERE session_id = $1 ORDER BY action_id";
    let mut last = DailyFigures::default();
    for mut row in db.query(sql, params![session]).await? {
        if last != DailyFigures::default() {
            return Err(StoreError::inconsistent("a row of positions before the last has the day's figures"));
        }
        last = DailyFigures { profit: row.get()?, return_pct: row.get()? };
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
pub(crate) const EXPOSURE: &str = "dataset, series, first_date, last_date, row_count, latest_known_at";
/// The columns that [`read_snapshot`] reads.
pub(crate) const SNAPSHOT: &str =
    "symbol, position_id, quantity, avg_price, close, unrealised_pnl, stop, leverage";

pub(crate) fn role(word: &str) -> Result<papertape_core::message::Role, StoreError> {
    use papertape_core::message::Role;
    [Role::User, Role::Assistant, Role::Tool]
        .into_iter()
        .find(|role| role.as_str() == word)
        .ok_or_else(|| StoreError::inconsistent(format!("`{word}` is not a role")))
}

pub(crate) fn read_exposure(row: &mut Row) -> Result<ExposureRow, StoreError> {
    Ok(from_row!(row => ExposureRow {
        dataset: row.get::<ContentHash>()?, series, first, last, rows, latest_known_at,
    }))
}

pub(crate) fn read_position(row: &mut Row) -> Result<PositionRow, StoreError> {
    Ok(from_row!(row => PositionRow {
        action_id, action_type, symbol, amount, price, cash, portfolio_value, daily_profit, daily_return_pct,
        terms: from_row!(row => ActionTerms {
            order_id, fee, slippage, realized_pnl, leverage, stop, target, ratio, nights,
        }),
    }))
}

pub(crate) fn read_order(row: &mut Row) -> Result<OrderRow, StoreError> {
    Ok(from_row!(row => OrderRow {
        order_id, symbol, side, quantity, status, code, message, numbers, price, fee, slippage, realized_pnl,
        stop, target, leverage,
    }))
}

pub(crate) fn read_snapshot(row: &mut Row) -> Result<SnapshotRow, StoreError> {
    Ok(from_row!(row => SnapshotRow {
        symbol, position_id, quantity, avg_price, close, unrealised_pnl, stop, leverage,
    }))
}
