//! Replays a day that was traded elsewhere: its messages and orders become steps of the tape.
//!
//! The orders go through the broker, so the account is computed from the orders and the prices; where it differs from
//! the log, the day's metadata report it.

use crate::config::AgentKind;
use crate::desk::answer::{PortfolioDecision, Rating, ResearchPlan, Structured as _, TraderProposal};
use crate::memory::TraderOutcome;
use crate::memory::round_summary::{cut, one_line};
use crate::recorded::{
    Difference, RecordedAnalysis, RecordedBooks, RecordedDay, RecordedMessage, RecordedOrder,
    RecordedReflection, SAID, differ,
};
use crate::tools::trade;
use papertape_core::broker::{Books, Order, approve};
use papertape_core::id::Symbol;
use papertape_core::json::to_value;
use papertape_core::market::{Listed, MarketView};
use papertape_core::message::Role;
use papertape_core::money::Money;
use papertape_core::prompt::lines::FINISH_SIGNAL;
use papertape_core::provenance::{DataQuality, QualityState, Research};
use papertape_core::tape::{
    ContentDoc, Ctx, LocalStep, OutcomeKind, ScopeKey, SessionStop, StepClass, ToolInvocation,
    TranscriptMessage,
};
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

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
    /// The portfolio value according to the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Decimal>,
    /// The same, computed from the orders and the day's opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_value: Option<Decimal>,
    /// A desk's part of the metadata.
    #[serde(skip)]
    desk: Map<String, Value>,
    /// Symbols whose log has no final decision, or one without a rating.
    #[serde(skip)]
    undecided: Vec<(Symbol, &'static str)>,
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
/// The reason code of an analysis without a final decision.
const NO_DECISION: &str = "no_decision_recorded";
/// The reason code of a final decision without a rating.
const NO_RATING: &str = "portfolio_manager_unparseable";
/// The maximum characters of each symbol's decision in the memory.
const DECISION_CHARS: usize = 300;

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
        let quality = if let Some((_, reason)) = self.undecided.first() {
            let mut reason_codes = vec![(*reason).to_owned()];
            reason_codes.extend(self.undecided.iter().map(|(_, reason)| (*reason).to_owned()));
            reason_codes.dedup();
            DataQuality { state: QualityState::NodeDegraded, reason_codes, ..DataQuality::default() }
        } else if self.messages == 0 || self.has_answered() {
            DataQuality::default()
        } else {
            let state = if self.orders > 0 { QualityState::NodeDegraded } else { QualityState::NoDecision };
            DataQuality { state, reason_codes: vec![NO_ANSWER.to_owned()], ..DataQuality::default() }
        };
        let mut metadata = self.desk.clone();
        metadata.insert("recorded".to_owned(), to_value(self));
        metadata.insert("data_quality".to_owned(), to_value(&quality));
        metadata
    }
}

