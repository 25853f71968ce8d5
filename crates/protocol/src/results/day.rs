//! One agent's day.

use crate::cutoff::TrainingCutoffResponse;
use crate::masking::MaskedResponse;
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

/// The result of one model's day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DayResult {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// The job that ran it.
    pub job_id: String,
    /// The day, if an earlier job ran it; else empty.
    pub done_before: Vec<DoneBefore>,
    /// The rules version of the job.
    pub rules_version: u32,
    /// The training cut-offs of its language models, compared with the day.
    pub training_cutoffs: Vec<TrainingCutoffResponse>,
    /// The market conventions; `null` if the job names no market.
    pub conventions: Option<ConventionsResponse>,
    /// Before the day; `null` until the session is closed.
    pub starting_position: Option<StartingHoldings>,
    /// Compared with the previous day.
    pub daily_metrics: DailyMetrics,
    /// Fills, in order.
    pub trades: Vec<Trade>,
    /// Orders that were rejected or expired, with the reason.
    pub rejections: Vec<RejectionResponse>,
    /// Splits and dividends of held instruments.
    pub corporate_actions: Vec<CorporateActionResponse>,
    /// Financing charges on borrowed money or shares.
    pub financing: Vec<FinancingResponse>,
    /// Orders that are pending at the end of the day.
    pub pending_orders: Vec<PendingOrderResponse>,
    /// Every open position at the close.
    pub position_snapshots: Vec<PositionSnapshotResponse>,
    /// The insolvency of the account, from the day on which it occurred; `null` otherwise.
    pub insolvent: Option<InsolvencyResponse>,
    /// At the close.
    pub final_position: Option<FinalPosition>,
    /// Order counts of the day, from the books.
    pub books: BooksFacts,
    /// The quality of the day; `null` until it ends.
    pub quality: Option<DayQualityResponse>,
    /// The provenance of the research.
    pub provenance: Provenance,
    /// Metadata of the session.
    pub metadata: DayMetadata,
    /// `null`, the summary, or every message, as requested.
    pub reasoning: Option<DayReasoning>,
    /// The mark of a masked job; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<MaskedResponse>,
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

/// A day compared with the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DailyMetrics {
    /// This close's portfolio value less the previous session's.
    pub profit: Option<Number>,
    /// The same in percent; `null` if the previous value was not positive.
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
    /// The components of the fee, in the order of the market's fees. Empty if there is no fee, or if the market's
    /// rules do not add up to it: for imported trades, and where a lost margin limits the fee.
    pub fee_parts: Vec<FeePartResponse>,
    /// The cost of slippage; already included in the price.
    pub slippage: Number,
    /// Leverage of the position, 1 for none; `null` if not recorded.
    pub leverage: Option<Number>,
    /// The stop in force after the fill; of a closing fill, the stop of the position.
    pub stop: Option<Number>,
    /// The target in force after the fill; of a closing fill, the target of the position.
    pub target: Option<Number>,
    /// The realized profit or loss, net of fees.
    pub realized_pnl: Option<Number>,
    /// The order; `null` for a fill without one: a stop, a target, a liquidation, a delisting.
    pub order_id: Option<String>,
    /// The step that booked it; `null` for imported trades.
    pub path: Option<String>,
    /// Where its order was placed; `null` for a fill without an order.
    pub order: Option<OrderOriginResponse>,
    /// Cash after it.
    pub cash_after: Number,
    /// Portfolio value after it, at the prices known then.
    pub portfolio_value: Number,
}

/// A component of a fee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FeePartResponse {
    /// Its name, such as `commission` or `stamp_duty`; `fee` for a market's flat fee.
    pub name: String,
    /// `commission`, `duty` or `transfer`.
    pub category: String,
    /// Money.
    pub amount: Number,
}

/// Where an order was placed: in this session or in an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderOriginResponse {
    /// The session.
    pub session_id: i64,
    /// Its trading day.
    pub date: Date,
    /// The step.
    pub path: String,
}

/// An order that was rejected or expired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RejectionResponse {
    /// The order.
    pub order_id: String,
    /// Where it was placed; `null` if no step is recorded.
    pub order: Option<OrderOriginResponse>,
    /// `rejected` or `expired`.
    pub status: String,
    /// The requested instrument.
    pub symbol: String,
    /// `buy`, `sell`, `short` or `cover`.
    pub side: String,
    /// The requested quantity.
    pub quantity: Number,
    /// The reason code.
    pub code: Option<String>,
    /// The reason, in a sentence.
    pub message: Option<String>,
    /// The numbers behind the decision, by name.
    #[schema(value_type = Option<Object>)]
    pub numbers: Option<Value>,
}

/// A split or a dividend of a held instrument.
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
    /// Of a dividend: per share. Of a split: the previous close divided by the ratio.
    pub price: Option<Number>,
    /// New shares per old share, of a split. A fractional share is paid out at `price`.
    pub ratio: Option<Number>,
    /// Cash after it.
    pub cash_after: Number,
}

/// A holding at the close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HoldingAtClose {
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
    pub holdings: Vec<HoldingAtClose>,
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
    /// `solo`, `desk` or `external`.
    pub agent_kind: Option<String>,
    /// `provider::model`.
    pub model: Option<String>,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: Option<bool>,
    /// How the conversation ended, and the number of model calls.
    #[schema(value_type = Option<Object>)]
    pub conversation: Option<Value>,
    /// The six fields of the research debate; `null` without a debate.
    #[schema(value_type = Option<Object>)]
    pub research: Option<Research>,
    /// The quality of the data behind the result.
    #[schema(value_type = Option<Object>)]
    pub data_quality: Option<DataQuality>,
    /// `full_research` or `degraded_research`.
    #[schema(value_type = Option<String>)]
    pub sample_quality: Option<SampleQuality>,
    /// The outcome of an imported day; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedResponse>,
    /// A desk's decisions: the number of instruments, of each rating, and of instruments without one
    /// because a response could not be parsed (`unparseable`) or a node failed (`fallback`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub decisions: Option<Value>,
    /// How a desk's decisions were sized: the orders, and every adjustment with its reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub sizing: Option<Value>,
}

/// The reasoning of a day.
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
