//! What was known at one instant.

mod indicators;
mod known;
mod news;
mod of_dataset;
mod read;
mod universe;

pub(super) use known::LOOK_BACK;
#[cfg(feature = "planted-leaks")]
pub(super) use known::VisibleSeries;
pub use read::{Bar, BarRange, Exposure, KnownPrice, PriceKind, ViewRead};
pub use universe::GENERAL_NEWS;

use super::caches::Caches;
use super::calendar::{TradingDay, day_at, ends_at, instant_of};
use super::column::BarsSlice;
use super::error::ReadError;
use super::facts::{Fundamental, Instrument, MacroPoint, MembershipChange, News, Published};
use super::interval::Interval;
use super::parts::{DatasetParts, Series};
use crate::id::{ContentHash, Symbol};
use crate::ledger::CorporateAction;
use crate::money::Price;
use crate::time::{Date, Timestamp};
use jiff::tz::TimeZone;
#[cfg(not(feature = "planted-leaks"))]
use known::VisibleSeries;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use universe::Universe;

/// What was known at one instant: the prefixes of a dataset's lists, truncated at the instant, without access
/// to what follows.
///
/// The current trading day is the latest that has begun. Prices and volumes are in the share units of the
/// instant; inexact conversions are rounded half to even, prices to ten decimals and volumes to eight, as in
/// the ledger.
pub struct MarketView<'a> {
    instant: Timestamp,
    dataset: ContentHash,
    caches: &'a Caches,
    zone_name: &'a str,
    pub(super) zone: &'a TimeZone,
    /// The days that have begun.
    days: &'a [TradingDay],
    /// The symbols that have begun to trade; no indexes.
    pub(super) series: BTreeMap<&'a Symbol, VisibleSeries<'a>>,
    /// Indexes. Nothing here reads them; a truncated dataset keeps them, so its hash covers them.
    indexes: BTreeMap<&'a Symbol, VisibleSeries<'a>>,
    news: &'a [Published<News>],
    pub(super) fundamentals: BTreeMap<&'a Symbol, &'a [Published<Fundamental>]>,
    macros: BTreeMap<&'a str, &'a [Published<MacroPoint>]>,
    pub(super) memberships: &'a [Published<MembershipChange>],
    /// `None`: every symbol can be seen and traded.
    pub(super) universe: Option<Universe>,
    #[cfg(feature = "planted-leaks")]
    pub(super) leak: Option<super::Leak>,
}

