//! The rows of the trader's memory: written with their step, and read back in the form from which they were made.

use super::head::Head;
use super::implied::{Origin, unsign};
use crate::db::Db;
use crate::error::StoreError;
use crate::search;
use crate::texts;
use crate::value::{Row, params};
use papertape_core::json;
use papertape_core::ledger::Direction;
use papertape_core::record::{OpenPositionContextRow, RecalledMemoryRow, ReflectionRow, RoundMemoryRow};
use papertape_core::time::{Timestamp, from_micros, to_micros};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Converts the row to a form that both databases can store.
pub(super) fn storable_round(row: &mut RoundMemoryRow) {
    scrub(row);
    whole(&mut row.known_at);
    for asset in &mut row.assets {
        for price in [&mut asset.entry_price, &mut asset.stop_loss, &mut asset.take_profit] {
            price.iter_mut().for_each(|price| unsign(&mut price.0));
        }
        asset.leverage.iter_mut().for_each(unsign);
    }
}

/// As [`storable_round`].
pub(super) fn storable_context(row: &mut OpenPositionContextRow) {
    scrub(row);
    whole(&mut row.known_at);
    whole(&mut row.opened_at);
    unsign(&mut row.entry_price.0);
    unsign(&mut row.quantity.0);
    for price in [&mut row.stop_loss, &mut row.take_profit] {
        price.iter_mut().for_each(|price| unsign(&mut price.0));
    }
    unsign(&mut row.leverage);
    unsign(&mut row.split_ratio);
}

/// As [`storable_round`].
pub(super) fn storable_reflection(row: &mut ReflectionRow) {
    scrub(row);
    for at in [&mut row.known_at, &mut row.entry_time, &mut row.exit_time] {
        whole(at);
    }
    for number in [
        &mut row.quantity.0,
        &mut row.entry_price.0,
        &mut row.exit_price.0,
        &mut row.pnl.0,
        &mut row.leverage,
        &mut row.notional.0,
    ] {
        unsign(number);
    }
    row.return_pct.iter_mut().for_each(unsign);
}

/// As [`storable_round`].
pub(super) fn storable_given(row: &mut RecalledMemoryRow) {
    scrub(row);
    whole(&mut row.known_at);
}

/// PostgreSQL text cannot hold a NUL.
fn scrub<T: Serialize + DeserializeOwned>(row: &mut T) {
    let value = json::to_value(row);
    if json::canonical(&value).contains("\\u0000")
        && let Ok(clean) = serde_json::from_value(without_nul(value))
    {
        *row = clean;
    }
}

fn without_nul(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace('\0', "\u{fffd}")),
        Value::Array(items) => items.into_iter().map(without_nul).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, without_nul(value))).collect(),
        other => other,
    }
}

fn whole(at: &mut Timestamp) {
    if let Some(micros) = from_micros(to_micros(*at)) {
        *at = micros;
    }
}

pub(super) async fn insert_round(
    db: &mut dyn Db,
    head: &Head,
    origin: Origin<'_>,
    ord: usize,
    row: &RoundMemoryRow,
) -> Result<(), StoreError> {
    db.execute(
        "INSERT INTO trader_round_memory (job_id, model, session_id, round_id, situation, summary, source,
         note, assets, is_open_entry, degraded, known_at, prunes_through, created_at, step_id, ord)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        params![
            &head.job,
            &head.agent,
            head.id,
            row.round_id,
            &row.situation,
            &row.summary,
            row.source.as_str(),
            row.note.as_ref(),
            &json::to_value(&row.assets),
            row.is_open_entry,
            row.degraded,
            row.known_at,
            row.prunes_through,
            origin.at,
            origin.step_id,
            ord
        ],
    )
    .await?;
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
) -> Result<(), StoreError> {
    db.execute(
        "INSERT INTO open_position_contexts (job_id, model, session_id, position_id, symbol, side, state,
         round_id, summary, opened_at, entry_price, quantity, stop_loss, take_profit, leverage, split_ratio,
         known_at, created_at, step_id, ord)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)",
        params![
            &head.job,
            &head.agent,
            head.id,
            &row.position_id,
            &row.symbol,
            side(row.side),
            row.state.as_str(),
            row.round_id,
            &row.summary,
            row.opened_at,
            row.entry_price,
            row.quantity,
            row.stop_loss,
            row.take_profit,
            row.leverage,
            row.split_ratio,
            row.known_at,
            origin.at,
            origin.step_id,
            ord
        ],
    )
    .await
    .map(drop)
}

