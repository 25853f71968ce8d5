//! The rows of one job, session by session.

use super::Tables;
use super::metrics;
use super::schema::{DATA_READ, FILLS, MESSAGES, ORDERS, POSITIONS, SESSIONS, SNAPSHOTS, STEPS, USAGE};
use super::writer::{Cell, row};
use crate::app::App;
use crate::error::ServiceError;
use crate::view;
use papertape_core::id::{AgentName, JobId};
use papertape_core::ledger::Insolvency;
use papertape_core::message::FinishReason;
use papertape_core::point_in_time::Unverified;
use papertape_core::provenance::{DayQuality, SampleQuality, extract};
use papertape_core::record::SessionId;
use papertape_core::review::SessionReview;
use papertape_core::tape::StepState;
use papertape_core::time::Date;
use papertape_runtime::config::SimulationConfig;
use papertape_store::{
    DayRow, JobDetails, Page, PageRequest, Placed, ResultFilter, SessionRecord, SessionResult, UsageCost,
};
use rust_decimal::Decimal;
use serde_json::Value;
use std::iter::Peekable;

/// Sessions in memory at a time.
const SESSION_PAGE: u32 = 50;
/// Messages in memory at a time.
const MESSAGE_PAGE: u32 = 50;
/// Steps and data reads in memory at a time.
const ROW_PAGE: u32 = 1000;

/// A job, as far as every row of its sessions needs it.
struct ExportedJob {
    details: JobDetails,
    config: Option<SimulationConfig>,
}

/// The identifying columns of a session's rows.
type SessionKey<'a> = (&'a JobId, Date, &'a AgentName, SessionId);

/// Writes the rows of a job. A job that was deleted in the meantime has none.
pub(super) async fn export(app: &App, tables: &mut Tables, id: &JobId) -> Result<(), ServiceError> {
    let Some(details) = app.store.job_details(id).await? else { return Ok(()) };
    let config = serde_json::from_value(details.job.config.clone()).ok();
    let job = ExportedJob { details, config };
    let mut planned = job.details.days.iter().peekable();
    let filter = ResultFilter { job: Some(id.clone()), ..ResultFilter::default() };
    let mut request = PageRequest::first(SESSION_PAGE);
    loop {
        let Page { items, next } = app.store.results(&filter, &request).await?;
        let ids: Vec<SessionId> = items.iter().map(|session| session.id).collect();
        let mut records = app.store.session_records(&ids).await?;
        let mut reviews = app.store.reviews(&ids).await?;
        for session in items {
            without_session(tables, &job, &mut planned, Some((session.date, &session.agent)))?;
            // It was deleted between the two queries.
            let Some(record) = records.remove(&session.id) else { continue };
            let review = reviews.remove(&session.id).unwrap_or_default();
            export_session(app, tables, &job, (&session, &record, &review)).await?;
        }
        match next {
            Some(cursor) => request = PageRequest::after(SESSION_PAGE, &cursor),
            None => break,
        }
    }
    without_session(tables, &job, &mut planned, None)?;
    metrics::export(app, tables, id).await
}

/// Writes the planned days before a session that have none themselves: queued and skipped ones.
fn without_session<'a>(
    tables: &mut Tables,
    job: &ExportedJob,
    planned: &mut Peekable<impl Iterator<Item = &'a DayRow>>,
    until: Option<(Date, &AgentName)>,
) -> anyhow::Result<()> {
    while let Some(day) = planned.next_if(|day| until.is_none_or(|until| (day.date, &day.agent) <= until)) {
        if until != Some((day.date, &day.agent)) {
            tables.push(SESSIONS, planned_row(job, day))?;
        }
    }
    Ok(())
}

