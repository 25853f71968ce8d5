//! From target positions to orders: closing first, then intent within the cash and the caps.

use super::adjustments::Adjustments;
use super::gross::{cap_gross_exposure, scaled};
use super::open_intent::{OpenIntent, open_intent};
use super::target::{SizingContext, TargetPosition, target_position};
use super::{AdjustmentCode, Decision, PlannedOrder, Sizing};
use crate::config::SizingConfig;
use papertape_core::broker::{
    Books, OpeningNeeds, Quote, QuoteState, RejectCode, Rejection, approve, initial_margin_requirement,
    submit,
};
use papertape_core::id::Symbol;
use papertape_core::money::{Price, Quantity};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Iterations of the pro rata scaling, for fees that do not shrink with the order.
const ROUNDS: usize = 12;

/// Turns the day's decisions into orders against the books. `quotes` are today's prices, which the orders are
/// also checked against. The result depends only on the arguments.
#[must_use]
pub fn size(
    books: &Books,
    quotes: &BTreeMap<Symbol, Quote>,
    decisions: &BTreeMap<Symbol, Decision>,
    config: &SizingConfig,
) -> Sizing {
    let mut adjustments = Adjustments::default();
    let mut trial = books.clone();
    let marks = marks(books, quotes);
    let equity = books.account().equity(&marks).map_or(Decimal::ZERO, |equity| equity.0);
    let context = SizingContext { books, config, equity };
    let targets: Vec<TargetPosition<'_>> = decisions
        .iter()
        .filter_map(|(symbol, decision)| {
            target_position(context, symbol, decision, quotes.get(symbol), &mut adjustments)
        })
        .collect();

    let mut orders: Vec<PlannedOrder> =
        targets.iter().filter_map(|target| close(context, target, &mut trial, &mut adjustments)).collect();
    let mut intents: Vec<OpenIntent<'_>> =
        targets.iter().filter_map(|target| open_intent(context, target, &trial, &mut adjustments)).collect();
    cap_gross_exposure(context, &mut intents, &trial, &marks, &mut adjustments);
    cap_to_cash(context, &mut intents, &trial, &marks, &mut adjustments);
    for intent in &intents {
        orders.extend(open(context, intent, &mut trial, &mut adjustments));
    }
    Sizing { orders, adjustments: adjustments.sorted_by_symbol() }
}

/// Today's prices, and the books' marks for positions without one.
fn marks(books: &Books, quotes: &BTreeMap<Symbol, Quote>) -> BTreeMap<Symbol, Price> {
    let mut marks = books.marks().clone();
    for (symbol, quote) in quotes {
        if let QuoteState::At(price) = quote.state {
            marks.insert(symbol.clone(), price);
        }
    }
    marks
}

/// The closing order of a target position, tried on the books.
fn close(
    context: SizingContext<'_>,
    target: &TargetPosition<'_>,
    trial: &mut Books,
    adjustments: &mut Adjustments,
) -> Option<PlannedOrder> {
    if target.close <= Decimal::ZERO {
        return None;
    }
    let symbol = target.symbol;
    let profile = context.books.profile();
    let position = context.books.account().position(symbol)?;
    let held = position.quantity.abs().0;
    let closable = position.closable(target.quote.day, profile.t_plus_one).0;
    if target.close > closable {
        let text = format!("Only {closable} of {held} {symbol} can be closed today (T+1).");
        let numbers = [("wanted", target.close), ("held", held), ("closable", closable)];
        adjustments.add(symbol, AdjustmentCode::TPlusOne, text, &numbers);
    }
    let requested = target.close.min(closable);
    // An odd holding may be closed in full.
    let quantity = if requested == held { held } else { whole(context, symbol, requested, adjustments) };
    if quantity <= Decimal::ZERO {
        return None;
    }
    if quantity < held && too_small(context, target, quantity, adjustments) {
        return None;
    }
    let order = PlannedOrder {
        symbol: symbol.clone(),
        side: position.closing_side(),
        quantity: Quantity(quantity),
        stop: None,
        target: None,
        leverage: None,
        reason: target.reason(quantity, held),
    };
    placed(trial, target.quote, order, adjustments)
}

