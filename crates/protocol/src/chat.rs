//! Conversations with the assistant.

use crate::actions::SummaryItem;
use crate::deployment::Deployment;
use papertape_core::action::Language;
use papertape_core::chat::ChatRole;
use papertape_core::chat::{ChatMessage, ChatSession};
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use serde_json::Value;
use utoipa::ToSchema;

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChatSessionSummary {
    /// Its id.
    pub id: String,
    /// A short title.
    pub title: String,
    /// The language of its summaries: `zh` or `en`.
    #[schema(value_type = String, example = "zh")]
    pub language: Language,
    /// The plan that it works on.
    pub plan_id: Option<i64>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When the last message was written.
    pub updated_at: Timestamp,
}

/// A page of conversations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChatSessionsResponse {
    /// The conversations, newest first.
    pub sessions: Vec<ChatSessionSummary>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
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
    /// The text; empty until the assistant has replied.
    pub content: String,
    /// Structured details.
    #[schema(value_type = ChatMetadata)]
    pub metadata: Value,
    /// The job that writes the reply.
    pub job_id: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
}

/// Metadata of a message from the assistant; there may be more fields. Messages from people have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChatMetadata {
    /// `job_log`: a job writes the reply, and its log can be followed.
    #[schema(example = "job_log")]
    pub r#type: Option<String>,
    /// The job that writes the reply.
    pub job_id: Option<String>,
    /// The reply without the paragraph on its actions.
    pub reply: Option<String>,
    /// What the turn did.
    pub actions_summary: Option<Vec<SummaryItem>>,
    /// Actions awaiting confirmation.
    pub pending: Option<Vec<PendingAction>>,
    /// Why the turn failed.
    pub error: Option<String>,
}

/// An action that requires confirmation: by its `id` in `context.confirm`, or by a plain yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PendingAction {
    /// Its ID.
    pub id: String,
    /// Which action it is.
    pub name: String,
    /// The question to the user.
    pub question: String,
}

/// A conversation with its newest messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChatSessionResponse {
    /// The conversation.
    pub session: ChatSessionSummary,
    /// Its messages, newest first.
    pub messages: Vec<ChatMessageResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the page with older messages; `null` on the last page.
    pub next_cursor: Option<String>,
    /// Whether actions are shown below a reply.
    pub show_action_summary: bool,
    /// The mode that the server runs in.
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

impl From<ChatMessage> for ChatMessageResponse {
    fn from(message: ChatMessage) -> Self {
        Self {
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
}

/// A message to the assistant.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "message": "Backtest the contrarian on IBM and AAPL for the autumn of 2012, compare it with buy and hold, and tell me why it lost in November"
}))]
pub struct MessageBody {
    /// The text; not blank.
    #[schema(min_length = 1, max_length = 20_000, pattern = r"\S")]
    pub message: String,
    /// The conversation; absent: start a new one.
    pub session_id: Option<String>,
    /// What the user's page shows, passed to the model as data. `confirm` in it lists the ids of
    /// `pending` actions that are confirmed.
    #[schema(value_type = Option<Object>)]
    pub context: Option<Map<String, Value>>,
    /// The plan that the conversation works on from now on.
    pub plan_id: Option<i64>,
}

/// A message that was accepted, with the message that will hold the reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnResponse {
    /// The conversation.
    pub session: ChatSessionSummary,
    /// The user's message.
    pub user: ChatMessageResponse,
    /// The placeholder that is filled once the job has run: `metadata.type` is `job_log`, and `metadata.job_id` is
    /// the job to follow.
    pub assistant: ChatMessageResponse,
    /// The job that writes the reply.
    pub job_id: String,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}
