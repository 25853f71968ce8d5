//! What came of a day that was traded elsewhere, beside its log.

use papertape_agents::imported::ImportedOutcome;
use papertape_protocol::number::number;
use papertape_protocol::results::recorded::{RecordedDifference, RecordedRefusal, RecordedResponse};
use serde_json::Value;

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