/// Places the order on the trial books as the broker would; a rejection is recorded as a cut.
fn placed(
    trial: &mut Books,
    quote: &Quote,
    order: PlannedOrder,
    adjustments: &mut Adjustments,
) -> Option<PlannedOrder> {
    let mut order = order;
    let requested = order.order(trial.next_order_id());
    let mut decision = approve(trial.account(), trial.profile(), quote, requested);
    if let Some((rejection, largest)) = capped(&decision) {
        let (code, message) = (AdjustmentCode::Participation, rejection.message.clone());
        adjustments.add_correction(&order.symbol, rejection, code, message);
        order.quantity = largest;
        let requested = order.order(trial.next_order_id());
        decision = approve(trial.account(), trial.profile(), quote, requested);
    }
    match decision {
        // An approval for these same books cannot be stale; an order that overflows the ledger is dropped.
        Ok(approved) => match submit(trial, approved) {
            Ok(_) => Some(order),
            Err(error) => {
                adjustments.add(&order.symbol, AdjustmentCode::Refused, error.to_string(), &[]);
                None
            }
        },
        Err(rejection) => {
            adjustments.add_rejection(&order.symbol, &rejection);
            None
        }
    }
}

/// The rejection of an order that is too large for the instrument's volume, and the allowed quantity.
fn capped<T>(decision: &Result<T, Rejection>) -> Option<(&Rejection, Quantity)> {
    let rejection = decision.as_ref().err().filter(|why| why.code == RejectCode::ParticipationCap)?;
    let largest = rejection.numbers.get("largest").copied().filter(|largest| *largest > Decimal::ZERO)?;
    Some((rejection, Quantity(largest)))
}

/// Scales intent orders to the cash, pro rata, and rounds them down to whole lots.
fn cap_to_cash(
    context: SizingContext<'_>,
    intents: &mut Vec<OpenIntent<'_>>,
    trial: &Books,
    marks: &BTreeMap<Symbol, Price>,
    adjustments: &mut Adjustments,
) {
    let available = trial.account().available().map_or(Decimal::ZERO, |money| money.0);
    let reserve = context.equity.max(Decimal::ZERO).saturating_mul(context.config.cash_reserve);
    let cash = (available - waiting(trial, marks) - reserve).max(Decimal::ZERO);
    let requested: Vec<Decimal> = intents.iter().map(|intent| intent.quantity).collect();
    let total = |quantities: &[Decimal]| -> Option<(Decimal, Decimal)> {
        intents.iter().zip(quantities).try_fold(
            (Decimal::ZERO, Decimal::ZERO),
            |(needed, margin), (intent, q)| {
                let (n, m) = intent.needs(context, *q)?;
                Some((needed.checked_add(n)?, margin.checked_add(m)?))
            },
        )
    };
    let fits = |quantities: &[Decimal]| total(quantities).is_some_and(|(needed, _)| needed <= cash);
    let symbols: Vec<Symbol> = intents.iter().map(|intent| intent.target.symbol.clone()).collect();
    let lots = |quantities: &[Decimal]| {
        let of = |(q, symbol): (&Decimal, &Symbol)| whole_lots(context, symbol, *q);
        quantities.iter().zip(&symbols).map(of).collect::<Vec<_>>()
    };
    let mut quantities = requested.clone();
    if let (Some((needed, _)), false) = (total(&requested), fits(&lots(&requested))) {
        let full_margin = total(&requested).map_or(Decimal::ZERO, |(_, margin)| margin);
        let mut best = vec![Decimal::ZERO; requested.len()];
        for _ in 0..ROUNDS {
            let Some((needed, margin)) = total(&quantities) else { break };
            let room = cash - (needed - margin);
            quantities = requested.iter().map(|q| scaled(*q, room, full_margin)).collect();
            if fits(&lots(&quantities)) && quantities.iter().zip(&best).any(|(now, best)| now > best) {
                best.clone_from(&quantities);
            }
        }
        quantities = best;
        for (intent, quantity) in intents.iter().zip(&quantities) {
            let text = format!(
                "The orders need {} including fees; {} of cash is available for them.",
                needed.round_dp(2),
                cash.round_dp(2)
            );
            let numbers = [
                ("needed", needed),
                ("cash", cash),
                ("reserve", reserve),
                ("wanted", intent.quantity),
                ("quantity", *quantity),
            ];
            adjustments.add(
                intent.target.symbol,
                AdjustmentCode::Cash,
                text,
                &numbers.map(|(name, n)| (name, n.round_dp(4))),
            );
        }
    }
    for (intent, quantity) in intents.iter_mut().zip(quantities) {
        intent.quantity = quantity;
    }
    intents.retain_mut(|intent| {
        intent.quantity = if intent.quantity > Decimal::ZERO {
            whole(context, intent.target.symbol, intent.quantity, adjustments)
        } else {
            Decimal::ZERO
        };
        intent.quantity > Decimal::ZERO && !too_small(context, intent.target, intent.quantity, adjustments)
    });
}

