//! The pre phase: everything up to the open, before the agent's session.

use super::bar::trigger_all;
use super::books::{Books, Journal, LedgerEntry, PhaseResult};
use super::delisting;
use super::financing;
use super::insolvency;
use super::order::Quote;
use super::profile::FillModel;
use super::reject::{RejectCode, RejectReason, Rejection};
use super::submit::fill_pending;
use super::terms::{FillTerms, Venue, margin_released};
use crate::id::Symbol;
use crate::ledger::{
    CorporateAction, CorporateActionKind, FillCause, LedgerError, LedgerEvent, Position, checked,
};
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Begins a day. In this order: financing of nights that no close has charged, splits (of positions, pending
/// orders, stops and targets), dividends, delistings, covering a margin call of an earlier day, pending
/// `next_open` orders, positions whose stop, target or liquidation price the open gapped through. If nothing
/// is left after that, the account is insolvent: its positions are closed at the opens, and its pending
/// orders are rejected.
///
/// Splits are valued at the previous close divided by the ratio, everything after them at the opens; an
/// instrument without an open keeps its last mark. Of `actions`, only those count whose ex-date is after the
/// day of the previous pre phase (for the first: on `day`) and not after `day`, and that concern a holding.
/// An order stays pending if its instrument has no open.
///
/// A margin call is covered by closing positions at the open as `liquidation`, the largest market value first
/// and no more of each than needed. The rest stays owed.
///
/// # Errors
/// [`LedgerError::OutOfOrder`] if the day has begun before; an impossible action; a number that overflows.
/// The books are then unchanged.
pub fn pre(
    books: &mut Books,
    day: Date,
    opens: &BTreeMap<Symbol, Price>,
    previous_closes: &BTreeMap<Symbol, Price>,
    actions: &[CorporateAction],
) -> Result<PhaseResult, LedgerError> {
    books.atomically(|books| {
        if let Some(reached) = books.reached.filter(|reached| day <= *reached) {
            return Err(LedgerError::OutOfOrder { reached, day });
        }
        let due: Vec<&CorporateAction> = actions
            .iter()
            .filter(|action| match books.reached {
                Some(reached) => action.ex_date > reached && action.ex_date <= day,
                None => action.ex_date == day,
            })
            .collect();
        books.reached = Some(day);
        books.actions = 0;
        books.filled_today = false;
        books.journal = Journal::default();
        let mut out = PhaseResult::default();
        mark(books, previous_closes);
        if let Some(last) = books.last_close {
            financing::charge(books, &mut out.entries, day, last, day)?;
        }
        for action in &due {
            if let CorporateActionKind::Split { ratio } = action.kind {
                split(books, &mut out, day, &action.symbol, ratio)?;
            }
        }
        mark(books, opens);
        for action in &due {
            if let CorporateActionKind::Dividend { amount } = action.kind {
                dividend(books, &mut out.entries, day, &action.symbol, amount)?;
            }
        }
        for action in &due {
            if let CorporateActionKind::Delisting { pays } = action.kind {
                let delisted = (day, &action.symbol, pays);
                delisting::delist(books, &mut out.entries, &mut out.rejections, delisted)?;
            }
        }
        insolvency::wind_down(books, &mut out.entries, &mut out.rejections, day, opens)?;
        if books.account.margin_call().is_some_and(|call| call.day < day) {
            cover_margin_call(books, &mut out.entries, day, opens)?;
        }
        fill_at_open(books, &mut out, day, opens)?;
        let gaps = |symbol: &Symbol| opens.get(symbol).map(|open| (*open, None));
        trigger_all(books, &mut out.entries, day, gaps)?;
        insolvency::find(books, &mut out.entries, day)?;
        insolvency::wind_down(books, &mut out.entries, &mut out.rejections, day, opens)?;
        Ok(out)
    })
}

/// Ends a run: pending orders expire.
pub fn expire(books: &mut Books) -> Vec<Rejection> {
    let expired = std::mem::take(&mut books.pending).into_iter().map(|pending| {
        let message = format!("The run ended before the order for {} could fill.", pending.placed_on);
        RejectReason::new(RejectCode::Expired, message, []).of(pending.order)
    });
    expired.collect()
}

/// Sets the newest marks to the prices above zero.
pub(super) fn mark(books: &mut Books, prices: &BTreeMap<Symbol, Price>) {
    let usable = prices.iter().filter(|(_, price)| price.is_positive());
    books.marks.extend(usable.map(|(symbol, price)| (symbol.clone(), *price)));
}

fn split(
    books: &mut Books,
    out: &mut PhaseResult,
    day: Date,
    symbol: &Symbol,
    ratio: Decimal,
) -> Result<(), LedgerError> {
    if ratio <= Decimal::ZERO {
        return Err(LedgerError::OutOfRange { what: "ratio", value: ratio });
    }
    let after = match books.marks.get(symbol) {
        Some(before) => {
            let after = Price(checked::round(checked::div(before.0, ratio)?, checked::PRICE_DP));
            books.marks.insert(symbol.clone(), after);
            Some(after)
        }
        None => None,
    };
    if books.account.position(symbol).is_some() {
        let price = after.ok_or_else(|| LedgerError::MissingMark { symbol: symbol.clone() })?;
        let whole_shares = !books.profile.fractional;
        let symbol = symbol.clone();
        let event = LedgerEvent::Split { day, symbol, ratio, price, whole_shares };
        books.record_entry(&mut out.entries, event)?;
    }
    split_pending(books, &mut out.rejections, symbol, ratio)
}

/// Converts pending orders. A fraction of a lot is cut off; an order that closes all of a position continues
/// to do so.
fn split_pending(
    books: &mut Books,
    rejections: &mut Vec<Rejection>,
    symbol: &Symbol,
    ratio: Decimal,
) -> Result<(), LedgerError> {
    let held = books.account.position(symbol).map(|position| position.quantity.abs());
    let profile = &books.profile;
    let mut remaining = Vec::with_capacity(books.pending.len());
    for mut pending in std::mem::take(&mut books.pending) {
        let order = &mut pending.order;
        if order.symbol != *symbol {
            remaining.push(pending);
            continue;
        }
        let old = order.quantity;
        let converted = checked::round(checked::mul(old.0, ratio)?, checked::QUANTITY_DP);
        let closes_all = !order.side.opens()
            && held.is_some_and(|held| held.0 == converted || held.0 == converted.trunc());
        let converted = match (profile.fractional, closes_all) {
            (true, _) => converted,
            (false, true) => converted.trunc(),
            (false, false) => profile.round_to_lot(symbol, Quantity(converted)).0,
        };
        for price in [&mut order.stop, &mut order.target].into_iter().flatten() {
            *price = Price(checked::round(checked::div(price.0, ratio)?, checked::PRICE_DP));
        }
        order.quantity = Quantity(converted.normalize());
        if order.quantity.is_positive() {
            remaining.push(pending);
        } else {
            let message = format!("A {ratio}-for-1 split left nothing to trade of the order's {old}.");
            let numbers = [("asked", old.0), ("ratio", ratio)];
            let reason = RejectReason::new(RejectCode::SplitAway, message, numbers);
            rejections.push(reason.of(pending.order));
        }
    }
    books.pending = remaining;
    Ok(())
}

fn dividend(
    books: &mut Books,
    entries: &mut Vec<LedgerEntry>,
    day: Date,
    symbol: &Symbol,
    amount: Price,
) -> Result<(), LedgerError> {
    let Some(position) = books.account.position(symbol) else { return Ok(()) };
    let withheld = books.profile.dividend_withholding_pct;
    let amount = if position.quantity.is_positive() && !withheld.is_zero() {
        let paid = checked::div(checked::sub(Decimal::ONE_HUNDRED, withheld)?, Decimal::ONE_HUNDRED)?;
        Price(checked::round(checked::mul(amount.0, paid)?, checked::PRICE_DP))
    } else {
        amount
    };
    if !amount.is_positive() {
        return Ok(());
    }
    books.record_entry(entries, LedgerEvent::Dividend { day, symbol: symbol.clone(), amount })
}

fn fill_at_open(
    books: &mut Books,
    out: &mut PhaseResult,
    day: Date,
    opens: &BTreeMap<Symbol, Price>,
) -> Result<(), LedgerError> {
    for pending in std::mem::take(&mut books.pending) {
        let due = pending.fill_model == FillModel::NextOpen && pending.placed_on < day;
        let open = opens.get(&pending.order.symbol).filter(|open| due && open.is_positive());
        let Some(open) = open else {
            books.pending.push(pending);
            continue;
        };
        let conditions = books.conditions_of(&pending.order.symbol);
        let quote = Quote::at(pending.order.symbol.clone(), day, *open).under(conditions);
        match fill_pending(books, &quote, pending.order)? {
            Ok(entry) => out.entries.push(entry),
            Err(rejection) => out.rejections.push(rejection),
        }
    }
    Ok(())
}

fn cover_margin_call(
    books: &mut Books,
    entries: &mut Vec<LedgerEntry>,
    day: Date,
    opens: &BTreeMap<Symbol, Price>,
) -> Result<(), LedgerError> {
    let mut candidates: Vec<(Money, Symbol, Price)> = Vec::new();
    for (symbol, position) in books.account.positions() {
        if let Some(open) = opens.get(symbol).filter(|open| open.is_positive()) {
            let value = checked::value(*open, position.quantity)?.abs();
            candidates.push((value, symbol.clone(), *open));
        }
    }
    candidates.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    for (_, symbol, open) in candidates {
        // The needed part first; if its fee left a gap, the rest of the position.
        for whole in [false, true] {
            let short = -books.account.available()?;
            let Some(position) = books.account.position(&symbol).cloned() else { break };
            if !short.is_positive() {
                return Ok(());
            }
            let quantity = if whole {
                Some(position.quantity.abs())
            } else {
                needed(books, (&symbol, day), &position, open, short)?
            };
            let Some(quantity) = quantity else { break };
            let how = (FillCause::MarginCall, quantity, open);
            books.force_close(entries, day, &symbol, &position, how)?;
        }
    }
    Ok(())
}

/// How much of a position must be closed to release `short`, in whole lots and at most all of it; `None` if
/// closing it releases nothing.
fn needed(
    books: &Books,
    (symbol, day): (&Symbol, Date),
    position: &Position,
    open: Price,
    short: Money,
) -> Result<Option<Quantity>, LedgerError> {
    let held = position.quantity.abs();
    let profile = &books.profile;
    let venue = Venue::forced(profile, symbol, day).with_band(books.conditions_of(symbol).band);
    let terms = FillTerms::closing(venue, position, held, open)?;
    let free = checked::minus(margin_released(position, held, terms.price)?, terms.fee)?;
    if !free.is_positive() {
        return Ok(None);
    }
    let part = checked::div(checked::mul(short.0, held.0)?, free.0)?;
    let part = if profile.fractional {
        let up = rust_decimal::RoundingStrategy::AwayFromZero;
        part.round_dp_with_strategy(checked::QUANTITY_DP, up)
    } else {
        let lot = profile.lot_rule(symbol);
        let steps = checked::mul(checked::div(part, lot.step.0)?.ceil(), lot.step.0)?;
        steps.max(lot.minimum.0)
    };
    Ok(Some(Quantity(part.normalize()).min(held)))
}
