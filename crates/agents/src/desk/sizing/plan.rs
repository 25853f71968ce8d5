//! From target positions to orders: closing first, then opening within the cash and the caps.

use super::gross::{cap_gross_exposure, scaled};
use super::target::{SizingContext, TargetPosition, wish};
use super::{Adjustment, CutCode, Decision, PlannedOrder, Sizing, SizingConfig};
use papertape_core::broker::{
    Books, OpeningNeeds, Order, Quote, QuoteState, RejectCode, Rejection, Side, approve,
    check_stop_and_leverage, initial_margin_requirement, submit,
};
use papertape_core::id::Symbol;
use papertape_core::money::{Price, Quantity};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Iterations of the pro rata scaling, for fees that do not shrink with the order.
const ROUNDS: usize = 12;

/// The adjustments so far.
#[derive(Debug, Default)]
pub(super) struct Cuts(Vec<Adjustment>);

impl Cuts {
    pub(super) fn add(
        &mut self,
        symbol: &Symbol,
        code: CutCode,
        message: String,
        numbers: &[(&str, Decimal)],
    ) {
        let numbers = numbers.iter().map(|(name, value)| ((*name).to_owned(), value.normalize())).collect();
        self.0.push(Adjustment { symbol: symbol.clone(), code, message, numbers });
    }

    fn refused(&mut self, symbol: &Symbol, rejection: &Rejection) {
        let message = format!("{} ({})", rejection.message, rejection.code);
        let numbers = rejection.numbers.clone();
        self.0.push(Adjustment { symbol: symbol.clone(), code: CutCode::Refused, message, numbers });
    }
}

/// Turns the day's decisions into orders against the books. `quotes` are today's prices, which the orders are
/// also checked against. The result depends only on the arguments.
#[must_use]
pub fn size(
    books: &Books,
    quotes: &BTreeMap<Symbol, Quote>,
    decisions: &BTreeMap<Symbol, Decision>,
    config: &SizingConfig,
) -> Sizing {
    let mut cuts = Cuts::default();
    let mut trial = books.clone();
    let marks = marks(books, quotes);
    let equity = books.account().equity(&marks).map_or(Decimal::ZERO, |equity| equity.0);
    let frame = SizingContext { books, config, equity };
    let wishes: Vec<TargetPosition<'_>> = decisions
        .iter()
        .filter_map(|(symbol, decision)| wish(frame, symbol, decision, quotes.get(symbol), &mut cuts))
        .collect();

    let mut orders: Vec<PlannedOrder> =
        wishes.iter().filter_map(|wish| close(frame, wish, &mut trial, &mut cuts)).collect();
    let mut openings: Vec<OpenIntent<'_>> =
        wishes.iter().filter_map(|wish| opening(frame, wish, &trial, &mut cuts)).collect();
    cap_gross_exposure(frame, &mut openings, &trial, &marks, &mut cuts);
    cap_to_cash(frame, &mut openings, &trial, &marks, &mut cuts);
    for opening in &openings {
        orders.extend(open(frame, opening, &mut trial, &mut cuts));
    }
    cuts.0.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    Sizing { orders, cuts: cuts.0 }
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
    frame: SizingContext<'_>,
    wish: &TargetPosition<'_>,
    trial: &mut Books,
    cuts: &mut Cuts,
) -> Option<PlannedOrder> {
    if wish.close <= Decimal::ZERO {
        return None;
    }
    let symbol = wish.symbol;
    let profile = frame.books.profile();
    let position = frame.books.account().position(symbol)?;
    let held = position.quantity.abs().0;
    let closable = position.closable(wish.quote.day, profile.t_plus_one).0;
    if wish.close > closable {
        let text = format!("Of {held} {symbol} only {closable} can be closed today (T+1).");
        let numbers = [("wanted", wish.close), ("held", held), ("closable", closable)];
        cuts.add(symbol, CutCode::TPlusOne, text, &numbers);
    }
    let wanted = wish.close.min(closable);
    // An odd holding may be closed in full.
    let quantity = if wanted == held { held } else { whole(frame, symbol, wanted, cuts) };
    if quantity <= Decimal::ZERO {
        return None;
    }
    if quantity < held && too_small(frame, wish, quantity, cuts) {
        return None;
    }
    let order = PlannedOrder {
        symbol: symbol.clone(),
        side: position.closing_side(),
        quantity: Quantity(quantity),
        stop: None,
        target: None,
        leverage: None,
        reason: reason(wish, quantity, held),
    };
    placed(trial, wish.quote, order, cuts)
}

