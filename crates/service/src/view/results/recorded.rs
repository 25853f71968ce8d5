//! What came of a day that was traded elsewhere, beside its log.

use super::super::{Number, number};
use papertape_agents::imported::ImportedOutcome;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What came of a recorded day.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RecordedDifference {
    /// A symbol, or `cash`.
    pub what: String,
    /// What the log says.
    pub recorded: Number,
    /// What orders and prices come to.
    pub computed: Number,
}

/// Of a session's metadata; `None` where the day was lived here.
pub(super) fn recorded(metadata: Option<&Value>) -> Option<RecordedResponse> {
    let spoke: ImportedOutcome = serde_json::from_value(metadata?.get("recorded")?.clone()).ok()?;
    Some(RecordedResponse {
        messages: spoke.messages,
        answers: spoke.answers,
        orders: spoke.orders,
        refused: spoke
            .refused
            .into_iter()
            .map(|refused| RecordedRefusal {
                symbol: refused.order.symbol.to_string(),
                side: refused.order.side.to_string(),
                quantity: number(refused.order.quantity.0),
                code: refused.code,
                message: refused.message,
            })
            .collect(),
        differences: spoke
            .differences
            .into_iter()
            .map(|difference| RecordedDifference {
                what: difference.what,
                recorded: number(difference.recorded),
                computed: number(difference.computed),
            })
            .collect(),
    })
}
