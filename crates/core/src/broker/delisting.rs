//! Delisting: settles positions and rejects pending orders.

use super::books::{Books, LedgerEntry};
use super::reject::{RejectCode, RejectReason, Rejection};
use crate::id::Symbol;
use crate::ledger::{Direction, Fill, FillCause, LedgerError, LedgerEvent};
use crate::money::{Money, Price};
use crate::time::Date;

/// Settles positions at the delisting's payment or, without one, at the last known price, without fee and
/// slippage, and rejects pending orders. A short position pays the same for its shares. With isolated margin,
/// it loses at most its margin.
///
/// # Errors
/// [`LedgerError::MissingMark`] if no price is known; a number that overflows.
pub(super) fn delist(
    books: &mut Books,
    entries: &mut Vec<LedgerEntry>,
    rejections: &mut Vec<Rejection>,
    (day, symbol, pays): (Date, &Symbol, Option<Price>),
) -> Result<(), LedgerError> {
    let (gone, kept) = std::mem::take(&mut books.pending)
        .into_iter()
        .partition(|pending: &super::books::PendingOrder| pending.order.symbol == *symbol);
    books.pending = kept;
    for pending in gone {
        let message = format!("{symbol} was delisted on {day}, before the order could fill.");
        rejections.push(RejectReason::new(RejectCode::Delisted, message, []).of(pending.order));
    }
    let Some(position) = books.account.position(symbol).cloned() else { return Ok(()) };
    let last = books.marks.get(symbol).copied();
    let price = pays.or(last).ok_or_else(|| LedgerError::MissingMark { symbol: symbol.clone() })?;
    let lost = position.liquidation_price().filter(|_| books.profile.has_isolated_margin());
    let price = match (lost, position.direction()) {
        (Some(lost), Direction::Long) => price.max(lost),
        (Some(lost), Direction::Short) => price.min(lost),
        (None, _) => price,
    };
    let fill = Fill {
        day,
        order: None,
        cause: FillCause::Delisting,
        symbol: symbol.clone(),
        side: position.closing_side(),
        quantity: position.quantity.abs(),
        price,
        fee: Money::ZERO,
        slippage: Money::ZERO,
        leverage: position.leverage,
        stop: None,
        target: None,
    };
    books.record_entry(entries, LedgerEvent::Fill(fill))
}