fn planned_row(job: &ExportedJob, day: &DayRow) -> Vec<Cell> {
    let head = head(job, day.date, &day.agent, None);
    let skipped = day.skipped.as_ref();
    let status = row![
        day.status.as_str(),
        day.error.as_ref(),
        skipped.map(|skipped| skipped.job.to_string()),
        skipped.map(|skipped| skipped.session.0),
        superseded(job, &day.agent),
    ];
    // Everything that only a session has.
    let rest = super::TABLES[SESSIONS].columns.len() - head.len() - status.len();
    let mut cells: Vec<Cell> =
        head.into_iter().chain(status).chain(std::iter::repeat_n(Cell::Null, rest)).collect();
    fill_in_config(job, &day.agent, &mut cells);
    cells
}

fn head(job: &ExportedJob, date: Date, agent: &AgentName, session: Option<SessionId>) -> Vec<Cell> {
    let row = &job.details.job;
    row![
        row.id.as_str(),
        date,
        agent.as_str(),
        session.map(|session| session.0),
        row.kind.as_str(),
        row.status.as_str(),
    ]
}

fn superseded(job: &ExportedJob, agent: &AgentName) -> Option<String> {
    job.details.superseded.get(agent).map(ToString::to_string)
}

/// What the job's configuration says about a day, where no session does.
fn fill_in_config(job: &ExportedJob, agent: &AgentName, cells: &mut [Cell]) {
    let Some(config) = &job.config else { return };
    let found = config.agents.iter().find(|other| other.name == *agent);
    let known = [
        ("agent_kind", found.map(|agent| agent.kind.as_str().to_owned()).into()),
        ("model", found.map(|agent| agent.model.to_string()).into()),
        ("is_llm", view::is_llm(config, agent).into()),
        ("dataset_hash", Cell::from(config.dataset.hash.to_hex())),
    ];
    for (name, cell) in known {
        let at = super::TABLES[SESSIONS].columns.iter().position(|column| column.name == name);
        if let Some(empty) = at.map(|at| &mut cells[at]).filter(|cell| **cell == Cell::Null) {
            *empty = cell;
        }
    }
}

async fn export_session(
    app: &App,
    tables: &mut Tables,
    job: &ExportedJob,
    (session, record, review): (&SessionResult, &SessionRecord, &SessionReview),
) -> Result<(), ServiceError> {
    let key: SessionKey<'_> = (&session.job, session.date, &session.agent, session.id);
    tables.push(SESSIONS, session_row(job, session, (record, review)))?;
    messages(app, tables, key).await?;
    steps(app, tables, key).await?;
    let placed = app.store.placed(session.id).await?;
    orders(tables, key, session, &placed)?;
    positions(tables, key, session, &placed)?;
    fills(app, tables, job, (key, session, &placed)).await?;
    for open in &session.snapshots {
        let cells = row![
            open.symbol.as_str(),
            open.position_id.as_str(),
            open.quantity,
            open.avg_price,
            open.close,
            open.unrealised_pnl,
            open.stop,
            open.leverage,
        ];
        tables.push(SNAPSHOTS, with_key(key, cells))?;
    }
    data_read(app, tables, key).await?;
    for (scope, used) in [("session", &record.used), ("summaries", &record.used_by_summaries)] {
        let UsageCost { usage, cost_usd, estimated_calls, unpriced_calls } = used;
        let cells = row![
            scope,
            usage.input_tokens,
            usage.cached_tokens,
            usage.output_tokens,
            *cost_usd,
            *unpriced_calls,
            *estimated_calls,
        ];
        tables.push(USAGE, with_key(key, cells))?;
    }
    Ok(())
}

fn with_key((job, date, agent, session): SessionKey<'_>, rest: Vec<Cell>) -> Vec<Cell> {
    let mut cells = row![job.as_str(), date, agent.as_str(), session.0];
    cells.extend(rest);
    cells
}