/// Records the log's messages, then places its orders one after the other. A desk's messages are in the scopes of its
/// symbols and roles, and its orders where a desk places them.
///
/// # Errors
/// A stop.
pub(crate) async fn replay_imported_day(
    root: &mut Ctx,
    (kind, day): (AgentKind, &RecordedDay),
    (symbols, date, view): (&Listed, Date, &MarketView<'_>),
    books: &mut Books,
) -> Result<ImportedOutcome, SessionStop> {
    let mut outcome = ImportedOutcome {
        messages: day.messages.len(),
        orders: day.orders.len(),
        ..ImportedOutcome::default()
    };
    if kind == AgentKind::Desk {
        record_analyses(root, &day.analyses, &mut outcome).await?;
    }
    let orders_at = match kind {
        AgentKind::Solo | AgentKind::External => "solo",
        AgentKind::Desk => "sizing",
    };
    let ctx = &mut root.child(ScopeKey::node(orders_at))?;
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
    if let Some(recorded) = day.value {
        outcome.value = Some(recorded.value.0);
        let computed = recorded.is_at_open.then(|| value_at_open(books, view)).flatten();
        outcome.computed_value = computed.map(|value| value.0);
        if let Some(computed) = computed.filter(|computed| differ(recorded.value.0, computed.0)) {
            let (recorded, computed) = (recorded.value.0, computed.0);
            outcome.differences.push(Difference { what: "value".to_owned(), recorded, computed });
        }
    }
    if !day.reflections.is_empty() {
        let mut ctx = root.child(ScopeKey::node("memory log"))?;
        for reflection in &day.reflections {
            say(&mut ctx, &reflection_text(reflection)).await?;
        }
    }
    Ok(outcome)
}

/// Cash and the positions at the day's opens; a position without one at its last price. `None`: a position has no
/// price, or the amounts are too large.
fn value_at_open(books: &Books, view: &MarketView<'_>) -> Option<Money> {
    let account = books.account();
    let mut value = account.cash().0;
    for (symbol, held) in account.positions() {
        let price = view.open_price(symbol).map(|read| read.value.price);
        let price = price.or_else(|_| view.price(symbol).map(|read| read.value.price)).ok()?;
        value = value.checked_add(held.quantity.0.checked_mul(price.0)?)?;
    }
    Some(Money(value))
}

/// The text of a reflection, with the decision that it is about.
fn reflection_text(reflection: &RecordedReflection) -> String {
    let RecordedReflection { symbol, date, outcome, text } = reflection;
    format!("{symbol} on {date}: {outcome}\n{text}")
}

/// Records a desk's messages by symbol and role, and each symbol's state.
async fn record_analyses(
    root: &mut Ctx,
    analyses: &[RecordedAnalysis],
    outcome: &mut ImportedOutcome,
) -> Result<(), SessionStop> {
    if analyses.is_empty() {
        return Ok(());
    }
    let (mut by_symbol, mut ratings) = (Map::new(), BTreeMap::<&str, usize>::new());
    let (mut unparseable, mut missing, mut decisions) = (0_usize, 0_usize, Vec::new());
    for analysis in analyses {
        let symbol = &analysis.symbol;
        let ctx = root.child(ScopeKey::Symbol(symbol.to_string()))?;
        let mut scopes: BTreeMap<(&str, u32), Ctx> = BTreeMap::new();
        for message in &analysis.messages {
            let key = (message.node.as_str(), message.round);
            let scope = match scopes.entry(key) {
                Entry::Occupied(scope) => scope.into_mut(),
                Entry::Vacant(free) => {
                    free.insert(ctx.child(ScopeKey::Node(message.node.clone(), message.round))?)
                }
            };
            say(scope, &message.content).await?;
            outcome.messages += 1;
            outcome.answers += 1;
        }
        let mut ctx = ctx;
        let state = record_state(&mut ctx, analysis).await?;
        let text = |field: &str| analysis.state[field].as_str().unwrap_or_default();
        let (plan, proposal) = (text("investment_plan"), text("trader_investment_plan"));
        let text = text("final_trade_decision");
        let rating = recorded_rating(text);
        match rating {
            Some(rating) => *ratings.entry(rating.as_str()).or_default() += 1,
            None if text.trim().is_empty() => {
                missing += 1;
                outcome.undecided.push((symbol.clone(), NO_DECISION));
            }
            None => {
                unparseable += 1;
                outcome.undecided.push((symbol.clone(), NO_RATING));
            }
        }
        decisions.push(format!("{symbol}: {}", cut(&one_line(text), DECISION_CHARS)));
        let plan = ResearchPlan::parse(plan).ok();
        let proposal = TraderProposal::parse(proposal).ok();
        let about = json!({
            "research": Research::read(&analysis.state["investment_debate_state"]),
            "recommendation": plan.map(|plan| plan.recommendation),
            "action": proposal.map(|proposal| proposal.action),
            "rating": rating,
            "direction": rating.map(|rating| rating.direction()),
            "state": state,
        });
        by_symbol.insert(symbol.to_string(), about);
    }
    outcome.final_text = decisions.join("\n");
    let counted = json!({
        "symbols": analyses.len(),
        "ratings": ratings,
        "unparseable": unparseable,
        "fallback": missing,
    });
    outcome.desk.insert("by_symbol".to_owned(), Value::Object(by_symbol));
    outcome.desk.insert("decisions".to_owned(), counted);
    Ok(())
}

/// The rating of a recorded decision: that of its first line, if TradingAgents has rendered it from a structured answer;
/// else the only one that the text states.
#[must_use]
pub fn recorded_rating(decision: &str) -> Option<Rating> {
    let first = decision.trim_start().lines().next().unwrap_or_default();
    let rendered = first.strip_prefix("**Rating**: ").and_then(Rating::read);
    rendered.or_else(|| PortfolioDecision::parse(decision).ok().map(|decision| decision.rating))
}

/// Stores a symbol's state as a document of its own. Returns its hash.
async fn record_state(ctx: &mut Ctx, analysis: &RecordedAnalysis) -> Result<Value, SessionStop> {
    let entry = LocalStep {
        kind: "state",
        class: StepClass::Local,
        arguments: json!({ "symbol": analysis.symbol }),
        outcome: analysis.state.clone(),
        outcome_kind: OutcomeKind::Ok,
        message: None,
        implied: Vec::new(),
    };
    let recorded = ctx.record_local(entry).await?;
    Ok(to_value(&ContentDoc::of(&recorded).hash))
}

/// Adds a message of the agent to the transcript.
async fn say(ctx: &mut Ctx, text: &str) -> Result<String, SessionStop> {
    let message = RecordedMessage {
        role: Role::Assistant,
        content: text.to_owned(),
        tool_name: None,
        tool_input: None,
    };
    record_message(ctx, &message).await
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

#[cfg(test)]
mod tests {
    use super::*;

    // Goal: the rating of a structured decision is that of its first line, whatever its text quotes; of prose, it is the
    // only one stated; two different ones are none.
    #[test]
    fn a_recorded_rating_is_read_and_never_guessed() {
        let rendered =
            "**Rating**: Overweight\n\n**Executive Summary**: The trader's action:\n**Action**: Sell\n";
        assert_eq!(recorded_rating(rendered), Some(Rating::Overweight));
        assert_eq!(recorded_rating("Final rating: Sell"), Some(Rating::Sell));
        assert_eq!(recorded_rating("We cannot agree on anything today."), None);
        assert_eq!(recorded_rating("**Rating**: see below"), None);
        assert_eq!(recorded_rating(""), None);
    }
}
