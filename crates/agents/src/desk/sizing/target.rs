//! The target position of one symbol, before cash and lots.

use super::adjustments::Adjustments;
use super::{AdjustmentCode, Amount, Decision, Size};
use crate::config::{SizingConfig, Weights};
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

impl TargetPosition<'_> {
    /// The reason of an order for it, in a sentence.
    pub(super) fn reason(&self, quantity: Decimal, held: Decimal) -> String {
        let quantity = quantity.normalize();
        let sizing = self.proposal.and_then(|proposal| proposal.position_sizing.as_deref());
        let sizing = sizing.map(|text| format!(", sized `{}`", text.chars().take(60).collect::<String>()));
        format!(
            "The desk rates {} {}{}: {quantity} at {}, {} held before.",
            self.symbol,
            self.rating,
            sizing.unwrap_or_default(),
            self.price,
            held.normalize()
        )
    }
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
pub(super) fn target_position<'a>(
    context: SizingContext<'_>,
    symbol: &'a Symbol,
    decision: &'a Decision,
    quote: Option<&'a Quote>,
    adjustments: &mut Adjustments,
) -> Option<TargetPosition<'a>> {
    let (rating, proposal) = match decision {
        Decision::None { why } => {
            adjustments.add(
                symbol,
                AdjustmentCode::NoDecision,
                format!("No order for {symbol}: {why}."),
                &[],
            );
            return None;
        }
        Decision::Rated { rating: Rating::Hold, .. } => return None,
        Decision::Rated { rating, proposal } => (*rating, proposal.as_ref()),
    };
    let Some((quote, price)) = quote.and_then(|quote| match quote.state {
        QuoteState::At(price) if price.is_positive() => Some((quote, price)),
        _ => None,
    }) else {
        adjustments.add(symbol, AdjustmentCode::NoPrice, format!("{symbol} has no price today."), &[]);
        return None;
    };
    if context.books.pending().iter().any(|pending| pending.order.symbol == *symbol) {
        adjustments.add(
            symbol,
            AdjustmentCode::WaitingOrder,
            format!("{symbol} already has a pending order."),
            &[],
        );
        return None;
    }
    let agreeing = proposal.filter(|proposal| proposal.action.direction() == rating.direction());
    if let (Some(proposal), None) = (proposal, agreeing)
        && proposal.position_sizing.is_some()
    {
        let text = format!(
            "The Trader proposed {}, the rating is {rating}: the proposal's sizing is ignored.",
            proposal.action
        );
        adjustments.add(symbol, AdjustmentCode::SizingIgnored, text, &[]);
    }
    let size = match agreeing.and_then(|proposal| proposal.position_sizing.as_deref()) {
        None => None,
        Some(text) => match Size::parse(text) {
            Ok(size) if size.is_nothing() => {
                let text = format!("The Trader sized {symbol} at zero: nothing is traded.");
                adjustments.add(symbol, AdjustmentCode::SizingZero, text, &[]);
                return None;
            }
            Ok(size) => Some(size),
            // The Trader requested for a specific size, so the table's weight is not used.
            Err(error) => {
                let text = format!("No order for {symbol}: {error}.");
                adjustments.add(symbol, AdjustmentCode::SizingUnreadable, text, &[]);
                return None;
            }
        },
    };
    let held = context.books.account().position(symbol).map_or(Decimal::ZERO, |position| position.quantity.0);
    let mut target = TargetPosition {
        symbol,
        quote,
        price,
        rating,
        proposal: agreeing,
        close: Decimal::ZERO,
        open: Decimal::ZERO,
    };
    let sized = if rating.direction() > 0 {
        up(context, &mut target, held, size, adjustments)
    } else {
        down(context, &mut target, held, size, adjustments)
    };
    if sized.is_none() {
        let text = "The numbers are too large for the books.".to_owned();
        adjustments.add(symbol, AdjustmentCode::Refused, text, &[("price", price.0), ("held", held)]);
        return None;
    }
    Some(target)
}

/// The target of a rating as a fraction of the cap of one symbol; `None` for a Hold.
const fn weight(weights: &Weights, rating: Rating) -> Option<Decimal> {
    match rating {
        Rating::Buy => Some(weights.buy),
        Rating::Overweight => Some(weights.overweight),
        Rating::Hold => None,
        Rating::Underweight => Some(weights.underweight),
        Rating::Sell => Some(weights.sell),
    }
}

