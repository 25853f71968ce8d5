//! Which sessions read a piece of market data or a memory.

use crate::deployment::Deployment;
use crate::fields::maybe_day;
use crate::query::parsed;
use papertape_core::record::DayStatus;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The item. Its kind decides which fields are required; other fields are rejected.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeenByQuery {
    /// The kind of item. `bar` requires `dataset`, `symbol` and `from`; `news` `dataset` and `news_id`; `fundamental`
    /// `dataset`, `symbol`, `metric` and `period`; `macro` `dataset`, `series` and `period`; a memory
    /// (`trader_round`, `open_position_context`, `trade`) `memory_id`, `job_id` and `model`.
    #[param(inline)]
    pub kind: SeenByKind,
    /// The dataset's name or hash prefix.
    pub dataset: Option<String>,
    /// The instrument.
    pub symbol: Option<String>,
    /// The first day of the bars.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    pub from: Option<Date>,
    /// The last day of the bars, included; absent: the first day.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    pub to: Option<Date>,
    /// The news item's ID.
    pub news_id: Option<String>,
    /// The metric of a fundamental, such as `revenue`.
    pub metric: Option<String>,
    /// The macroeconomic series.
    pub series: Option<String>,
    /// The last day of a fundamental's period, or the first day of a macroeconomic value's.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    pub period: Option<Date>,
    /// Only the value published at this instant; absent: every publication.
    #[serde(default, deserialize_with = "parsed")]
    #[param(value_type = Option<String>)]
    pub published_at: Option<Timestamp>,
    /// The ID of the round, position or trade.
    pub memory_id: Option<String>,
    /// Market data: only sessions of this job. A memory: the job that it belongs to.
    pub job_id: Option<String>,
    /// Market data: only sessions of this agent. A memory: the agent that it belongs to.
    pub model: Option<String>,
    /// Max sessions.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The kind of item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeenByKind {
    /// Bars of an instrument on some days; the open of a day is a part of its bar.
    #[default]
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
