//! The rows of the trader's memory. Their texts were redacted when they entered the session.

use crate::id::{JobId, Symbol};
use crate::ledger::Direction;
use crate::money::{Money, Price, Quantity};
use crate::time::Timestamp;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Where a memory's text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummarySource {
    /// The trader's model, on the first request.
    Model,
    /// The trader's model, after a repair request.
    Repaired,
    /// A template filled from the books, completely or in part.
    Template,
}

crate::words!(SummarySource { Model = "model", Repaired = "repaired", Template = "template" });

/// A row of `trader_round_memory`: the summary of one round, read by later rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundMemoryRow {
    /// Increments by one per agent and job; continues the count when the memory was carried over from another
    /// job.
    pub round_id: u64,
    /// The conclusion, with the key prices and positions.
    pub situation: String,
    /// The four parts of the summary, at most 600 characters together.
    pub summary: String,
    /// Where the summary comes from.
    pub source: SummarySource,
    /// Why it does not come from the model's first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The decision on each instrument.
    pub assets: Vec<AssetNote>,
    /// Whether this round opened a position.
    pub is_open_entry: bool,
    /// Whether the trader's answer was a fallback or broke off.
    pub degraded: bool,
    /// When it became known: the close of its day.
    pub known_at: Timestamp,
    /// This row prunes all rounds up to this one; `None`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prunes_through: Option<u64>,
}

/// A round's decision on one instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssetNote {
    /// The instrument.
    pub symbol: Symbol,
    /// The decision, or what happened.
    pub decision: Decision,
    /// Average entry price, if a position is held.
    pub entry_price: Option<Price>,
    /// The stop in force.
    pub stop_loss: Option<Price>,
    /// The target in force.
    pub take_profit: Option<Price>,
    /// The position's leverage, 1 for none.
    pub leverage: Option<Decimal>,
    /// The position.
    pub position_id: Option<String>,
}

/// What happened to an instrument in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// A position was opened.
    Open,
    /// A position was increased.
    Add,
    /// A position was reduced.
    Reduce,
    /// A position was closed.
    Close,
    /// A position was closed and another one opened.
    Reverse,
    /// A stop, a target or a liquidation closed a position.
    Forced,
    /// An order was rejected and nothing else happened.
    Refused,
    /// A position was left unchanged.
    Hold,
    /// No position is held and nothing was done.
    Wait,
}

crate::words!(Decision {
    Open = "open", Add = "add", Reduce = "reduce", Close = "close", Reverse = "reverse",
    Forced = "forced", Refused = "refused", Hold = "hold", Wait = "wait",
});

/// The state of an open position's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextState {
    /// The position was opened: the thesis at entry.
    Open,
    /// A split converted its figures. The thesis is unchanged.
    Converted,
    /// The position is closed; the thesis is archived in its reflection.
    Closed,
}

crate::words!(ContextState { Open = "open", Converted = "converted", Closed = "closed" });

/// A row of `open_position_contexts`. Rows are appended, never changed: a position's latest one is valid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenPositionContextRow {
    /// The position.
    pub position_id: String,
    /// The instrument.
    pub symbol: Symbol,
    /// Long or short.
    pub side: Direction,
    /// Its state.
    pub state: ContextState,
    /// The round whose summary is the thesis; `None` when there was none.
    pub round_id: Option<u64>,
    /// The thesis at entry: that round's summary.
    pub summary: String,
    /// When the position was opened.
    pub opened_at: Timestamp,
    /// Price of the opening fill, in today's share units.
    pub entry_price: Price,
    /// Units of the opening fill, in today's share units; above zero.
    pub quantity: Quantity,
    /// The stop at entry, in today's share units.
    pub stop_loss: Option<Price>,
    /// The target at entry, in today's share units.
    pub take_profit: Option<Price>,
    /// Leverage, 1 for none.
    pub leverage: Decimal,
    /// New shares per old share, over all splits since entry; divide prices in the thesis by it.
    pub split_ratio: Decimal,
    /// When this row became known.
    pub known_at: Timestamp,
}