pub(super) async fn insert_reflection(
    db: &mut dyn Db,
    head: &Head,
    origin: Origin<'_>,
    ord: usize,
    row: &ReflectionRow,
) -> Result<(), StoreError> {
    let words = papertape_core::tape::text(search_text(row));
    texts::insert(db, std::iter::once(&words)).await?;
    let text_id: i64 = db
        .row("SELECT id FROM texts WHERE hash = $1", params![words.hash])
        .await?
        .ok_or_else(|| StoreError::inconsistent("a reflection's words are gone"))?
        .get()?;
    search::index(db, text_id).await?;
    db.execute(
        "INSERT INTO trade_reflections (job_id, model, session_id, trade_id, position_id, part,
         position_closed, cause, symbol, side, entry_time, exit_time, holding_days, quantity, entry_price,
         exit_price, pnl, return_pct, leverage, notional, summary, execution_deviation, hypothesis_check,
         error_tags, value_assessment, next_rules, thesis, source, note, known_at, text_id, created_at,
         step_id, ord)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
         $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34)",
        params![
            &head.job,
            &head.agent,
            head.id,
            row.trade_id,
            &row.position_id,
            row.part,
            row.position_closed,
            &row.cause,
            &row.symbol,
            side(row.side),
            row.entry_time,
            row.exit_time,
            i64::from(row.holding_days),
            row.quantity,
            row.entry_price,
            row.exit_price,
            row.pnl,
            row.return_pct,
            row.leverage,
            row.notional,
            &row.summary,
            &json::to_value(&row.execution_deviation),
            &json::to_value(&row.hypothesis_check),
            &json::to_value(&row.error_tags),
            row.value_assessment.as_str(),
            &json::to_value(&row.next_rules),
            row.thesis.as_ref(),
            row.source.as_str(),
            row.note.as_ref(),
            row.known_at,
            text_id,
            origin.at,
            origin.step_id,
            ord
        ],
    )
    .await
    .map(drop)
}

pub(super) async fn insert_given(
    db: &mut dyn Db,
    head: &Head,
    origin: Origin<'_>,
    ord: usize,
    row: &RecalledMemoryRow,
) -> Result<(), StoreError> {
    db.execute(
        "INSERT INTO session_memory (session_id, kind, memory_id, job, known_at, step_id, ord)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        params![
            head.id,
            row.kind.as_str(),
            &row.memory_id,
            row.job.as_ref(),
            row.known_at,
            origin.step_id,
            ord
        ],
    )
    .await
    .map(drop)
}

/// The text under which search finds a reflection.
pub(crate) fn search_text(row: &ReflectionRow) -> String {
    let mut text = vec![row.symbol.to_string(), side(row.side).to_owned(), row.cause.clone()];
    text.extend(row.error_tags.iter().map(ToString::to_string));
    text.push(row.summary.clone());
    text.push(row.execution_deviation.comment.clone());
    text.extend(row.hypothesis_check.iter().map(|check| check.claim.clone()));
    text.extend(row.next_rules.iter().cloned());
    text.extend(row.thesis.clone());
    text.join("\n")
}

pub(crate) fn side(side: Direction) -> &'static str {
    match side {
        Direction::Long => "long",
        Direction::Short => "short",
    }
}

/// The columns that [`read_round`] reads.
pub(crate) const ROUND: &str = "round_id, situation, summary, source, note, assets, is_open_entry, degraded,
    known_at, prunes_through";
