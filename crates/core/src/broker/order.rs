//! An agent's orders, and the quotes that they are checked against.

use super::conditions::Conditions;
use crate::id::Symbol;
use crate::ledger::{OrderId, Side};
use crate::money::{Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An unchecked order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Its number, from [`super::Books::next_order_id`].
    pub id: OrderId,
    /// The instrument.
    pub symbol: Symbol,
    /// Buy, sell, short or cover.
    pub side: Side,
    /// Shares or units. Any number can be passed; one that is not above zero is rejected.
    pub quantity: Quantity,
    /// The price at which to close the position at a loss. Like `target` and `leverage`, it applies only to a
    /// buy or a short; a sell or a cover leaves the position's unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// The price at which to close the position at a gain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
    /// The leverage; default: the open position's, or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leverage: Option<Decimal>,
    /// The agent's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A request to move the stop or the target of an open position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopChange {
    /// Its ID, from the same series as the orders'.
    pub id: OrderId,
    /// The instrument.
    pub symbol: Symbol,
    /// The new stop; `None` leaves it unchanged. A stop can only be tightened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// The new target; `None` leaves it unchanged. It can move either way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
    /// The agent's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An instrument's state in the market when an order is checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The instrument.
    pub symbol: Symbol,
    /// The trading day.
    pub day: Date,
    /// Its price, or why it has none.
    pub state: QuoteState,
    /// The market's conditions for it today.
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
}

/// A price, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteState {
    /// Not one of the job's instruments.
    Unknown,
    /// No bar on this day.
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

    /// The quote of a symbol that is not one of the job's instruments.
    #[must_use]
    pub fn unknown(symbol: Symbol, day: Date) -> Self {
        Self { symbol, day, state: QuoteState::Unknown, conditions: Conditions::default() }
    }
}

/// Parses an amount that an agent wrote, a JSON number or text such as `"12.5"` or `"1,200"`.
///
/// # Errors
/// A message that quotes the value if it is not a finite number that the ledger can hold: `NaN`, `inf`,
/// `1e400`, `"ten"`, `null`, a list.
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
