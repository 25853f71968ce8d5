//! The complete unadjusted content of a dataset.

use super::calendar::{TradingDay, day_at, instant_of};
use super::column::BarsSlice;
use super::facts::{Fundamental, Instrument, MacroPoint, Membership, News, Published};
use super::interval::Interval;
use super::membership;
use super::parts::{DatasetParts, Series};
use super::rows::{BarAfterOpen, IntradayBar, day_bars};
use crate::id::Symbol;
use crate::ledger::CorporateAction;
use crate::money::{Price, Quantity};
use crate::time::Date;

/// The complete unadjusted content of a dataset, in the share units of each day. For exports; agents must
/// never see it.
#[derive(Clone, Copy)]
pub struct DatasetStats<'a>(&'a DatasetParts);

/// An unadjusted daily bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarInput {
    /// Its trading day.
    pub date: Date,
    /// The first price.
    pub open: Price,
    /// The rest; `None` if only the open is known.
    pub rest: Option<BarAfterOpen>,
}

impl<'a> DatasetStats<'a> {
    pub(super) fn new(parts: &'a DatasetParts) -> Self {
        Self(parts)
    }

    /// The trading days, oldest first.
    #[must_use]
    pub fn days(&self) -> &'a [TradingDay] {
        &self.0.days
    }

    /// The instruments, by symbol.
    pub fn instruments(&self) -> impl Iterator<Item = &'a Instrument> {
        self.0.series.values().map(|series| &series.instrument)
    }

    /// A symbol's daily bars, oldest first, including those built from intraday bars.
    #[must_use]
    pub fn daily_bars(&self, symbol: &Symbol) -> Vec<BarInput> {
        let Some(series) = self.0.series.get(symbol) else { return Vec::new() };
        let bars = all(series);
        let given = |row: usize| {
            let bar = bar(&bars, row);
            let date = day_at(&self.0.days, bars.opens_at.get(row)).date;
            BarInput { date, open: bar.open, rest: bar.rest }
        };
        (0..bars.opens_at.len()).map(given).collect()
    }

    /// A symbol's daily bars, oldest first, without those built from intraday bars.
    #[must_use]
    pub fn bars(&self, symbol: &Symbol) -> Vec<BarInput> {
        let Some(series) = self.0.series.get(symbol) else { return Vec::new() };
        let made = day_bars(&series.within, &self.0.days);
        let bars = all(series);
        let mut made = made.iter().peekable();
        let given = |row: usize| {
            let key = bars.opens_at.get(row);
            let bar = bar(&bars, row);
            while made.next_if(|(at, _)| *at < key).is_some() {}
            let is_made = made.peek().is_some_and(|(at, made)| *at == key && *made == bar);
            let date = day_at(&self.0.days, key).date;
            (!is_made).then_some(BarInput { date, open: bar.open, rest: bar.rest })
        };
        (0..bars.opens_at.len()).filter_map(given).collect()
    }

    /// A symbol's intraday bars by interval, oldest first.
    pub fn intraday_bars(
        &self,
        symbol: &Symbol,
    ) -> impl Iterator<Item = (Interval, impl Iterator<Item = IntradayBar>)> {
        let within = self.0.series.get(symbol).into_iter().flat_map(|series| &series.within);
        within.map(|(interval, bars)| {
            let bars = bars.first(bars.opened(), bars.closed());
            (*interval, (0..bars.opens_at.len()).map(move |row| bar(&bars, row)))
        })
    }

    /// The corporate actions, by symbol and ex-date.
    pub fn actions(&self) -> impl Iterator<Item = &'a CorporateAction> {
        self.0.series.values().flat_map(|series| &series.actions)
    }

    /// The news, by publication.
    #[must_use]
    pub fn news(&self) -> &'a [Published<News>] {
        &self.0.news
    }

    /// Figures of companies' reports, by symbol and publication.
    pub fn fundamentals(&self) -> impl Iterator<Item = &'a Published<Fundamental>> {
        self.0.fundamentals.values().flatten()
    }

    /// Values of macroeconomic series, by series and publication.
    pub fn macros(&self) -> impl Iterator<Item = &'a Published<MacroPoint>> {
        self.0.macros.values().flatten()
    }

    /// The periods of membership in indexes, by index, symbol and first day, with the instants at which their
    /// changes became known.
    #[must_use]
    pub fn memberships(&self) -> Vec<Membership> {
        membership::periods(self.0)
    }
}

fn all(series: &Series) -> BarsSlice<'_> {
    series.bars.first(series.bars.opened(), series.bars.closed())
}

fn bar(bars: &BarsSlice<'_>, row: usize) -> IntradayBar {
    let rest = (row < bars.closed()).then(|| BarAfterOpen {
        high: Price(bars.high.get(row).normalize()),
        low: Price(bars.low.get(row).normalize()),
        close: Price(bars.close.get(row).normalize()),
        volume: Quantity(bars.volume.get(row).normalize()),
    });
    let open = Price(bars.open.get(row).normalize());
    IntradayBar { opens_at: instant_of(bars.opens_at.get(row)), open, rest }
}