fn session_row(
    job: &ExportedJob,
    session: &SessionResult,
    (record, review): (&SessionRecord, &SessionReview),
) -> Vec<Cell> {
    let metadata = session.metadata.as_ref();
    let text = |name: &str| metadata.and_then(|metadata| metadata.get(name)?.as_str());
    let books = |name: &str| -> Option<Decimal> { metadata?.get("books")?.get(name)?.as_str()?.parse().ok() };
    let quality = DayQuality::of(session.status, session.error.as_deref(), metadata);
    let is_full = metadata.map(|metadata| extract(metadata).sample_quality() == SampleQuality::FullResearch);
    let point_in_time = text("point_in_time");
    let mark = metadata
        .filter(|_| point_in_time == Some("unverified"))
        .map(|metadata| Unverified::from_session(metadata, session.date));
    let origin = mark.as_ref().map(|mark| mark.job.as_ref().unwrap_or(&session.job).to_string());
    let insolvent: Option<Insolvency> = metadata
        .and_then(|metadata| metadata.get("books")?.get("insolvent"))
        .and_then(|found| serde_json::from_value(found.clone()).ok());
    let starting = session.starting.as_ref();
    let mut cells = head(job, session.date, &session.agent, Some(session.id));
    cells.extend(row![
        session.status.as_str(),
        session.error.as_ref(),
        Cell::Null,
        Cell::Null,
        superseded(job, &session.agent),
        quality.as_ref().map(|quality| quality.state.as_str()),
        quality.as_ref().and_then(|quality| quality.reason.as_ref()),
        is_full,
        point_in_time,
        mark.as_ref().map(|mark| mark.kind.as_str()),
        origin,
        mark.as_ref().map(|mark| mark.date),
        insolvent.map(|insolvent| insolvent.since),
        text("agent_kind"),
        text("model"),
        metadata.and_then(|metadata| metadata.get("is_llm")?.as_bool()),
        Cell::Null,
        starting.map(|starting| starting.cash),
        starting.map(|starting| starting.portfolio_value),
        session.cash,
        session.portfolio_value,
        books("daily_profit"),
        books("daily_return_pct"),
        record.total_messages,
        session.session_summary.as_ref(),
        record.summary_error.as_ref(),
        metadata,
        record.started_at,
        record.completed_at,
        review.score.map(i64::from),
        review.note.as_ref(),
        review.updated_at,
        review.updated_by.as_ref(),
    ]);
    fill_in_config(job, &session.agent, &mut cells);
    cells
}

async fn messages(app: &App, tables: &mut Tables, key: SessionKey<'_>) -> Result<(), ServiceError> {
    let mut request = PageRequest::first(MESSAGE_PAGE);
    while let Some(found) = app.store.conversation(key.3, None, 0, &request).await? {
        for message in found.messages.items {
            let cells = row![
                message.message_index,
                message.role.as_str(),
                message.node,
                message.path.to_string(),
                message.content,
                message.tool_name,
                message.tool_input.as_ref(),
                message.summary,
                message.summary_error,
                message.timestamp,
            ];
            tables.push(MESSAGES, with_key(key, cells))?;
        }
        let Some(cursor) = found.messages.next else { break };
        request = PageRequest::after(MESSAGE_PAGE, &cursor);
    }
    Ok(())
}

async fn steps(app: &App, tables: &mut Tables, key: SessionKey<'_>) -> Result<(), ServiceError> {
    let mut request = PageRequest::first(ROW_PAGE);
    loop {
        let Page { items, next } = app.store.steps(key.3, &request).await?;
        let calls = view::ModelCalls::read(app, &items).await?;
        for step in items {
            let (state, outcome) = match step.state {
                StepState::Intent => ("intent", None),
                StepState::Done(kind) => ("done", Some(kind.as_str())),
                StepState::Abandoned => ("abandoned", None),
            };
            let (model, finish_reason) =
                (calls.model(&step).map(ToString::to_string), calls.finish_reason(&step));
            let cells = row![
                step.path.to_string(),
                step.path.kind(),
                step.class.as_str(),
                step.detached,
                step.seq,
                state,
                outcome,
                step.digest.to_hex(),
                step.request_ref.map(|hash| hash.to_hex()),
                step.outcome_ref.map(|hash| hash.to_hex()),
                step.reused_from,
                step.attempts,
                step.interrupted,
                step.usage.input_tokens,
                step.usage.cached_tokens,
                step.usage.output_tokens,
                step.estimated_calls,
                step.cost_usd,
                step.hash.map(|hash| hash.to_hex()),
                step.started_at,
                step.ended_at,
                model,
                finish_reason.map(FinishReason::as_str),
            ];
            tables.push(STEPS, with_key(key, cells))?;
        }
        match next {
            Some(cursor) => request = PageRequest::after(ROW_PAGE, &cursor),
            None => return Ok(()),
        }
    }
}

