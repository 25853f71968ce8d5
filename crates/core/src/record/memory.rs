//! The rows of the trader's memory. Texts in them were redacted when they entered the session.

use super::words;
use crate::id::{JobId, Symbol};
use crate::ledger::Direction;
use crate::money::{Money, Price, Quantity};
use crate::time::Timestamp;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a memory's words come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The trader's model, at the first asking.
    Model,
    /// The trader's model, asked once more.
    Repaired,
    /// A template, in whole or in part, from the facts of the books.
    Template,
}

words!(Source { Model = "model", Repaired = "repaired", Template = "template" });

/// A row of `trader_round_memory`: what one round comes to, for the rounds after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundRow {
    /// Counts up by one per agent and job; goes on where the memory was taken over from another job.
    pub round_id: u64,
    /// What was concluded, and the key prices and positions.
    pub situation: String,
    /// The four parts, at most 600 characters.
    pub summary: String,
    /// Where the summary comes from.
    pub source: Source,
    /// Why it does not come from the model's first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What was decided of each instrument.
    pub assets: Vec<AssetNote>,
    /// Did this round open a position?
    pub is_open_entry: bool,
    /// Did the trader's answer fall back, or break off?
    pub degraded: bool,
    /// When it became known: the close of its day.
    pub known_at: Timestamp,
    /// Rounds up to this one are pruned by this row; `None`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prunes_through: Option<u64>,
}

/// What a round decided of one instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssetNote {
    /// The instrument.
    pub symbol: Symbol,
    /// What was decided, or what happened.
    pub decision: Decision,
    /// Average price of entry, where it is held.
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

/// What became of an instrument in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// A position was opened.
    Open,
    /// One was added to.
    Add,
    /// One was reduced.
    Reduce,
    /// One was closed.
    Close,
    /// One was closed and another opened.
    Reverse,
    /// A stop, a target or a liquidation closed one.
    Forced,
    /// An order was refused and nothing else happened.
    Refused,
    /// A position was kept as it is.
    Hold,
    /// Nothing is held and nothing was done.
    Wait,
}

words!(Decision {
    Open = "open",
    Add = "add",
    Reduce = "reduce",
    Close = "close",
    Reverse = "reverse",
    Forced = "forced",
    Refused = "refused",
    Hold = "hold",
    Wait = "wait",
});

/// Where an open position's context stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextState {
    /// The position was opened: the thesis at entry.
    Open,
    /// A split converted its figures. The thesis is as it was.
    Converted,
    /// The position is closed; the thesis is archived in its reflection.
    Closed,
}

words!(ContextState { Open = "open", Converted = "converted", Closed = "closed" });

/// A row of `open_position_contexts`. Rows are added, never changed: a position's newest one holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextRow {
    /// The position.
    pub position_id: String,
    /// The instrument.
    pub symbol: Symbol,
    /// Long or short.
    pub side: Direction,
    /// Where it stands.
    pub state: ContextState,
    /// The round whose summary is the thesis; `None` where there was none.
    pub round_id: Option<u64>,
    /// The thesis at entry: that round's summary.
    pub summary: String,
    /// When the position was opened.
    pub opened_at: Timestamp,
    /// Price of the opening fill, in today's share units.
    pub entry_price: Price,
    /// Units of the opening fill, in today's share units; above zero.
    pub quantity: Quantity,
    /// The stop that it was opened with, in today's share units.
    pub stop_loss: Option<Price>,
    /// The target that it was opened with, in today's share units.
    pub take_profit: Option<Price>,
    /// Leverage, 1 for none.
    pub leverage: Decimal,
    /// New shares for one old share by the splits since; prices in the thesis are to be divided by it.
    pub split_ratio: Decimal,
    /// When this row became known.
    pub known_at: Timestamp,
}

