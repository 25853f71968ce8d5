//! What an agent asks of the broker, and the quote that it asks against.

use super::conditions::Conditions;
use crate::id::Symbol;
use crate::ledger::{OrderId, Side};
use crate::money::{Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An order, not checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Its number, from [`super::Books::next_order_id`].
    pub id: OrderId,
    /// The instrument.
    pub symbol: Symbol,
    /// What it does.
    pub side: Side,
    /// How many shares or units; any number is safe to pass, one that is not above zero is refused.
    pub quantity: Quantity,
    /// Where the position is to be closed at a loss. Of meaning for an opening side alone, as are
    /// `target` and `leverage`; a sell or a cover leaves the position's as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// Where the position is to be closed at a gain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
    /// The leverage; absent means that of the open position, or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leverage: Option<Decimal>,
    /// Why, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A wish to move the stop or the target of an open position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopChange {
    /// Its number, of the same series as the orders'.
    pub id: OrderId,
    /// The instrument.
    pub symbol: Symbol,
    /// The new stop; absent keeps what the position has. A stop is tightened, never loosened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// The new target; absent keeps what the position has. It may move either way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
    /// Why, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What the market says of an instrument when an order about it is checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The instrument.
    pub symbol: Symbol,
    /// The trading day.
    pub day: Date,
    /// Its price, or why it has none.
    pub state: QuoteState,
    /// What the market allows of it today.
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
}

/// A price, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteState {
    /// The job's instruments do not have it.
    Unknown,
    /// It has no bar on this day.
    NoBar,
    /// Its price: the open in a session.
    At(Price),
}

impl Quote {
    /// The quote of an instrument with a price.
    #[must_use]
    pub fn at(symbol: Symbol, day: Date, price: Price) -> Self {
        Self { symbol, day, state: QuoteState::At(price), conditions: Conditions::default() }
    }

    /// The quote under these conditions.
    #[must_use]
    pub fn under(self, conditions: Conditions) -> Self {
        Self { conditions, ..self }
    }

    /// The quote of an instrument without a bar on this day.
    #[must_use]
    pub fn no_bar(symbol: Symbol, day: Date) -> Self {
        Self { symbol, day, state: QuoteState::NoBar, conditions: Conditions::default() }
    }

    /// The quote of a symbol that is none of the job's instruments.
    #[must_use]
    pub fn unknown(symbol: Symbol, day: Date) -> Self {
        Self { symbol, day, state: QuoteState::Unknown, conditions: Conditions::default() }
    }
}

/// Reads an amount that an agent wrote, as a JSON number or as text such as `"12.5"` or `"1,200"`.
///
/// # Errors
/// A sentence that repeats what was written, where it is not a finite number that the books can
/// hold: `NaN`, `inf`, `1e400`, `"ten"`, `null`, a list.
pub fn parse_amount(value: &Value) -> Result<Decimal, String> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().replace([',', '_'], ""),
        other => return Err(format!("`{other}` is not a finite number")),
    };
    text.parse::<Decimal>()
        .or_else(|_| Decimal::from_scientific(&text))
        .map(|amount| amount.normalize())
        .map_err(|_| format!("`{text}` is not a finite number that the books can hold"))
}
