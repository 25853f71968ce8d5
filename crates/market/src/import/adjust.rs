//! Restores traded prices from split-adjusted ones, and checks dividends against adjusted closes.

use super::collect::AdjustedCloses;
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::BarAfterOpen;
use papertape_core::money::{Price, Quantity};
use papertape_core::time::Date;
use rust_decimal::prelude::ToPrimitive as _;
use rust_decimal::{Decimal, RoundingStrategy};
use std::collections::BTreeMap;

/// A symbol's splits: new shares per old share, by ex-date. A factor is the product of all later splits.
#[derive(Clone, Debug, Default)]
pub(super) struct Splits(BTreeMap<Date, Decimal>);

impl Splits {
    pub(super) fn add(&mut self, ex_date: Date, ratio: Decimal) {
        self.0.insert(ex_date, ratio);
    }

    /// How many of today's shares one share of this date corresponds to.
    fn factor(&self, date: Date) -> Decimal {
        let later = self.0.iter().rev().take_while(|(ex_date, _)| **ex_date > date);
        later.fold(Decimal::ONE, |factor, (_, ratio)| factor.checked_mul(*ratio).unwrap_or(Decimal::MAX))
    }

    /// A bar in the shares of its date: prices times the factor, to a hundredth of a cent; volume divided by
    /// it, in whole shares.
    pub(super) fn to_traded(
        &self,
        date: Date,
        open: Price,
        rest: Option<BarAfterOpen>,
    ) -> (Price, Option<BarAfterOpen>) {
        let factor = self.factor(date);
        let price = |price: Price| Price(rounded(price.0.checked_mul(factor).unwrap_or(Decimal::MAX)));
        let rest = rest.map(|rest| BarAfterOpen {
            high: price(rest.high),
            low: price(rest.low),
            close: price(rest.close),
            volume: if factor == Decimal::ONE {
                rest.volume
            } else {
                let volume = rest.volume.0.checked_div(factor).unwrap_or_default();
                Quantity(volume.round_dp_with_strategy(0, RoundingStrategy::MidpointNearestEven))
            },
        });
        (price(open), rest)
    }
}

/// Rounds to four decimals, half to even; below one, where a tick may be smaller, to six.
fn rounded(price: Decimal) -> Decimal {
    let decimals = if price < Decimal::ONE { 6 } else { 4 };
    price.round_dp_with_strategy(decimals, RoundingStrategy::MidpointNearestEven)
}

/// The relative change of the adjusted close above which a dividend is certain: rounding of old, small
/// adjusted closes causes smaller changes.
const SHOWS: f64 = 0.0015;

/// Compares dividends with adjusted closes; returns one sentence for each symbol where they differ.
///
/// Uses each day's ratio of adjusted close to close: a change of the ratio from one day to the next that no
/// split explains is a dividend. Nothing is adjusted.
pub(super) fn check_dividends(closes: &AdjustedCloses, actions: &[&CorporateAction]) -> Vec<String> {
    closes.iter().filter_map(|(symbol, days)| check_symbol(symbol, days, actions)).collect()
}

fn check_symbol(
    symbol: &Symbol,
    days: &BTreeMap<Date, (Decimal, Decimal)>,
    actions: &[&CorporateAction],
) -> Option<String> {
    let symbol_actions = || actions.iter().filter(|action| action.symbol == *symbol);
    let days: Vec<(Date, f64)> = days
        .iter()
        .filter_map(|(date, (close, adjusted))| Some((*date, adjusted.checked_div(*close)?.to_f64()?)))
        .collect();
    let (mut missing, mut unseen) = (Vec::new(), Vec::new());
    for pair in days.windows(2) {
        let ((_, before), (date, after)) = (pair[0], pair[1]);
        let change = (before / after - 1.0).abs();
        let given = symbol_actions().filter(|action| action.ex_date == date);
        let kinds: Vec<_> = given.map(|action| action.kind).collect();
        // Where closes are as traded, the ratio also reflects splits; these days are skipped.
        if kinds.iter().any(|kind| matches!(kind, CorporateActionKind::Split { .. })) {
            continue;
        }
        if change > SHOWS && kinds.is_empty() {
            missing.push(date);
        } else if change < 1e-9 && !kinds.is_empty() {
            unseen.push(date);
        }
    }
    let list = |dates: &[Date]| {
        let first: Vec<String> = dates.iter().take(3).map(Date::to_string).collect();
        let more = if dates.len() > 3 { ", …" } else { "" };
        format!("{} ({}{more})", dates.len(), first.join(", "))
    };
    let mut problems = Vec::new();
    if !missing.is_empty() {
        problems.push(format!("adjusted closes show dividends that are not given: {}", list(&missing)));
    }
    if !unseen.is_empty() {
        problems.push(format!("dividends are given that adjusted closes do not show: {}", list(&unseen)));
    }
    (!problems.is_empty()).then(|| format!("{symbol}: {}", problems.join("; ")))
}