/// A row of `trade_reflections`: the lessons of one closing, full or partial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReflectionRow {
    /// Increments by one per agent and job; continues the count when the memory was carried over from another
    /// job.
    pub trade_id: u64,
    /// The position.
    pub position_id: String,
    /// 1-based number of this closing within the position.
    pub part: u32,
    /// Whether the position is fully closed.
    pub position_closed: bool,
    /// What closed it: `sell`, `cover`, `stop`, `target` or `liquidation`.
    pub cause: String,
    /// The instrument.
    pub symbol: Symbol,
    /// Long or short.
    pub side: Direction,
    /// When the position was opened.
    pub entry_time: Timestamp,
    /// When this part was closed, as precisely as the data allow.
    pub exit_time: Timestamp,
    /// Calendar days from entry to exit.
    pub holding_days: i32,
    /// Units closed, above zero.
    pub quantity: Quantity,
    /// Average entry price.
    pub entry_price: Price,
    /// Exit price.
    pub exit_price: Price,
    /// The realized result from the ledger, fees and income included.
    pub pnl: Money,
    /// `pnl / margin x 100`; `None` when there was no margin.
    pub return_pct: Option<Decimal>,
    /// Leverage, 1 for none.
    pub leverage: Decimal,
    /// Capital employed: the absolute cost of the closed part.
    pub notional: Money,
    /// At most 120 characters.
    pub summary: String,
    /// Planned against actual figures.
    pub execution_deviation: Deviation,
    /// The result of each claim in the open context.
    pub hypothesis_check: Vec<ClaimCheck>,
    /// What went wrong, from a fixed list.
    pub error_tags: Vec<ErrorTag>,
    /// How much the trade teaches.
    pub value_assessment: Assessment,
    /// Rules for future trades.
    pub next_rules: Vec<String>,
    /// The thesis at entry, archived here.
    pub thesis: Option<String>,
    /// Where the text comes from.
    pub source: SummarySource,
    /// Why it does not come from the model's first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When it may first be read: the close of the exit day.
    pub known_at: Timestamp,
}

/// Planned against actual figures from the books; the comment is the model's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deviation {
    /// The price at which the opening order was checked, before slippage.
    pub planned_entry: Option<Price>,
    /// The average price paid or received.
    pub actual_entry: Option<Price>,
    /// Units of the opening order.
    pub planned_size: Option<Quantity>,
    /// The largest quantity held.
    pub actual_size: Option<Quantity>,
    /// The stop at entry.
    pub planned_stop: Option<Price>,
    /// The stop at the exit.
    pub actual_stop: Option<Price>,
    /// The target at entry.
    pub planned_exit: Option<Price>,
    /// The exit price.
    pub actual_exit: Option<Price>,
    /// The trader's comment.
    pub comment: String,
}

/// The check of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimCheck {
    /// The claim.
    pub claim: String,
    /// `held`, `failed` or `untested`.
    pub result: ClaimResult,
}

/// The result of a claim's check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimResult {
    /// The claim came true.
    Held,
    /// The claim did not come true.
    Failed,
    /// Nothing happened that tests the claim.
    Untested,
}

crate::words!(ClaimResult { Held = "held", Failed = "failed", Untested = "untested" });

/// How much a trade teaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assessment {
    /// Little to learn.
    Low,
    /// Something to learn.
    Medium,
    /// Much to learn.
    High,
}

crate::words!(Assessment { Low = "low", Medium = "medium", High = "high" });

/// What went wrong with a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say what they mean")]
pub enum ErrorTag {
    EntryTiming,
    Sizing,
    StopTooTight,
    StopTooWide,
    ThesisWrong,
    IgnoredSignal,
    HeldTooLong,
    ExitedEarly,
    RuleRefused,
    DegradedResearch,
    Luck,
}

crate::words!(ErrorTag {
    EntryTiming = "entry_timing", Sizing = "sizing", StopTooTight = "stop_too_tight",
    StopTooWide = "stop_too_wide", ThesisWrong = "thesis_wrong", IgnoredSignal = "ignored_signal",
    HeldTooLong = "held_too_long", ExitedEarly = "exited_early", RuleRefused = "rule_refused",
    DegradedResearch = "degraded_research", Luck = "luck",
});

/// A row of `reflection_vectors`: a reflection's embedding. It can be recomputed from the reflection at any
/// time, so no chain covers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingRow {
    /// The reflection's number within the session's job and agent.
    pub trade_id: u64,
    /// The model that computed it, `provider::model`.
    pub model: String,
    /// A unit vector of little-endian 32-bit floats.
    pub vector: Vec<u8>,
}

/// The kind of a memory recalled for a trader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// The thesis at entry of an open position.
    OpenPositionContext,
    /// An earlier round.
    TraderRound,
    /// A reflection on a closed trade.
    Trade,
}

crate::words!(MemoryKind {
    OpenPositionContext = "open_position_context", TraderRound = "trader_round", Trade = "trade",
});

/// A row of `session_memory`: one memory recalled for this session's trader. Its text is in its step's
/// outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecalledMemoryRow {
    /// The kind.
    pub kind: MemoryKind,
    /// The ID of the round, the position or the trade.
    pub memory_id: String,
    /// The job the memory comes from, if it was carried over from another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// When it became known.
    pub known_at: Timestamp,
}
