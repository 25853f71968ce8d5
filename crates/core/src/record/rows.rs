//! Rows that steps imply, and what a session leaves.

use super::{ContextRow, DayStatus, GivenRow, ReflectionRow, RoundRow, Text};
use crate::id::{ContentHash, Symbol};
pub use crate::market::Exposure as ExposureRow;
use crate::message::Role;
use crate::money::{Money, Price, Quantity};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A row that exists because of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub enum Implied {
    /// `reasoning_logs`.
    Message(MessageRow),
    /// The exposure record: what of the market was read.
    Exposure(ExposureRow),
    /// `positions`.
    Position(PositionRow),
    /// `orders`.
    Order(Box<OrderRow>),
    /// `position_snapshots`.
    Snapshot(SnapshotRow),
    /// `trader_round_memory`.
    Round(Box<RoundRow>),
    /// `open_position_contexts`.
    Context(Box<ContextRow>),
    /// `trade_reflections`.
    Reflection(Box<ReflectionRow>),
    /// `session_memory`: what the trader was given.
    Given(GivenRow),
}

/// A row of `reasoning_logs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRow {
    /// Who speaks.
    pub role: Role,
    /// Hash of the text, which is in the same commit or there already.
    pub content: ContentHash,
    /// The tool that answers.
    pub tool_name: Option<String>,
    /// The arguments that it was called with.
    pub tool_input: Option<Value>,
}

/// A row of `positions`: one action and what it left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PositionRow {
    /// From 1 in a session.
    pub action_id: u64,
    /// `buy`, `sell`, `short`, `cover`, `stop`, `target`, `liquidation`, `split`, `dividend`,
    /// `financing` or `no_trade`.
    pub action_type: String,
    /// The instrument; `None` for `no_trade`.
    pub symbol: Option<Symbol>,
    /// Units traded; of a split the units held after it, of a dividend and of financing the units held,
    /// below zero for a short position.
    pub amount: Quantity,
    /// Price of one unit, the dividend of one share, the charge per unit, or what one share is worth after
    /// a split; `None` for `no_trade`.
    pub price: Option<Price>,
    /// Cash after it.
    pub cash: Money,
    /// Cash + sum of quantity x price then.
    pub portfolio_value: Money,
    /// On the session's last row: this close against the previous session's.
    pub daily_profit: Option<Money>,
    /// The same in percent.
    pub daily_return_pct: Option<Decimal>,
    /// What else a recomputation needs.
    #[serde(flatten)]
    pub terms: ActionTerms,
}

/// What an action was, besides its amount and price. Records of rules version 1 have none of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActionTerms {
    /// The order that a fill belongs to; `None` of a stop, a target and a liquidation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_id: Option<String>,
    /// Fee of a fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee: Option<Money>,
    /// Cost of a fill's slippage, which is in the price already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slippage: Option<Money>,
    /// What a closing fill, or the cash for a fraction of a share, realised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realised_pnl: Option<Money>,
    /// Leverage of the position that a fill is about, 1 for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leverage: Option<Decimal>,
    /// The stop in force after a fill; of one that closes, the stop that it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// The target in force after a fill; of one that closes, the target that it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
    /// New shares for one old share, of a split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Decimal>,
    /// The calendar nights that financing pays for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nights: Option<u32>,
}

/// A row of `orders`: what became of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderRow {
    /// Unique within job and agent.
    pub order_id: String,
    /// The instrument as it was asked for.
    pub symbol: Symbol,
    /// `buy`, `sell`, `short` or `cover`.
    pub side: String,
    /// Units asked for.
    pub quantity: Quantity,
    /// `filled`, `rejected`, `pending` or `expired`.
    pub status: String,
    /// Reason code of a rejection or an expiry.
    pub code: Option<String>,
    /// The reason as a sentence.
    pub message: Option<String>,
    /// The numbers that decided.
    pub numbers: Option<Value>,
    /// Price of the fill, slippage included.
    pub price: Option<Price>,
    /// Fee of the fill.
    pub fee: Option<Money>,
    /// Cost of the slippage, in money.
    pub slippage: Option<Money>,
    /// What the fill realised.
    pub realised_pnl: Option<Money>,
    /// Stop that goes with it.
    pub stop: Option<Price>,
    /// Target that goes with it.
    pub target: Option<Price>,
    /// Leverage asked for.
    pub leverage: Option<Decimal>,
}

/// A row of `position_snapshots`: an open position at a close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotRow {
    /// The instrument.
    pub symbol: Symbol,
    /// The position.
    pub position_id: String,
    /// Units, below zero when short.
    pub quantity: Quantity,
    /// Average price of entry.
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

/// A row of `holdings`: what is held at a session's end, marked at the close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldingRow {
    /// The instrument.
    pub symbol: Symbol,
    /// Units, below zero when short.
    pub quantity: Quantity,
    /// The mark.
    pub price: Price,
}

/// What a session leaves.
#[derive(Clone, Debug)]
pub struct CloseSession {
    /// `completed` or `failed`.
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// `metadata`, `provenance` and whatever else readers are told of it.
    pub metadata: Value,
    /// Hash and body of the state that the next day starts from.
    pub state: Text,
    /// What is held.
    pub holdings: Vec<HoldingRow>,
    /// What was held, the cash and the value before the day.
    pub starting: StartingPosition,
    /// Cash at the close.
    pub cash: Money,
    /// Value at the close.
    pub portfolio_value: Money,
    /// Value against the previous session's close; goes to the session's last row of `positions`
    /// (outside of the chain, which has it in `metadata.books`).
    pub daily_profit: Money,
    /// The same in percent; `None` where the previous value was not above zero.
    pub daily_return_pct: Option<Decimal>,
}

/// An agent's position before a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartingPosition {
    /// What is held.
    pub holdings: Vec<(Symbol, Quantity)>,
    /// Cash.
    pub cash: Money,
    /// Value at the previous session's close (the first: the initial cash).
    pub portfolio_value: Money,
}
