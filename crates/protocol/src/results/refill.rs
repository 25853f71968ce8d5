//! The same orders, filled at the next open.

use crate::number::Number;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the same orders come to at the next open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RefillResponse {
    /// The fill convention: `next_open`.
    pub fill: String,
    /// The portfolio value at the last close; `null` where it could not be computed.
    pub ending_portfolio_value: Option<Number>,
    /// `last / initial - 1`.
    pub total_return: Option<f64>,
    /// Fees and slippage, in money.
    pub costs: Option<Number>,
    /// Orders of the agent that were filled in the run.
    pub orders: usize,
    /// Of these, filled at the next open.
    pub filled: usize,
    /// Of the filled, those that were reduced to what cash, holdings or the participation cap cover there.
    pub reduced: u64,
    /// How many could not be filled there.
    pub rejected: usize,
    /// How many have no next bar within the days.
    pub without_next_bar: usize,
    /// The orders of the last two, at most 50.
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
    /// Why: a code of a rejection, or `no_next_bar`.
    pub code: String,
}
