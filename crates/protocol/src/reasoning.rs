//! Sessions with their actions, summaries and transcripts.

use crate::deployment::Deployment;
use crate::fields::maybe_day;
use crate::masking::MaskedResponse;
use crate::number::Number;
use crate::quality::{BooksFacts, DayQualityResponse};
use crate::query::{flag, rows};
use crate::reviews::Review;
use papertape_core::message::Role;
use papertape_core::record::DayStatus;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// Filters; all of them apply.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReasoningQuery {
    /// Only of this job.
    pub job_id: Option<String>,
    /// Only of this trading day.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    pub date: Option<Date>,
    /// Only of this agent.
    pub model: Option<String>,
    /// Whether to include the instructions and all messages.
    #[serde(default, deserialize_with = "flag")]
    #[param(default = false)]
    pub include_full_conversation: bool,
    /// Only sessions with this instrument in their positions, orders or steps.
    pub symbol: Option<String>,
    /// Only sessions with messages of this node, in one round (`solo#1`) or in any (`solo`). The conversation then
    /// has only that node's messages.
    pub node: Option<String>,
    /// Only sessions in which one message has all these words.
    pub q: Option<String>,
    /// Max sessions; with full conversations at most 50.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReasoningResponse {
    /// The sessions, in the order in which they were opened.
    pub sessions: Vec<SessionResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One agent's trading day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionResponse {
    /// Its id.
    pub session_id: i64,
    /// Its job.
    pub job_id: String,
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: Option<bool>,
    /// `running`, `completed` or `failed`.
    #[schema(schema_with = crate::vocabulary::day_status)]
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// The quality of the day; `null` until it ends.
    pub quality: Option<DayQualityResponse>,
    /// Order counts of the day, from the books.
    pub books: BooksFacts,
    /// The summary of the day, by the same model.
    pub session_summary: Option<String>,
    /// Why there is no summary.
    pub summary_error: Option<String>,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it was closed.
    pub completed_at: Option<Timestamp>,
    /// The number of messages; `null` until it is closed.
    pub total_messages: Option<u32>,
    /// Its score and note, by hand.
    pub review: Review,
    /// Its actions, in order.
    pub positions: Vec<PositionResponse>,
    /// The system prompts of its nodes; only with `conversation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Vec<InstructionsResponse>>,
    /// The transcript; absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Vec<MessageResponse>>,
    /// The mark of a masked job; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<MaskedResponse>,
}

/// One action and the account after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
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
    /// Cash plus the sum of quantity x price at that time.
    pub portfolio_value: Number,
}

/// The system prompt of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InstructionsResponse {
    /// The node with its round.
    pub node: String,
    /// The text.
    pub content: String,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MessageResponse {
    /// From 0 in a session, in the order of commits.
    pub message_index: u32,
    /// `user`, `assistant` or `tool`.
    #[schema(schema_with = crate::vocabulary::role)]
    pub role: Role,
    /// The text; empty for a turn with only tool calls.
    pub content: String,
    /// Only for assistant messages; `null` if there is none (yet).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    pub summary: Option<Option<String>>,
    /// Why there is no summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_error: Option<String>,
    /// Only for tool messages: the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Only for tool messages: the arguments of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Value>,
    /// When it was stored.
    pub timestamp: Timestamp,
    /// Its step.
    pub path: String,
    /// Its node with the round.
    pub node: String,
}