fn reason(wish: &TargetPosition<'_>, quantity: Decimal, held: Decimal) -> String {
    let quantity = quantity.normalize();
    let sizing = wish.proposal.and_then(|proposal| proposal.position_sizing.as_deref());
    let sizing = sizing.map(|text| format!(", sized `{}`", text.chars().take(60).collect::<String>()));
    format!(
        "The desk rates {} {}{}: {quantity} at {}, {} held before.",
        wish.symbol,
        wish.rating,
        sizing.unwrap_or_default(),
        wish.price,
        held.normalize()
    )
}

/// Places the order on the trial books as the broker would; a rejection is recorded as a cut.
fn placed(trial: &mut Books, quote: &Quote, order: PlannedOrder, cuts: &mut Cuts) -> Option<PlannedOrder> {
    let mut order = order;
    let asked = order.order(trial.next_order_id());
    let mut decision = approve(trial.account(), trial.profile(), quote, asked);
    if let Some((rejection, largest)) = capped(&decision) {
        let numbers: Vec<(&str, Decimal)> =
            rejection.numbers.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        cuts.add(&order.symbol, CutCode::Participation, rejection.message.clone(), &numbers);
        order.quantity = largest;
        let asked = order.order(trial.next_order_id());
        decision = approve(trial.account(), trial.profile(), quote, asked);
    }
    match decision {
        // An approval for these same books cannot be stale; an order that overflows the ledger is dropped.
        Ok(approved) => match submit(trial, approved) {
            Ok(_) => Some(order),
            Err(error) => {
                cuts.add(&order.symbol, CutCode::Refused, error.to_string(), &[]);
                None
            }
        },
        Err(rejection) => {
            cuts.refused(&order.symbol, &rejection);
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

/// A position to open or increase.
pub(super) struct OpenIntent<'a> {
    pub(super) wish: &'a TargetPosition<'a>,
    side: Side,
    /// Above zero, exact.
    pub(super) quantity: Decimal,
    leverage: Option<Decimal>,
    /// The leverage it will have.
    effective: Decimal,
    stop: Option<Price>,
    target: Option<Price>,
}

impl OpenIntent<'_> {
    pub(super) fn value(&self) -> Decimal {
        self.quantity.saturating_mul(self.wish.price.0)
    }

    fn order(&self, quantity: Decimal, held: Decimal) -> PlannedOrder {
        PlannedOrder {
            symbol: self.wish.symbol.clone(),
            side: self.side,
            quantity: Quantity(quantity),
            stop: self.stop,
            target: self.target,
            leverage: self.leverage,
            reason: reason(self.wish, quantity, held),
        }
    }

    /// The cash that the quantity needs, and the part of it that is not fees.
    fn needs(&self, frame: SizingContext<'_>, quantity: Decimal) -> Option<(Decimal, Decimal)> {
        if quantity <= Decimal::ZERO {
            return Some((Decimal::ZERO, Decimal::ZERO));
        }
        let (profile, wish) = (frame.books.profile(), self.wish);
        let at = (wish.symbol, wish.quote.day);
        let needs = initial_margin_requirement(
            profile,
            at,
            self.side,
            Quantity(quantity),
            wish.price,
            self.effective,
        )
        .ok()?;
        Some((needs.total().ok()?.0, needs.margin.0))
    }
}

/// The opening part of a target position, with leverage, stop and target that the broker accepts.
fn opening<'a>(
    frame: SizingContext<'_>,
    wish: &'a TargetPosition<'a>,
    trial: &Books,
    cuts: &mut Cuts,
) -> Option<OpenIntent<'a>> {
    if wish.open.is_zero() {
        return None;
    }
    let symbol = wish.symbol;
    let profile = frame.books.profile();
    let position = trial.account().position(symbol);
    let proposal = wish.proposal;
    let asked = proposal.and_then(|proposal| proposal.leverage);
    let most = frame.config.max_leverage.min(profile.leverage_limit()).max(profile.min_leverage);
    let leverage = match position {
        // An addition has the leverage of the open position.
        Some(position) => position.leverage,
        None => asked.unwrap_or(Decimal::ONE).clamp(profile.min_leverage, most),
    };
    if let Some(asked) = asked.filter(|asked| *asked != leverage) {
        let text = format!("A leverage of {asked} was asked; it is {leverage}.");
        cuts.add(
            symbol,
            CutCode::Leverage,
            text,
            &[("asked", asked), ("most", most), ("leverage", leverage)],
        );
    }
    let side = if wish.open > Decimal::ZERO { Side::Buy } else { Side::Short };
    let mut order = Order {
        id: trial.clone().next_order_id(),
        symbol: symbol.clone(),
        side,
        quantity: Quantity(Decimal::ONE),
        stop: proposal.and_then(|proposal| proposal.stop_loss),
        target: proposal.and_then(|proposal| proposal.take_profit),
        leverage: (leverage != Decimal::ONE && position.is_none()).then_some(leverage),
        reason: None,
    };
    // Each round fixes one thing, and there are four.
    for _ in 0..5 {
        match check_stop_and_leverage(trial.account(), profile, wish.quote, order.clone()) {
            Ok(_) => break,
            Err(rejection) => {
                if !relax_protection(&mut order, &rejection, cuts) {
                    cuts.refused(symbol, &rejection);
                    return None;
                }
            }
        }
    }
    let effective = order.leverage.or(position.map(|position| position.leverage)).unwrap_or(Decimal::ONE);
    Some(OpenIntent {
        wish,
        side,
        quantity: wish.open.abs(),
        leverage: order.leverage,
        effective,
        stop: order.stop,
        target: order.target,
    })
}