/// The cash reserved by pending orders.
fn waiting(books: &Books, marks: &BTreeMap<Symbol, Price>) -> Decimal {
    let orders = books.pending().iter().filter(|pending| pending.order.side.opens());
    orders
        .filter_map(|pending| {
            let order = &pending.order;
            let price = marks.get(&order.symbol)?;
            let leverage = order.leverage.unwrap_or(Decimal::ONE);
            let at = (&order.symbol, books.reached().unwrap_or(pending.placed_on));
            let needs =
                initial_margin_requirement(books.profile(), at, order.side, order.quantity, *price, leverage);
            needs.and_then(OpeningNeeds::total).ok()
        })
        .fold(Decimal::ZERO, |sum, money| sum.saturating_add(money.0))
}

fn open(
    context: SizingContext<'_>,
    intent: &OpenIntent<'_>,
    trial: &mut Books,
    adjustments: &mut Adjustments,
) -> Option<PlannedOrder> {
    let held =
        context.books.account().position(intent.target.symbol).map_or(Decimal::ZERO, |held| held.quantity.0);
    placed(trial, intent.target.quote, intent.order(intent.quantity, held), adjustments)
}

/// Rounds down to whole lots, and records the remainder.
fn whole(
    context: SizingContext<'_>,
    symbol: &Symbol,
    requested: Decimal,
    adjustments: &mut Adjustments,
) -> Decimal {
    let quantity = whole_lots(context, symbol, requested);
    if quantity < requested && !context.books.profile().fractional {
        let lot = context.books.profile().lot_rule(symbol).step;
        let text =
            format!("{} is rounded down to {quantity}, in whole lots of {lot}.", requested.round_dp(4));
        let numbers = [("wanted", requested.round_dp(4)), ("lot", lot.0), ("quantity", quantity)];
        adjustments.add(symbol, AdjustmentCode::Lot, text, &numbers);
    }
    quantity
}

fn whole_lots(context: SizingContext<'_>, symbol: &Symbol, quantity: Decimal) -> Decimal {
    context.books.profile().round_to_lot(symbol, Quantity(quantity)).0
}

/// Whether the order is below the minimum, which is recorded as a cut.
fn too_small(
    context: SizingContext<'_>,
    target: &TargetPosition<'_>,
    quantity: Decimal,
    adjustments: &mut Adjustments,
) -> bool {
    let value = quantity.saturating_mul(target.price.0);
    let min_value = context.equity.max(Decimal::ZERO).saturating_mul(context.config.min_order);
    if value >= min_value {
        return false;
    }
    let text =
        format!("An order of {} is below the minimum of {}.", value.round_dp(2), min_value.round_dp(2));
    adjustments.add(
        target.symbol,
        AdjustmentCode::TooSmall,
        text,
        &[("value", value.round_dp(4)), ("least", min_value.round_dp(4))],
    );
    true
}