/// A row of `trade_reflections`: what one closing, whole or partial, teaches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReflectionRow {
    /// Counts up by one per agent and job; goes on where the memory was taken over from another job.
    pub trade_id: u64,
    /// The position.
    pub position_id: String,
    /// The how-manieth closing of the position it is, from 1.
    pub part: u32,
    /// Is nothing of the position left?
    pub position_closed: bool,
    /// What closed it: `sell`, `cover`, `stop`, `target` or `liquidation`.
    pub cause: String,
    /// The instrument.
    pub symbol: Symbol,
    /// Long or short.
    pub side: Direction,
    /// When the position was opened.
    pub entry_time: Timestamp,
    /// When this part of it was closed, as exactly as the data say.
    pub exit_time: Timestamp,
    /// Calendar days from the one to the other.
    pub holding_days: i32,
    /// Units closed, above zero.
    pub quantity: Quantity,
    /// Average price of entry.
    pub entry_price: Price,
    /// Price of the exit.
    pub exit_price: Price,
    /// The ledger's result, fees and income included.
    pub pnl: Money,
    /// `pnl / margin x 100`; `None` where there was no margin.
    pub return_pct: Option<Decimal>,
    /// Leverage, 1 for none.
    pub leverage: Decimal,
    /// Money at work: the absolute cost of what was closed.
    pub notional: Money,
    /// At most 120 characters.
    pub summary: String,
    /// What was planned, and what came.
    pub execution_deviation: Deviation,
    /// What became of each claim of the open context.
    pub hypothesis_check: Vec<ClaimCheck>,
    /// What went wrong, of a fixed list.
    pub error_tags: Vec<ErrorTag>,
    /// How much there is to learn from it.
    pub value_assessment: Assessment,
    /// Rules for next time.
    pub next_rules: Vec<String>,
    /// The thesis at entry, archived here.
    pub thesis: Option<String>,
    /// Where the words come from.
    pub source: Source,
    /// Why they do not come from the model's first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When it may be read from: the close of the day of the exit.
    pub known_at: Timestamp,
}

/// Planned against actual, from the books; the comment is the model's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deviation {
    /// The price at which the opening order was checked, before slippage.
    pub planned_entry: Option<Price>,
    /// The average price that was paid or received.
    pub actual_entry: Option<Price>,
    /// Units of the opening order.
    pub planned_size: Option<Quantity>,
    /// The most units that were held.
    pub actual_size: Option<Quantity>,
    /// The stop at entry.
    pub planned_stop: Option<Price>,
    /// The stop at the exit.
    pub actual_stop: Option<Price>,
    /// The target at entry.
    pub planned_exit: Option<Price>,
    /// The price of the exit.
    pub actual_exit: Option<Price>,
    /// What the trader says of it.
    pub comment: String,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimCheck {
    /// The claim.
    pub claim: String,
    /// `held`, `failed` or `untested`.
    pub result: ClaimResult,
}

/// What became of a claim, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimResult {
    /// It came as claimed.
    Held,
    /// It did not.
    Failed,
    /// Nothing happened that would tell.
    Untested,
}

words!(ClaimResult { Held = "held", Failed = "failed", Untested = "untested" });

/// How much there is to learn from a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assessment {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

words!(Assessment { Low = "low", Medium = "medium", High = "high" });

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

words!(ErrorTag {
    EntryTiming = "entry_timing",
    Sizing = "sizing",
    StopTooTight = "stop_too_tight",
    StopTooWide = "stop_too_wide",
    ThesisWrong = "thesis_wrong",
    IgnoredSignal = "ignored_signal",
    HeldTooLong = "held_too_long",
    ExitedEarly = "exited_early",
    RuleRefused = "rule_refused",
    DegradedResearch = "degraded_research",
    Luck = "luck",
});

/// A row of `reflection_vectors`: what a reflection means, as a sentence model has it. Made anew from the
/// reflection whenever that is wished, so no chain covers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorRow {
    /// The reflection's number, of the session's job and agent.
    pub trade_id: u64,
    /// The model that made it, `provider::model`.
    pub model: String,
    /// A unit vector of little-endian 32-bit floats.
    pub vector: Vec<u8>,
}

/// What kind of memory a trader was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GivenKind {
    /// The thesis at entry of an open position.
    OpenPositionContext,
    /// A round before.
    TraderRound,
    /// A reflection on a closed trade.
    Trade,
}

words!(GivenKind {
    OpenPositionContext = "open_position_context",
    TraderRound = "trader_round",
    Trade = "trade",
});

/// A row of `session_memory`: one memory that this session's trader was given. Its text is in the
/// outcome of its step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenRow {
    /// What kind.
    pub kind: GivenKind,
    /// The round's, the position's or the trade's id.
    pub memory_id: String,
    /// The job whose memory it was, where it was taken over from another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// When it became known.
    pub known_at: Timestamp,
}
