//! The same orders, filled at the next open.

use crate::number::Number;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The result of the same orders at the next open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RefillResponse {
    /// The fill convention: `next_open`.
    pub fill: String,
    /// The portfolio value at the last close; `null` if it could not be computed.
    pub ending_portfolio_value: Option<Number>,
    /// `last / initial - 1`.
    pub total_return: Option<f64>,
    /// Fees and slippage, in money.
    pub costs: Option<Number>,
    /// Orders of the agent that were filled in the run.
    pub orders: usize,
    /// Of these, filled at the next open.
    pub filled: usize,
    /// Of the filled orders, those that were reduced to what cash, holdings or the participation cap allow.
    pub reduced: u64,
    /// Orders that could not be filled.
    pub rejected: usize,
    /// Orders without a next bar within the days.
    pub without_next_bar: usize,
    /// The orders of the previous two fields, at most 50.
    pub unfilled: Vec<UnfilledOrder>,
    /// Why it could not be computed.
    pub unavailable: Option<String>,
}

/// An order that does not fill at the next open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UnfilledOrder {
    /// The day on which it was placed.
    pub date: Date,
    /// The instrument.
    pub symbol: String,
    /// `buy`, `sell`, `short` or `cover`.
    pub side: String,
    /// Units.
    pub quantity: Number,
    /// Why: a reject code, or `no_next_bar`.
    pub code: String,
}
