//! Insolvency: when nothing is left, the account is marked insolvent and trading stops for good.

use super::books::{Books, LedgerEntry};
use super::reject::{RejectReason, Rejection};
use crate::id::Symbol;
use crate::ledger::{FillCause, LedgerError, LedgerEvent, Position};
use crate::money::{Money, Price};
use crate::time::Date;
use std::collections::BTreeMap;

/// Checks whether anything is left at the newest prices. A portfolio value of zero or below is an insolvency,
/// and final: no later price reverses it.
pub(super) fn find(books: &mut Books, entries: &mut Vec<LedgerEntry>, day: Date) -> Result<(), LedgerError> {
    let (before, value) = (books.last_value, books.portfolio_value()?);
    if books.insolvency().is_some() || value.is_positive() || !before.is_positive() {
        return Ok(());
    }
    let loss = crate::ledger::checked::minus(before, value)?;
    books.record_entry(entries, LedgerEvent::Insolvency { day, loss, owed: Money((-value).0.normalize()) })
}

/// Closes an insolvent account's positions at the opens, and rejects its pending orders.
pub(super) fn wind_down(
    books: &mut Books,
    entries: &mut Vec<LedgerEntry>,
    rejections: &mut Vec<Rejection>,
    day: Date,
    opens: &BTreeMap<Symbol, Price>,
) -> Result<(), LedgerError> {
    let Some(since) = books.insolvency() else { return Ok(()) };
    for pending in std::mem::take(&mut books.pending) {
        rejections.push(RejectReason::insolvent(since).of(pending.order));
    }
    let positions: Vec<(Symbol, Position)> =
        books.account.positions().iter().map(|(s, p)| (s.clone(), p.clone())).collect();
    for (symbol, position) in positions {
        let Some(open) = opens.get(&symbol).filter(|open| open.is_positive()) else { continue };
        let how = (FillCause::Liquidation, position.quantity.abs(), *open);
        books.force_close(entries, day, &symbol, &position, how)?;
    }
    Ok(())
}
