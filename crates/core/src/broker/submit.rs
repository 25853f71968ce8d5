//! The session: applies approved requests to the books.

use super::approve::{Approved, approve, leverage_of};
use super::books::{Books, LedgerEntry, PendingOrder};
use super::margin::affordable;
use super::order::{Order, Quote, QuoteState, StopChange};
use super::profile::FillModel;
use super::reject::{RejectCode, Rejection};
use super::terms::{FillTerms, Venue};
use crate::ledger::{Fill, FillCause, LedgerError, LedgerEvent};
use crate::money::Quantity;

/// The outcome of submitting an approved order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission {
    /// It filled at once.
    Filled(Box<LedgerEntry>),
    /// It waits for its price and is then checked again.
    Pending(Box<PendingOrder>),
}

/// An approved request that cannot be used: the caller's error, not the trader's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// It was approved for another account.
    #[error("approved for the account of {approved}, not that of {owner}")]
    OtherAccount {
        /// The owner of the account that it was approved for.
        approved: String,
        /// The owner of these books.
        owner: String,
    },
    /// The account has changed since.
    #[error("approved for version {approved} of the account, which is at {current}")]
    Stale {
        /// The version that it was approved for.
        approved: u64,
        /// The account's version.
        current: u64,
    },
    /// The ledger rejected it.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Fills an approved order at once if the profile's fill model is `open`; otherwise queues it.
///
/// # Errors
/// [`SubmitError::Stale`] if the account has changed since the approval, [`SubmitError::OtherAccount`] if it
/// was approved for another. The books are then unchanged.
pub fn submit(books: &mut Books, approved: Approved<Order>) -> Result<Submission, SubmitError> {
    fresh(books, &approved)?;
    if books.profile.fill_model == FillModel::Open {
        let entry = books.atomically(|books| fill(books, approved))?;
        return Ok(Submission::Filled(Box::new(entry)));
    }
    let placed_on = approved.day();
    let fill_model = books.profile.fill_model;
    let pending = PendingOrder { order: approved.into_inner(), placed_on, fill_model };
    books.pending.push(pending.clone());
    Ok(Submission::Pending(Box::new(pending)))
}

/// Moves the stop or the target of an open position.
///
/// # Errors
/// Like [`submit`].
pub fn change_stops(books: &mut Books, approved: Approved<StopChange>) -> Result<LedgerEntry, SubmitError> {
    fresh(books, &approved)?;
    let day = approved.day();
    let StopChange { symbol, stop, target, .. } = approved.into_inner();
    let entry =
        books.atomically(|books| enter_one(books, LedgerEvent::StopChange { day, symbol, stop, target }))?;
    Ok(entry)
}

/// Checks a pending order again at the price that it pending, and fills it.
pub(super) fn fill_pending(
    books: &mut Books,
    quote: &Quote,
    order: Order,
) -> Result<Result<LedgerEntry, Rejection>, LedgerError> {
    match approve(&books.account, &books.profile, quote, order) {
        Ok(approved) => fill(books, approved).map(Ok),
        Err(rejection) => match reduced(books, quote, &rejection) {
            Some(approved) => {
                books.reduced += 1;
                fill(books, approved).map(Ok)
            }
            None => Ok(Err(rejection)),
        },
    }
}

/// Like [`approve`]; in books that reduce orders, an order that is not covered is approved with the largest
/// covered quantity.
///
/// # Errors
/// The rejection, with the order.
pub fn approve_largest(books: &mut Books, quote: &Quote, order: Order) -> Result<Approved<Order>, Rejection> {
    approve(&books.account, &books.profile, quote, order).or_else(|rejection| {
        let approved = reduced(books, quote, &rejection).ok_or(rejection)?;
        books.reduced += 1;
        Ok(approved)
    })
}

/// The rejected order with the largest admissible quantity, in books that reduce orders. `None` if there is
/// none, or if the quantity was not the reason.
fn reduced(books: &Books, quote: &Quote, rejection: &Rejection) -> Option<Approved<Order>> {
    let mut rejection = rejection.clone();
    // The quantity left by one rule can still be too large for another.
    for _ in 0..4 {
        let mut order = rejection.order().filter(|_| books.reduces)?.clone();
        let held = books.account.position(&order.symbol).map(|position| position.quantity.abs());
        let largest = match rejection.code {
            RejectCode::InsufficientShares => held?,
            RejectCode::ParticipationCap => Quantity(*rejection.numbers.get("largest")?),
            RejectCode::InsufficientCash if order.side.opens() => {
                let QuoteState::At(price) = quote.state else { return None };
                let money = books.account.available().ok()?;
                let at = (&order.symbol, quote.day);
                affordable(&books.profile, (at, order.side, leverage_of(&order, None)), money, price)
            }
            _ => return None,
        };
        if !largest.is_positive() || largest >= order.quantity {
            return None;
        }
        order.quantity = largest;
        match approve(&books.account, &books.profile, quote, order) {
            Ok(approved) => return Some(approved),
            Err(again) => rejection = again,
        }
    }
    None
}

fn fill(books: &mut Books, approved: Approved<Order>) -> Result<LedgerEntry, LedgerError> {
    let (day, reference, band) = (approved.day(), approved.reference(), approved.band());
    let order = approved.into_inner();
    let position = books.account.position(&order.symbol);
    let opens = order.side.opens();
    let venue = Venue::for_order(&books.profile, &order.symbol, day).with_band(band);
    let terms = match position.filter(|_| !opens) {
        Some(position) => FillTerms::closing(venue, position, order.quantity, reference)?,
        None => FillTerms::at(venue, order.side, order.quantity, reference)?,
    };
    let leverage = leverage_of(&order, position);
    let fill = Fill {
        day,
        order: Some(order.id),
        cause: FillCause::Order,
        side: order.side,
        quantity: order.quantity,
        price: terms.price,
        fee: terms.fee,
        slippage: terms.slippage,
        leverage,
        stop: order.stop.filter(|_| opens),
        target: order.target.filter(|_| opens),
        symbol: order.symbol,
    };
    books.marks.insert(fill.symbol.clone(), reference);
    enter_one(books, LedgerEvent::Fill(fill))
}

/// Records the effect of an approved request. The checks rule out a margin call.
fn enter_one(books: &mut Books, event: LedgerEvent) -> Result<LedgerEntry, LedgerError> {
    let mut entries = Vec::new();
    books.record_entry(&mut entries, event)?;
    entries.into_iter().next().ok_or(LedgerError::Overflow)
}

fn fresh<T>(books: &Books, approved: &Approved<T>) -> Result<(), SubmitError> {
    let account = &books.account;
    if approved.owner() != account.owner() {
        let (approved, owner) = (approved.owner().to_owned(), account.owner().to_owned());
        return Err(SubmitError::OtherAccount { approved, owner });
    }
    let (approved, current) = (approved.version(), account.version());
    if approved == current { Ok(()) } else { Err(SubmitError::Stale { approved, current }) }
}
