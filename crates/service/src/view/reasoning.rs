//! Sessions with their actions and transcripts: `GET /reasoning`.

use super::fills::is_fill;
use super::{Configs, masked, page, plain};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use crate::view::quality::books;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::message::Role;
use papertape_core::provenance::DayQuality;
use papertape_core::record::{PositionRow, SessionId};
use papertape_core::review::SessionReview;
use papertape_protocol::number::number;
use papertape_protocol::quality::DayQualityResponse;
use papertape_protocol::reasoning::{
    InstructionsResponse, MessageResponse, PositionResponse, ReasoningQuery, ReasoningResponse,
    SessionResponse,
};
use papertape_runtime::config::SimulationConfig;
use papertape_store::{Instructions, MessageView, OrderCounts, SessionFilter, SessionView};

/// Sessions with their actions, summaries and, if requested, transcripts.
///
/// # Errors
/// An invalid field; no session that matches (later pages may be empty); a database
/// error.
pub async fn reasoning(app: &App, query: ReasoningQuery) -> Result<ReasoningResponse, ServiceError> {
    let mut configs = Configs::default();
    let symbol = plain("symbol", query.symbol.as_ref())?.map(Symbol::from);
    let of_job = match plain("job_id", query.job_id.as_ref())? {
        Some(job) => configs.of(app, &JobId::from(job)).await?.cloned(),
        None => None,
    };
    let filter = SessionFilter {
        job: plain("job_id", query.job_id.as_ref())?.map(JobId::from),
        date: query.date.map(|date| masked::own_date(of_job.as_ref(), date)),
        agent: plain("model", query.model.as_ref())?.map(AgentName::from),
        symbol: symbol.map(|real| match &of_job {
            Some(config) => masked::own_symbol(app, config, &real),
            None => real,
        }),
        node: plain("node", query.node.as_ref())?.map(str::to_owned),
        q: query.q,
    };
    let page = page(query.limit, query.cursor)?;
    let found = app.store.sessions(&filter, query.include_full_conversation, &page).await?;
    if found.items.is_empty() && page.cursor.is_none() {
        return Err(ServiceError::NotFound("no session matches".to_owned()));
    }
    let ids: Vec<SessionId> = found.items.iter().map(|view| view.id).collect();
    let orders = app.store.order_counts(&ids).await?;
    let mut reviews = app.store.reviews(&ids).await?;
    let mut sessions = Vec::with_capacity(found.items.len());
    for view in found.items {
        let is_llm = configs.is_llm(app, &view.job, &view.agent).await?;
        let (orders, review) = (orders.get(&view.id), reviews.remove(&view.id).unwrap_or_default());
        let config = configs.of(app, &view.job).await?;
        sessions.push(real(config, session(view, is_llm, (orders, review)))?);
    }
    Ok(ReasoningResponse {
        count: sessions.len(),
        sessions,
        next_cursor: found.next,
        deployment: deployment(app),
    })
}

/// The session of a masked job under real names and dates. What the agent read and wrote stays as it is.
fn real(
    config: Option<&SimulationConfig>,
    mut session: SessionResponse,
) -> Result<SessionResponse, ServiceError> {
    let Some(masking) = config.and_then(SimulationConfig::translation) else { return Ok(session) };
    let texts = (session.session_summary.take(), session.instructions.take(), session.conversation.take());
    let review = std::mem::take(&mut session.review);
    let session = masked::real(masking, session)?;
    Ok(SessionResponse {
        session_summary: texts.0,
        instructions: texts.1,
        conversation: texts.2,
        review,
        masked: config.and_then(masked::mark),
        ..session
    })
}

fn session(
    view: SessionView,
    is_llm: Option<bool>,
    (orders, review): (Option<&OrderCounts>, SessionReview),
) -> SessionResponse {
    let instructions = view.instructions.into_iter().map(instruction).collect();
    let quality = DayQuality::of(view.status, view.error.as_deref(), view.metadata.as_ref());
    let fills = view.positions.iter().filter(|row| is_fill(&row.action_type)).count();
    SessionResponse {
        quality: quality.map(DayQualityResponse::from),
        books: books(orders, fills),
        session_id: view.id.0,
        job_id: view.job.to_string(),
        date: view.date,
        model: view.agent.to_string(),
        is_llm,
        status: view.status,
        error: view.error,
        session_summary: view.session_summary,
        summary_error: view.summary_error,
        started_at: view.started_at,
        completed_at: view.completed_at,
        total_messages: view.total_messages,
        review: review.into(),
        positions: view.positions.iter().map(position).collect(),
        instructions: view.conversation.is_some().then_some(instructions),
        conversation: view.conversation.map(|said| said.into_iter().map(message).collect()),
        masked: None,
    }
}

fn position(row: &PositionRow) -> PositionResponse {
    PositionResponse {
        action_id: row.action_id,
        action_type: row.action_type.clone(),
        symbol: row.symbol.as_ref().map(ToString::to_string),
        amount: number(row.amount.0),
        price: row.price.map(|price| number(price.0)),
        cash_after: number(row.cash.0),
        portfolio_value: number(row.portfolio_value.0),
    }
}

pub(super) fn instruction(view: Instructions) -> InstructionsResponse {
    InstructionsResponse { node: view.node, content: view.text }
}

pub(super) fn message(view: MessageView) -> MessageResponse {
    MessageResponse {
        message_index: view.message_index,
        role: view.role,
        content: view.content,
        summary: (view.role == Role::Assistant).then_some(view.summary),
        summary_error: view.summary_error,
        tool_name: view.tool_name,
        tool_input: view.tool_input,
        timestamp: view.timestamp,
        path: view.path.to_string(),
        node: view.node,
    }
}
