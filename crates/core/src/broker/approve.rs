//! The checks of an order, in a fixed order, and the proof that it passed them.

use super::conditions::PriceBand;
use super::margin::{OpeningNeeds, needed};
use super::market_checks::{check_band, check_participation, check_universe};
use super::order::{Order, Quote, QuoteState, StopChange};
use super::profile::MarketProfile;
use super::reject::{RejectCode, RejectReason, Rejection};
use super::stops;
use super::terms::{FillTerms, Venue, margin_released};
use crate::ledger::{Account, Direction, Position, checked};
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;

/// Proof that a request passed every check against one version of an account.
///
/// It cannot be created otherwise or copied, and using it consumes it. After any change of the account, or
/// for another account, it is rejected.
///
/// ```compile_fail
/// use papertape_core::broker::{Approved, Order};
/// fn twice(approved: Approved<Order>) -> (Approved<Order>, Approved<Order>) {
///     (approved.clone(), approved)
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Approved<T> {
    item: T,
    day: Date,
    reference: Price,
    band: Option<PriceBand>,
    owner: String,
    version: u64,
}

impl<T> Approved<T> {
    /// What was approved.
    #[must_use]
    pub fn get(&self) -> &T {
        &self.item
    }

    /// The trading day.
    #[must_use]
    pub fn day(&self) -> Date {
        self.day
    }

    /// The price at which it was checked, before slippage.
    #[must_use]
    pub fn reference(&self) -> Price {
        self.reference
    }

    /// The day's price limits, which bound the fill; `None` if the quote has none.
    #[must_use]
    pub fn band(&self) -> Option<PriceBand> {
        self.band
    }

    /// The version of the account that it was checked against, and is good for.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The owner of the account that it was checked against, and is good for.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    pub(super) fn into_inner(self) -> T {
        self.item
    }
}

/// Checks an order against an account, a market and a quote.
///
/// In this order; the first that fails decides: insolvent account, outside of the universe, unknown symbol,
/// no bar today, amount not above zero or too large, side (shorting allowed, no position on the other side),
/// price limits, lot size, participation, T+1, cash including fees, shares, leverage, stop and target.
///
/// # Errors
/// The rejection, with the order.
pub fn approve(
    account: &Account,
    profile: &MarketProfile,
    quote: &Quote,
    order: Order,
) -> Result<Approved<Order>, Rejection> {
    match check(account, profile, quote, &order) {
        Ok(reference) => Ok(approved(account, quote, reference, order)),
        Err(reason) => Err(reason.of(order)),
    }
}

/// Checks a change of an open position's stop or target: both on the right side of the quote's
/// price, the stop tightened and never loosened, the leveraged loss within its limit.
///
/// # Errors
/// The rejection, with the change.
pub fn approve_stops(
    account: &Account,
    quote: &Quote,
    change: StopChange,
) -> Result<Approved<StopChange>, Rejection> {
    match check_change(account, quote, &change) {
        Ok(reference) => Ok(approved(account, quote, reference, change)),
        Err(reason) => Err(reason.of(change)),
    }
}

/// Checks only the leverage, the stop and the target of an opening order, like the last checks of
/// [`approve`]: what can be checked before the quantity is known. Returns the order.
///
/// # Errors
/// The rejection, with the order.
pub fn check_stop_and_leverage(
    account: &Account,
    profile: &MarketProfile,
    quote: &Quote,
    order: Order,
) -> Result<Order, Rejection> {
    let position = account.position(&order.symbol);
    let leverage = leverage_of(&order, position);
    let in_universe = check_universe(quote, &order.symbol, order.side.opens());
    let checked = in_universe.and_then(|()| price_of(quote, order.symbol.as_str())).and_then(|reference| {
        let venue = Venue::for_order(profile, &order.symbol, quote.day).with_band(quote.conditions.band);
        let terms =
            FillTerms::at(venue, order.side, order.quantity, reference).map_err(RejectReason::too_large)?;
        check_leverage(profile, &order, position, leverage)?;
        check_stop(&order, position, &terms, leverage)
    });
    match checked {
        Ok(()) => Ok(order),
        Err(reason) => Err(reason.of(order)),
    }
}

