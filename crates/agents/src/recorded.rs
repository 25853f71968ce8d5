//! A day that was traded elsewhere: an agent says and does what a log says that it said and did.
//!
//! Its messages and orders go onto the tape as steps like those of a day that is lived here, and its orders
//! go through the broker. So the books are ours, computed from the orders and the prices; where they come to
//! something else than the log says, the day's metadata tell it.

use crate::memory::TraderOutcome;
use crate::tools::trade;
use papertape_core::broker::{Books, Order, Side, approve};
use papertape_core::id::Symbol;
use papertape_core::json::to_value;
use papertape_core::market::{Listed, MarketView};
use papertape_core::message::{ModelName, Role};
use papertape_core::money::{Money, Quantity};
use papertape_core::prompt::lines::FINISH_SIGNAL;
use papertape_core::provenance::{DataQuality, QualityState};
use papertape_core::tape::{
    Ctx, LocalStep, OutcomeKind, SessionStop, StepClass, ToolInvocation, TranscriptMessage,
};
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The kind of steps that are messages of a log: what an assistant or a tool said elsewhere.
pub const SAID: &str = "said";

/// How far two amounts may lie apart that are the same: logs are written by programs that add floating-point
/// numbers up.
pub const NOISE: Decimal = Decimal::from_parts(1, 0, 0, false, 6);

/// What an agent said and did on a day elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedDay {
    /// The system prompt, where the log has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The conversation, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<RecordedMessage>,
    /// The orders, in theirs. Logs do not say between which messages they were placed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<RecordedOrder>,
    /// What the log says that the agent had after the last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub books: Option<RecordedBooks>,
}

/// A message of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedMessage {
    /// Who spoke.
    pub role: Role,
    /// What was said; empty for a turn of tool calls alone.
    pub content: String,
    /// The tool that answered, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Value>,
}

/// An order of a log. It fills at the day's open, as every order of such logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedOrder {
    /// The instrument.
    pub symbol: Symbol,
    /// What it did.
    pub side: Side,
    /// How many shares or units.
    pub quantity: Quantity,
}

/// What a log says that an agent had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedBooks {
    /// Cash.
    pub cash: Money,
    /// Quantities that are not zero.
    pub holdings: BTreeMap<Symbol, Quantity>,
}

/// A day of a log, and who writes its memories.
#[derive(Clone, Copy, Debug)]
pub struct ImportedDay<'a> {
    /// What was said and done.
    pub day: &'a RecordedDay,
    /// The model that writes the memories, for the one that spoke cannot be asked.
    pub writer: &'a ModelName,
}

/// What came of a recorded day: the key `recorded` of its session's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedOutcome {
    /// How many messages the log has of this day.
    pub messages: usize,
    /// How many of them the agent said.
    pub answers: usize,
    /// How many orders.
    pub orders: usize,
    /// How many of them closed a position or a part of one.
    pub closings: usize,
    /// Orders that the broker refuses.
    pub refused: Vec<RefusedOrder>,
    /// Where the books differ from what the log says that they were after the last order.
    pub differences: Vec<Difference>,
    /// The last thing that the agent said. It is a message, and so no part of the metadata.
    #[serde(skip)]
    last_words: String,
}

/// An order of a log that the broker refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedOrder {
    /// What it was to do.
    #[serde(flatten)]
    pub order: RecordedOrder,
    /// The code of the refusal.
    pub code: String,
    /// Why, in a sentence.
    pub message: String,
}

/// An amount of which a log says something else than the books.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// A symbol, or `cash`.
    pub what: String,
    /// What the log says.
    pub recorded: Decimal,
    /// What the orders and the prices come to.
    pub computed: Decimal,
}

