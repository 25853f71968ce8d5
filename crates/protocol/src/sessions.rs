//! What one session consists of: messages, steps and data reads.

use crate::deployment::Deployment;
use crate::number::Number;
use crate::query::session_rows;
use crate::reasoning::{InstructionsResponse, MessageResponse};
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which part of a session's conversation.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MessagesQuery {
    /// Only this node, in one round (`solo#1`) or in all (`solo`).
    pub node: Option<String>,
    /// The number of the first message; not together with `cursor`.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    pub from: Option<u32>,
    /// Max messages. Pages of one session's rows may be longer than others.
    #[serde(default, deserialize_with = "session_rows")]
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MessagesResponse {
    /// The session.
    pub session_id: i64,
    /// The total number of messages, of the requested node if there is one.
    pub total: u32,
    /// The system prompts of the nodes; absent on later pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Vec<InstructionsResponse>>,
    /// The messages, by number.
    pub messages: Vec<MessageResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A page of steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepsResponse {
    /// The session.
    pub session_id: i64,
    /// Its steps in the order in which they started, including those of summaries.
    pub steps: Vec<StepResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One effect of a session on the outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepResponse {
    /// Its path: `[symbol/]node#round/kind#n`.
    pub path: String,
    /// `model`, `tool`, `order`, ….
    pub kind: String,
    /// `external`, `local`, `order` or `guard`.
    pub class: String,
    /// `intent`, `done` or `abandoned`.
    pub state: String,
    /// Of `done`: `ok`, `failed`, `timed_out`, `refused` or `unknown`.
    pub outcome: Option<String>,
    /// Of a model call: the requested model, as `provider::model`; `null` for other steps.
    pub model: Option<String>,
    /// Of a model's response: `stop`, `tool_calls`, `length` or `content_filter`. `stop` also if the provider gave no
    /// reason. `null` without a response.
    pub finish_reason: Option<String>,
    /// Whether it is a step of a summary.
    pub detached: bool,
    /// Its position in the session's hash chain; `null` while it is open.
    pub seq: Option<i64>,
    /// Hash of the request, in the form that a re-run compares.
    pub digest: String,
    /// Hash of the request document.
    pub request_ref: Option<String>,
    /// Hash of the outcome's document.
    pub outcome_ref: Option<String>,
    /// `job/session/path` that it was copied from.
    pub reused_from: Option<String>,
    /// How many attempts were sent.
    pub attempts: u32,
    /// Attempts that were interrupted by a crash or a stop.
    pub interrupted: u32,
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars; `null` if the price is unknown.
    pub cost_usd: Option<Number>,
    /// Attempts with unknown usage; tokens and cost include an estimate.
    pub estimated_calls: u64,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The hash of its link.
    pub hash: Option<String>,
}

/// A page of data reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExposuresResponse {
    /// The session.
    pub session_id: i64,
    /// Data reads, in the order of commits.
    pub exposures: Vec<ExposureResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One read of market data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExposureResponse {
    /// The step that read.
    pub path: String,
    /// The dataset's content hash.
    pub dataset: String,
    /// The series, such as `AAPL/bars`.
    pub series: String,
    /// Day of the earliest row; `null` where there is none.
    pub first_date: Option<Date>,
    /// Day of the latest row; `null` where there is none.
    pub last_date: Option<Date>,
    /// How many rows.
    pub rows: u64,
    /// When the newest of them became known.
    pub latest_known_at: Option<Timestamp>,
}
