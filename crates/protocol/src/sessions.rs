//! What one session consists of: messages, steps and data reads.

use crate::deployment::Deployment;
use crate::number::Number;
use crate::reasoning::{InstructionsResponse, MessageResponse};
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A page of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MessagesResponse {
    /// The session.
    pub session_id: i64,
    /// How many messages there are in all, of the node where one is asked for.
    pub total: u32,
    /// What the nodes were told before their conversations; absent on a page reached by a cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Vec<InstructionsResponse>>,
    /// The messages, by number.
    pub messages: Vec<MessageResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A page of steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepsResponse {
    /// The session.
    pub session_id: i64,
    /// Its steps in the order in which they were begun, those of summaries among them.
    pub steps: Vec<StepResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One effect of a session on the outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepResponse {
    /// Where it stands: `[symbol/]node#round/kind#n`.
    pub path: String,
    /// `model`, `tool`, `order`, ….
    pub kind: String,
    /// `external`, `local`, `order` or `guard`.
    pub class: String,
    /// `intent`, `done` or `abandoned`.
    pub state: String,
    /// Of `done`: `ok`, `failed`, `timed_out`, `refused` or `unknown`.
    pub outcome: Option<String>,
    /// Is it of the summaries' own tape?
    pub detached: bool,
    /// Which link of the session's chain it is; `null` while it is open.
    pub seq: Option<i64>,
    /// Hash of what was asked, in the form that is compared on a re-run.
    pub digest: String,
    /// Hash of the document that says what was asked.
    pub request_ref: Option<String>,
    /// Hash of the outcome's document.
    pub outcome_ref: Option<String>,
    /// `job/session/path` that it was copied from.
    pub reused_from: Option<String>,
    /// How many attempts were sent.
    pub attempts: u32,
    /// How many of these a crash or a stop has cut off.
    pub interrupted: u32,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars; `null` where no price is known.
    pub cost_usd: Option<Number>,
    /// Attempts whose usage is not known; tokens and cost hold an estimate of it.
    pub estimated_calls: u64,
    /// When it was begun.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Its link's hash.
    pub hash: Option<String>,
}

/// A page of the exposure record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExposuresResponse {
    /// The session.
    pub session_id: i64,
    /// What it was shown, in the order of commits.
    pub exposures: Vec<ExposureResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// What one read of the market showed.
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
