//! Shared helpers for the tests of the books.

use papertape_core::broker::{
    self, Approved, Books, DayEnd, LedgerEntry, MarketProfile, Ohlc, Order, Quote, Rejection, Side,
    Submission, approve, submit,
};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, LedgerError};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::{Date, parse_date};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

pub(crate) fn dec(text: &str) -> Decimal {
    text.parse().expect("a decimal")
}

pub(crate) fn price(text: &str) -> Price {
    Price(dec(text))
}

pub(crate) fn money(text: &str) -> Money {
    Money(dec(text))
}

pub(crate) fn quantity(text: &str) -> Quantity {
    Quantity(dec(text))
}

pub(crate) fn day(text: &str) -> Date {
    parse_date(text).expect("a date")
}

pub(crate) fn prices(pairs: &[(&str, &str)]) -> BTreeMap<Symbol, Price> {
    pairs.iter().map(|(symbol, text)| (Symbol::new(symbol), price(text))).collect()
}

pub(crate) fn bars(pairs: &[(&str, [&str; 4])]) -> BTreeMap<Symbol, Ohlc> {
    let bar =
        |[o, h, l, c]: [&str; 4]| Ohlc { open: price(o), high: price(h), low: price(l), close: price(c) };
    pairs.iter().map(|(symbol, texts)| (Symbol::new(symbol), bar(*texts))).collect()
}

pub(crate) fn us(cash: &str) -> Books {
    Books::new("ada", MarketProfile::us_equity().frictionless(), money(cash))
}

/// Crypto without costs, so that expected numbers are easy to follow.
pub(crate) fn lender(cash: &str) -> Books {
    Books::new("ada", MarketProfile::crypto().frictionless(), money(cash))
}

/// A close on a day after which the exchange opens on the following one.
pub(crate) fn close(
    books: &mut Books,
    on: Date,
    closes: &BTreeMap<Symbol, Price>,
) -> Result<DayEnd, LedgerError> {
    broker::close(books, on, on.tomorrow().expect("a day"), closes)
}

pub(crate) fn order(books: &mut Books, side: Side, symbol: &str, amount: &str) -> Order {
    Order {
        id: books.next_order_id(),
        symbol: Symbol::new(symbol),
        side,
        quantity: quantity(amount),
        stop: None,
        target: None,
        leverage: None,
        reason: None,
    }
}

pub(crate) fn check(books: &Books, on: Date, at: &str, order: Order) -> Result<Approved<Order>, Rejection> {
    let quote = Quote::at(order.symbol.clone(), on, price(at));
    approve(books.account(), books.profile(), &quote, order)
}

/// Approves and submits an order that must fill at once.
pub(crate) fn trade(books: &mut Books, on: Date, at: &str, order: Order) -> LedgerEntry {
    let approved = check(books, on, at, order).expect("the order is allowed");
    match submit(books, approved).expect("the approval is fresh") {
        Submission::Filled(entry) => *entry,
        Submission::Pending(pending) => panic!("not filled: {pending:?}"),
    }
}

/// The pre-phase of a day at these opens.
pub(crate) fn pre_day(
    books: &mut Books,
    on: Date,
    opens: &BTreeMap<Symbol, Price>,
    actions: &[CorporateAction],
) -> broker::PhaseResult {
    broker::pre(books, on, opens, &BTreeMap::new(), actions).expect("a day")
}
