//! What external agents send to their session over HTTP, for the OpenAPI document. The turn protocol itself is read
//! and written by `papertape_core::external`.

use papertape_core::external::ErrorCode;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A request of an external agent. `order` also has the arguments of the trade tool.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionRequest {
    /// `read`, `order` or `done`.
    pub r#type: SessionRequestType,
    /// Repeated in the reply: a number, or a string of at most 256 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// Of a `read`: the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Of a `read`: the tool's arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// Of an `order`: `buy`, `sell`, `short` or `cover`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// Of a `done`: why the agent decided as it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Of a `done`: what the agent gets back with its next day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

/// The kind of a request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionRequestType {
    /// A tool that reads.
    Read,
    /// An order.
    Order,
    /// The agent has finished its day.
    Done,
}

/// The reply to a request of an external agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionReply {
    /// `reply`.
    pub r#type: String,
    /// The request's ID, or null.
    pub id: Value,
    /// Whether the request succeeded.
    pub ok: bool,
    /// What it returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<SessionReplyError>,
}

/// Why a request of an external agent failed.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionReplyError {
    /// `bad_json`, `unknown_type`, `bad_message`, `unknown_tool`, `bad_arguments`, `order_rejected`, `limit` or
    /// `session_ended`.
    #[schema(value_type = String)]
    pub code: ErrorCode,
    /// A sentence.
    pub message: String,
    /// The names that were expected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// The broker's code of a rejected order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