/// Fixes leverage, stop or target that the broker rejects; false when it cannot.
fn relax_protection(order: &mut Order, rejection: &Rejection, cuts: &mut Cuts) -> bool {
    let numbers: Vec<(&str, Decimal)> =
        rejection.numbers.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let (code, what) = match rejection.code {
        RejectCode::StopTooFar => {
            let Some(furthest) =
                rejection.numbers.get("furthest_stop").filter(|stop| Some(Price(**stop)) != order.stop)
            else {
                return false;
            };
            order.stop = Some(Price(*furthest));
            (CutCode::Stop, "The stop is moved to the furthest that is allowed.")
        }
        RejectCode::StopWrongSide | RejectCode::StopLoosened if order.stop.is_some() => {
            order.stop = None;
            (CutCode::Stop, "The stop is left out.")
        }
        RejectCode::TargetWrongSide if order.target.is_some() => {
            order.target = None;
            (CutCode::Target, "The target is left out.")
        }
        RejectCode::StopRequired if order.leverage.is_some() => {
            order.leverage = None;
            (CutCode::Leverage, "The position is opened without leverage.")
        }
        _ => return false,
    };
    cuts.add(&order.symbol, code, format!("{} {what}", rejection.message), &numbers);
    true
}

/// Scales opening orders to the cash, pro rata, and rounds them down to whole lots.
fn cap_to_cash(
    frame: SizingContext<'_>,
    openings: &mut Vec<OpenIntent<'_>>,
    trial: &Books,
    marks: &BTreeMap<Symbol, Price>,
    cuts: &mut Cuts,
) {
    let available = trial.account().available().map_or(Decimal::ZERO, |money| money.0);
    let reserve = frame.equity.max(Decimal::ZERO).saturating_mul(frame.config.cash_reserve);
    let cash = (available - waiting(trial, marks) - reserve).max(Decimal::ZERO);
    let wanted: Vec<Decimal> = openings.iter().map(|opening| opening.quantity).collect();
    let total = |quantities: &[Decimal]| -> Option<(Decimal, Decimal)> {
        openings.iter().zip(quantities).try_fold(
            (Decimal::ZERO, Decimal::ZERO),
            |(needed, margin), (opening, q)| {
                let (n, m) = opening.needs(frame, *q)?;
                Some((needed.checked_add(n)?, margin.checked_add(m)?))
            },
        )
    };
    let fits = |quantities: &[Decimal]| total(quantities).is_some_and(|(needed, _)| needed <= cash);
    let symbols: Vec<Symbol> = openings.iter().map(|opening| opening.wish.symbol.clone()).collect();
    let lots = |quantities: &[Decimal]| {
        let of = |(q, symbol): (&Decimal, &Symbol)| whole_lots(frame, symbol, *q);
        quantities.iter().zip(&symbols).map(of).collect::<Vec<_>>()
    };
    let mut quantities = wanted.clone();
    if let (Some((needed, _)), false) = (total(&wanted), fits(&lots(&wanted))) {
        let full_margin = total(&wanted).map_or(Decimal::ZERO, |(_, margin)| margin);
        let mut best = vec![Decimal::ZERO; wanted.len()];
        for _ in 0..ROUNDS {
            let Some((needed, margin)) = total(&quantities) else { break };
            let room = cash - (needed - margin);
            quantities = wanted.iter().map(|q| scaled(*q, room, full_margin)).collect();
            if fits(&lots(&quantities)) && quantities.iter().zip(&best).any(|(now, best)| now > best) {
                best.clone_from(&quantities);
            }
        }
        quantities = best;
        for (opening, quantity) in openings.iter().zip(&quantities) {
            let text = format!(
                "The orders need {} with fees; {} of cash is there for them.",
                needed.round_dp(2),
                cash.round_dp(2)
            );
            let numbers = [
                ("needed", needed),
                ("cash", cash),
                ("reserve", reserve),
                ("wanted", opening.quantity),
                ("quantity", *quantity),
            ];
            cuts.add(
                opening.wish.symbol,
                CutCode::Cash,
                text,
                &numbers.map(|(name, n)| (name, n.round_dp(4))),
            );
        }
    }
    for (opening, quantity) in openings.iter_mut().zip(quantities) {
        opening.quantity = quantity;
    }
    openings.retain_mut(|opening| {
        opening.quantity = if opening.quantity > Decimal::ZERO {
            whole(frame, opening.wish.symbol, opening.quantity, cuts)
        } else {
            Decimal::ZERO
        };
        opening.quantity > Decimal::ZERO && !too_small(frame, opening.wish, opening.quantity, cuts)
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
    frame: SizingContext<'_>,
    opening: &OpenIntent<'_>,
    trial: &mut Books,
    cuts: &mut Cuts,
) -> Option<PlannedOrder> {
    let held =
        frame.books.account().position(opening.wish.symbol).map_or(Decimal::ZERO, |held| held.quantity.0);
    placed(trial, opening.wish.quote, opening.order(opening.quantity, held), cuts)
}

/// Rounds down to whole lots, and records the remainder.
fn whole(frame: SizingContext<'_>, symbol: &Symbol, wanted: Decimal, cuts: &mut Cuts) -> Decimal {
    let quantity = whole_lots(frame, symbol, wanted);
    if quantity < wanted && !frame.books.profile().fractional {
        let lot = frame.books.profile().lot_rule(symbol).step;
        let text = format!("{} is {quantity} in whole lots of {lot}.", wanted.round_dp(4));
        let numbers = [("wanted", wanted.round_dp(4)), ("lot", lot.0), ("quantity", quantity)];
        cuts.add(symbol, CutCode::Lot, text, &numbers);
    }
    quantity
}

fn whole_lots(frame: SizingContext<'_>, symbol: &Symbol, quantity: Decimal) -> Decimal {
    frame.books.profile().round_to_lot(symbol, Quantity(quantity)).0
}

/// Whether the order is below the minimum, which is recorded as a cut.
fn too_small(
    frame: SizingContext<'_>,
    wish: &TargetPosition<'_>,
    quantity: Decimal,
    cuts: &mut Cuts,
) -> bool {
    let value = quantity.saturating_mul(wish.price.0);
    let least = frame.equity.max(Decimal::ZERO).saturating_mul(frame.config.least_order);
    if value >= least {
        return false;
    }
    let text = format!("An order of {} is below the least of {}.", value.round_dp(2), least.round_dp(2));
    cuts.add(
        wish.symbol,
        CutCode::TooSmall,
        text,
        &[("value", value.round_dp(4)), ("least", least.round_dp(4))],
    );
    true
}
