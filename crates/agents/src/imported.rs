//! Replays a day that was traded elsewhere: its messages and orders become steps of the tape.
//!
//! The orders go through the broker, so the account is computed from the orders and the prices; where it differs from
//! the log, the day's metadata report it.

use crate::memory::TraderOutcome;
use crate::recorded::{Difference, RecordedBooks, RecordedDay, RecordedMessage, RecordedOrder, SAID};
use crate::tools::trade;
use papertape_core::broker::{Books, Order, approve};
use papertape_core::json::to_value;
use papertape_core::market::{Listed, MarketView};
use papertape_core::message::Role;
use papertape_core::prompt::lines::FINISH_SIGNAL;
use papertape_core::provenance::{DataQuality, QualityState};
use papertape_core::tape::{
    Ctx, LocalStep, OutcomeKind, SessionStop, StepClass, ToolInvocation, TranscriptMessage,
};
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The outcome of an imported day: the key `recorded` of its session's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedOutcome {
    /// The number of messages in the log.
    pub messages: usize,
    /// How many of them are the agent's.
    pub answers: usize,
    /// The number of orders.
    pub orders: usize,
    /// How many of them closed a position or a part of one.
    pub closings: usize,
    /// Orders that the broker rejects.
    pub refused: Vec<RejectedOrder>,
    /// Where the account differs from the log after the last order.
    pub differences: Vec<Difference>,
    /// The agent's last message. It is in the transcript, so the metadata omit it.
    #[serde(skip)]
    final_text: String,
}

/// An order of a log that the broker rejects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedOrder {
    /// The order.
    #[serde(flatten)]
    pub order: RecordedOrder,
    /// The code of the rejection.
    pub code: String,
    /// The reason in a sentence.
    pub message: String,
}

/// The reason code of a day without a recorded answer.
const NO_ANSWER: &str = "no_answer_recorded";

impl ImportedOutcome {
    /// Whether the agent said anything.
    #[must_use]
    pub fn has_answered(&self) -> bool {
        self.answers > 0
    }

    /// How the session ended, for the trader's memory.
    pub(crate) fn trader_outcome(&self) -> TraderOutcome {
        TraderOutcome {
            has_reply: self.has_answered(),
            degraded: false,
            decision: self.final_text.replace(FINISH_SIGNAL, "").trim().to_owned(),
        }
    }

    /// Its part of the session's metadata. A day whose log has a question but no answer is degraded: only the day's
    /// orders, if any, show the decision.
    pub(crate) fn metadata(&self) -> Map<String, Value> {
        let quality = if self.messages == 0 || self.has_answered() {
            DataQuality::default()
        } else {
            let state = if self.orders > 0 { QualityState::NodeDegraded } else { QualityState::NoDecision };
            DataQuality { state, reason_codes: vec![NO_ANSWER.to_owned()], ..DataQuality::default() }
        };
        Map::from_iter([
            ("recorded".to_owned(), to_value(self)),
            ("data_quality".to_owned(), to_value(&quality)),
        ])
    }
}

/// Records the log's messages, then places its orders one after the other.
///
/// # Errors
/// A stop.
pub(crate) async fn replay_imported_day(
    ctx: &mut Ctx,
    day: &RecordedDay,
    (symbols, date, view): (&Listed, Date, &MarketView<'_>),
    books: &mut Books,
) -> Result<ImportedOutcome, SessionStop> {
    let mut outcome = ImportedOutcome {
        messages: day.messages.len(),
        orders: day.orders.len(),
        ..ImportedOutcome::default()
    };
    if let Some(instructions) = &day.instructions {
        ctx.set_system_prompt(instructions);
    }
    for message in &day.messages {
        let recorded = record_message(ctx, message).await?;
        if message.role == Role::Assistant {
            outcome.answers += 1;
            if !recorded.trim().is_empty() {
                outcome.final_text = recorded;
            }
        }
    }
    for order in &day.orders {
        let request = Order {
            id: books.next_order_id(),
            symbol: order.symbol.clone(),
            side: order.side,
            quantity: order.quantity,
            stop: None,
            target: None,
            leverage: None,
            reason: None,
        };
        let quote = trade::quote(books.profile(), view, &order.symbol, symbols.contains(&order.symbol), date);
        let decision = approve(books.account(), books.profile(), &quote, request.clone());
        let placed = trade::execute(ctx, books, view, (&request, decision), None).await?;
        let realized = placed.entry.as_ref().and_then(|entry| entry.realized());
        outcome.closings += usize::from(realized.is_some());
        outcome.refused.extend(placed.rejection.map(|rejection| RejectedOrder {
            order: order.clone(),
            code: rejection.code.as_str().to_owned(),
            message: rejection.message,
        }));
    }
    if let Some(recorded) = &day.books {
        outcome.differences = recorded.differences(&RecordedBooks::of(books));
    }
    Ok(outcome)
}

/// Adds a message to the transcript. Returns it as recorded.
async fn record_message(ctx: &mut Ctx, message: &RecordedMessage) -> Result<String, SessionStop> {
    if message.role == Role::User {
        return ctx.push_user_message(&message.content).await;
    }
    let tool = message.tool_name.as_ref().map(|name| ToolInvocation {
        name: name.clone(),
        input: message.tool_input.clone().unwrap_or_else(|| json!({})),
    });
    let recorded = ctx
        .record_local(LocalStep {
            kind: SAID,
            class: StepClass::Local,
            arguments: json!({ "role": message.role, "tool": tool.as_ref().map(|tool| &tool.name) }),
            outcome: json!({ "role": message.role, "content": message.content }),
            outcome_kind: OutcomeKind::Ok,
            message: Some(TranscriptMessage { role: message.role, content: message.content.clone(), tool }),
            implied: Vec::new(),
        })
        .await?;
    Ok(recorded["content"].as_str().unwrap_or_default().to_owned())
}
