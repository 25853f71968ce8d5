//! A day that was traded elsewhere, as its log describes it.

use papertape_core::broker::{Books, Side};
use papertape_core::id::Symbol;
use papertape_core::message::{ModelName, Role};
use papertape_core::money::{Money, Quantity};
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The kind of steps that are a log's messages by an assistant or a tool.
pub const SAID: &str = "said";

/// The largest difference of two amounts that count as equal: logs are written by programs that add
/// floating-point numbers.
pub const NOISE: Decimal = Decimal::from_parts(1, 0, 0, false, 6);

/// An agent's messages and orders of a day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedDay {
    /// The system prompt, if the log has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The conversation, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<RecordedMessage>,
    /// The orders, in order. Logs do not say between which messages they were placed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<RecordedOrder>,
    /// The account after the last order, according to the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub books: Option<RecordedBooks>,
    /// A desk's analyses, one per symbol.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub analyses: Vec<RecordedAnalysis>,
    /// Reflections whose outcome became known at the day's close.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reflections: Vec<RecordedReflection>,
    /// The portfolio value after the last order, according to the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<RecordedValue>,
}

/// A desk's analysis of one symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedAnalysis {
    /// The instrument.
    pub symbol: Symbol,
    /// The roles' messages, in the order in which they spoke.
    pub messages: Vec<RoleMessage>,
    /// The state after the last role: a [`DeskState`](crate::desk::state::DeskState).
    pub state: Value,
}

/// A message of a desk's role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleMessage {
    /// The role's node, `Bull Researcher`.
    pub node: String,
    /// Its round, from 1.
    pub round: u32,
    /// The text.
    pub content: String,
}

/// A tool's reflection on an earlier decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedReflection {
    /// The instrument.
    pub symbol: Symbol,
    /// The day of the decision.
    pub date: Date,
    /// The rating, its return and its holding period, as in the log.
    pub outcome: String,
    /// The reflection.
    pub text: String,
}

/// A portfolio value, according to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedValue {
    /// The value.
    pub value: Money,
    /// Whether the log marks positions at the day's opens, so that the value can be computed from its orders. If not,
    /// it is stored without a comparison.
    pub is_at_open: bool,
}

/// A message of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedMessage {
    /// Its author.
    pub role: Role,
    /// The text; empty for a turn with only tool calls.
    pub content: String,
    /// The tool, for a tool's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The tool's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Value>,
}

/// An order of a log. It fills at the day's open, like every order of such logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedOrder {
    /// The instrument.
    pub symbol: Symbol,
    /// The side.
    pub side: Side,
    /// Shares or units.
    pub quantity: Quantity,
}

/// An account, according to a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedBooks {
    /// Cash.
    pub cash: Money,
    /// Quantities that are not zero.
    pub holdings: BTreeMap<Symbol, Quantity>,
}

/// A day of a log, and the model that writes its memories.
#[derive(Clone, Copy, Debug)]
pub struct ImportedDay<'a> {
    /// The day.
    pub day: &'a RecordedDay,
    /// The model that writes the memories: imported agents have no callable model.
    pub writer: &'a ModelName,
}

/// An amount on which a log and the computed account differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// A symbol, `cash`, or `value` for the portfolio value at the day's opens.
    pub what: String,
    /// The log's amount.
    pub recorded: Decimal,
    /// The amount computed from the orders and the prices.
    pub computed: Decimal,
}

impl RecordedBooks {
    /// The differences to the computed account, without floating-point noise.
    #[must_use]
    pub fn differences(&self, computed: &Self) -> Vec<Difference> {
        let mut differences = Vec::new();
        if differ(self.cash.0, computed.cash.0) {
            differences.push(Difference {
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
                differences.push(Difference { what: symbol.to_string(), recorded, computed });
            }
        }
        differences
    }

    /// The account of these books.
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

/// Whether two amounts differ by more than floating-point noise.
#[must_use]
pub fn differ(one: Decimal, other: Decimal) -> bool {
    one.checked_sub(other).is_none_or(|difference| difference.abs() > NOISE)
}

/// The text of a [`SAID`] step's outcome, if it is an assistant's.
#[must_use]
pub fn assistants(outcome: &Value) -> Option<String> {
    let is_one = outcome["role"] == json!(Role::Assistant);
    outcome["content"].as_str().filter(|_| is_one).map(str::to_owned)
}
