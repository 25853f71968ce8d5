//! Which sessions read a piece of market data or a memory.

use crate::deployment::Deployment;
use papertape_core::record::DayStatus;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeenByKind {
    /// Bars of an instrument on some days; the open of a day is a part of its bar.
    Bar,
    /// A news item.
    News,
    /// A reported fundamental of a company.
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

/// A page of sessions that read an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SeenByResponse {
    /// What it is.
    pub kind: SeenByKind,
    /// The dataset's content hash; `null` for a memory.
    pub dataset: Option<String>,
    /// The sessions, those that were opened last first.
    pub sessions: Vec<SeenBySession>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A session that read the item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SeenBySession {
    /// The session.
    pub session_id: i64,
    /// Its job.
    pub job_id: String,
    /// Its trading day.
    pub date: Date,
    /// Its agent.
    pub model: String,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: Option<bool>,
    /// `running`, `completed` or `failed`.
    #[schema(schema_with = crate::vocabulary::day_status)]
    pub status: DayStatus,
    /// The decision instant of the session: the open of its day. `null` if the dataset is not available.
    pub instant: Option<Timestamp>,
    /// The first twenty reads.
    pub reads: Vec<SeenByRead>,
    /// The number of reads.
    pub read_count: usize,
}

/// One read of the item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SeenByRead {
    /// The step that read.
    pub path: String,
    /// Its node with the round.
    pub node: String,
    /// The message that contains it: a tool response or a prompt. `null` if unknown.
    pub message_index: Option<u32>,
    /// The tool that read it; `null` if it was part of a prompt.
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
