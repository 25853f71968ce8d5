//! The close phase: the day's result.

use super::books::{Books, Journal, LedgerEntry};
use super::financing;
use super::insolvency;
use super::order::Quote;
use super::pre::mark;
use super::profile::FillModel;
use super::reject::Rejection;
use super::submit::fill_pending;
use crate::id::Symbol;
use crate::ledger::{Insolvency, LedgerError, PositionId, checked};
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayEnd {
    /// The trading day.
    pub day: Date,
    /// Close fills and financing, and `no_trade` if the day had no fill.
    pub entries: Vec<LedgerEntry>,
    /// Close orders that were rejected at their fill.
    pub rejections: Vec<Rejection>,
    /// Every open position, by symbol.
    pub snapshots: Vec<PositionSnapshot>,
    /// Cash at the end.
    pub cash: Money,
    /// Cash and holdings at the closes.
    pub portfolio_value: Money,
    /// `sum(|quantity x close|)` of the holdings.
    pub gross_exposure: Money,
    /// Change from the previous close's portfolio value; for the first, from the initial cash.
    pub daily_profit: Money,
    /// `daily_profit` in percent of the previous value, rounded to 10 decimals; `None` if that was not above
    /// zero.
    pub daily_return_pct: Option<Decimal>,
    /// When and by how much the account became insolvent; `None` if it is solvent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insolvency: Option<Insolvency>,
    /// The number of the session's newest row, which stores the two figures above; 0 if the session has none.
    pub last_action_id: u64,
    /// The day's entries and rejections, in ledger order.
    #[serde(skip)]
    pub journal: Journal,
}

/// An open position at a close.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PositionSnapshot {
    /// The instrument.
    pub symbol: Symbol,
    /// The position.
    pub position_id: PositionId,
    /// The quantity held; below zero for a short position.
    pub quantity: Quantity,
    /// The average entry price.
    pub avg_price: Price,
    /// The close, or the last known price if the instrument had no bar.
    pub close: Price,
    /// `quantity x close - cost`.
    pub unrealised_pnl: Money,
    /// Its stop.
    pub stop: Option<Price>,
    /// Its leverage, 1 for none.
    pub leverage: Decimal,
}

/// Ends a day: pending `close` orders fill (one whose instrument has no close is rejected), everything is
/// marked at the closes, and financing is charged for the nights until `next`, the next trading day. An
/// account with nothing left becomes insolvent.
///
/// # Errors
/// [`LedgerError::OutOfOrder`] if the day has been closed before; a number that overflows. The books are then
/// unchanged.
pub fn close(
    books: &mut Books,
    day: Date,
    next: Date,
    closes: &BTreeMap<Symbol, Price>,
) -> Result<DayEnd, LedgerError> {
    books.atomically(|books| {
        if let Some(reached) = books.last_close.filter(|last| day <= *last) {
            return Err(LedgerError::OutOfOrder { reached, day });
        }
        let mut entries = Vec::new();
        mark(books, closes);
        let rejections = fill_at_close(books, &mut entries, day, closes)?;
        if !books.filled_today {
            entries.push(books.enter_no_trade(day)?);
        }
        books.journal.by_close = Some(books.journal.entries.len());
        financing::charge(books, &mut entries, day, day, next)?;
        insolvency::find(books, &mut entries, day)?;
        let snapshots = snapshots(books)?;
        let portfolio_value = books.portfolio_value()?;
        let gross_exposure = snapshots.iter().try_fold(Money::ZERO, |sum, held| {
            checked::plus(sum, checked::value(held.close, held.quantity)?.abs())
        })?;
        let before = books.last_value;
        let daily_profit = checked::minus(portfolio_value, before)?;
        let daily_return_pct = daily_return_pct(daily_profit, before);
        let held: Vec<Symbol> = books.account.positions().keys().cloned().collect();
        books.marks.retain(|symbol, _| held.binary_search(symbol).is_ok());
        books.last_value = portfolio_value;
        books.last_close = Some(day);
        books.conditions.clear();
        Ok(DayEnd {
            day,
            entries,
            rejections,
            snapshots,
            cash: books.account.cash(),
            portfolio_value,
            gross_exposure,
            daily_profit,
            daily_return_pct,
            insolvency: books.insolvency(),
            last_action_id: books.actions,
            journal: std::mem::take(&mut books.journal),
        })
    })
}

fn fill_at_close(
    books: &mut Books,
    entries: &mut Vec<LedgerEntry>,
    day: Date,
    closes: &BTreeMap<Symbol, Price>,
) -> Result<Vec<Rejection>, LedgerError> {
    let mut rejections = Vec::new();
    for pending in std::mem::take(&mut books.pending) {
        if pending.fill_model != FillModel::Close {
            books.pending.push(pending);
            continue;
        }
        let symbol = pending.order.symbol.clone();
        let quote = match closes.get(&symbol) {
            Some(close) => {
                let conditions = books.conditions_of(&symbol);
                Quote::at(symbol, day, *close).under(conditions)
            }
            None => Quote::no_bar(symbol, day),
        };
        match fill_pending(books, &quote, pending.order)? {
            Ok(entry) => entries.push(entry),
            Err(rejection) => rejections.push(rejection),
        }
    }
    Ok(rejections)
}

fn snapshots(books: &Books) -> Result<Vec<PositionSnapshot>, LedgerError> {
    let positions = books.account.positions().iter();
    positions
        .map(|(symbol, position)| {
            let close = books.marks.get(symbol).copied();
            let close = close.ok_or_else(|| LedgerError::MissingMark { symbol: symbol.clone() })?;
            Ok(PositionSnapshot {
                symbol: symbol.clone(),
                position_id: position.id.clone(),
                quantity: position.quantity,
                avg_price: position.avg_price,
                close,
                unrealised_pnl: position.unrealised_pnl(close)?,
                stop: position.stop,
                leverage: position.leverage,
            })
        })
        .collect()
}

/// `100 x profit / before`, rounded half to even to 10 decimals; `None` if the value before is not above zero.
#[must_use]
pub fn daily_return_pct(profit: Money, before: Money) -> Option<Decimal> {
    let ratio = profit.0.checked_div(before.0).filter(|_| before.is_positive())?;
    ratio.checked_mul(Decimal::ONE_HUNDRED).map(|pct| checked::round(pct, 10))
}