fn approved<T>(account: &Account, quote: &Quote, reference: Price, item: T) -> Approved<T> {
    Approved {
        item,
        day: quote.day,
        reference,
        band: quote.conditions.band,
        owner: account.owner().to_owned(),
        version: account.version(),
    }
}

/// The leverage of an order. A closing order keeps the position's, whatever it says.
pub(super) fn leverage_of(order: &Order, position: Option<&Position>) -> Decimal {
    let requested = order.leverage.filter(|_| order.side.opens());
    requested.or_else(|| position.map(|position| position.leverage)).unwrap_or(Decimal::ONE)
}

fn check(
    account: &Account,
    profile: &MarketProfile,
    quote: &Quote,
    order: &Order,
) -> Result<Price, RejectReason> {
    check_solvent(account)?;
    check_universe(quote, &order.symbol, order.side.opens())?;
    let reference = price_of(quote, order.symbol.as_str())?;
    let position = account.position(&order.symbol);
    let quantity = order.quantity;
    if !quantity.is_positive() {
        let message = format!("The quantity must be above zero; {quantity} is not.");
        return Err(RejectReason::new(RejectCode::InvalidAmount, message, [("asked", quantity.0)]));
    }
    let venue = Venue::for_order(profile, &order.symbol, quote.day).with_band(quote.conditions.band);
    let terms = FillTerms::at(venue, order.side, quantity, reference).map_err(RejectReason::too_large)?;
    check_side(profile, order, position)?;
    check_band(&quote.conditions, order, reference)?;
    check_lot(profile, order, position)?;
    check_participation(account, profile, &quote.conditions, order, quote.day)?;
    if !order.side.opens() {
        let own = position.filter(|p| p.quantity.is_positive() == order.side.is_long());
        check_t_plus_one(profile, order, own, quote.day)?;
        check_closing_cash(account, venue, order, own, reference)?;
        check_shares(order, own)?;
        return Ok(reference);
    }
    let leverage = leverage_of(order, position);
    check_opening_cash(account, order, &terms, leverage)?;
    check_leverage(profile, order, position, leverage)?;
    check_stop(order, position, &terms, leverage)?;
    Ok(reference)
}

fn check_solvent(account: &Account) -> Result<(), RejectReason> {
    account.insolvency().map_or(Ok(()), |since| Err(RejectReason::insolvent(since)))
}

fn price_of(quote: &Quote, symbol: &str) -> Result<Price, RejectReason> {
    let day = quote.day;
    match quote.state {
        QuoteState::At(price) if quote.symbol.as_str() == symbol && price.is_positive() => Ok(price),
        QuoteState::NoBar | QuoteState::At(_) if quote.symbol.as_str() == symbol => {
            let message = format!("{symbol} has no bar on {day}, so it cannot be traded.");
            Err(RejectReason::new(RejectCode::NoBarToday, message, []))
        }
        _ => {
            let message = format!("{symbol} is not one of this run's instruments.");
            Err(RejectReason::new(RejectCode::UnknownSymbol, message, []))
        }
    }
}

fn check_side(
    profile: &MarketProfile,
    order: &Order,
    position: Option<&Position>,
) -> Result<(), RejectReason> {
    let symbol = &order.symbol;
    if !order.side.is_long() && !profile.shorting {
        let message = format!("{} does not allow short positions.", profile.name);
        return Err(RejectReason::new(RejectCode::ShortingNotAllowed, message, []));
    }
    let opposite = |p: &&Position| p.quantity.is_positive() != order.side.is_long();
    if let Some(position) = position.filter(opposite).filter(|_| order.side.opens()) {
        let held = position.quantity;
        let message = format!(
            "The position in {symbol} is {held}; {} it before you {}.",
            position.closing_side(),
            order.side
        );
        return Err(RejectReason::new(RejectCode::OppositePosition, message, [("held", held.0)]));
    }
    Ok(())
}

