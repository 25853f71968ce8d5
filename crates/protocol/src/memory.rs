//! The traders' memories.

use crate::deployment::Deployment;
use crate::fields::maybe_day;
use crate::number::Number;
use crate::query::{amount, parsed, rows};
use papertape_core::ledger::Direction;
use papertape_core::record::ErrorTag;
use papertape_core::time::{Date, Timestamp};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::str::FromStr;
use utoipa::{IntoParams, ToSchema};

/// Whose memories.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MemoryQuery {
    /// Only of this agent.
    pub model: Option<String>,
    /// Only of this job.
    pub job_id: Option<String>,
    /// Max rows.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Filters; all of them apply.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TradesQuery {
    /// Keyword search: reflections with all of these words, in the reflection or its thesis. Semantic search:
    /// reflections with a similar meaning.
    pub query: Option<String>,
    /// The search mode: `keyword`, `semantic` or `both`. Absent: `both` if an embedding model is configured, else
    /// `keyword`.
    #[serde(default, deserialize_with = "parsed")]
    #[param(value_type = Option<String>, example = "keyword")]
    pub search: Option<SearchBy>,
    /// Only this instrument.
    pub symbol: Option<String>,
    /// The side of the position.
    #[param(inline, value_type = Option<SideParam>)]
    pub side: Option<Direction>,
    /// Only with this tag.
    #[serde(default, deserialize_with = "parsed")]
    #[param(value_type = Option<String>, example = "stop_too_tight")]
    pub tag: Option<ErrorTag>,
    /// The min result, in money.
    #[serde(default, deserialize_with = "amount")]
    #[param(value_type = Option<f64>)]
    pub min_pnl: Option<Decimal>,
    /// The max result, in money.
    #[serde(default, deserialize_with = "amount")]
    #[param(value_type = Option<f64>)]
    pub max_pnl: Option<Decimal>,
    /// Closed on this day (UTC) or later.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    pub from: Option<Date>,
    /// Closed on this day (UTC) or earlier.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-12-31")]
    pub to: Option<Date>,
    /// Only of this agent.
    pub model: Option<String>,
    /// Only of this job.
    pub job_id: Option<String>,
    /// Max rows.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoundsResponse {
    /// The newest first.
    pub rounds: Vec<RoundResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A round that a trader remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoundResponse {
    /// `trader_round`.
    pub memory_type: String,
    /// The job.
    pub job_id: String,
    /// The agent.
    pub model: String,
    /// The session.
    pub session_id: i64,
    /// Counts up by one per agent and job.
    pub round_id: u64,
    /// The conclusion, with key prices and positions.
    pub situation: String,
    /// The four parts.
    pub summary: String,
    /// `model`, `repaired` or `template`.
    pub source: String,
    /// Why it is not the model's first response.
    pub note: Option<String>,
    /// The decision on each instrument.
    pub assets: Vec<AssetResponse>,
    /// Whether it opened a position.
    pub is_open_entry: bool,
    /// Whether the trader's response was a fallback, or truncated.
    pub degraded: bool,
    /// When it became known.
    pub known_at: Timestamp,
    /// When it was written.
    pub created_at: Timestamp,
}

/// The decision of a round on one instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AssetResponse {
    /// The instrument.
    pub symbol: String,
    /// `open`, `add`, `reduce`, `close`, `reverse`, `forced`, `refused`, `hold` or `wait`.
    pub decision: String,
    /// The average entry price.
    pub entry_price: Option<Number>,
    /// The stop in force.
    pub stop_loss: Option<Number>,
    /// The target in force.
    pub take_profit: Option<Number>,
    /// Leverage, 1 for none.
    pub leverage: Option<Number>,
    /// The position.
    pub position_id: Option<String>,
}

/// A page of open positions' contexts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OpenPositionsResponse {
    /// The newest first.
    pub open_positions: Vec<OpenPositionResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The thesis of an open position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OpenPositionResponse {
    /// `open_position_context`.
    pub memory_type: String,
    /// The job.
    pub job_id: String,
    /// The agent.
    pub model: String,
    /// The session that wrote it.
    pub session_id: i64,
    /// The position.
    pub position_id: String,
    /// The instrument.
    pub symbol: String,
    /// `long` or `short`.
    pub side: String,
    /// The round whose summary it is.
    pub round_id: Option<u64>,
    /// The thesis at entry.
    pub summary: String,
    /// When the position was opened.
    pub opened_at: Timestamp,
    /// Price of the opening fill; like the following fields, adjusted for all splits since.
    pub entry_price: Number,
    /// Units of the opening fill.
    pub quantity: Number,
    /// The stop that it was opened with.
    pub stop_loss: Option<Number>,
    /// The target that it was opened with.
    pub take_profit: Option<Number>,
    /// Leverage, 1 for none.
    pub leverage: Number,
    /// The cumulative split ratio since; divide prices in the thesis by it.
    pub split_ratio: Number,
    /// When it became known.
    pub known_at: Timestamp,
}

