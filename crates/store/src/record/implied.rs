//! Rows derived from a step: written with it, and read back in the form from which they were made.

use super::head::Head;
use super::memory;
use crate::db::Db;
use crate::error::StoreError;
use crate::fence::Fence;
use crate::search;
use crate::value::{Row, params};
use papertape_core::id::ContentHash;
use papertape_core::money::Money;
use papertape_core::record::{
    ActionTerms, DerivedRow, ExposureRow, MessageRow, OrderRow, PositionRow, SessionId, SnapshotRow,
};
use papertape_core::tape::StepPath;
use papertape_core::time::{Timestamp, from_micros, to_micros};
use rust_decimal::Decimal;
use serde_json::json;
use std::collections::BTreeMap;

/// The step that derived rows belong to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    pub(super) step_id: i64,
    pub(super) path: &'a StepPath,
    pub(super) at: Timestamp,
}

/// Number of events that a row produces.
pub(super) fn events(implied: &DerivedRow) -> usize {
    usize::from(matches!(implied, DerivedRow::Message(_) | DerivedRow::Order(_)))
}

/// The rows in a form that both databases can store, so that their hash is the same when they are read back:
/// instants are whole microseconds, and PostgreSQL has neither a negative zero nor NUL.
pub(super) fn storable(rows: &[DerivedRow]) -> Vec<DerivedRow> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        match row {
            DerivedRow::Message(row) => row.tool_name.iter_mut().for_each(clean),
            DerivedRow::Exposure(row) => {
                clean(&mut row.series);
                let micros = row.latest_known_at.map(to_micros);
                row.latest_known_at = micros.and_then(from_micros);
            }
            DerivedRow::Position(row) => {
                unsign(&mut row.amount.0);
                row.price.iter_mut().for_each(|price| unsign(&mut price.0));
                unsign(&mut row.cash.0);
                unsign(&mut row.portfolio_value.0);
                // Set by the session's close.
                row.daily_profit = None;
                row.daily_return_pct = None;
                row.symbol.iter_mut().for_each(clean_symbol);
                storable_terms(&mut row.terms);
            }
            DerivedRow::Order(row) => {
                unsign(&mut row.quantity.0);
                for price in [&mut row.price, &mut row.stop, &mut row.target].into_iter().flatten() {
                    unsign(&mut price.0);
                }
                for money in [&mut row.fee, &mut row.slippage, &mut row.realised_pnl].into_iter().flatten() {
                    unsign(&mut money.0);
                }
                row.leverage.iter_mut().for_each(unsign);
                clean(&mut row.order_id);
                clean_symbol(&mut row.symbol);
                row.code.iter_mut().for_each(clean);
                row.message.iter_mut().for_each(clean);
            }
            DerivedRow::Snapshot(row) => {
                unsign(&mut row.quantity.0);
                unsign(&mut row.avg_price.0);
                unsign(&mut row.close.0);
                unsign(&mut row.unrealised_pnl.0);
                row.stop.iter_mut().for_each(|stop| unsign(&mut stop.0));
                unsign(&mut row.leverage);
                clean_symbol(&mut row.symbol);
                clean(&mut row.position_id);
            }
            DerivedRow::Round(row) => memory::storable_round(row),
            DerivedRow::Context(row) => memory::storable_context(row),
            DerivedRow::Reflection(row) => memory::storable_reflection(row),
            DerivedRow::Given(row) => memory::storable_given(row),
        }
    }
    rows
}

fn storable_terms(terms: &mut ActionTerms) {
    terms.order_id.iter_mut().for_each(clean);
    for money in [&mut terms.fee, &mut terms.slippage, &mut terms.realised_pnl].into_iter().flatten() {
        unsign(&mut money.0);
    }
    for price in [&mut terms.stop, &mut terms.target].into_iter().flatten() {
        unsign(&mut price.0);
    }
    terms.leverage.iter_mut().chain(&mut terms.ratio).for_each(unsign);
}

pub(super) fn unsign(number: &mut Decimal) {
    if number.is_zero() {
        number.set_sign_positive(true);
    }
}

