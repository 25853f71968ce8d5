//! Which sessions read a piece of market data or a memory.

use crate::deployment::Deployment;
use papertape_core::record::DayStatus;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShownKind {
    /// Bars of an instrument on some days; a day's open is a part of its bar.
    Bar,
    /// A news item.
    News,
    /// A figure of a company's reports.
    Fundamental,
    /// A value of a macroeconomic series.
    Macro,
    /// A round that a trader remembers.
    TraderRound,
    /// The thesis of a position that was open.
    OpenPositionContext,
    /// A reflection on a closed trade.
    Trade,
}

/// A page of sessions that were shown something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShownResponse {
    /// What it is.
    pub kind: ShownKind,
    /// The dataset's content hash; `null` for a memory.
    pub dataset: Option<String>,
    /// The sessions, those that were opened last first.
    pub sessions: Vec<ShownSessionResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A session that was shown it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShownSessionResponse {
    /// The session.
    pub session_id: i64,
    /// Its job.
    pub job_id: String,
    /// Its trading day.
    pub date: Date,
    /// Its agent.
    pub model: String,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: Option<bool>,
    /// `running`, `completed` or `failed`.
    #[schema(schema_with = crate::vocabulary::day_status)]
    pub status: DayStatus,
    /// The instant that the session stands at: its day's open. `null` where the dataset is not at hand.
    pub instant: Option<Timestamp>,
    /// Where it was shown: the first twenty times.
    pub reads: Vec<ShownReadResponse>,
    /// How often it was shown.
    pub read_count: usize,
}

/// One time that it was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShownReadResponse {
    /// The step that read.
    pub path: String,
    /// Its node with the round.
    pub node: String,
    /// The message in which it was told: a tool's answer, or a prompt. `null` where none is known.
    pub message_index: Option<u32>,
    /// The tool that read; `null` where it stood in a prompt.
    pub tool: Option<String>,
    /// The series that was read; `null` for a memory.
    pub series: Option<String>,
    /// Day of the earliest row that was read.
    pub first_date: Option<Date>,
    /// Day of the latest row that was read.
    pub last_date: Option<Date>,
    /// How many rows were read.
    pub rows: Option<u64>,
    /// When the newest of them became known, or the memory.
    pub known_at: Option<Timestamp>,
}
