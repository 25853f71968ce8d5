//! An instrument's volume and price limits today, as known by a view.

use super::view::MarketView;
use super::view::{BarRange, LOOK_BACK};
use crate::broker::{Conditions, KnownVolume, MarketProfile, PriceBand};
use crate::id::Symbol;
use crate::ledger::{CorporateActionKind, checked};
use crate::money::{Price, Quantity};
use rust_decimal::Decimal;

/// The metric of a dated series that is 1 while a share is under special treatment, else 0.
pub const ST_METRIC: &str = "st";

impl MarketView<'_> {
    /// The market's conditions for an instrument today, from what was known at the open: the mean volume of
    /// the latest bars before today, and the price limits around the previous close. Unknown conditions are
    /// absent: the volume if the bars have none, the limits if the board has none or no earlier bar exists. For a
    /// universe, the result also reports whether the instrument is outside it.
    #[must_use]
    pub fn conditions(&self, profile: &MarketProfile, symbol: &Symbol) -> Conditions {
        let volume = profile.participation.and_then(|rule| self.known_volume(symbol, rule.bars));
        let band = if profile.price_limits.is_empty() { None } else { self.price_band(profile, symbol) };
        Conditions { volume, band, outside_universe: !self.is_in_universe(symbol) }
    }

    /// The mean volume of at most `bars` latest complete bars before today, in today's share units; `None` if
    /// they have no volume.
    #[must_use]
    pub fn known_volume(&self, symbol: &Symbol, bars: u16) -> Option<KnownVolume> {
        let before = self.today().ok()?.value.date.yesterday().ok()?;
        let range = BarRange { to: Some(before), ..BarRange::newest(usize::from(bars)) };
        let known = self.bars(symbol, range).ok()?.value;
        let sum = known.iter().try_fold(Decimal::ZERO, |sum, bar| sum.checked_add(bar.volume.0))?;
        let mean = sum.checked_div(Decimal::from(known.len()))?;
        let mean = Quantity(checked::round(mean, checked::QUANTITY_DP));
        mean.is_positive().then(|| KnownVolume { mean, bars: u16::try_from(known.len()).unwrap_or(bars) })
    }

    /// Today's volume, for an order that fills at the close; `None` before the close, or if the instrument
    /// has no volume.
    #[must_use]
    pub fn volume_of_today(&self, symbol: &Symbol) -> Option<KnownVolume> {
        let mean = self.today_bar(symbol).ok()?.value.volume;
        mean.is_positive().then_some(KnownVolume { mean, bars: 1 })
    }

    /// Whether nothing traded today in an instrument that had volume before; it then has no bar.
    #[must_use]
    pub fn is_idle_today(&self, symbol: &Symbol) -> bool {
        let is_empty = self.today_bar(symbol).is_ok_and(|read| read.value.volume.is_zero());
        is_empty && self.known_volume(symbol, LOOK_BACK).is_some()
    }

    fn price_band(&self, profile: &MarketProfile, symbol: &Symbol) -> Option<PriceBand> {
        let today = self.today().ok()?.value.date;
        let range = BarRange { to: Some(today.yesterday().ok()?), ..BarRange::default() };
        let before = self.bars(symbol, BarRange { limit: Some(1), ..range }).ok()?.value;
        let percent = profile.price_limit(symbol, today, self.is_st(symbol), self.listed_days(symbol))?;
        let actions = self.actions_on(today).map(|read| read.value).unwrap_or_default();
        let dividends = actions.iter().filter(|action| action.symbol == *symbol);
        let dividends = dividends.fold(Decimal::ZERO, |sum, action| match action.kind {
            CorporateActionKind::Dividend { amount } => sum + amount.0,
            CorporateActionKind::Split { .. } | CorporateActionKind::Delisting { .. } => sum,
        });
        let unit = profile.price_unit(symbol);
        let cents = (before.first()?.close.0 - dividends)
            .checked_div(unit)?
            .round_dp_with_strategy(2, rust_decimal::RoundingStrategy::MidpointAwayFromZero);
        if cents <= Decimal::ZERO {
            return None;
        }
        PriceBand::around(Price(cents.normalize()), percent).ok()?.in_units(unit).ok()
    }

    /// Number of trading days with a bar, today included; `None` if the instrument was listed before the data
    /// begin.
    #[must_use]
    pub fn listed_days(&self, symbol: &Symbol) -> Option<usize> {
        let first = self.first_bar_day(symbol)?;
        let begins = self.first_day()?;
        (first > begins).then(|| self.opened_bars(symbol))
    }

    /// Whether the latest published figure puts the share under special treatment.
    fn is_st(&self, symbol: &Symbol) -> bool {
        let Ok(read) = self.fundamentals(symbol) else { return false };
        let marks = read.value.into_iter().filter(|published| published.item.metric == ST_METRIC);
        marks
            .max_by_key(|mark| (mark.item.period_end, mark.published_at))
            .is_some_and(|mark| !mark.item.value.is_zero())
    }
}
