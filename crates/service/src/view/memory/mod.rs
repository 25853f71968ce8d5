//! What traders remember, and what of it a session was given.

use super::{job_id, page, plain};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use crate::view::sessions::find_session;
use jiff::tz::TimeZone;
use papertape_core::id::{AgentName, Symbol};
use papertape_core::time::{Date, Timestamp};
use papertape_protocol::memory::{
    ArchiveResponse, ArchivesResponse, MemoryQuery, OpenPositionResponse, OpenPositionsResponse,
    RecalledBlock, RecalledItem, ReflectionResponse, RoundResponse, RoundsResponse, SearchBy,
    SessionMemoryResponse, TradesQuery, TradesResponse,
};
use papertape_store::{ArchiveRow, MemoryFilter, TradeFilter};
use search::Ranked;

mod answers;
mod compact;
mod search;

pub use compact::memory_compact;
pub use search::{by_words, memory_reembed};

/// Round memories.
///
/// # Errors
/// A limit out of range, a bad cursor; a database error.
pub async fn memory_rounds(app: &App, query: MemoryQuery) -> Result<RoundsResponse, ServiceError> {
    let filter = filter(query.model.as_ref(), query.job_id.as_deref())?;
    let page = app.store.memory_rounds(&filter, &page(query.limit, query.cursor)?).await?;
    let rounds: Vec<RoundResponse> = page.items.into_iter().map(answers::round).collect();
    Ok(RoundsResponse { count: rounds.len(), rounds, next_cursor: page.next, deployment: deployment(app) })
}

/// Contexts of open positions.
///
/// # Errors
/// As [`memory_rounds`].
pub async fn memory_open(app: &App, query: MemoryQuery) -> Result<OpenPositionsResponse, ServiceError> {
    let filter = filter(query.model.as_ref(), query.job_id.as_deref())?;
    let page = app.store.memory_open(&filter, &page(query.limit, query.cursor)?).await?;
    let open_positions: Vec<OpenPositionResponse> = page.items.into_iter().map(answers::open).collect();
    Ok(OpenPositionsResponse {
        count: open_positions.len(),
        open_positions,
        next_cursor: page.next,
        deployment: deployment(app),
    })
}

/// Reflections on closed trades.
///
/// # Errors
/// As [`memory_rounds`]; a range that ends before it begins.
pub async fn memory_trades(app: &App, query: TradesQuery) -> Result<TradesResponse, ServiceError> {
    if let (Some(from), Some(to)) = (query.from, query.to)
        && to < from
    {
        return Err(ServiceError::invalid("to", format!("{to} is before {from}")));
    }
    let begins = |field: &'static str, day: Date| {
        let zoned =
            day.to_zoned(TimeZone::UTC).map_err(|error| ServiceError::invalid(field, error.to_string()))?;
        Ok::<Timestamp, ServiceError>(zoned.timestamp())
    };
    let from = query.from.map(|day| begins("from", day)).transpose()?;
    let after = query.to.map(|day| day.tomorrow().map_err(|e| ServiceError::invalid("to", e.to_string())));
    let before = after.transpose()?.map(|day| begins("to", day)).transpose()?;
    let filter = TradeFilter {
        of: filter(query.model.as_ref(), query.job_id.as_deref())?,
        query: plain("query", query.query.as_ref())?.map(str::to_owned),
        symbol: plain("symbol", query.symbol.as_ref())?.map(Symbol::new),
        side: query.side,
        tag: query.tag,
        min_pnl: query.min_pnl,
        max_pnl: query.max_pnl,
        from,
        before,
        known_by: None,
    };
    let question = filter.query.as_deref().filter(|question| !question.trim().is_empty());
    let ranked = search::model_for(app, query.search, question.is_some())?;
    let mut search_note = None;
    if let (Some(way), Some(question)) = (ranked, question) {
        if query.cursor.is_some() {
            return Err(ServiceError::invalid(
                "cursor",
                "a ranked result has only one page; to page, search by keyword",
            ));
        }
        match search::ranked(app, &filter, question, way, query.limit).await? {
            Ranked::Answer(answer) => return Ok(*answer),
            Ranked::Failed(why) => search_note = Some(format!("keyword search only: {why}")),
        }
    }
    let page = app.store.memory_trades(&filter, &page(query.limit, query.cursor)?).await?;
    let trades: Vec<ReflectionResponse> = page.items.into_iter().map(answers::reflection).collect();
    Ok(TradesResponse {
        count: trades.len(),
        trades,
        search: SearchBy::Keyword,
        search_note,
        embedding_model: None,
        without_vector: None,
        next_cursor: page.next,
        deployment: deployment(app),
    })
}

/// The exact memory that a session's trader recalled.
///
/// # Errors
/// No such session; a database error.
pub async fn session_memory(app: &App, session_id: i64) -> Result<SessionMemoryResponse, ServiceError> {
    let session = find_session(app, session_id).await?;
    let given = app.store.session_memory(session).await?.into_iter().map(|given| RecalledBlock {
        path: given.path.to_string(),
        text: given.text,
        items: given
            .items
            .into_iter()
            .map(|(row, text)| RecalledItem {
                memory_type: row.kind.as_str().to_owned(),
                memory_id: row.memory_id,
                job_id: row.job.map(|job| job.to_string()),
                known_at: row.known_at,
                text,
            })
            .collect(),
    });
    Ok(SessionMemoryResponse { session_id, recalled: given.collect(), deployment: deployment(app) })
}

/// Compacted reflections.
///
/// # Errors
/// As [`memory_rounds`].
pub async fn memory_archives(app: &App, query: MemoryQuery) -> Result<ArchivesResponse, ServiceError> {
    let filter = filter(query.model.as_ref(), query.job_id.as_deref())?;
    let page = app.store.memory_archives(&filter, &page(query.limit, query.cursor)?).await?;
    Ok(archives(app, page.items, page.next))
}

fn archives(app: &App, rows: Vec<ArchiveRow>, next_cursor: Option<String>) -> ArchivesResponse {
    let archives: Vec<ArchiveResponse> = rows
        .into_iter()
        .map(|row| ArchiveResponse {
            job_id: row.job.to_string(),
            model: row.agent.to_string(),
            length: row.length,
            period: row.period,
            symbol: row.symbol.to_string(),
            body: row.body,
        })
        .collect();
    ArchivesResponse { count: archives.len(), archives, next_cursor, deployment: deployment(app) }
}

fn filter(model: Option<&String>, job: Option<&str>) -> Result<MemoryFilter, ServiceError> {
    Ok(MemoryFilter { job: job.map(job_id).transpose()?, agent: plain("model", model)?.map(AgentName::new) })
}