/// The columns that [`read_context`] reads.
pub(crate) const CONTEXT: &str = "position_id, symbol, side, state, round_id, summary, opened_at,
    entry_price, quantity, stop_loss, take_profit, leverage, split_ratio, known_at";
/// The columns that [`read_reflection`] reads.
pub(crate) const REFLECTION: &str = "trade_id, position_id, part, position_closed, cause, symbol, side,
    entry_time, exit_time, holding_days, quantity, entry_price, exit_price, pnl, return_pct, leverage,
    notional, summary, execution_deviation, hypothesis_check, error_tags, value_assessment, next_rules,
    thesis, source, note, known_at";
/// The columns that [`read_given`] reads.
pub(crate) const GIVEN: &str = "kind, memory_id, job, known_at";

pub(crate) fn read_round(row: &mut Row) -> Result<RoundMemoryRow, StoreError> {
    Ok(RoundMemoryRow {
        round_id: row.get()?,
        situation: row.get()?,
        summary: row.get()?,
        source: word(row)?,
        note: row.get()?,
        assets: document(row)?,
        is_open_entry: row.get()?,
        degraded: row.get()?,
        known_at: row.get()?,
        prunes_through: row.get()?,
    })
}

pub(crate) fn read_context(row: &mut Row) -> Result<OpenPositionContextRow, StoreError> {
    Ok(OpenPositionContextRow {
        position_id: row.get()?,
        symbol: row.get()?,
        side: direction(row)?,
        state: word(row)?,
        round_id: row.get()?,
        summary: row.get()?,
        opened_at: row.get()?,
        entry_price: row.get()?,
        quantity: row.get()?,
        stop_loss: row.get()?,
        take_profit: row.get()?,
        leverage: row.get()?,
        split_ratio: row.get()?,
        known_at: row.get()?,
    })
}

pub(crate) fn read_reflection(row: &mut Row) -> Result<ReflectionRow, StoreError> {
    Ok(ReflectionRow {
        trade_id: row.get()?,
        position_id: row.get()?,
        part: row.get()?,
        position_closed: row.get()?,
        cause: row.get()?,
        symbol: row.get()?,
        side: direction(row)?,
        entry_time: row.get()?,
        exit_time: row.get()?,
        holding_days: i32::try_from(row.get::<i64>()?)
            .map_err(|error| StoreError::inconsistent(error.to_string()))?,
        quantity: row.get()?,
        entry_price: row.get()?,
        exit_price: row.get()?,
        pnl: row.get()?,
        return_pct: row.get()?,
        leverage: row.get()?,
        notional: row.get()?,
        summary: row.get()?,
        execution_deviation: document(row)?,
        hypothesis_check: document(row)?,
        error_tags: document(row)?,
        value_assessment: word(row)?,
        next_rules: document(row)?,
        thesis: row.get()?,
        source: word(row)?,
        note: row.get()?,
        known_at: row.get()?,
    })
}

pub(crate) fn read_given(row: &mut Row) -> Result<RecalledMemoryRow, StoreError> {
    Ok(RecalledMemoryRow { kind: word(row)?, memory_id: row.get()?, job: row.get()?, known_at: row.get()? })
}

fn word<T: std::str::FromStr<Err = String>>(row: &mut Row) -> Result<T, StoreError> {
    row.get::<String>()?.parse().map_err(|error: String| StoreError::inconsistent(error))
}

fn document<T: DeserializeOwned>(row: &mut Row) -> Result<T, StoreError> {
    serde_json::from_value(row.get()?).map_err(|error| StoreError::inconsistent(error.to_string()))
}

fn direction(row: &mut Row) -> Result<Direction, StoreError> {
    match row.get::<String>()?.as_str() {
        "long" => Ok(Direction::Long),
        "short" => Ok(Direction::Short),
        other => Err(StoreError::inconsistent(format!("`{other}` is not a side"))),
    }
}