fn check_lot(
    profile: &MarketProfile,
    order: &Order,
    position: Option<&Position>,
) -> Result<(), RejectReason> {
    let quantity = order.quantity;
    let closes_all =
        !order.side.opens() && position.is_some_and(|position| position.quantity.abs() == quantity);
    if profile.fractional {
        let unit = Decimal::new(1, checked::QUANTITY_DP);
        if quantity.0 == quantity.0.trunc_with_scale(checked::QUANTITY_DP) {
            return Ok(());
        }
        let message = format!("Quantities must be multiples of {unit}; {quantity} is not.");
        let numbers = [("asked", quantity.0), ("lot", unit)];
        return Err(RejectReason::new(RejectCode::LotSize, message, numbers));
    }
    let rule = profile.lot_rule(&order.symbol);
    if rule.allows(quantity) || closes_all {
        return Ok(());
    }
    let (minimum, lot) = (rule.minimum, rule.step);
    let at_least = if minimum == lot { String::new() } else { format!(" and at least {minimum}") };
    let message = format!("Quantities must be multiples of {lot}{at_least}; {quantity} is not.");
    let mut reason = RejectReason::new(RejectCode::LotSize, message, [("asked", quantity.0), ("lot", lot.0)]);
    if minimum != lot {
        reason.numbers.insert("minimum".to_owned(), minimum.0);
    }
    Err(reason)
}

fn check_t_plus_one(
    profile: &MarketProfile,
    order: &Order,
    position: Option<&Position>,
    day: Date,
) -> Result<(), RejectReason> {
    let Some(position) = position else { return Ok(()) };
    let held = position.quantity.abs();
    let closable = position.closable(day, profile.t_plus_one);
    if order.quantity.min(held) <= closable {
        return Ok(());
    }
    let (symbol, quantity) = (&order.symbol, order.quantity);
    let message = format!(
        "Only {closable} of {held} {symbol} can be closed today, because the rest was acquired today \
         (T+1); {quantity} were requested."
    );
    let numbers = [("asked", quantity.0), ("held", held.0), ("closable", closable.0)];
    Err(RejectReason::new(RejectCode::TPlusOne, message, numbers))
}

/// Closing must not leave a negative amount available, unless it improves on the current one.
fn check_closing_cash(
    account: &Account,
    venue: Venue<'_>,
    order: &Order,
    position: Option<&Position>,
    reference: Price,
) -> Result<(), RejectReason> {
    let Some(position) = position else { return Ok(()) };
    let quantity = order.quantity.min(position.quantity.abs());
    let available = account.available().map_err(RejectReason::too_large)?;
    let terms = FillTerms::closing(venue, position, quantity, reference).map_err(RejectReason::too_large)?;
    let released = margin_released(position, quantity, terms.price).map_err(RejectReason::too_large)?;
    let after = checked::plus(available, released)
        .and_then(|sum| checked::minus(sum, terms.fee))
        .map_err(RejectReason::too_large)?;
    if after >= Money::ZERO.min(available) {
        return Ok(());
    }
    let message = format!(
        "The {} order for {quantity} {} releases {released} and costs a fee of {}; with {available} \
         available, that is not enough.",
        order.side, order.symbol, terms.fee
    );
    let numbers = [("available", available.0), ("released", released.0), ("fee", terms.fee.0)];
    Err(RejectReason::new(RejectCode::InsufficientCash, message, numbers))
}

