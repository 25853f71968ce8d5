//! Derived rows in the form that both databases can store.

use papertape_core::id::Symbol;
use papertape_core::json;
use papertape_core::record::{
    ActionTerms, DerivedRow, OpenPositionContextRow, RecalledMemoryRow, ReflectionRow, RoundMemoryRow,
};
use papertape_core::time::{Timestamp, from_micros, to_micros};
use rust_decimal::Decimal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Brings the rows to a form that both databases can store, so that their hash is the same when they are read back:
/// instants are whole microseconds, and PostgreSQL has neither a negative zero nor NUL.
pub(crate) fn make_storable(rows: &mut [DerivedRow]) {
    for row in rows {
        match row {
            DerivedRow::Message(row) => row.tool_name.iter_mut().for_each(clean),
            DerivedRow::Exposure(row) => {
                clean(&mut row.series);
                let micros = row.latest_known_at.map(to_micros);
                row.latest_known_at = micros.and_then(from_micros);
            }
            DerivedRow::Position(row) => {
                unsign(&mut row.amount.0);
                row.price.iter_mut().for_each(|price| unsign(&mut price.0));
                unsign(&mut row.cash.0);
                unsign(&mut row.portfolio_value.0);
                // Set by the session's close.
                row.daily_profit = None;
                row.daily_return_pct = None;
                row.symbol.iter_mut().for_each(clean_symbol);
                storable_terms(&mut row.terms);
            }
            DerivedRow::Order(row) => {
                unsign(&mut row.quantity.0);
                for price in [&mut row.price, &mut row.stop, &mut row.target].into_iter().flatten() {
                    unsign(&mut price.0);
                }
                for money in [&mut row.fee, &mut row.slippage, &mut row.realized_pnl].into_iter().flatten() {
                    unsign(&mut money.0);
                }
                row.leverage.iter_mut().for_each(unsign);
                clean(&mut row.order_id);
                clean_symbol(&mut row.symbol);
                row.code.iter_mut().for_each(clean);
                row.message.iter_mut().for_each(clean);
            }
            DerivedRow::Snapshot(row) => {
                unsign(&mut row.quantity.0);
                unsign(&mut row.avg_price.0);
                unsign(&mut row.close.0);
                unsign(&mut row.unrealised_pnl.0);
                row.stop.iter_mut().for_each(|stop| unsign(&mut stop.0));
                unsign(&mut row.leverage);
                clean_symbol(&mut row.symbol);
                clean(&mut row.position_id);
            }
            DerivedRow::Round(row) => storable_round(row),
            DerivedRow::Context(row) => storable_context(row),
            DerivedRow::Reflection(row) => storable_reflection(row),
            DerivedRow::Given(row) => storable_given(row),
        }
    }
}

fn storable_terms(terms: &mut ActionTerms) {
    terms.order_id.iter_mut().for_each(clean);
    for money in [&mut terms.fee, &mut terms.slippage, &mut terms.realized_pnl].into_iter().flatten() {
        unsign(&mut money.0);
    }
    for price in [&mut terms.stop, &mut terms.target].into_iter().flatten() {
        unsign(&mut price.0);
    }
    terms.leverage.iter_mut().chain(&mut terms.ratio).for_each(unsign);
}

pub(crate) fn unsign(number: &mut Decimal) {
    if number.is_zero() {
        number.set_sign_positive(true);
    }
}

fn clean(text: &mut String) {
    if text.contains('\0') {
        *text = text.replace('\0', "\u{fffd}");
    }
}

fn clean_symbol(symbol: &mut Symbol) {
    if symbol.as_str().contains('\0') {
        *symbol = symbol.as_str().replace('\0', "\u{fffd}").into();
    }
}

/// Converts the row to a form that both databases can store.
fn storable_round(row: &mut RoundMemoryRow) {
    scrub(row);
    whole(&mut row.known_at);
    for asset in &mut row.assets {
        for price in [&mut asset.entry_price, &mut asset.stop_loss, &mut asset.take_profit] {
            price.iter_mut().for_each(|price| unsign(&mut price.0));
        }
        asset.leverage.iter_mut().for_each(unsign);
    }
}

/// As [`storable_round`].
fn storable_context(row: &mut OpenPositionContextRow) {
    scrub(row);
    whole(&mut row.known_at);
    whole(&mut row.opened_at);
    unsign(&mut row.entry_price.0);
    unsign(&mut row.quantity.0);
    for price in [&mut row.stop_loss, &mut row.take_profit] {
        price.iter_mut().for_each(|price| unsign(&mut price.0));
    }
    unsign(&mut row.leverage);
    unsign(&mut row.split_ratio);
}

/// As [`storable_round`].
fn storable_reflection(row: &mut ReflectionRow) {
    scrub(row);
    for at in [&mut row.known_at, &mut row.entry_time, &mut row.exit_time] {
        whole(at);
    }
    for number in [
        &mut row.quantity.0,
        &mut row.entry_price.0,
        &mut row.exit_price.0,
        &mut row.pnl.0,
        &mut row.leverage,
        &mut row.notional.0,
    ] {
        unsign(number);
    }
    row.return_pct.iter_mut().for_each(unsign);
}

/// As [`storable_round`].
fn storable_given(row: &mut RecalledMemoryRow) {
    scrub(row);
    whole(&mut row.known_at);
}

/// PostgreSQL text cannot hold a NUL.
fn scrub<T: Serialize + DeserializeOwned>(row: &mut T) {
    let value = json::to_value(row);
    if json::canonical(&value).contains("\\u0000")
        && let Ok(clean) = serde_json::from_value(without_nul(value))
    {
        *row = clean;
    }
}

fn without_nul(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace('\0', "\u{fffd}")),
        Value::Array(items) => items.into_iter().map(without_nul).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, without_nul(value))).collect(),
        other => other,
    }
}

fn whole(at: &mut Timestamp) {
    if let Some(micros) = from_micros(to_micros(*at)) {
        *at = micros;
    }
}