fn clean(text: &mut String) {
    if text.contains('\0') {
        *text = text.replace('\0', "\u{fffd}");
    }
}

fn clean_symbol(symbol: &mut papertape_core::id::Symbol) {
    if symbol.as_str().contains('\0') {
        *symbol = symbol.as_str().replace('\0', "\u{fffd}").into();
    }
}

/// Writes the step's row number `ord`.
pub(super) async fn insert(
    db: &mut dyn Db,
    fence: &mut Fence,
    head: &mut Head,
    origin: Origin<'_>,
    ord: usize,
    row: &DerivedRow,
) -> Result<(), StoreError> {
    match row {
        DerivedRow::Message(row) => insert_message(db, fence, head, origin, ord, row).await,
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
                    row.terms.realised_pnl,
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
    db: &mut dyn Db,
    fence: &mut Fence,
    head: &mut Head,
    origin: Origin<'_>,
    ord: usize,
    row: &MessageRow,
) -> Result<(), StoreError> {
    let content_id: i64 = db
        .row("SELECT id FROM texts WHERE hash = $1", params![row.content])
        .await?
        .ok_or_else(|| StoreError::inconsistent(format!("the message of {} has no text", origin.path)))?
        .get()?;
    search::deferred_index::later(db, content_id).await?;
    let index = head.message();
    let event = json!({
        "session": head.id, "agent": head.agent, "date": head.date, "path": origin.path,
        "message_index": index, "role": row.role, "tool_name": row.tool_name,
    });
    let n = fence.event(db, "message", &event, origin.at).await?;
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
            row.realised_pnl,
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

/// A session's derived rows by step, in the step's order, each with its table.
pub(crate) type BySteps = BTreeMap<i64, BTreeMap<i64, DerivedRow>>;

/// Reads all derived rows of a session back.
pub(crate) async fn of_session(db: &mut dyn Db, session: SessionId) -> Result<BySteps, StoreError> {
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

/// Profit and return of the day, from the session's last row of `positions`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct DailyFigures {
    pub(crate) profit: Option<Money>,
    pub(crate) return_pct: Option<Decimal>,
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
    Ok(ExposureRow {
        dataset: row.get::<ContentHash>()?,
        series: row.get()?,
        first: row.get()?,
        last: row.get()?,
        rows: row.get()?,
        latest_known_at: row.get()?,
    })
}

pub(crate) fn read_position(row: &mut Row) -> Result<PositionRow, StoreError> {
    Ok(PositionRow {
        action_id: row.get()?,
        action_type: row.get()?,
        symbol: row.get()?,
        amount: row.get()?,
        price: row.get()?,
        cash: row.get()?,
        portfolio_value: row.get()?,
        daily_profit: row.get()?,
        daily_return_pct: row.get()?,
        terms: ActionTerms {
            order_id: row.get()?,
            fee: row.get()?,
            slippage: row.get()?,
            realised_pnl: row.get()?,
            leverage: row.get()?,
            stop: row.get()?,
            target: row.get()?,
            ratio: row.get()?,
            nights: row.get()?,
        },
    })
}

pub(crate) fn read_order(row: &mut Row) -> Result<OrderRow, StoreError> {
    Ok(OrderRow {
        order_id: row.get()?,
        symbol: row.get()?,
        side: row.get()?,
        quantity: row.get()?,
        status: row.get()?,
        code: row.get()?,
        message: row.get()?,
        numbers: row.get()?,
        price: row.get()?,
        fee: row.get()?,
        slippage: row.get()?,
        realised_pnl: row.get()?,
        stop: row.get()?,
        target: row.get()?,
        leverage: row.get()?,
    })
}

pub(crate) fn read_snapshot(row: &mut Row) -> Result<SnapshotRow, StoreError> {
    Ok(SnapshotRow {
        symbol: row.get()?,
        position_id: row.get()?,
        quantity: row.get()?,
        avg_price: row.get()?,
        close: row.get()?,
        unrealised_pnl: row.get()?,
        stop: row.get()?,
        leverage: row.get()?,
    })
}
