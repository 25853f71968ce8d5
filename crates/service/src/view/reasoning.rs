//! What agents said and did: `GET /reasoning`.

use super::results::is_fill;
use super::{BooksFacts, Configs, DayQualityResponse, Deployment, Number, ViewError, number, page, plain};
use crate::app::App;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::message::Role;
use papertape_core::provenance::DayQuality;
use papertape_core::record::{DayStatus, PositionRow, SessionId};
use papertape_core::time::{Date, Timestamp};
use papertape_store::{Instructions, MessageView, OrderCounts, SessionFilter, SessionView};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Which sessions; all conditions hold together.
#[derive(Clone, Debug, Default)]
pub struct ReasoningQuery {
    /// Of this job.
    pub job_id: Option<String>,
    /// Of this trading day.
    pub date: Option<Date>,
    /// Of this agent.
    pub model: Option<String>,
    /// With all that was said, and the instructions?
    pub include_full_conversation: bool,
    /// That concern this instrument.
    pub symbol: Option<String>,
    /// In which this node speaks, with its round or in any.
    pub node: Option<String>,
    /// In which one message has all these words.
    pub q: Option<String>,
    /// How many at most, 1 to 200; of whole conversations never more than 50.
    pub limit: Option<u32>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// A page of sessions.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ReasoningResponse {
    /// The sessions, in the order in which they were opened.
    pub sessions: Vec<SessionResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One agent's trading day.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SessionResponse {
    /// Its id.
    pub session_id: i64,
    /// Its job.
    pub job_id: String,
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: Option<bool>,
    /// `running`, `completed` or `failed`.
    #[schema(schema_with = super::vocabulary::day_status)]
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// How the day came about, in a few words; `null` while it is not over.
    pub quality: Option<DayQualityResponse>,
    /// What the books say of the day, beside the summary.
    pub books: BooksFacts,
    /// What the day came to, by the same model.
    pub session_summary: Option<String>,
    /// Why there is no summary.
    pub summary_error: Option<String>,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it was closed.
    pub completed_at: Option<Timestamp>,
    /// How many messages it has; `null` until it is closed.
    pub total_messages: Option<u32>,
    /// Its actions, in order.
    pub positions: Vec<PositionResponse>,
    /// What its nodes were told before their conversations; with `conversation` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Vec<InstructionsResponse>>,
    /// What was said; absent unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Vec<MessageResponse>>,
}

/// One action and what it left.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct PositionResponse {
    /// From 1 in a session.
    pub action_id: u64,
    /// `buy`, `sell`, `short`, `cover`, `stop`, `target`, `liquidation`, `delisting`, `split`, `dividend`, `financing` or
    /// `no_trade`.
    pub action_type: String,
    /// The instrument; `null` for `no_trade`.
    pub symbol: Option<String>,
    /// Units; of a split, a dividend and financing the units held, below zero for a short position.
    pub amount: Number,
    /// Price of one unit, the dividend of one share, the charge per unit; `null` for `no_trade`.
    pub price: Option<Number>,
    /// Cash after it.
    pub cash_after: Number,
    /// Cash + sum of quantity x price then.
    pub portfolio_value: Number,
}

/// What a node was told before its conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct InstructionsResponse {
    /// The node with its round.
    pub node: String,
    /// The text.
    pub content: String,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct MessageResponse {
    /// From 0 in a session, in the order of commits.
    pub message_index: u32,
    /// `user`, `assistant` or `tool`.
    #[schema(schema_with = super::vocabulary::role)]
    pub role: Role,
    /// The text; empty for a turn of tool calls alone.
    pub content: String,
    /// Of assistant messages alone; `null` where there is none (yet).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    pub summary: Option<Option<String>>,
    /// Why there is no summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_error: Option<String>,
    /// Of tool messages alone: the tool that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Of tool messages alone: the arguments that it was called with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Value>,
    /// When it was kept.
    pub timestamp: Timestamp,
    /// Its step.
    pub path: String,
    /// Its node with the round.
    pub node: String,
}

/// Sessions with their actions and summaries and, where it is asked for, all that was said.
///
/// # Errors
/// A field that is wrong; no session that matches (a page reached by a cursor may be empty); the
/// record's.
pub async fn reasoning(app: &App, query: ReasoningQuery) -> Result<ReasoningResponse, ViewError> {
    let filter = SessionFilter {
        job: plain("job_id", query.job_id.as_ref())?.map(JobId::from),
        date: query.date,
        agent: plain("model", query.model.as_ref())?.map(AgentName::from),
        symbol: plain("symbol", query.symbol.as_ref())?.map(Symbol::from),
        node: plain("node", query.node.as_ref())?.map(str::to_owned),
        q: query.q,
    };
    let page = page(query.limit, query.cursor)?;
    let found = app.store.sessions(&filter, query.include_full_conversation, &page).await?;
    if found.items.is_empty() && page.cursor.is_none() {
        return Err(ViewError::NotFound("no session matches".to_owned()));
    }
    let ids: Vec<SessionId> = found.items.iter().map(|view| view.id).collect();
    let orders = app.store.order_counts(&ids).await?;
    let mut configs = Configs::default();
    let mut sessions = Vec::with_capacity(found.items.len());
    for view in found.items {
        let is_llm = configs.is_llm(app, &view.job, &view.agent).await?;
        let orders = orders.get(&view.id);
        sessions.push(session(view, is_llm, orders));
    }
    Ok(ReasoningResponse {
        count: sessions.len(),
        sessions,
        next_cursor: found.next,
        deployment: Deployment::of(app),
    })
}

fn session(view: SessionView, is_llm: Option<bool>, orders: Option<&OrderCounts>) -> SessionResponse {
    let instructions = view.instructions.into_iter().map(instruction).collect();
    let quality = DayQuality::of(view.status, view.error.as_deref(), view.metadata.as_ref());
    let fills = view.positions.iter().filter(|row| is_fill(&row.action_type)).count();
    SessionResponse {
        quality: quality.map(DayQualityResponse::from),
        books: BooksFacts::of(orders, fills),
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
        positions: view.positions.iter().map(position).collect(),
        instructions: view.conversation.is_some().then_some(instructions),
        conversation: view.conversation.map(|said| said.into_iter().map(message).collect()),
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
