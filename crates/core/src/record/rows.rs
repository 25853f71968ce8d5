//! Rows derived from steps, and the final rows of a session.

use super::{OpenPositionContextRow, RecalledMemoryRow, ReflectionRow, RoundMemoryRow};
use crate::content::StoredText;
use crate::id::{ContentHash, Symbol};
use crate::job::DayStatus;
pub use crate::market::Exposure as ExposureRow;
use crate::message::Role;
use crate::money::{Money, Price, Quantity};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A row derived from a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub enum DerivedRow {
    /// `reasoning_logs`.
    Message(MessageRow),
    /// The exposure record: the market data that was read.
    Exposure(ExposureRow),
    /// `positions`.
    Position(PositionRow),
    /// `orders`.
    Order(Box<OrderRow>),
    /// `position_snapshots`.
    Snapshot(SnapshotRow),
    /// `trader_round_memory`.
    Round(Box<RoundMemoryRow>),
    /// `open_position_contexts`.
    Context(Box<OpenPositionContextRow>),
    /// `trade_reflections`.
    Reflection(Box<ReflectionRow>),
    /// `session_memory`: a memory recalled for the trader.
    Given(RecalledMemoryRow),
}

/// A row of `reasoning_logs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRow {
    /// The author.
    pub role: Role,
    /// Hash of the text, which is part of the same commit or already stored.
    pub content: ContentHash,
    /// The tool that returned it.
    pub tool_name: Option<String>,
    /// The arguments of the tool call.
    pub tool_input: Option<Value>,
}

/// A row of `positions`: one action and its effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PositionRow {
    /// Its number in the session, from 1.
    pub action_id: u64,
    /// `buy`, `sell`, `short`, `cover`, `stop`, `target`, `liquidation`, `split`, `dividend`,
    /// `financing` or `no_trade`.
    pub action_type: String,
    /// The instrument; `None` for `no_trade`.
    pub symbol: Option<Symbol>,
    /// Units traded. For a split: the units held after it. For a dividend or financing: the units held,
    /// negative for a short position.
    pub amount: Quantity,
    /// Price per unit, dividend per share, charge per unit, or value of a share after a split; `None` for
    /// `no_trade`.
    pub price: Option<Price>,
    /// Cash after the action.
    pub cash: Money,
    /// Cash + sum of quantity x price, after the action.
    pub portfolio_value: Money,
    /// On the session's last row: value at this close minus value at the previous session's close.
    pub daily_profit: Option<Money>,
    /// The same in percent.
    pub daily_return_pct: Option<Decimal>,
    /// Further data for a recomputation.
    #[serde(flatten)]
    pub terms: ActionTerms,
}

/// Details of an action besides its amount and price. Records of rules version 1 have none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActionTerms {
    /// The order of a fill; `None` for a stop, a target and a liquidation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_id: Option<String>,
    /// The fill's fee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee: Option<Money>,
    /// Cost of a fill's slippage, already included in the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slippage: Option<Money>,
    /// Realized result of a closing fill, or of the cash paid for a fraction of a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "realised_pnl")]
    pub realized_pnl: Option<Money>,
    /// Leverage of the fill's position, 1 for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leverage: Option<Decimal>,
    /// The stop in force after a fill; for a closing fill, the stop that the position had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// The target in force after a fill; for a closing fill, the target that the position had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
    /// New shares per old share in a split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Decimal>,
    /// The calendar nights that the financing charge covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nights: Option<u32>,
}

/// A row of `orders`: the outcome of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderRow {
    /// Unique within job and agent.
    pub order_id: String,
    /// The instrument as requested.
    pub symbol: Symbol,
    /// `buy`, `sell`, `short` or `cover`.
    pub side: String,
    /// Units requested.
    pub quantity: Quantity,
    /// `filled`, `rejected`, `pending` or `expired`.
    pub status: String,
    /// Reason code of a rejection or expiry.
    pub code: Option<String>,
    /// The reason as a sentence.
    pub message: Option<String>,
    /// The numbers behind the decision.
    pub numbers: Option<Value>,
    /// Price of the fill, slippage included.
    pub price: Option<Price>,
    /// Fee of the fill.
    pub fee: Option<Money>,
    /// Cost of the slippage, in money.
    pub slippage: Option<Money>,
    /// Realized result of the fill.
    #[serde(rename = "realised_pnl")]
    pub realized_pnl: Option<Money>,
    /// The stop requested with it.
    pub stop: Option<Price>,
    /// The target requested with it.
    pub target: Option<Price>,
    /// Leverage requested.
    pub leverage: Option<Decimal>,
}

/// A row of `position_snapshots`: an open position at a close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotRow {
    /// The instrument.
    pub symbol: Symbol,
    /// The position.
    pub position_id: String,
    /// Units, negative when short.
    pub quantity: Quantity,
    /// Average entry price.
    pub avg_price: Price,
    /// The mark.
    pub close: Price,
    /// (close - average) x quantity.
    pub unrealised_pnl: Money,
    /// The stop in force.
    pub stop: Option<Price>,
    /// Its leverage.
    pub leverage: Decimal,
}

/// A row of `holdings`: a holding at the end of a session, marked at the close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldingRow {
    /// The instrument.
    pub symbol: Symbol,
    /// Units, negative when short.
    pub quantity: Quantity,
    /// The mark.
    pub price: Price,
}

/// The final rows of a session.
#[derive(Clone, Debug)]
pub struct CloseSession {
    /// `completed` or `failed`.
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// `metadata`, `provenance` and other data for readers.
    pub metadata: Value,
    /// Hash and body of the state that the next day starts with.
    pub state: StoredText,
    /// The holdings at the close.
    pub holdings: Vec<HoldingRow>,
    /// Holdings, cash and value before the day.
    pub starting: StartingPosition,
    /// Cash at the close.
    pub cash: Money,
    /// Value at the close.
    pub portfolio_value: Money,
    /// Value minus the value at the previous session's close. Written to the session's last row of
    /// `positions` (outside the chain, which has it in `metadata.books`).
    pub daily_profit: Money,
    /// The same in percent; `None` when the previous value was not above zero.
    pub daily_return_pct: Option<Decimal>,
}

/// An agent's position before a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartingPosition {
    /// The holdings.
    pub holdings: Vec<(Symbol, Quantity)>,
    /// Cash.
    pub cash: Money,
    /// Value at the previous session's close (for the first: the initial cash).
    pub portfolio_value: Money,
}
