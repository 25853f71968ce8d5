//! One agent's day.

use crate::number::Number;
use crate::number::number;
use crate::quality::{BooksFacts, DayQualityResponse};
use crate::reasoning::MessageResponse;
use crate::results::account::{
    FinancingResponse, InsolvencyResponse, PendingOrderResponse, PositionSnapshotResponse,
};
use crate::results::conventions::ConventionsResponse;
use crate::results::conventions::category;
use crate::results::provenance::Provenance;
use crate::results::range::DoneBefore;
use crate::results::recorded::RecordedResponse;
use papertape_core::broker::FeePart;
use papertape_core::provenance::{DataQuality, Research, SampleQuality};
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What one model's day came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DayResult {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// The job that did it.
    pub job_id: String,
    /// The day, where another job did it before the one whose result it is; else empty.
    pub done_before: Vec<DoneBefore>,
    /// The version of the rules that the job was recorded under.
    pub rules_version: u32,
    /// What it was traded by; `null` where the job names no market.
    pub conventions: Option<ConventionsResponse>,
    /// Before the day; `null` until the session is closed, as all that its close writes.
    pub starting_position: Option<StartingHoldings>,
    /// Against the day before.
    pub daily_metrics: DailyMetrics,
    /// Fills, in order.
    pub trades: Vec<Trade>,
    /// Orders that were refused or expired, with the reason.
    pub rejections: Vec<Rejected>,
    /// Splits and dividends that met a holding.
    pub corporate_actions: Vec<CorporateActionResponse>,
    /// What holding borrowed money or shares cost.
    pub financing: Vec<FinancingResponse>,
    /// Orders that wait for their price at the end of the day.
    pub pending_orders: Vec<PendingOrderResponse>,
    /// Every open position at the close.
    pub position_snapshots: Vec<PositionSnapshotResponse>,
    /// The end of the account, from the day on which it was found; `null` while something is left.
    pub insolvent: Option<InsolvencyResponse>,
    /// At the close.
    pub final_position: Option<FinalPosition>,
    /// What the books say of the day, beside any summary.
    pub books: BooksFacts,
    /// How the day came about, in a few words; `null` while it is not over.
    pub quality: Option<DayQualityResponse>,
    /// How the research came about.
    pub provenance: Provenance,
    /// About the session.
    pub metadata: DayMetadata,
    /// `null`, the summary, or every message, as it was asked for.
    pub reasoning: Option<DayReasoning>,
}

/// What is held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Holding {
    /// The instrument.
    pub symbol: String,
    /// Units; below zero for a short position.
    pub quantity: Number,
}

/// What was held before a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StartingHoldings {
    /// By symbol.
    pub holdings: Vec<Holding>,
    /// Cash.
    pub cash: Number,
    /// At the previous session's close; the initial cash for the first.
    pub portfolio_value: Number,
}

/// A day against the one before. See the metrics' formulas in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DailyMetrics {
    /// This close's portfolio value less the previous session's.
    pub profit: Option<Number>,
    /// The same in percent; `null` where the previous value was not above zero.
    pub return_pct: Option<Number>,
    /// Calendar days since the previous session; `null` for the first.
    pub days_since_last_trading: Option<i32>,
}

/// A fill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Trade {
    /// From 1 in a session.
    pub action_id: u64,
    /// `buy`, `sell`, `short`, `cover`, `stop`, `target`, `liquidation` or `delisting`.
    pub action_type: String,
    /// The instrument.
    pub symbol: String,
    /// Units, above zero.
    pub quantity: Number,
    /// Slippage included.
    pub price: Number,
    /// The fee.
    pub fee: Number,
    /// What the fee is made of, in the order of the market's fees. Empty where there is no fee, or where the market's
    /// rules do not add up to it: of imported trades, and where a lost margin limits the fee.
    pub fee_parts: Vec<FeePartResponse>,
    /// What the slippage cost; it is in the price already.
    pub slippage: Number,
    /// Leverage of the position, 1 for none; `null` where the record does not say.
    pub leverage: Option<Number>,
    /// The stop in force after the fill; of one that closes, the stop that the position had.
    pub stop: Option<Number>,
    /// The target in force after the fill; of one that closes, the target that the position had.
    pub target: Option<Number>,
    /// The net result of what was closed.
    pub realised_pnl: Option<Number>,
    /// The order; `null` for a fill without one: a stop, a target, a liquidation, a delisting.
    pub order_id: Option<String>,
    /// The step that booked it; `null` where the record has none, as of what was imported.
    pub path: Option<String>,
    /// Where its order was given; `null` for a fill without one.
    pub order: Option<OrderPlaceResponse>,
    /// Cash after it.
    pub cash_after: Number,
    /// Portfolio value after it, at the prices known then.
    pub portfolio_value: Number,
}

