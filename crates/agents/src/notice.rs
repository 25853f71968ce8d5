//! Changes to the books, in sentences for the agent.

use papertape_core::broker::{LedgerEntry, Rejection};
use papertape_core::ledger::{FillCause, LedgerEvent};
use rust_decimal::Decimal;

/// A ledger entry as a sentence; `None` if the agent need not know it.
pub(crate) fn describe_entry(entry: &LedgerEntry) -> Option<String> {
    let symbol = entry.symbol.as_ref().map(ToString::to_string).unwrap_or_default();
    match entry.event.as_ref()? {
        LedgerEvent::Fill(fill) if fill.cause == FillCause::Delisting => {
            let result = entry.realized().map_or(Decimal::ZERO, |r| r.pnl.0.round_dp(2).normalize());
            let (held, price) = (fill.quantity, fill.price);
            Some(format!(
                "delisting: {symbol} was delisted; the position of {held} was settled at {price} per share, realizing {result}."
            ))
        }
        LedgerEvent::Fill(fill) => {
            let what = entry.action_type.map_or("fill", |action| action.as_str());
            let result = entry.realized().map(|r| format!(", realizing {}", r.pnl.0.round_dp(2).normalize()));
            Some(format!(
                "{what}: {} {} {symbol} at {}{}.",
                fill.side,
                fill.quantity,
                fill.price,
                result.unwrap_or_default()
            ))
        }
        LedgerEvent::Split { ratio, .. } => Some(format!(
            "split: {symbol} was split {} for 1; you now hold {}.",
            ratio.normalize(),
            entry.amount.unwrap_or_default()
        )),
        LedgerEvent::Dividend { amount, .. } => {
            let total = *amount * entry.amount.unwrap_or_default();
            Some(format!("dividend: {symbol} paid {amount} per share, {total} in total."))
        }
        LedgerEvent::Financing { amount, nights, .. } => {
            let nights = nights.map_or(String::new(), |nights| format!(" for {nights} nights"));
            Some(format!("financing of {symbol}: {amount} charged{nights}."))
        }
        LedgerEvent::Insolvency { owed, .. } => Some(format!(
            "insolvent: nothing is left and {owed} is owed. Trading has ended for good: every order is \
             rejected, and open positions are closed at the next open."
        )),
        LedgerEvent::MarginCall { shortfall, .. } => Some(format!(
            "margin call: {shortfall} is missing; positions are closed at the next open to cover it."
        )),
        LedgerEvent::StopChange { .. } => None,
    }
}

pub(crate) fn describe_rejection(rejection: &Rejection) -> String {
    let id = rejection.request.id();
    format!("order {id} on {}: {} ({})", rejection.request.symbol(), rejection.message, rejection.code)
}
