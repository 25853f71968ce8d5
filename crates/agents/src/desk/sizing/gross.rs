//! The cap on the gross exposure of all positions together.

use super::AdjustmentCode;
use super::adjustments::Adjustments;
use super::open_intent::OpenIntent;
use super::target::SizingContext;
use papertape_core::broker::Books;
use papertape_core::id::Symbol;
use papertape_core::money::Price;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Scales intent orders so that all positions together stay within the cap.
pub(super) fn cap_gross_exposure(
    context: SizingContext<'_>,
    intents: &mut [OpenIntent<'_>],
    trial: &Books,
    marks: &BTreeMap<Symbol, Price>,
    adjustments: &mut Adjustments,
) {
    let value = |(symbol, quantity): (&Symbol, Decimal)| {
        marks.get(symbol).map_or(Decimal::ZERO, |price| price.0.saturating_mul(quantity.abs()))
    };
    let held =
        trial.account().positions().iter().map(|(symbol, position)| value((symbol, position.quantity.0)));
    let waiting = trial.pending().iter().filter(|pending| pending.order.side.opens());
    let waiting = waiting.map(|pending| value((&pending.order.symbol, pending.order.quantity.0)));
    let gross = held.chain(waiting).fold(Decimal::ZERO, Decimal::saturating_add);
    let cap = context.equity.max(Decimal::ZERO).saturating_mul(context.config.gross_cap);
    let room = (cap - gross).max(Decimal::ZERO);
    let requested = intents.iter().map(OpenIntent::value).fold(Decimal::ZERO, Decimal::saturating_add);
    if requested <= room || requested.is_zero() {
        return;
    }
    for intent in intents {
        let before = intent.quantity;
        intent.quantity = scaled(before, room, requested);
        let text = format!(
            "All positions together may be worth {}; there is room for {} of the {} requested.",
            cap.round_dp(2),
            room.round_dp(2),
            requested.round_dp(2)
        );
        let numbers = [("room", room), ("wanted", requested), ("cap", cap), ("quantity", before)];
        adjustments.add(
            intent.target.symbol,
            AdjustmentCode::GrossCap,
            text,
            &numbers.map(|(name, n)| (name, n.round_dp(4))),
        );
    }
}

/// `quantity x part / whole`, truncated.
pub(super) fn scaled(quantity: Decimal, part: Decimal, whole: Decimal) -> Decimal {
    if whole.is_zero() || part <= Decimal::ZERO {
        return Decimal::ZERO;
    }
    let share = part.checked_div(whole).unwrap_or_default().trunc_with_scale(12);
    quantity.checked_mul(share.min(Decimal::ONE)).unwrap_or_default()
}