impl RecordedBooks {
    /// Where these, which a log says, differ from what was computed; noise of floating point left out.
    #[must_use]
    pub fn differences(&self, computed: &Self) -> Vec<Difference> {
        let differ = |one: Decimal, other: Decimal| {
            one.checked_sub(other).is_none_or(|difference| difference.abs() > NOISE)
        };
        let mut found = Vec::new();
        if differ(self.cash.0, computed.cash.0) {
            found.push(Difference {
                what: "cash".to_owned(),
                recorded: self.cash.0,
                computed: computed.cash.0,
            });
        }
        let symbols: BTreeSet<&Symbol> = self.holdings.keys().chain(computed.holdings.keys()).collect();
        for symbol in symbols {
            let of = |books: &Self| books.holdings.get(symbol).copied().unwrap_or_default().0;
            let (recorded, computed) = (of(self), of(computed));
            if differ(recorded, computed) {
                found.push(Difference { what: symbol.to_string(), recorded, computed });
            }
        }
        found
    }

    /// What an account holds.
    #[must_use]
    pub fn of(books: &Books) -> Self {
        let account = books.account();
        let holdings = account.positions().iter();
        Self {
            cash: account.cash(),
            holdings: holdings.map(|(symbol, held)| (symbol.clone(), held.quantity)).collect(),
        }
    }
}

/// Why a day is degraded of which no answer was recorded.
const NO_ANSWER: &str = "no_answer_recorded";

impl ImportedOutcome {
    /// Has the agent said anything?
    #[must_use]
    pub fn has_answered(&self) -> bool {
        self.answers > 0
    }

    /// How the session ended, for the trader's memory.
    pub(crate) fn trader_outcome(&self) -> TraderOutcome {
        TraderOutcome {
            heard: self.has_answered(),
            degraded: false,
            decision: self.last_words.replace(FINISH_SIGNAL, "").trim().to_owned(),
        }
    }

    /// Its part of the session's metadata. A day whose log has a question but no answer is degraded: the decision shows
    /// only in the day's orders, if there are any.
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

/// Says what the log says, then places its orders one after the other.
///
/// # Errors
/// A stop.
pub(crate) async fn replay_imported_day(
    ctx: &mut Ctx,
    day: &RecordedDay,
    (symbols, date, view): (&Listed, Date, &MarketView<'_>),
    books: &mut Books,
) -> Result<ImportedOutcome, SessionStop> {
    let mut spoke = ImportedOutcome {
        messages: day.messages.len(),
        orders: day.orders.len(),
        ..ImportedOutcome::default()
    };
    if let Some(instructions) = &day.instructions {
        ctx.set_system_prompt(instructions);
    }
    for message in &day.messages {
        let kept = say(ctx, message).await?;
        if message.role == Role::Assistant {
            spoke.answers += 1;
            if !kept.trim().is_empty() {
                spoke.last_words = kept;
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
        let realised = placed.entry.as_ref().and_then(|entry| entry.realised());
        spoke.closings += usize::from(realised.is_some());
        spoke.refused.extend(placed.rejection.map(|rejection| RefusedOrder {
            order: order.clone(),
            code: rejection.code.as_str().to_owned(),
            message: rejection.message,
        }));
    }
    if let Some(recorded) = &day.books {
        spoke.differences = recorded.differences(&RecordedBooks::of(books));
    }
    Ok(spoke)
}

/// Puts a message into the conversation. Gives it as it is kept.
async fn say(ctx: &mut Ctx, message: &RecordedMessage) -> Result<String, SessionStop> {
    if message.role == Role::User {
        return ctx.push_user_message(&message.content).await;
    }
    let tool = message.tool_name.as_ref().map(|name| ToolInvocation {
        name: name.clone(),
        input: message.tool_input.clone().unwrap_or_else(|| json!({})),
    });
    let kept = ctx
        .record_local(LocalStep {
            kind: SAID,
            class: StepClass::Local,
            arguments: json!({ "role": message.role, "tool": tool.as_ref().map(|tool| &tool.name) }),
            outcome: json!({ "role": message.role, "content": message.content }),
            outcome_kind: OutcomeKind::Ok,
            said: Some(TranscriptMessage { role: message.role, content: message.content.clone(), tool }),
            implied: Vec::new(),
        })
        .await?;
    Ok(kept["content"].as_str().unwrap_or_default().to_owned())
}

/// The text of a [`SAID`] step's outcome, where it is an assistant's.
#[must_use]
pub fn assistants(outcome: &Value) -> Option<String> {
    let is_one = outcome["role"] == json!(Role::Assistant);
    outcome["content"].as_str().filter(|_| is_one).map(str::to_owned)
}
