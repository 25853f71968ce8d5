//! What a decision wants of one symbol, before cash and lots.

use super::plan::Cuts;
use super::{Amount, CutCode, Decision, Size, SizingConfig};
use crate::desk::answer::{Rating, TraderProposal};
use papertape_core::broker::{Books, Quote, QuoteState};
use papertape_core::id::Symbol;
use papertape_core::money::{Price, Quantity};
use rust_decimal::Decimal;

/// What is wanted of one symbol. Quantities are exact, not yet whole lots.
#[derive(Clone, Debug)]
pub(super) struct Wish<'a> {
    pub(super) symbol: &'a Symbol,
    pub(super) quote: &'a Quote,
    pub(super) price: Price,
    pub(super) rating: Rating,
    /// The proposal, where it goes the rating's way.
    pub(super) proposal: Option<&'a TraderProposal>,
    /// How much of the position is to be closed.
    pub(super) close: Decimal,
    /// How much is to be opened, above zero long, below zero short.
    pub(super) open: Decimal,
}

/// The frame that decisions are measured in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) books: &'a Books,
    pub(super) config: &'a SizingConfig,
    /// The account's value at today's prices.
    pub(super) equity: Decimal,
}

/// What the decision wants; `None` where it is nothing.
pub(super) fn wish<'a>(
    frame: Frame<'_>,
    symbol: &'a Symbol,
    decision: &'a Decision,
    quote: Option<&'a Quote>,
    cuts: &mut Cuts,
) -> Option<Wish<'a>> {
    let (rating, proposal) = match decision {
        Decision::None { why } => {
            cuts.add(symbol, CutCode::NoDecision, format!("There is no decision: {why}"), &[]);
            return None;
        }
        Decision::Rated { rating: Rating::Hold, .. } => return None,
        Decision::Rated { rating, proposal } => (*rating, proposal.as_ref()),
    };
    let Some((quote, price)) = quote.and_then(|quote| match quote.state {
        QuoteState::At(price) if price.is_positive() => Some((quote, price)),
        _ => None,
    }) else {
        cuts.add(symbol, CutCode::NoPrice, format!("{symbol} has no price today."), &[]);
        return None;
    };
    if frame.books.pending().iter().any(|pending| pending.order.symbol == *symbol) {
        cuts.add(symbol, CutCode::WaitingOrder, format!("An order of {symbol} waits already."), &[]);
        return None;
    }
    let agreeing = proposal.filter(|proposal| proposal.action.direction() == rating.direction());
    if let (Some(proposal), None) = (proposal, agreeing)
        && proposal.position_sizing.is_some()
    {
        let text = format!(
            "The Trader proposed {}, the rating is {rating}: the proposal's sizing is not taken.",
            proposal.action
        );
        cuts.add(symbol, CutCode::SizingIgnored, text, &[]);
    }
    let size = agreeing.and_then(|proposal| proposal.position_sizing.as_deref()).and_then(|text| {
        Size::parse(text)
            .map_err(|error| cuts.add(symbol, CutCode::SizingUnreadable, error.to_string(), &[]))
            .ok()
    });
    let held = frame.books.account().position(symbol).map_or(Decimal::ZERO, |position| position.quantity.0);
    let mut wish =
        Wish { symbol, quote, price, rating, proposal: agreeing, close: Decimal::ZERO, open: Decimal::ZERO };
    let sized = if rating.direction() > 0 {
        up(frame, &mut wish, held, size, cuts)
    } else {
        down(frame, &mut wish, held, size, cuts)
    };
    if sized.is_none() {
        let text = "The numbers are too large for the books.".to_owned();
        cuts.add(symbol, CutCode::Refused, text, &[("price", price.0), ("held", held)]);
        return None;
    }
    Some(wish)
}

/// Towards more: a short position is covered whole; a long one is raised to the target, never lowered.
fn up(
    frame: Frame<'_>,
    wish: &mut Wish<'_>,
    held: Decimal,
    size: Option<Size>,
    cuts: &mut Cuts,
) -> Option<()> {
    wish.close = (-held).max(Decimal::ZERO);
    let held = held.max(Decimal::ZERO);
    let weight = frame.config.weights.of(wish.rating)?;
    let cap = cap(frame, wish.price)?;
    let wanted = match size {
        None => cap.checked_mul(weight)?,
        Some(size) => aim(frame, wish.price, size, held, cap)?,
    };
    wish.open = (capped(wish.symbol, wanted, cap, cuts) - held).max(Decimal::ZERO);
    Some(())
}

