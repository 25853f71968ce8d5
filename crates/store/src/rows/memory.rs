//! Rows of the trader's memory, read back in the form from which they were made.

use crate::error::StoreError;
use crate::value::{Row, from_row};
use papertape_core::ledger::Direction;
use papertape_core::record::{OpenPositionContextRow, RecalledMemoryRow, ReflectionRow, RoundMemoryRow};
use serde::de::DeserializeOwned;

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
    Ok(from_row!(row => RoundMemoryRow {
        round_id, situation, summary, source: word(row)?, note, assets: document(row)?, is_open_entry,
        degraded, known_at, prunes_through,
    }))
}

pub(crate) fn read_context(row: &mut Row) -> Result<OpenPositionContextRow, StoreError> {
    Ok(from_row!(row => OpenPositionContextRow {
        position_id, symbol, side: direction(row)?, state: word(row)?, round_id, summary, opened_at,
        entry_price, quantity, stop_loss, take_profit, leverage, split_ratio, known_at,
    }))
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
