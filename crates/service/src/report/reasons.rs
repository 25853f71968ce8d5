//! The text behind a decision: what a desk's Portfolio Manager decided, or the last thing that an agent wrote before its
//! order.

use super::trades::{Reason, RoundTrip, TripFill};
use crate::app::App;
use crate::error::ServiceError;
use crate::view;
use papertape_core::message::Role;
use papertape_core::record::SessionId;
use papertape_core::tape::StepPath;
use papertape_store::PageRequest;
use serde_json::Value;

/// Messages in memory at a time.
const PAGE: u32 = 50;

/// The texts of a desk's state that give the reason for an order, the last word first.
const DESK_TEXTS: [(&str, &str); 3] = [
    ("Portfolio Manager", "final_trade_decision"),
    ("Trader", "trader_investment_plan"),
    ("Research Manager", "investment_plan"),
];

/// Adds the reasons of a round trip.
pub(super) async fn fill_in(app: &App, trip: &mut RoundTrip) -> Result<(), ServiceError> {
    if let Some(opened) = &trip.opened {
        trip.reason = of_fill(app, opened, &trip.symbol).await?;
    }
    if let Some(closed) = trip.closed.as_ref().filter(|closed| closed.order.is_some()) {
        trip.exit_reason = of_fill(app, closed, &trip.symbol).await?;
    }
    Ok(())
}

async fn of_fill(app: &App, fill: &TripFill, symbol: &str) -> Result<Option<Reason>, ServiceError> {
    let placed = app.store.placed(fill.session).await?;
    let place = fill.order.as_ref().and_then(|order| placed.orders.get(order));
    // Imported orders have no step; they were placed on the day of their fill.
    let session = place.map_or(fill.session, |place| place.session);
    if let Some(reason) = of_desk(app, session, symbol).await? {
        return Ok(Some(reason));
    }
    let text = last_words(app, session, place.map(|place| &place.path)).await?;
    Ok(text.map(|text| Reason { node: None, text }))
}

async fn of_desk(app: &App, session: SessionId, symbol: &str) -> Result<Option<Reason>, ServiceError> {
    let found = match view::desk_state(app, session.0, Some(symbol.to_owned())).await {
        Ok(found) => found,
        // Not a desk, or a desk that did not analyze the instrument.
        Err(ServiceError::NotFound(_) | ServiceError::Invalid { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let text =
        |key: &str| found.state.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let reason = DESK_TEXTS.iter().find_map(|(node, key)| Some((*node, text(key)?)));
    Ok(reason.map(|(node, text)| Reason { node: Some(node), text: text.to_owned() }))
}

/// The agent's last text up to its order; without a step, the last one of the session.
async fn last_words(
    app: &App,
    session: SessionId,
    order: Option<&StepPath>,
) -> Result<Option<String>, ServiceError> {
    let mut last = None;
    let mut request = PageRequest::first(PAGE);
    while let Some(found) = app.store.conversation(session, None, 0, &request).await? {
        for message in found.messages.items {
            if order == Some(&message.path) {
                return Ok(last);
            }
            if message.role == Role::Assistant && !message.content.trim().is_empty() {
                last = Some(message.content);
            }
        }
        let Some(cursor) = found.messages.next else { break };
        request = PageRequest::after(PAGE, &cursor);
    }
    Ok(last)
}
