//! The target position of one symbol, before cash and lots.

use super::plan::Cuts;
use super::{Amount, CutCode, Decision, Size, SizingConfig};
use crate::desk::answer::{Rating, TraderProposal};
use papertape_core::broker::{Books, Quote, QuoteState};
use papertape_core::id::Symbol;
use papertape_core::money::Price;
use rust_decimal::Decimal;

/// The target position of one symbol. Quantities are exact, not rounded to lots.
#[derive(Clone, Debug)]
pub(super) struct TargetPosition<'a> {
    pub(super) symbol: &'a Symbol,
    pub(super) quote: &'a Quote,
    pub(super) price: Price,
    pub(super) rating: Rating,
    /// The proposal, if it has the rating's direction.
    pub(super) proposal: Option<&'a TraderProposal>,
    /// The quantity to close.
    pub(super) close: Decimal,
    /// The quantity to open, positive long, negative short.
    pub(super) open: Decimal,
}

/// The common inputs of all decisions.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizingContext<'a> {
    pub(super) books: &'a Books,
    pub(super) config: &'a SizingConfig,
    /// The account's value at today's prices.
    pub(super) equity: Decimal,
}

/// The decision's target position; `None` when nothing changes.
pub(super) fn wish<'a>(
    frame: SizingContext<'_>,
    symbol: &'a Symbol,
    decision: &'a Decision,
    quote: Option<&'a Quote>,
    cuts: &mut Cuts,
) -> Option<TargetPosition<'a>> {
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
    let size = match agreeing.and_then(|proposal| proposal.position_sizing.as_deref()) {
        None => None,
        Some(text) => match Size::parse(text) {
            Ok(size) if size.is_nothing() => {
                let text = format!("The Trader sized {symbol} at zero: nothing is traded.");
                cuts.add(symbol, CutCode::SizingZero, text, &[]);
                return None;
            }
            Ok(size) => Some(size),
            // The Trader asked for a specific size, so the table's weight is not used.
            Err(error) => {
                let text = format!("No order for {symbol}: {error}.");
                cuts.add(symbol, CutCode::SizingUnreadable, text, &[]);
                return None;
            }
        },
    };
    let held = frame.books.account().position(symbol).map_or(Decimal::ZERO, |position| position.quantity.0);
    let mut wish = TargetPosition {
        symbol,
        quote,
        price,
        rating,
        proposal: agreeing,
        close: Decimal::ZERO,
        open: Decimal::ZERO,
    };
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

/// Upwards: a short position is covered in full; a long one is increased to the target, never reduced.
fn up(
    frame: SizingContext<'_>,
    wish: &mut TargetPosition<'_>,
    held: Decimal,
    size: Option<Size>,
    cuts: &mut Cuts,
) -> Option<()> {
    wish.close = (-held).max(Decimal::ZERO);
    let owned = held.max(Decimal::ZERO).checked_mul(wish.price.0)?;
    let weight = frame.config.weights.of(wish.rating)?;
    let cap = frame.cap()?;
    let wanted = match size {
        None => cap.checked_mul(weight)?,
        Some(size) => aim(frame, wish.price, size, owned, cap)?,
    };
    let more = (capped(wish.symbol, wanted, cap, cuts) - owned).max(Decimal::ZERO);
    wish.open = more.checked_div(wish.price.0)?;
    Some(())
}

/// Downwards: a long position is reduced, never increased; only the table's weight opens a short one.
fn down(
    frame: SizingContext<'_>,
    wish: &mut TargetPosition<'_>,
    held: Decimal,
    size: Option<Size>,
    cuts: &mut Cuts,
) -> Option<()> {
    let weight = frame.config.weights.of(wish.rating)?;
    let cap = frame.cap()?;
    let short = weight < Decimal::ZERO;
    if held > Decimal::ZERO {
        let asked = match size {
            // A size refers to the holding; only the table can go below zero.
            Some(size) => reduction(frame, wish.price, size, held)?,
            None => {
                let stays = cap.checked_mul(weight.max(Decimal::ZERO))?;
                (held.checked_mul(wish.price.0)? - stays).checked_div(wish.price.0)?
            }
        };
        if asked > held {
            let numbers = [("asked", asked.round_dp(4)), ("held", held)];
            let text = format!("{} were to be sold, {held} are held.", asked.round_dp(4).normalize());
            cuts.add(wish.symbol, CutCode::Held, text, &numbers);
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
    let owed = (-held).max(Decimal::ZERO).checked_mul(wish.price.0)?;
    let wanted = match size {
        None => cap.checked_mul(-weight)?,
        Some(size) => aim(frame, wish.price, size, owed, cap)?,
    };
    let more = (capped(wish.symbol, wanted, cap, cuts) - owed).max(Decimal::ZERO);
    wish.open = -more.checked_div(wish.price.0)?;
    Some(())
}

impl SizingContext<'_> {
    /// The cap of one symbol in money.
    fn cap(self) -> Option<Decimal> {
        self.share(self.config.symbol_cap)
    }

    fn share(self, share: Decimal) -> Option<Decimal> {
        self.equity.max(Decimal::ZERO).checked_mul(share)
    }
}

/// The resulting value of a position, in money. Fractions give the resulting position; quantities and money
/// are added to it.
fn aim(frame: SizingContext<'_>, price: Price, size: Size, owned: Decimal, cap: Decimal) -> Option<Decimal> {
    let value = match size.amount {
        Amount::Portfolio(share) => return frame.share(share),
        Amount::Position(share) => return cap.checked_mul(share),
        Amount::Quantity(quantity) => quantity.checked_mul(price.0)?,
        Amount::Money(money) => money,
    };
    if size.to { Some(value) } else { owned.checked_add(value) }
}

/// The quantity by which a position is reduced, in shares or units.
fn reduction(frame: SizingContext<'_>, price: Price, size: Size, held: Decimal) -> Option<Decimal> {
    let quantity = match size.amount {
        Amount::Portfolio(share) => frame.share(share)?.checked_div(price.0)?,
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
    let (shown, most) = (wanted.round_dp(2).normalize(), cap.round_dp(2).normalize());
    let text = format!("{shown} of {symbol} were wanted; the cap of one symbol is {most}.");
    cuts.add(symbol, CutCode::SymbolCap, text, &[("wanted", shown), ("cap", most)]);
    cap
}
