//! The outcome of an imported day, compared with its log.

use crate::number::Number;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The outcome of an imported day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordedResponse {
    /// Messages in the log.
    pub messages: usize,
    /// Messages of the agent.
    pub responses: usize,
    /// Orders in the log.
    pub orders: usize,
    /// Orders of the log that the broker rejects.
    pub rejected: Vec<RecordedRejection>,
    /// Differences between the books and the log after the last order.
    pub differences: Vec<RecordedDifference>,
    /// The portfolio value in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Number>,
    /// The same, computed from orders and the day's opens; absent if the log has no trades.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_value: Option<Number>,
}

/// An order of a log that the broker rejects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordedRejection {
    /// The instrument.
    pub symbol: String,
    /// `buy`, `sell`, `short` or `cover`.
    pub side: String,
    /// Shares or units.
    pub quantity: Number,
    /// The reason code.
    pub code: String,
    /// The reason, in a sentence.
    pub message: String,
}

/// An amount that differs between the log and the books.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordedDifference {
    /// A symbol, `cash`, or `value` for the portfolio value at the day's opens.
    pub item: String,
    /// The amount in the log.
    pub recorded: Number,
    /// The amount computed from orders and prices.
    pub computed: Number,
}
