//! The outcome of an imported day, compared with its log.

use crate::number::Number;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What came of a recorded day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordedResponse {
    /// How many messages the log has of it.
    pub messages: usize,
    /// How many of them the agent said.
    pub answers: usize,
    /// How many orders.
    pub orders: usize,
    /// Orders of the log that the broker refuses.
    pub refused: Vec<RecordedRefusal>,
    /// Where the books differ from what the log says that they were after the last order.
    pub differences: Vec<RecordedDifference>,
}

/// An order of a log that the broker refuses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordedRefusal {
    /// The instrument.
    pub symbol: String,
    /// `buy`, `sell`, `short` or `cover`.
    pub side: String,
    /// Shares or units.
    pub quantity: Number,
    /// The refusal's code.
    pub code: String,
    /// Why, in a sentence.
    pub message: String,
}

/// An amount of which a log says something else than the books.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordedDifference {
    /// A symbol, or `cash`.
    pub what: String,
    /// What the log says.
    pub recorded: Number,
    /// What orders and prices come to.
    pub computed: Number,
}
