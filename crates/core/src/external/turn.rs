//! The turns of an external agent's session.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// One request of an agent, without the ID that its transport gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentRequest {
    /// A tool of the market view or of the account.
    Read {
        /// The tool.
        tool: String,
        /// Its arguments, an object.
        #[serde(default)]
        arguments: Value,
    },
    /// An order.
    Order {
        /// `buy`, `sell`, `short` or `cover`.
        side: String,
        /// The arguments of the trade tool of that name.
        #[serde(flatten)]
        arguments: Map<String, Value>,
    },
    /// The agent has finished its day.
    Done {
        /// Why it decided as it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<String>,
        /// What it gets back with its next day. Absent: what it got today; `null`: nothing.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        state: Option<Value>,
    },
    /// A message that is none of these. It is answered with what was expected.
    Malformed {
        /// The beginning of the message.
        text: String,
        /// What is wrong with it.
        error: ReplyError,
    },
}

/// Tells `null` from an absent field.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The reply to a request, without its ID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AgentReply {
    /// The request succeeded.
    Ok {
        /// The result.
        result: Value,
    },
    /// It did not.
    Error {
        /// Why.
        error: ReplyError,
    },
}

impl AgentReply {
    /// A failure.
    #[must_use]
    pub fn error(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Error {
            error: ReplyError { code, message: message.into(), expected: Vec::new(), reason: None },
        }
    }
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyError {
    /// Machine-readable.
    pub code: ErrorCode,
    /// A sentence.
    pub message: String,
    /// The names that were expected, if there is a list of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// The broker's code of a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The code of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The message is not a JSON object.
    BadJson,
    /// Its `type` is unknown.
    UnknownType,
    /// A field is missing or has the wrong type.
    BadMessage,
    /// The tool does not exist.
    UnknownTool,
    /// The tool rejects the arguments, or has no data.
    BadArguments,
    /// The broker rejected the order.
    OrderRejected,
    /// A limit of the session is used up.
    Limit,
    /// The session has ended.
    SessionEnded,
}

crate::words!(ErrorCode {
    BadJson = "bad_json", UnknownType = "unknown_type", BadMessage = "bad_message", UnknownTool = "unknown_tool",
    BadArguments = "bad_arguments", OrderRejected = "order_rejected", Limit = "limit",
    SessionEnded = "session_ended",
});

/// A request with its reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// What the agent asked.
    pub request: AgentRequest,
    /// What it was answered.
    pub reply: AgentReply,
    /// As [`AgentTurn::repeats`].
    pub repeats: Option<usize>,
    /// As [`AgentTurn::course`].
    pub course: Option<usize>,
}

/// What the host needs for one turn: the day, and all exchanges so far. The last reply has not been delivered yet. An
/// agent that has to begin its day again, because its process was restarted, gets the stored replies as long as it
/// makes the stored requests.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The configured agent.
    pub agent: &'a str,
    /// The day as the agent gets it, except for `doors`, which the host adds.
    pub day: &'a Value,
    /// All exchanges so far, in order.
    pub history: &'a [Exchange],
}

/// The outcome of a turn: the agent's next request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentTurn {
    /// The request.
    pub request: AgentRequest,
    /// The index of a stored exchange whose order this order repeats, after the agent began its day again and took
    /// another course: it gets the stored reply and is not placed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<usize>,
    /// The agent began its day again and takes another course from this request on: how many of its earlier requests it
    /// has repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<usize>,
    /// The first difference between an agent that began its day again and its recorded requests or model calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nondeterministic: Option<Nondeterminism>,
}

/// Where an agent that began its day again asked something else than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nondeterminism {
    /// The turn, from 0; of a model call its number among the session's.
    pub at: usize,
    /// The stored request, or the nearest one.
    pub stored: Value,
    /// The first place where they differ, as a JSON pointer with both values.
    pub difference: String,
}