fn check_opening_cash(
    account: &Account,
    order: &Order,
    terms: &FillTerms,
    leverage: Decimal,
) -> Result<(), RejectReason> {
    let available = account.available().map_err(RejectReason::too_large)?;
    let needed = needed(terms, leverage).and_then(OpeningNeeds::total).map_err(RejectReason::too_large)?;
    if needed <= available {
        return Ok(());
    }
    let message = format!(
        "The {} order for {} {} at {} needs {needed}, including a fee of {}; {available} is available.",
        order.side, order.quantity, order.symbol, terms.price, terms.fee
    );
    let numbers =
        [("needed", needed.0), ("available", available.0), ("price", terms.price.0), ("fee", terms.fee.0)];
    Err(RejectReason::new(RejectCode::InsufficientCash, message, numbers))
}

fn check_shares(order: &Order, position: Option<&Position>) -> Result<(), RejectReason> {
    let held = position.map_or(Quantity::ZERO, |position| position.quantity.abs());
    let quantity = order.quantity;
    if quantity <= held {
        return Ok(());
    }
    let kind = if order.side.is_long() { "held" } else { "held short" };
    let message = format!("{held} {} are {kind}; you cannot {} {quantity}.", order.symbol, order.side);
    let numbers = [("asked", quantity.0), ("held", held.0)];
    Err(RejectReason::new(RejectCode::InsufficientShares, message, numbers))
}

fn check_leverage(
    profile: &MarketProfile,
    order: &Order,
    position: Option<&Position>,
    leverage: Decimal,
) -> Result<(), RejectReason> {
    let (least, most) = (profile.min_leverage, profile.leverage_limit());
    if leverage < least || leverage > most {
        let message =
            format!("Leverage in {} must be from {least} to {most}; {leverage} is not.", profile.name);
        let numbers = [("asked", leverage), ("least", least), ("most", most)];
        return Err(RejectReason::new(RejectCode::LeverageLimit, message, numbers));
    }
    match position {
        Some(position) if position.leverage != leverage => {
            let held = position.leverage;
            let message = format!(
                "The open position in {} has a leverage of {held}; an addition must have the \
                 same, not {leverage}.",
                order.symbol
            );
            let numbers = [("asked", leverage), ("held", held)];
            Err(RejectReason::new(RejectCode::LeverageLimit, message, numbers))
        }
        _ => Ok(()),
    }
}

fn check_stop(
    order: &Order,
    position: Option<&Position>,
    terms: &FillTerms,
    leverage: Decimal,
) -> Result<(), RejectReason> {
    let direction = if order.side.is_long() { Direction::Long } else { Direction::Short };
    let old = position.and_then(|position| position.stop);
    let Some(stop) = order.stop.or(old) else {
        if leverage > Decimal::ONE {
            let message = format!("A position with a leverage of {leverage} must have a stop.");
            let numbers = [("leverage", leverage)];
            return Err(RejectReason::new(RejectCode::StopRequired, message, numbers));
        }
        return stops::check_stop_side(direction, terms.price, None, order.target);
    };
    stops::check_stop_side(direction, terms.price, Some(stop), order.target)?;
    stops::check_stop_distance(direction, terms.price, stop, leverage)?;
    stops::check_stop_tightened(direction, old, order.stop)
}

fn check_change(account: &Account, quote: &Quote, change: &StopChange) -> Result<Price, RejectReason> {
    check_solvent(account)?;
    check_universe(quote, &change.symbol, false)?;
    let price = price_of(quote, change.symbol.as_str())?;
    let Some(position) = account.position(&change.symbol) else {
        let message = format!("There is no open position in {}.", change.symbol);
        return Err(RejectReason::new(RejectCode::NoPosition, message, []));
    };
    if change.stop.is_none() && change.target.is_none() {
        let message = "Neither a stop nor a target was given.".to_owned();
        return Err(RejectReason::new(RejectCode::NothingToChange, message, []));
    }
    let direction = position.direction();
    stops::check_stop_side(direction, price, change.stop, change.target)?;
    if let Some(stop) = change.stop {
        stops::check_stop_distance(direction, position.avg_price, stop, position.leverage)?;
    }
    stops::check_stop_tightened(direction, position.stop, change.stop)?;
    Ok(price)
}
