//! Rows of the trader's memory, read back in the form from which they were made.

use crate::value::from_row;
use papertape_core::record::{OpenPositionContextRow, RecalledMemoryRow, ReflectionRow, RoundMemoryRow};

/// The text under which search finds a reflection.
pub(crate) fn search_text(row: &ReflectionRow) -> String {
    let mut text = vec![row.symbol.to_string(), row.side.to_string(), row.cause.clone()];
    text.extend(row.error_tags.iter().map(ToString::to_string));
    text.push(row.summary.clone());
    text.push(row.execution_deviation.comment.clone());
    text.extend(row.hypothesis_check.iter().map(|check| check.claim.clone()));
    text.extend(row.next_rules.iter().cloned());
    text.extend(row.thesis.clone());
    text.join("\n")
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

from_row! { impl row => RoundMemoryRow {
    round_id, situation, summary, source, note, assets: row.document()?, is_open_entry, degraded, known_at,
    prunes_through,
} }

from_row! { impl row => OpenPositionContextRow {
    position_id, symbol, side, state, round_id, summary, opened_at, entry_price, quantity, stop_loss, take_profit,
    leverage, split_ratio, known_at,
} }

from_row! { impl row => ReflectionRow {
    trade_id, position_id, part, position_closed, cause, symbol, side, entry_time, exit_time, holding_days,
    quantity, entry_price, exit_price, pnl, return_pct, leverage, notional, summary,
    execution_deviation: row.document()?, hypothesis_check: row.document()?, error_tags: row.document()?,
    value_assessment, next_rules: row.document()?, thesis, source, note, known_at,
} }

from_row! { impl row => RecalledMemoryRow { kind, memory_id, job, known_at } }
