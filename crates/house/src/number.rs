//! Numbers in tool results: JSON numbers or exact strings.

use rust_decimal::{Decimal, RoundingStrategy};
use serde_json::Value;

/// The decimal in a JSON number or a string; `None` for null and anything else.
pub(super) fn read(value: &Value) -> Option<Decimal> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    text.parse().or_else(|_| Decimal::from_scientific(&text)).ok()
}

/// The decimal as a JSON number, an integer when it is whole.
pub(super) fn write(amount: Decimal) -> Value {
    let text = amount.normalize().to_string();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// At most two decimals, halves rounded away from zero.
pub(super) fn show(amount: Decimal) -> String {
    amount.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero).normalize().to_string()
}

/// A price: formatted like [`show`], but with six decimals when below 1.
pub(super) fn show_price(price: Decimal) -> String {
    if price.is_zero() || price.abs() >= Decimal::ONE {
        return show(price);
    }
    price.round_sf(6).unwrap_or(price).normalize().to_string()
}
