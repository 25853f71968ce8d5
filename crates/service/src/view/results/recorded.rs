//! The outcome of an imported day, compared with its log.

use papertape_agents::imported::ImportedOutcome;
use papertape_protocol::number::number;
use papertape_protocol::results::recorded::{RecordedDifference, RecordedRejection, RecordedResponse};
use serde_json::Value;

/// From a session's metadata; `None` for a day that was not imported.
pub(super) fn recorded(metadata: Option<&Value>) -> Option<RecordedResponse> {
    let spoke: ImportedOutcome = serde_json::from_value(metadata?.get("recorded")?.clone()).ok()?;
    Some(RecordedResponse {
        messages: spoke.messages,
        responses: spoke.answers,
        orders: spoke.orders,
        rejected: spoke
            .refused
            .into_iter()
            .map(|refused| RecordedRejection {
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
                item: difference.what,
                recorded: number(difference.recorded),
                computed: number(difference.computed),
            })
            .collect(),
        value: spoke.value.map(number),
        computed_value: spoke.computed_value.map(number),
    })
}
