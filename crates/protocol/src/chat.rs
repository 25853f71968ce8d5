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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChatMetadata {
    /// `job_log`: a job answers, and its log can be followed.
    #[schema(example = "job_log")]
    pub r#type: Option<String>,
    /// The job that answers.
    pub job_id: Option<String>,
    /// The reply without the paragraph on its actions.
    pub reply: Option<String>,
    /// What the turn did.
    pub actions_summary: Option<Vec<SummaryItem>>,
    /// Actions that wait for a person's word.
    pub pending: Option<Vec<PendingAction>>,
    /// Why the turn broke off.
    pub error: Option<String>,
}

/// An action that is done only when a person confirms it, by its `id` in `context.confirm` or by a plain yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PendingAction {
    /// Names it.
    pub id: String,
    /// Which action it is.
    pub name: String,
    /// What the person is asked.
    pub question: String,
}

/// A conversation with its newest messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
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

/// A user's message.
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
    /// What the user's page displays, passed to the model as data. `confirm` in it lists the IDs of the `pending`
    /// actions that the user confirms.
    #[schema(value_type = Option<Object>)]
    pub context: Option<Map<String, Value>>,
    /// The plan that the conversation is about from now on.
    pub plan_id: Option<i64>,
}

/// A stored message and the placeholder for its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnResponse {
    /// The conversation.
    pub session: ChatSessionSummary,
    /// The user's message.
    pub user: ChatMessageResponse,
    /// The placeholder that is filled once the job has run: `metadata.type` is `job_log`, and `metadata.job_id` is
    /// the job to follow.
    pub assistant: ChatMessageResponse,
    /// The job that writes the answer.
    pub job_id: String,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}
