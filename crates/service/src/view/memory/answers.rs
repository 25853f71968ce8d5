//! The shapes of what is answered about the memory.

use papertape_core::ledger::Direction;
use papertape_core::record::{AssetNote, Deviation, OpenPositionContextRow, ReflectionRow, RoundMemoryRow};
use papertape_protocol::memory::{
    AssetResponse, ClaimResponse, DeviationResponse, OpenPositionResponse, ReflectionResponse, RoundResponse,
};
use papertape_protocol::number::number;
use papertape_store::StoredRound;

pub(super) fn round(item: StoredRound<RoundMemoryRow>) -> RoundResponse {
    let row = item.row;
    RoundResponse {
        memory_type: "trader_round".to_owned(),
        job_id: item.job.to_string(),
        model: item.agent.to_string(),
        session_id: item.session.0,
        round_id: row.round_id,
        situation: row.situation,
        summary: row.summary,
        source: row.source.as_str().to_owned(),
        note: row.note,
        assets: row.assets.into_iter().map(asset).collect(),
        is_open_entry: row.is_open_entry,
        degraded: row.degraded,
        known_at: row.known_at,
        created_at: item.created_at,
    }
}

fn asset(note: AssetNote) -> AssetResponse {
    AssetResponse {
        symbol: note.symbol.to_string(),
        decision: note.decision.as_str().to_owned(),
        entry_price: note.entry_price.map(|price| number(price.0)),
        stop_loss: note.stop_loss.map(|price| number(price.0)),
        take_profit: note.take_profit.map(|price| number(price.0)),
        leverage: note.leverage.map(number),
        position_id: note.position_id,
    }
}

pub(super) fn open(item: StoredRound<OpenPositionContextRow>) -> OpenPositionResponse {
    let row = item.row;
    OpenPositionResponse {
        memory_type: "open_position_context".to_owned(),
        job_id: item.job.to_string(),
        model: item.agent.to_string(),
        session_id: item.session.0,
        position_id: row.position_id,
        symbol: row.symbol.to_string(),
        side: side(row.side).to_owned(),
        round_id: row.round_id,
        summary: row.summary,
        opened_at: row.opened_at,
        entry_price: number(row.entry_price.0),
        quantity: number(row.quantity.0),
        stop_loss: row.stop_loss.map(|price| number(price.0)),
        take_profit: row.take_profit.map(|price| number(price.0)),
        leverage: number(row.leverage),
        split_ratio: number(row.split_ratio),
        known_at: row.known_at,
    }
}

pub(super) fn reflection(item: StoredRound<ReflectionRow>) -> ReflectionResponse {
    let row = item.row;
    ReflectionResponse {
        memory_type: "trade".to_owned(),
        job_id: item.job.to_string(),
        model: item.agent.to_string(),
        session_id: item.session.0,
        trade_id: row.trade_id,
        position_id: row.position_id,
        part: row.part,
        position_closed: row.position_closed,
        cause: row.cause,
        symbol: row.symbol.to_string(),
        side: side(row.side).to_owned(),
        entry_time: row.entry_time,
        exit_time: row.exit_time,
        holding_days: row.holding_days,
        quantity: number(row.quantity.0),
        entry_price: number(row.entry_price.0),
        exit_price: number(row.exit_price.0),
        pnl: number(row.pnl.0),
        return_pct: row.return_pct.map(number),
        leverage: number(row.leverage),
        notional: number(row.notional.0),
        summary: row.summary,
        execution_deviation: deviation(row.execution_deviation),
        hypothesis_check: row
            .hypothesis_check
            .into_iter()
            .map(|check| ClaimResponse { claim: check.claim, result: check.result.as_str().to_owned() })
            .collect(),
        error_tags: row.error_tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
        value_assessment: row.value_assessment.as_str().to_owned(),
        next_rules: row.next_rules,
        thesis: row.thesis,
        source: row.source.as_str().to_owned(),
        note: row.note,
        known_at: row.known_at,
    }
}

fn deviation(row: Deviation) -> DeviationResponse {
    DeviationResponse {
        planned_entry: row.planned_entry.map(|price| number(price.0)),
        actual_entry: row.actual_entry.map(|price| number(price.0)),
        planned_size: row.planned_size.map(|size| number(size.0)),
        actual_size: row.actual_size.map(|size| number(size.0)),
        planned_stop: row.planned_stop.map(|price| number(price.0)),
        actual_stop: row.actual_stop.map(|price| number(price.0)),
        planned_exit: row.planned_exit.map(|price| number(price.0)),
        actual_exit: row.actual_exit.map(|price| number(price.0)),
        comment: row.comment,
    }
}

fn side(side: Direction) -> &'static str {
    match side {
        Direction::Long => "long",
        Direction::Short => "short",
    }
}