/// A part of a fee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FeePartResponse {
    /// Its name, such as `commission` or `stamp_duty`; `fee` for a market's flat fee.
    pub name: String,
    /// `commission`, `duty` or `transfer`.
    pub category: String,
    /// Money.
    pub amount: Number,
}

/// Where an order was given: in this session or, where it has waited, in an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderPlaceResponse {
    /// The session.
    pub session_id: i64,
    /// Its trading day.
    pub date: Date,
    /// The step.
    pub path: String,
}

/// An order that was refused, or expired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Rejected {
    /// The order.
    pub order_id: String,
    /// Where it was given; `null` where the record has no step of it.
    pub order: Option<OrderPlaceResponse>,
    /// `rejected` or `expired`.
    pub status: String,
    /// The instrument as it was asked for.
    pub symbol: String,
    /// `buy`, `sell`, `short` or `cover`.
    pub side: String,
    /// Units asked for.
    pub quantity: Number,
    /// Why, as a code.
    pub code: Option<String>,
    /// Why, as a sentence.
    pub message: Option<String>,
    /// The numbers that decided, by name.
    #[schema(value_type = Option<Object>)]
    pub numbers: Option<Value>,
}

/// A split or a dividend that met a holding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CorporateActionResponse {
    /// From 1 in a session.
    pub action_id: u64,
    /// `split` or `dividend`.
    pub action_type: String,
    /// The instrument.
    pub symbol: Option<String>,
    /// Units held, after a split; below zero for a short position.
    pub quantity: Number,
    /// Of a dividend: that of one share. Of a split: the previous close over the ratio.
    pub price: Option<Number>,
    /// New shares for one old share, of a split. A fraction of a share that it leaves is paid out at `price`.
    pub ratio: Option<Number>,
    /// Cash after it.
    pub cash_after: Number,
}

/// A holding, marked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HeldAtClose {
    /// The instrument.
    pub symbol: String,
    /// Units; below zero for a short position.
    pub quantity: Number,
    /// The close, or the last known price.
    pub price: Number,
}

/// The account at a close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FinalPosition {
    /// By symbol.
    pub holdings: Vec<HeldAtClose>,
    /// Cash.
    pub cash: Number,
    /// Cash and holdings at the close.
    pub portfolio_value: Number,
}

/// About a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DayMetadata {
    /// The session.
    pub session_id: i64,
    /// `running`, `completed` or `failed`.
    #[schema(schema_with = crate::vocabulary::day_status)]
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// `solo` or `desk`.
    pub agent_kind: Option<String>,
    /// `provider::model`.
    pub model: Option<String>,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: Option<bool>,
    /// How the conversation ended, and after how many model calls.
    #[schema(value_type = Option<Object>)]
    pub conversation: Option<Value>,
    /// The six fields of the research debate; `null` where nothing was debated.
    #[schema(value_type = Option<Object>)]
    pub research: Option<Research>,
    /// What the result rests on.
    #[schema(value_type = Option<Object>)]
    pub data_quality: Option<DataQuality>,
    /// `full_research` or `degraded_research`.
    #[schema(value_type = Option<String>)]
    pub sample_quality: Option<SampleQuality>,
    /// What came of a day that was traded elsewhere and imported; absent of one that was lived here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedResponse>,
    /// A desk's decisions: how many instruments, how many of each rating, and how many have none
    /// because an answer could not be read (`unparseable`) or a node gave nothing (`fallback`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub decisions: Option<Value>,
    /// What became of a desk's decisions: the orders, and every cut of one with its reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub sizing: Option<Value>,
}

/// What was said on a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum DayReasoning {
    /// The session's summary.
    Summary(String),
    /// Every message.
    Full(Vec<MessageResponse>),
}

impl From<FeePart> for FeePartResponse {
    fn from(part: FeePart) -> Self {
        Self { name: part.name, category: category(part.category).to_owned(), amount: number(part.amount.0) }
    }
}