impl<'a> MarketView<'a> {
    pub(super) fn new(
        parts: &'a DatasetParts,
        dataset: ContentHash,
        caches: &'a Caches,
        instant: Timestamp,
    ) -> Self {
        let days = &parts.days[..parts.days.partition_point(|day| day.open <= instant)];
        let known = |(symbol, series)| Some((symbol, VisibleSeries::new(series, days, instant)?));
        // Lists first: a map is built from a sorted list at once.
        let (series, indexes): (Vec<_>, Vec<_>) = (parts.series.iter())
            .filter_map(known)
            .partition(|(_, known): &(_, VisibleSeries<'_>)| known.instrument.instrument_type.is_tradable());
        Self {
            instant,
            dataset,
            caches,
            zone_name: &parts.zone_name,
            zone: &parts.zone,
            days,
            series: series.into_iter().collect(),
            indexes: indexes.into_iter().collect(),
            news: published(&parts.news, instant),
            fundamentals: (parts.fundamentals.iter())
                .map(|(symbol, list)| (symbol, published(list, instant)))
                .filter(|(_, list)| !list.is_empty())
                .collect(),
            macros: (parts.macros.iter())
                .map(|(name, list)| (name.as_str(), published(list, instant)))
                .filter(|(_, list)| !list.is_empty())
                .collect(),
            memberships: published(&parts.memberships, instant),
            universe: None,
            #[cfg(feature = "planted-leaks")]
            leak: None,
        }
    }

    /// The view's instant.
    #[must_use]
    pub fn instant(&self) -> Timestamp {
        self.instant
    }

    /// The dataset's content hash.
    #[must_use]
    pub fn dataset(&self) -> ContentHash {
        self.dataset
    }

    /// The exchange's time zone, by its name in the IANA database.
    #[must_use]
    pub fn zone(&self) -> &str {
        self.zone_name
    }

    /// The current trading day: the latest that has begun. It stays current after its close, until
    /// the next one begins.
    ///
    /// # Errors
    /// [`ReadError::NoTradingDay`] before the first day.
    pub fn today(&self) -> Result<ViewRead<TradingDay>, ReadError> {
        let today = self.current_day()?;
        Ok(self.read(today, "calendar", &[today.date], 1, Some(today.open)))
    }

    /// The symbols that have begun to trade, in byte order.
    #[must_use]
    pub fn symbols(&self) -> ViewRead<Vec<Symbol>> {
        let firsts: Vec<i64> = self.series.values().map(|known| known.bars.opens_at.get(0)).collect();
        let mut dates: Vec<Date> = firsts.iter().map(|at| self.day_at(*at).date).collect();
        dates.sort_unstable();
        let value: Vec<Symbol> = self.series.keys().map(|&symbol| symbol.clone()).collect();
        let rows = value.len();
        self.read(value, "symbols", &dates, rows, firsts.into_iter().max().map(instant_of))
    }

    /// Whether the symbol has begun to trade.
    #[must_use]
    pub fn is_listed(&self, symbol: &Symbol) -> bool {
        self.series.contains_key(symbol)
    }

    /// A symbol's instrument.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`].
    pub fn instrument(&self, symbol: &Symbol) -> Result<ViewRead<&'a Instrument>, ReadError> {
        let known = self.known(symbol)?;
        let first = known.bars.opens_at.get(0);
        let series = format!("{symbol}/instrument");
        let date = self.day_at(first).date;
        Ok(self.read(known.instrument, &series, &[date], 1, Some(instant_of(first))))
    }

    /// Today's open, also after the close.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`]; [`ReadError::NoData`] if the symbol has no bar today.
    pub fn open_price(&self, symbol: &Symbol) -> Result<ViewRead<KnownPrice>, ReadError> {
        let known = self.known(symbol)?;
        let today = self.current_day()?;
        let row = known.bars.opens_at.len() - 1;
        let opens_at = known.bars.opens_at.get(row);
        if opens_at < today.open.as_microsecond() {
            return Err(self.no_data(format!("{symbol}/open")));
        }
        let known_at = instant_of(opens_at);
        let price = Price(known.bars.open.get_normalized(row));
        let kind = PriceKind::TodayOpen;
        let value = KnownPrice { kind, date: today.date, price, known_at };
        Ok(self.read(value, &format!("{symbol}/open"), &[today.date], 1, Some(known_at)))
    }

    /// The close of the latest complete bar.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`]; [`ReadError::NoData`] on the symbol's first day before its
    /// close.
    pub fn last_close(&self, symbol: &Symbol) -> Result<ViewRead<KnownPrice>, ReadError> {
        let bars = self.bars(symbol, BarRange::newest(1))?;
        let bar = &bars.value[0];
        let kind = PriceKind::LastClose;
        let value = KnownPrice { kind, date: bar.date, price: bar.close, known_at: bar.closes_at };
        Ok(ViewRead { value, exposure: bars.exposure })
    }

    /// The latest known price: today's open while today's bar is incomplete, else the last close.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`].
    pub fn price(&self, symbol: &Symbol) -> Result<ViewRead<KnownPrice>, ReadError> {
        let bars = self.known(symbol)?.bars;
        if bars.opens_at.len() > bars.closed() { self.open_price(symbol) } else { self.last_close(symbol) }
    }

    /// Complete bars, oldest first.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`]; [`ReadError::Range`]; [`ReadError::NoData`] if the range holds no
    /// complete bar.
    pub fn bars(&self, symbol: &Symbol, range: BarRange) -> Result<ViewRead<Vec<Bar>>, ReadError> {
        let known = self.known(symbol)?;
        let series = format!("{symbol}/bars");
        let rows = self.rows(&known.bars, range)?;
        if rows.is_empty() {
            return Err(self.no_data(series));
        }
        let days: Vec<&TradingDay> =
            rows.clone().map(|row| self.day_at(known.bars.opens_at.get(row))).collect();
        let factors = known.factors(&days);
        let bar = |(at, row): (usize, usize)| {
            VisibleSeries::bar(&known.bars, row, days[at].date, days[at].close, factors[at])
        };
        let bars: Vec<Bar> = rows.clone().enumerate().map(bar).collect();
        let known_at = self.bars_known_at(known, bars[0].date, bars[bars.len() - 1].closes_at);
        let ends = [bars[0].date, bars[bars.len() - 1].date];
        Ok(self.read(bars, &series, &ends, rows.len(), known_at))
    }

    /// The first day of the data.
    pub(super) fn first_day(&self) -> Option<Date> {
        self.days.first().map(|day| day.date)
    }

    /// The day of a symbol's first bar.
    pub(super) fn first_bar_day(&self, symbol: &Symbol) -> Option<Date> {
        let known = self.known(symbol).ok()?;
        Some(self.day_at(known.bars.opens_at.get(0)).date)
    }

    /// How many of a symbol's bars have opened.
    pub(super) fn opened_bars(&self, symbol: &Symbol) -> usize {
        self.known(symbol).map_or(0, |known| known.bars.opens_at.len())
    }

    /// The intervals of a symbol's intraday bars so far, shortest first; empty if it has only daily bars.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`].
    pub fn intervals(&self, symbol: &Symbol) -> Result<Vec<Interval>, ReadError> {
        Ok(self.known(symbol)?.within.iter().map(|(interval, _)| *interval).collect())
    }

    /// The intervals of all symbols' intraday bars so far, shortest first.
    #[must_use]
    pub fn all_intervals(&self) -> Vec<Interval> {
        let within = self.series.values().flat_map(|known| &known.within);
        let all: BTreeSet<Interval> = within.map(|(interval, _)| *interval).collect();
        all.into_iter().collect()
    }

    /// Complete intraday bars of this interval, oldest first. The range's days bound them too; its limit
    /// counts bars.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`]; [`ReadError::Range`]; [`ReadError::NoData`] if the symbol has no bars of
    /// this length, or the range holds no complete one.
    pub fn intraday_bars(
        &self,
        symbol: &Symbol,
        interval: Interval,
        range: BarRange,
    ) -> Result<ViewRead<Vec<Bar>>, ReadError> {
        let known = self.known(symbol)?;
        let series = format!("{symbol}/bars/{interval}");
        let within = known.within.iter().find(|(other, _)| *other == interval);
        let Some((_, bars)) = within else { return Err(self.no_data(series)) };
        let rows = self.rows(bars, range)?;
        if rows.is_empty() {
            return Err(self.no_data(series));
        }
        let days: Vec<&TradingDay> = rows.clone().map(|row| self.day_at(bars.opens_at.get(row))).collect();
        let factors = known.factors(&days);
        let bar = |(at, row): (usize, usize)| {
            let closes_at = instant_of(ends_at(bars.opens_at.get(row), interval, days[at]));
            VisibleSeries::bar(bars, row, days[at].date, closes_at, factors[at])
        };
        let found: Vec<Bar> = rows.clone().enumerate().map(bar).collect();
        let last = &found[found.len() - 1];
        let known_at = self.bars_known_at(known, found[0].date, last.closes_at);
        let ends = [found[0].date, last.date];
        Ok(self.read(found, &series, &ends, rows.len(), known_at))
    }

    /// Today's complete bar; not available before today's close.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`]; [`ReadError::NoData`] before the close, or if the symbol did not trade
    /// today.
    pub fn today_bar(&self, symbol: &Symbol) -> Result<ViewRead<Bar>, ReadError> {
        let today = self.current_day()?.date;
        let bars = self.bars(symbol, BarRange::between(today, today))?;
        Ok(ViewRead { value: bars.value[0].clone(), exposure: bars.exposure })
    }

    /// The corporate actions with this ex-date, by symbol; the split comes before the dividends. Dividends
    /// are in the share units of their ex-date.
    ///
    /// # Errors
    /// [`ReadError::NotYet`] for a date after the current trading day.
    pub fn actions_on(&self, date: Date) -> Result<ViewRead<Vec<CorporateAction>>, ReadError> {
        if self.days.last().is_none_or(|today| today.date < date) {
            return Err(ReadError::NotYet { date, instant: self.instant });
        }
        let found: Vec<CorporateAction> =
            (self.series.values()).flat_map(|known| known.actions_on(date)).cloned().collect();
        let rows = found.len();
        let day = self.day_of(date).filter(|_| rows > 0);
        let dates = vec![date; rows.min(1)];
        Ok(self.read(found, "actions", &dates, rows, day.map(|day| day.open)))
    }

    /// A company's figures as last reported, by metric and period.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`]; [`ReadError::NoData`].
    pub fn fundamentals(
        &self,
        symbol: &Symbol,
    ) -> Result<ViewRead<Vec<&'a Published<Fundamental>>>, ReadError> {
        self.known(symbol)?;
        let series = format!("{symbol}/fundamentals");
        let Some(list) = self.fundamentals.get(symbol) else {
            return Err(self.no_data(series));
        };
        let latest: BTreeMap<_, _> =
            list.iter().map(|one| ((&one.item.metric, one.item.period_end), one)).collect();
        Ok(self.read_published(latest.into_values().collect(), &series))
    }