/// Upwards: a short position is covered in full; a long one is increased to the target, never reduced.
fn up(
    context: SizingContext<'_>,
    target: &mut TargetPosition<'_>,
    held: Decimal,
    size: Option<Size>,
    adjustments: &mut Adjustments,
) -> Option<()> {
    target.close = (-held).max(Decimal::ZERO);
    let owned = held.max(Decimal::ZERO).checked_mul(target.price.0)?;
    let weight = weight(&context.config.weights, target.rating)?;
    let cap = context.cap()?;
    let requested = match size {
        None => cap.checked_mul(weight)?,
        Some(size) => aim(context, target.price, size, owned, cap)?,
    };
    let more = (capped(target.symbol, requested, cap, adjustments) - owned).max(Decimal::ZERO);
    target.open = more.checked_div(target.price.0)?;
    Some(())
}

/// Downwards: a long position is reduced, never increased; only the table's weight opens a short one.
fn down(
    context: SizingContext<'_>,
    target: &mut TargetPosition<'_>,
    held: Decimal,
    size: Option<Size>,
    adjustments: &mut Adjustments,
) -> Option<()> {
    let weight = weight(&context.config.weights, target.rating)?;
    let cap = context.cap()?;
    let short = weight < Decimal::ZERO;
    if held > Decimal::ZERO {
        let requested = match size {
            // A size refers to the holding; only the table can go below zero.
            Some(size) => reduction(context, target.price, size, held)?,
            None => {
                let stays = cap.checked_mul(weight.max(Decimal::ZERO))?;
                (held.checked_mul(target.price.0)? - stays).checked_div(target.price.0)?
            }
        };
        if requested > held {
            let numbers = [("asked", requested.round_dp(4)), ("held", held)];
            let text =
                format!("{} were to be sold, but only {held} are held.", requested.round_dp(4).normalize());
            adjustments.add(target.symbol, AdjustmentCode::Held, text, &numbers);
        }
        target.close = requested.clamp(Decimal::ZERO, held);
        if !(short && size.is_none()) {
            return Some(());
        }
    } else if !short {
        if held.is_zero() && target.rating == Rating::Sell {
            let text = format!("There is no position in {} to sell.", target.symbol);
            adjustments.add(target.symbol, AdjustmentCode::Held, text, &[("held", Decimal::ZERO)]);
        }
        return Some(());
    }
    if !(context.config.shorting && context.books.profile().shorting) {
        let text = format!("A short position in {} is not allowed.", target.symbol);
        adjustments.add(target.symbol, AdjustmentCode::Shorting, text, &[("weight", weight)]);
        return Some(());
    }
    let owed = (-held).max(Decimal::ZERO).checked_mul(target.price.0)?;
    let requested = match size {
        None => cap.checked_mul(-weight)?,
        Some(size) => aim(context, target.price, size, owed, cap)?,
    };
    let more = (capped(target.symbol, requested, cap, adjustments) - owed).max(Decimal::ZERO);
    target.open = -more.checked_div(target.price.0)?;
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
fn aim(
    context: SizingContext<'_>,
    price: Price,
    size: Size,
    owned: Decimal,
    cap: Decimal,
) -> Option<Decimal> {
    let value = match size.amount {
        Amount::Portfolio(share) => return context.share(share),
        Amount::Position(share) => return cap.checked_mul(share),
        Amount::Quantity(quantity) => quantity.checked_mul(price.0)?,
        Amount::Money(money) => money,
    };
    if size.to { Some(value) } else { owned.checked_add(value) }
}

/// The quantity by which a position is reduced, in shares or units.
fn reduction(context: SizingContext<'_>, price: Price, size: Size, held: Decimal) -> Option<Decimal> {
    let quantity = match size.amount {
        Amount::Portfolio(share) => context.share(share)?.checked_div(price.0)?,
        Amount::Position(share) => held.checked_mul(share)?,
        Amount::Quantity(quantity) => quantity,
        Amount::Money(money) => money.checked_div(price.0)?,
    };
    Some(if size.to { held - quantity } else { quantity })
}

fn capped(symbol: &Symbol, requested: Decimal, cap: Decimal, adjustments: &mut Adjustments) -> Decimal {
    if requested <= cap {
        return requested;
    }
    let (shown, most) = (requested.round_dp(2).normalize(), cap.round_dp(2).normalize());
    let text = format!("{shown} of {symbol} was requested; the cap per symbol is {most}.");
    adjustments.add(symbol, AdjustmentCode::SymbolCap, text, &[("wanted", shown), ("cap", most)]);
    cap
}