/// Towards less: a long position is lowered, never raised; a short one is opened by the table alone.
fn down(
    frame: Frame<'_>,
    wish: &mut Wish<'_>,
    held: Decimal,
    size: Option<Size>,
    cuts: &mut Cuts,
) -> Option<()> {
    let weight = frame.config.weights.of(wish.rating)?;
    let cap = cap(frame, wish.price)?;
    let short = weight < Decimal::ZERO;
    if held > Decimal::ZERO {
        let asked = match size {
            // A sizing is about what is held; the table may go on below zero.
            Some(size) => reduction(frame, wish.price, size, held)?,
            None => held - cap.checked_mul(weight.max(Decimal::ZERO))?,
        };
        if asked > held {
            let numbers = [("asked", asked), ("held", held)];
            cuts.add(
                wish.symbol,
                CutCode::Held,
                format!("{asked} were to be sold, {held} are held."),
                &numbers,
            );
        }
        wish.close = asked.clamp(Decimal::ZERO, held);
        if !(short && size.is_none()) {
            return Some(());
        }
    } else if !short {
        if held.is_zero() && wish.rating == Rating::Sell {
            let text = format!("There is nothing of {} to sell.", wish.symbol);
            cuts.add(wish.symbol, CutCode::Held, text, &[("held", Decimal::ZERO)]);
        }
        return Some(());
    }
    if !(frame.config.shorting && frame.books.profile().shorting) {
        let text = format!("A short position in {} is not allowed.", wish.symbol);
        cuts.add(wish.symbol, CutCode::Shorting, text, &[("weight", weight)]);
        return Some(());
    }
    let already = (-held).max(Decimal::ZERO);
    let wanted = match size.filter(|_| held <= Decimal::ZERO) {
        None => cap.checked_mul(-weight)?,
        Some(size) => aim(frame, wish.price, size, already, cap)?,
    };
    wish.open = -(capped(wish.symbol, wanted, cap, cuts) - already).max(Decimal::ZERO);
    Some(())
}

/// The cap of one symbol as a quantity.
fn cap(frame: Frame<'_>, price: Price) -> Option<Decimal> {
    frame.equity.max(Decimal::ZERO).checked_mul(frame.config.symbol_cap)?.checked_div(price.0)
}

/// The quantity that a position comes to. Shares of something are what it comes to; shares and money
/// are what is added.
fn aim(frame: Frame<'_>, price: Price, size: Size, held: Decimal, cap: Decimal) -> Option<Decimal> {
    let quantity = match size.amount {
        Amount::Portfolio(share) => {
            return frame.equity.max(Decimal::ZERO).checked_mul(share)?.checked_div(price.0);
        }
        Amount::Position(share) => return cap.checked_mul(share),
        Amount::Quantity(quantity) => quantity,
        Amount::Money(money) => money.checked_div(price.0)?,
    };
    if size.to { Some(quantity) } else { held.checked_add(quantity) }
}

/// By how much a position is lowered.
fn reduction(frame: Frame<'_>, price: Price, size: Size, held: Decimal) -> Option<Decimal> {
    let quantity = match size.amount {
        Amount::Portfolio(share) => {
            frame.equity.max(Decimal::ZERO).checked_mul(share)?.checked_div(price.0)?
        }
        Amount::Position(share) => held.checked_mul(share)?,
        Amount::Quantity(quantity) => quantity,
        Amount::Money(money) => money.checked_div(price.0)?,
    };
    Some(if size.to { held - quantity } else { quantity })
}

fn capped(symbol: &Symbol, wanted: Decimal, cap: Decimal, cuts: &mut Cuts) -> Decimal {
    if wanted <= cap {
        return wanted;
    }
    let (shown, most) = (Quantity(wanted.round_dp(4)), Quantity(cap.round_dp(4)));
    let text = format!("{shown} {symbol} were wanted; the cap of one symbol is {most}.");
    cuts.add(symbol, CutCode::SymbolCap, text, &[("wanted", shown.0), ("cap", most.0)]);
    cap
}