fn orders(
    tables: &mut Tables,
    key: SessionKey<'_>,
    session: &SessionResult,
    placed: &Placed,
) -> anyhow::Result<()> {
    for (at, order) in session.orders.iter().enumerate() {
        let place = placed.orders.get(&order.order_id);
        let cells = row![
            at + 1,
            order.order_id.as_str(),
            order.symbol.as_str(),
            order.side.as_str(),
            order.quantity,
            order.status.as_str(),
            order.code.as_ref(),
            order.message.as_ref(),
            order.numbers.as_ref(),
            order.price,
            order.fee,
            order.slippage,
            order.realized_pnl,
            order.stop,
            order.target,
            order.leverage,
            place.map(|place| place.session.0),
            place.map(|place| place.date),
            place.map(|place| place.path.to_string()),
        ];
        tables.push(ORDERS, with_key(key, cells))?;
    }
    Ok(())
}

fn positions(
    tables: &mut Tables,
    key: SessionKey<'_>,
    session: &SessionResult,
    placed: &Placed,
) -> anyhow::Result<()> {
    for action in &session.positions {
        let terms = &action.terms;
        let cells = row![
            action.action_id,
            action.action_type.as_str(),
            action.symbol.as_ref().map(|symbol| symbol.as_str().to_owned()),
            action.amount,
            action.price,
            action.cash,
            action.portfolio_value,
            action.daily_profit,
            action.daily_return_pct,
            terms.order_id.as_ref(),
            terms.fee,
            terms.slippage,
            terms.realized_pnl,
            terms.leverage,
            terms.stop,
            terms.target,
            terms.ratio,
            terms.nights,
            placed.actions.get(&action.action_id).map(ToString::to_string),
        ];
        tables.push(POSITIONS, with_key(key, cells))?;
    }
    Ok(())
}

async fn fills(
    app: &App,
    tables: &mut Tables,
    job: &ExportedJob,
    (key, session, placed): (SessionKey<'_>, &SessionResult, &Placed),
) -> Result<(), ServiceError> {
    let market = job.config.as_ref().filter(|config| config.imported.is_none()).map(|config| &config.market);
    for trade in view::session_trades(app, market, session, placed).await? {
        let parts = serde_json::to_value(&trade.fee_parts).unwrap_or(Value::Array(Vec::new()));
        let order = trade.order.as_ref();
        let cells = row![
            trade.action_id,
            trade.action_type,
            trade.symbol,
            trade.quantity,
            trade.price,
            trade.fee,
            &parts,
            trade.slippage,
            trade.realized_pnl,
            trade.leverage,
            trade.stop,
            trade.target,
            trade.order_id,
            order.map(|order| order.session_id),
            order.map(|order| order.date),
            order.map(|order| order.path.clone()),
            trade.path,
            trade.cash_after,
            trade.portfolio_value,
        ];
        tables.push(FILLS, with_key(key, cells))?;
    }
    Ok(())
}

async fn data_read(app: &App, tables: &mut Tables, key: SessionKey<'_>) -> Result<(), ServiceError> {
    let mut request = PageRequest::first(ROW_PAGE);
    loop {
        let Page { items, next } = app.store.exposures(key.3, &request).await?;
        for read in items {
            let data = read.shown;
            let cells = row![
                read.path.to_string(),
                data.dataset.to_hex(),
                data.series,
                data.first,
                data.last,
                data.rows,
                data.latest_known_at,
            ];
            tables.push(DATA_READ, with_key(key, cells))?;
        }
        match next {
            Some(cursor) => request = PageRequest::after(ROW_PAGE, &cursor),
            None => return Ok(()),
        }
    }
}