    /// The names of the known macroeconomic series, in byte order.
    pub fn macro_names(&self) -> impl Iterator<Item = &'a str> {
        self.macros.keys().copied()
    }

    /// A macroeconomic series as last revised, by period.
    ///
    /// # Errors
    /// [`ReadError::NoData`].
    pub fn macro_series(&self, name: &str) -> Result<ViewRead<Vec<&'a Published<MacroPoint>>>, ReadError> {
        let series = format!("macro/{name}");
        let Some(list) = self.macros.get(name) else {
            return Err(self.no_data(series));
        };
        let latest: BTreeMap<_, _> = list.iter().map(|one| (one.item.period, one)).collect();
        Ok(self.read_published(latest.into_values().collect(), &series))
    }

    /// Copies the visible data, for a dataset truncated at the view's instant.
    pub(super) fn to_parts(&self) -> DatasetParts {
        let series = |(&symbol, known): (&&Symbol, &VisibleSeries<'_>)| {
            let bars = known.bars.to_bars();
            let within = known.within.iter().map(|(interval, bars)| (*interval, bars.to_bars())).collect();
            let actions = known.actions.to_vec();
            (symbol.clone(), Series { instrument: known.instrument.clone(), bars, within, actions })
        };
        DatasetParts {
            zone_name: self.zone_name.to_owned(),
            zone: self.zone.clone(),
            days: self.days.to_vec(),
            series: self.series.iter().chain(&self.indexes).map(series).collect(),
            news: self.news.to_vec(),
            fundamentals: (self.fundamentals.iter())
                .map(|(&symbol, list)| (symbol.clone(), list.to_vec()))
                .collect(),
            macros: (self.macros.iter()).map(|(&name, list)| (name.to_owned(), list.to_vec())).collect(),
            memberships: self.memberships.to_vec(),
        }
    }

    fn current_day(&self) -> Result<TradingDay, ReadError> {
        self.days.last().copied().ok_or(ReadError::NoTradingDay { instant: self.instant })
    }

    fn known(&self, symbol: &Symbol) -> Result<&VisibleSeries<'a>, ReadError> {
        let unknown = || ReadError::UnknownSymbol { symbol: symbol.clone() };
        self.series.get(symbol).ok_or_else(unknown)
    }

    fn no_data(&self, series: String) -> ReadError {
        ReadError::NoData { series, instant: self.instant }
    }

    /// The trading day in which a bar opens.
    fn day_at(&self, opens_at: i64) -> &'a TradingDay {
        day_at(self.days, opens_at)
    }

    /// The complete bars of a range.
    fn rows(&self, bars: &BarsSlice<'_>, range: BarRange) -> Result<Range<usize>, ReadError> {
        if let (Some(from), Some(to)) = (range.from, range.to)
            && to < from
        {
            return Err(ReadError::Range { from, to });
        }
        // Number of bars on the days for which `before` holds.
        let count = |before: &dyn Fn(Date) -> bool| {
            let days = self.days.partition_point(|day| before(day.date));
            self.days.get(days).map_or(bars.closed(), |next| {
                bars.opens_at.before(next.open.as_microsecond()).min(bars.closed())
            })
        };
        let first = range.from.map_or(0, |from| count(&|date| date < from));
        let end = range.to.map_or(bars.closed(), |to| count(&|date| date <= to));
        let fewest = end.saturating_sub(range.limit.unwrap_or(usize::MAX));
        Ok(first.max(fewest)..end)
    }

    /// When the latest fact behind the bars from this day on became known: the end of the last bar, or a later split.
    fn bars_known_at(&self, known: &VisibleSeries<'_>, first: Date, ends: Timestamp) -> Option<Timestamp> {
        let split = known.latest_split().filter(|ex_date| *ex_date > first);
        Some(split.and_then(|ex_date| self.day_of(ex_date)).map_or(ends, |day| day.open.max(ends)))
    }

    /// The trading day of a date, if it has begun.
    fn day_of(&self, date: Date) -> Option<&'a TradingDay> {
        let at = self.days.binary_search_by_key(&date, |day| day.date).ok()?;
        Some(&self.days[at])
    }

    pub(super) fn read<T>(
        &self,
        value: T,
        series: &str,
        dates: &[Date],
        rows: usize,
        latest_known_at: Option<Timestamp>,
    ) -> ViewRead<T> {
        let exposure = Exposure {
            dataset: self.dataset,
            series: series.to_owned(),
            first: dates.first().copied(),
            last: dates.last().copied(),
            rows: rows as u64,
            latest_known_at,
        };
        ViewRead { value, exposure }
    }
}

impl fmt::Debug for MarketView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MarketView")
            .field("instant", &self.instant)
            .field("dataset", &self.dataset)
            .finish_non_exhaustive()
    }
}

/// The items published by this instant.
fn published<T>(list: &[Published<T>], instant: Timestamp) -> &[Published<T>] {
    &list[..list.partition_point(|one| one.published_at <= instant)]
}
