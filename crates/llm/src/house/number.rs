//! Numbers as they stand in tool results: JSON numbers or exact texts.

use rust_decimal::{Decimal, RoundingStrategy};
use serde_json::Value;

/// The decimal that a JSON number or a text stands for; `None` for null and anything else.
pub(super) fn read(value: &Value) -> Option<Decimal> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    text.parse().or_else(|_| Decimal::from_scientific(&text)).ok()
}

/// The decimal as a JSON number, whole where it is.
pub(super) fn write(amount: Decimal) -> Value {
    let text = amount.normalize().to_string();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// With two decimals at most, halves away from zero.
pub(super) fn show(amount: Decimal) -> String {
    amount.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero).normalize().to_string()
}

/// A price: as [`show`] has it, and below 1 with six digits.
pub(super) fn show_price(price: Decimal) -> String {
    if price.is_zero() || price.abs() >= Decimal::ONE {
        return show(price);
    }
    price.round_sf(6).unwrap_or(price).normalize().to_string()
}