/// A page of reflections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TradesResponse {
    /// The newest exit first; for a semantic search, the best match first.
    pub trades: Vec<ReflectionResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// How `query` was searched: `keyword`, `semantic` or
    /// `keyword+semantic`.
    #[schema(value_type = String)]
    pub search: SearchBy,
    /// Why the semantic search was not possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_note: Option<String>,
    /// The embedding model that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding_model: Option<String>,
    /// The number of reflections without an embedding of that model: only keywords find them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_vector: Option<usize>,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The result of embedding reflections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReembedResponse {
    /// The model.
    pub embedding_model: String,
    /// The number of reflections that were embedded.
    pub embedded: usize,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A reflection on a closed trade, or a part of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReflectionResponse {
    /// `trade`.
    pub memory_type: String,
    /// The job.
    pub job_id: String,
    /// The agent.
    pub model: String,
    /// The session of the exit.
    pub session_id: i64,
    /// Counts up by one per agent and job.
    pub trade_id: u64,
    /// The position.
    pub position_id: String,
    /// 1-based number of this closing fill of the position.
    pub part: u32,
    /// Whether the position is fully closed.
    pub position_closed: bool,
    /// `sell`, `cover`, `stop`, `target`, `liquidation` or `delisting`.
    pub cause: String,
    /// The instrument.
    pub symbol: String,
    /// `long` or `short`.
    pub side: String,
    /// When it was opened.
    pub entry_time: Timestamp,
    /// When it was closed.
    pub exit_time: Timestamp,
    /// Calendar days between.
    pub holding_days: i32,
    /// Units closed.
    pub quantity: Number,
    /// The average entry price.
    pub entry_price: Number,
    /// The exit price.
    pub exit_price: Number,
    /// The ledger's result, fees and income included.
    pub pnl: Number,
    /// `pnl / margin x 100`.
    pub return_pct: Option<Number>,
    /// Leverage, 1 for none.
    pub leverage: Number,
    /// Absolute cost of what was closed.
    pub notional: Number,
    /// At most 120 characters.
    pub summary: String,
    /// Planned compared with actual.
    pub execution_deviation: DeviationResponse,
    /// The outcome of each claim.
    pub hypothesis_check: Vec<ClaimResponse>,
    /// What went wrong.
    pub error_tags: Vec<String>,
    /// `low`, `medium` or `high`.
    pub value_assessment: String,
    /// Rules for next time.
    pub next_rules: Vec<String>,
    /// The thesis at entry.
    pub thesis: Option<String>,
    /// `model`, `repaired` or `template`.
    pub source: String,
    /// Why it is not the model's first response.
    pub note: Option<String>,
    /// From when a simulation may read it.
    pub known_at: Timestamp,
}

/// Planned compared with actual, from the books.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeviationResponse {
    /// The price at which the opening order was checked.
    pub planned_entry: Option<Number>,
    /// The average price.
    pub actual_entry: Option<Number>,
    /// Units of the opening order.
    pub planned_size: Option<Number>,
    /// The largest position held.
    pub actual_size: Option<Number>,
    /// The stop at entry.
    pub planned_stop: Option<Number>,
    /// The stop at the exit.
    pub actual_stop: Option<Number>,
    /// The target at entry.
    pub planned_exit: Option<Number>,
    /// The price of the exit.
    pub actual_exit: Option<Number>,
    /// The trader's comment.
    pub comment: String,
}

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClaimResponse {
    /// The claim.
    pub claim: String,
    /// `held`, `failed` or `untested`.
    pub result: String,
}

/// The memory that a session's trader recalled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionMemoryResponse {
    /// The session.
    pub session_id: i64,
    /// By step, in order; a solo agent has one at most.
    pub recalled: Vec<RecalledBlock>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The memory in one prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecalledBlock {
    /// The step.
    pub path: String,
    /// The whole block, as it appears in the prompt.
    pub text: String,
    /// The memories in it.
    pub items: Vec<RecalledItem>,
}

/// One recalled memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecalledItem {
    /// `open_position_context`, `trader_round` or `trade`.
    pub memory_type: String,
    /// The position's, the round's or the trade's id.
    pub memory_id: String,
    /// The job that it was inherited from; `null`: the session's own.
    pub job_id: Option<String>,
    /// When it became known.
    pub known_at: Timestamp,
    /// Its text.
    pub text: String,
}

/// Compacted reflections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ArchivesResponse {
    /// One for each agent, job, period and instrument.
    pub archives: Vec<ArchiveResponse>,
    /// The number of results.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The reflections on one instrument in one period, compacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ArchiveResponse {
    /// The job.
    pub job_id: String,
    /// The agent.
    pub model: String,
    /// `quarter` or `half-year`.
    pub length: String,
    /// `2012-Q4`, `2012-H2`.
    pub period: String,
    /// The instrument.
    pub symbol: String,
    /// `trades`, `wins`, `pnl`, `mean_return_pct`, `error_tags` with their counts, `next_rules`, `summary`
    /// and the originals' `trade_ids`.
    #[schema(value_type = Object)]
    pub body: Value,
}

/// How reflections are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SearchBy {
    /// By keyword: reflections that contain all words.
    #[serde(rename = "keyword")]
    Keyword,
    /// By meaning: reflections with the nearest embeddings.
    #[serde(rename = "semantic")]
    Semantic,
    /// Both, with fused ranks.
    #[serde(rename = "keyword+semantic")]
    Both,
}

impl SearchBy {
    /// As responses spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Semantic => "semantic",
            Self::Both => "keyword+semantic",
        }
    }
}

impl FromStr for SearchBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "keyword" => Ok(Self::Keyword),
            "semantic" => Ok(Self::Semantic),
            "both" | "keyword+semantic" => Ok(Self::Both),
            other => Err(format!("`{other}` is none of: keyword, semantic, both")),
        }
    }
}

/// The side of a position.
// The schema of a `Direction`.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum SideParam {
    /// Gains when the price rises.
    Long,
    /// Gains when the price falls.
    Short,
}

/// What to compact.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "period": "quarter" }))]
pub struct CompactBody {
    /// The length of a period.
    pub period: PeriodBody,
    /// Only of this agent.
    pub model: Option<String>,
    /// Only of this job.
    pub job_id: Option<String>,
}

/// The reflections to embed.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct ReembedBody {
    /// Only of this agent.
    pub model: Option<String>,
    /// Only of this job.
    pub job_id: Option<String>,
}

/// The length of a period.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PeriodBody {
    /// Three months.
    Quarter,
    /// Six months.
    HalfYear,
}
