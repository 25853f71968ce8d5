//! Conversations with the assistant.

use super::actions::SummaryItem;
use super::{Deployment, ViewError, page};
use crate::app::App;
use papertape_core::chat::{ChatId, ChatMessage, ChatRole, ChatSession};
use papertape_core::language::Language;
use papertape_core::ports::Chats as _;
use papertape_core::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Which part of a list.
#[derive(Clone, Debug, Default)]
pub struct ChatQuery {
    /// How many at most, 1 to 200.
    pub limit: Option<u32>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChatSessionSummary {
    /// Its id.
    pub id: String,
    /// What it is about, in a few words.
    pub title: String,
    /// The language of its summaries: `zh` or `en`.
    #[schema(value_type = String, example = "zh")]
    pub language: Language,
    /// The plan that it works on.
    pub plan_id: Option<i64>,
    /// When it began.
    pub created_at: Timestamp,
    /// When something was last said in it.
    pub updated_at: Timestamp,
}

/// A page of conversations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChatSessionsResponse {
    /// The conversations, the newest first.
    pub sessions: Vec<ChatSessionSummary>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ChatMessageResponse {
    /// Its id.
    pub id: i64,
    /// The conversation.
    pub session_id: String,
    /// Its number there, from 1.
    pub n: i64,
    /// `user` or `assistant`.
    #[schema(value_type = String, example = "assistant")]
    pub role: ChatRole,
    /// What is said; empty until the assistant has answered.
    pub content: String,
    /// More, for programs.
    #[schema(value_type = ChatMetadata)]
    pub metadata: Value,
    /// The job that answers.
    pub job_id: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
}

/// What a message carries for programs, for the OpenAPI document; there may be more. Of a person's message
/// nothing of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChatMetadata {
    /// `job_log`: a job answers, and its log can be followed.
    #[schema(example = "job_log")]
    r#type: Option<String>,
    /// The job that answers.
    job_id: Option<String>,
    /// The reply without the paragraph on its actions.
    reply: Option<String>,
    /// What the turn did.
    actions_summary: Option<Vec<SummaryItem>>,
    /// Actions that wait for a person's word.
    pending: Option<Vec<PendingAction>>,
    /// Why the turn broke off.
    error: Option<String>,
}

/// An action that is done only when a person confirms it, by its `id` in `context.confirm` or by a plain yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PendingAction {
    /// Names it.
    id: String,
    /// Which action it is.
    name: String,
    /// What the person is asked.
    question: String,
}

/// A conversation with its newest messages.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ChatSessionResponse {
    /// The conversation.
    pub session: ChatSessionSummary,
    /// Its messages, newest first.
    pub messages: Vec<ChatMessageResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the page with older messages begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Are actions to be shown under a reply?
    pub show_action_summary: bool,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

impl From<ChatSession> for ChatSessionSummary {
    fn from(session: ChatSession) -> Self {
        Self {
            id: session.id.to_string(),
            title: session.title,
            language: session.language,
            plan_id: session.plan_id.map(|plan| plan.0),
            created_at: session.created_at,
            updated_at: session.updated_at,
        }
    }
}

/// A message as answers show it.
#[must_use]
pub fn chat_message(message: ChatMessage) -> ChatMessageResponse {
    ChatMessageResponse {
        id: message.id,
        session_id: message.session_id.to_string(),
        n: message.n,
        role: message.role,
        content: message.content,
        metadata: message.metadata,
        job_id: message.job_id.map(|job| job.to_string()),
        created_at: message.created_at,
    }
}

/// All conversations.
///
/// # Errors
/// A bad limit or cursor; the record's.
pub async fn chat_sessions(app: &App, query: ChatQuery) -> Result<ChatSessionsResponse, ViewError> {
    let request = page(query.limit, query.cursor)?;
    let found = papertape_core::ports::Chats::sessions(&app.store, &request).await?;
    let sessions: Vec<ChatSessionSummary> = found.items.into_iter().map(ChatSessionSummary::from).collect();
    Ok(ChatSessionsResponse {
        count: sessions.len(),
        sessions,
        next_cursor: found.next,
        deployment: Deployment::of(app),
    })
}

/// One conversation.
///
/// # Errors
/// No such conversation; a bad limit or cursor; the record's.
pub async fn chat_session(app: &App, id: &str, query: ChatQuery) -> Result<ChatSessionResponse, ViewError> {
    let missing = || ViewError::NotFound(format!("there is no conversation {}", id.escape_default()));
    if id.contains('\0') {
        return Err(missing());
    }
    let session = ChatId::new(id);
    let request = page(query.limit, query.cursor)?;
    let found = papertape_core::ports::Chats::session(&app.store, &session).await?.ok_or_else(missing)?;
    let messages = app.store.messages(&session, &request).await?;
    let (items, next_cursor) = (messages.items, messages.next);
    let messages: Vec<ChatMessageResponse> = items.into_iter().map(chat_message).collect();
    Ok(ChatSessionResponse {
        session: found.into(),
        count: messages.len(),
        messages,
        next_cursor,
        show_action_summary: app.config.settings.chat.show_action_summary,
        deployment: Deployment::of(app),
    })
}
