//! An immutable snapshot of market data.

use super::calendar::{self, TradingDay};
use super::canonical;
use super::column::Bars;
use super::contents::DatasetStats;
use super::facts::{Fundamental, Instrument, MacroPoint, MembershipChange, News, Published};
use super::interval::Interval;
use super::view::MarketView;
use crate::id::{ContentHash, Symbol};
use crate::ledger::CorporateAction;
use crate::time::{Date, Timestamp};
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// An immutable, content-hashed snapshot of market data, made by a
/// [`DatasetBuilder`](super::DatasetBuilder).
///
/// Its calendar can be read as a whole, for a job must know its days; prices, actions, news and
/// figures are read through a [`view`](Self::view) alone.
pub struct Dataset {
    name: String,
    hash: ContentHash,
    parts: DatasetParts,
}

/// What a dataset consists of, every list in its canonical order.
pub(super) struct DatasetParts {
    pub(super) zone_name: String,
    pub(super) zone: TimeZone,
    pub(super) days: Vec<TradingDay>,
    pub(super) series: BTreeMap<Symbol, Series>,
    pub(super) news: Vec<Published<News>>,
    pub(super) fundamentals: BTreeMap<Symbol, Vec<Published<Fundamental>>>,
    pub(super) macros: BTreeMap<String, Vec<Published<MacroPoint>>>,
    pub(super) memberships: Vec<Published<MembershipChange>>,
}

/// One symbol's bars and corporate actions.
pub(super) struct Series {
    pub(super) instrument: Instrument,
    /// One a trading day. A bar that was made of those within its day opens with the first of them.
    pub(super) bars: Bars,
    /// Bars within the day, by their length; none of these is empty.
    pub(super) within: BTreeMap<Interval, Bars>,
    pub(super) actions: Vec<CorporateAction>,
}

impl Dataset {
    pub(super) fn new(name: String, parts: DatasetParts) -> Self {
        Self { hash: canonical::hash(&parts), name, parts }
    }

    /// Of parts whose hash is known.
    pub(super) fn known(name: String, hash: ContentHash, parts: DatasetParts) -> Self {
        Self { name, hash, parts }
    }

    pub(super) fn parts(&self) -> &DatasetParts {
        &self.parts
    }

    /// Its name, by which people call it; no part of the hash.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hash of its content. The same rows have the same hash in whatever order they were given.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// The exchange's time zone, by its name in the IANA database.
    #[must_use]
    pub fn zone(&self) -> &str {
        &self.parts.zone_name
    }

    /// The trading days from `from` to `to`, both included, oldest first; empty where there are none.
    #[must_use]
    pub fn trading_days(&self, from: Date, to: Date) -> &[TradingDay] {
        let days = &self.parts.days;
        let first = days.partition_point(|day| day.date < from);
        let end = days.partition_point(|day| day.date <= to);
        &days[first..end.max(first)]
    }

    /// The trading day of this date; `None` where the exchange was closed, or beyond the calendar.
    #[must_use]
    pub fn day(&self, date: Date) -> Option<&TradingDay> {
        self.trading_days(date, date).first()
    }

    /// The trading day after a date: the calendar's, for an exchange publishes its days in advance. Behind
    /// the calendar's end, the next date but for weekdays on which it never traded in its last four weeks.
    ///
    /// A closing that nobody had announced is in the calendar all the same, so nothing that an agent reads
    /// before that day's open may be made of this.
    #[must_use]
    pub fn next_trading_day(&self, date: Date) -> Date {
        calendar::next_day(&self.parts.days, date)
    }

    /// All its trading days, oldest first.
    #[must_use]
    pub fn days(&self) -> &[TradingDay] {
        &self.parts.days
    }

    /// Every symbol that it ever has, indexes included. What an agent may know of them is the view's to say.
    pub fn all_symbols(&self) -> impl Iterator<Item = &Symbol> {
        self.parts.series.keys()
    }

    /// Every symbol that can be traded at some time: all but indexes.
    pub fn tradable_symbols(&self) -> impl Iterator<Item = &Symbol> {
        let series = self.parts.series.iter();
        series.filter(|(_, series)| series.instrument.instrument_type.is_tradable()).map(|(symbol, _)| symbol)
    }

    /// The symbols of its indexes.
    pub fn indexes(&self) -> impl Iterator<Item = &Symbol> {
        let series = self.parts.series.iter();
        series
            .filter(|(_, series)| !series.instrument.instrument_type.is_tradable())
            .map(|(symbol, _)| symbol)
    }

    /// The instrument of a symbol that it ever has, index or not.
    #[must_use]
    pub fn instrument(&self, symbol: &Symbol) -> Option<&Instrument> {
        self.parts.series.get(symbol).map(|series| &series.instrument)
    }

    /// How many daily bars it holds.
    #[must_use]
    pub fn bar_count(&self) -> usize {
        self.parts.series.values().map(|series| series.bars.opened()).sum()
    }

    /// How many bars within the day it holds.
    #[must_use]
    pub fn intraday_bars(&self) -> usize {
        let within = self.parts.series.values().flat_map(|series| series.within.values());
        within.map(Bars::opened).sum()
    }

    /// The lengths of its bars within the day, shortest first; empty where it has daily bars alone.
    #[must_use]
    pub fn intervals(&self) -> Vec<Interval> {
        let all: BTreeSet<Interval> =
            self.parts.series.values().flat_map(|series| series.within.keys().copied()).collect();
        all.into_iter().collect()
    }

    /// Everything as it was given, for writing it out. It knows no instant: nothing of it may be shown
    /// to an agent.
    #[must_use]
    pub fn contents(&self) -> DatasetStats<'_> {
        DatasetStats::new(&self.parts)
    }

    /// Its hash, computed once more from its rows.
    #[must_use]
    pub fn computed_hash(&self) -> ContentHash {
        canonical::hash(&self.parts)
    }

    /// What was known at this instant.
    #[must_use]
    pub fn view(&self, instant: Timestamp) -> MarketView<'_> {
        MarketView::new(&self.parts, self.hash, instant)
    }

    /// A dataset of its own that holds what a view at this instant can see and nothing else, the
    /// calendar included. It has another hash where that leaves something out.
    #[must_use]
    pub fn truncate_at(&self, instant: Timestamp) -> Self {
        Self::new(self.name.clone(), self.view(instant).to_parts())
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset")
            .field("name", &self.name)
            .field("hash", &self.hash)
            .field("days", &self.parts.days.len())
            .field("symbols", &self.parts.series.len())
            .finish_non_exhaustive()
    }
}
