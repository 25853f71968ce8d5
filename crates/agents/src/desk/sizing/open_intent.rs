//! The intent part of a target position, with leverage, stop and target price that the broker accepts.

use super::adjustments::Adjustments;
use super::target::{SizingContext, TargetPosition};
use super::{AdjustmentCode, PlannedOrder};
use papertape_core::broker::{
    Books, Order, RejectCode, Rejection, Side, check_stop_and_leverage, initial_margin_requirement,
};
use papertape_core::money::{Price, Quantity};
use rust_decimal::Decimal;

/// A position to open or increase.
pub(super) struct OpenIntent<'a> {
    pub(super) target: &'a TargetPosition<'a>,
    side: Side,
    /// Above zero, exact.
    pub(super) quantity: Decimal,
    leverage: Option<Decimal>,
    /// The leverage it will have.
    effective: Decimal,
    stop: Option<Price>,
    target_price: Option<Price>,
}

impl OpenIntent<'_> {
    pub(super) fn value(&self) -> Decimal {
        self.quantity.saturating_mul(self.target.price.0)
    }

    pub(super) fn order(&self, quantity: Decimal, held: Decimal) -> PlannedOrder {
        PlannedOrder {
            symbol: self.target.symbol.clone(),
            side: self.side,
            quantity: Quantity(quantity),
            stop: self.stop,
            target: self.target_price,
            leverage: self.leverage,
            reason: self.target.reason(quantity, held),
        }
    }

    /// The cash that the quantity needs, and the part of it that is not fees.
    pub(super) fn needs(&self, context: SizingContext<'_>, quantity: Decimal) -> Option<(Decimal, Decimal)> {
        if quantity <= Decimal::ZERO {
            return Some((Decimal::ZERO, Decimal::ZERO));
        }
        let (profile, target) = (context.books.profile(), self.target);
        let at = (target.symbol, target.quote.day);
        let needs = initial_margin_requirement(
            profile,
            at,
            self.side,
            Quantity(quantity),
            target.price,
            self.effective,
        )
        .ok()?;
        Some((needs.total().ok()?.0, needs.margin.0))
    }
}

/// The intent part of a target position, with leverage, stop and target that the broker accepts.
pub(super) fn open_intent<'a>(
    context: SizingContext<'_>,
    target: &'a TargetPosition<'a>,
    trial: &Books,
    adjustments: &mut Adjustments,
) -> Option<OpenIntent<'a>> {
    if target.open.is_zero() {
        return None;
    }
    let symbol = target.symbol;
    let profile = context.books.profile();
    let position = trial.account().position(symbol);
    let proposal = target.proposal;
    let requested = proposal.and_then(|proposal| proposal.leverage);
    let max_leverage = context.config.max_leverage.min(profile.leverage_limit()).max(profile.min_leverage);
    let leverage = match position {
        // An addition has the leverage of the open position.
        Some(position) => position.leverage,
        None => requested.unwrap_or(Decimal::ONE).clamp(profile.min_leverage, max_leverage),
    };
    if let Some(requested) = requested.filter(|requested| *requested != leverage) {
        let text = format!("A leverage of {requested} was requested; {leverage} is used.");
        adjustments.add(
            symbol,
            AdjustmentCode::Leverage,
            text,
            &[("asked", requested), ("most", max_leverage), ("leverage", leverage)],
        );
    }
    let side = if target.open > Decimal::ZERO { Side::Buy } else { Side::Short };
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
        match check_stop_and_leverage(trial.account(), profile, target.quote, order.clone()) {
            Ok(_) => break,
            Err(rejection) => {
                if !relax_protection(&mut order, &rejection, adjustments) {
                    adjustments.add_rejection(symbol, &rejection);
                    return None;
                }
            }
        }
    }
    let effective = order.leverage.or(position.map(|position| position.leverage)).unwrap_or(Decimal::ONE);
    Some(OpenIntent {
        target,
        side,
        quantity: target.open.abs(),
        leverage: order.leverage,
        effective,
        stop: order.stop,
        target_price: order.target,
    })
}

/// Fixes leverage, stop or target that the broker rejects; false when it cannot.
fn relax_protection(order: &mut Order, rejection: &Rejection, adjustments: &mut Adjustments) -> bool {
    let (code, what) = match rejection.code {
        RejectCode::StopTooFar => {
            let Some(furthest) =
                rejection.numbers.get("furthest_stop").filter(|stop| Some(Price(**stop)) != order.stop)
            else {
                return false;
            };
            order.stop = Some(Price(*furthest));
            (AdjustmentCode::Stop, "The stop is moved to the furthest allowed price.")
        }
        RejectCode::StopWrongSide | RejectCode::StopLoosened if order.stop.is_some() => {
            order.stop = None;
            (AdjustmentCode::Stop, "The stop is dropped.")
        }
        RejectCode::TargetWrongSide if order.target.is_some() => {
            order.target = None;
            (AdjustmentCode::Target, "The target is dropped.")
        }
        RejectCode::StopRequired if order.leverage.is_some() => {
            order.leverage = None;
            (AdjustmentCode::Leverage, "The position is opened without leverage.")
        }
        _ => return false,
    };
    adjustments.add_correction(&order.symbol, rejection, code, format!("{} {what}", rejection.message));
    true
}
