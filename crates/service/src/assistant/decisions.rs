//! What sessions decided on their days and why: fills, theses of open positions, reflections on closed ones.

use super::toolbox::{JobToolbox, service_failure};
use crate::view;
use jiff::tz::TimeZone;
use papertape_core::id::JobId;
use papertape_core::message::CallFailure;
use papertape_core::time::{Date, Timestamp};
use papertape_protocol::memory::{MemoryQuery, TradesQuery};
use papertape_protocol::reasoning::{PositionResponse, ReasoningResponse, SessionResponse};
use serde_json::{Value, json};

/// The maximum number of theses and reflections per day.
const MAX_ITEMS: usize = 10;
/// How many memories are read to find them.
const MAX_READ: u32 = 200;

/// Traders' theses and reflections.
pub(super) struct MemoriesOfDays {
    pub(super) theses: Vec<Value>,
    pub(super) reflections: Vec<Value>,
}

/// Per session: the day, the trader, the fills, and the session's summary or its final text.
pub(super) fn days(found: &ReasoningResponse) -> Vec<Value> {
    let fill = |row: &PositionResponse| {
        let (symbol, price) = (row.symbol.as_deref()?, row.price?);
        let is_trade = matches!(
            row.action_type.as_str(),
            "buy" | "sell" | "short" | "cover" | "stop" | "target" | "liquidation"
        );
        is_trade.then(|| format!("{} {} {symbol} @ {price}", row.action_type, row.amount))
    };
    let day = |session: &SessionResponse| {
        let last = session.conversation.iter().flatten().rev().find(|message| {
            message.role == papertape_core::message::Role::Assistant && !message.content.trim().is_empty()
        });
        let text = session.session_summary.as_deref().or(last.map(|message| message.content.as_str()));
        json!({ "date": session.date, "model": session.model, "status": session.status,
            "decisions": session.positions.iter().filter_map(fill).collect::<Vec<_>>(), "said": text })
    };
    found.sessions.iter().map(day).collect()
}

/// The day of an instant, by the rule that the database uses for memories.
fn day(instant: Timestamp) -> Date {
    instant.to_zoned(TimeZone::UTC).date()
}

impl JobToolbox {
    /// The theses and reflections on the positions held on the days of these sessions.
    pub(super) async fn memories(
        &self,
        job: &JobId,
        found: &ReasoningResponse,
    ) -> Result<MemoriesOfDays, CallFailure> {
        let (mut theses, mut reflections) = (Vec::new(), Vec::new());
        for session in &found.sessions {
            let query = MemoryQuery {
                model: Some(session.model.clone()),
                job_id: Some(job.to_string()),
                limit: Some(MAX_READ),
                cursor: None,
            };
            let open = view::memory_open(&self.0, query.clone()).await.map_err(service_failure)?;
            for held in open.open_positions.iter().filter(|held| day(held.opened_at) <= session.date) {
                theses.push(json!({ "symbol": held.symbol, "side": held.side, "date": day(held.opened_at),
                    "text": held.summary }));
            }
            let trades = TradesQuery {
                model: query.model,
                job_id: query.job_id,
                from: Some(session.date),
                limit: query.limit,
                ..TradesQuery::default()
            };
            let closed = view::memory_trades(&self.0, trades).await.map_err(service_failure)?;
            for trade in closed.trades.iter().rev().filter(|trade| day(trade.entry_time) <= session.date) {
                let (symbol, side) = (&trade.symbol, &trade.side);
                theses.extend(trade.thesis.as_ref().map(|thesis| {
                    json!({ "symbol": symbol, "side": side, "date": day(trade.entry_time), "text": thesis })
                }));
                reflections.push(json!({ "symbol": symbol, "side": side, "date": day(trade.exit_time),
                    "pnl": trade.pnl, "text": trade.summary, "rules": trade.next_rules }));
            }
        }
        // A position that was closed in several fills has one thesis.
        theses.dedup();
        theses.truncate(MAX_ITEMS);
        reflections.truncate(MAX_ITEMS);
        Ok(MemoriesOfDays { theses, reflections })
    }
}
