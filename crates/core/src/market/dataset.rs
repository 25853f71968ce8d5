//! An immutable snapshot of market data.

use super::caches::Caches;
use super::calendar::{self, TradingDay};
use super::canonical;
use super::column::Bars;
use super::contents::DatasetStats;
use super::facts::Instrument;
use super::interval::Interval;
use super::parts::DatasetParts;
use crate::id::{ContentHash, Symbol};
use crate::time::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// An immutable, content-hashed snapshot of market data, built by a
/// [`DatasetBuilder`](super::DatasetBuilder).
///
/// Its calendar can be read as a whole, because a job must know its days. Prices, actions, news and figures
/// are read only through a [`view`](Self::view).
pub struct Dataset {
    name: String,
    hash: ContentHash,
    parts: DatasetParts,
    caches: Caches,
    /// In an audit, a date and the trading day after it: the only day after its instant that it may name.
    announced: Option<(Date, Date)>,
    #[cfg(feature = "planted-leaks")]
    pub(super) leak: Option<super::Leak>,
}

impl Dataset {
    pub(super) fn new(name: String, parts: DatasetParts) -> Self {
        Self::known(name, canonical::hash(&parts), parts)
    }

    /// A dataset of parts whose hash is known.
    pub(super) fn known(name: String, hash: ContentHash, parts: DatasetParts) -> Self {
        Self {
            name,
            hash,
            parts,
            caches: Caches::default(),
            announced: None,
            #[cfg(feature = "planted-leaks")]
            leak: None,
        }
    }

    /// Its parts, for an audit, which moves its instant. Caches are dropped with `drop_caches`; the calendar is
    /// supplemented by `announced`, a date and the trading day after it.
    pub(super) fn parts_for_audit(
        &mut self,
        drop_caches: bool,
        announced: Option<(Date, Date)>,
    ) -> &mut DatasetParts {
        if drop_caches {
            self.caches = Caches::default();
        }
        self.announced = announced;
        &mut self.parts
    }

    pub(super) fn caches(&self) -> &Caches {
        &self.caches
    }

    pub(super) fn parts(&self) -> &DatasetParts {
        &self.parts
    }

    /// Its display name, not part of the hash.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hash of its content. It does not depend on the order in which rows were added.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// The exchange's time zone, by its name in the IANA database.
    #[must_use]
    pub fn zone(&self) -> &str {
        &self.parts.zone_name
    }

    /// The trading days from `from` to `to`, both included, oldest first; empty if there are none.
    #[must_use]
    pub fn trading_days(&self, from: Date, to: Date) -> &[TradingDay] {
        let days = &self.parts.days;
        let first = days.partition_point(|day| day.date < from);
        let end = days.partition_point(|day| day.date <= to);
        &days[first..end.max(first)]
    }

    /// The trading day of this date; `None` if the exchange was closed, or outside of the calendar.
    #[must_use]
    pub fn day(&self, date: Date) -> Option<&TradingDay> {
        self.trading_days(date, date).first()
    }

    /// The trading day after a date, from the calendar, which an exchange publishes in advance. After the
    /// calendar's end, the next date except weekdays on which it never traded in its last four weeks.
    ///
    /// The calendar includes closings that were not announced, so nothing that an agent reads before that
    /// day's open may depend on this.
    #[must_use]
    pub fn next_trading_day(&self, date: Date) -> Date {
        match self.announced {
            Some((today, next)) if today == date => next,
            _ => calendar::next_day(&self.parts.days, date),
        }
    }

    /// All its trading days, oldest first.
    #[must_use]
    pub fn days(&self) -> &[TradingDay] {
        &self.parts.days
    }

    /// Every symbol of the dataset, indexes included. Agents get symbols from a view.
    pub fn all_symbols(&self) -> impl Iterator<Item = &Symbol> {
        self.parts.series.keys()
    }

    /// Every symbol that can be traded at some time: all except indexes.
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

    /// The instrument of a symbol, index or not.
    #[must_use]
    pub fn instrument(&self, symbol: &Symbol) -> Option<&Instrument> {
        self.parts.series.get(symbol).map(|series| &series.instrument)
    }

    /// The indexes with members, and every symbol that ever was one. For checking a job's configuration;
    /// agents must never see it.
    #[must_use]
    pub fn universes(&self) -> BTreeMap<&str, BTreeSet<Symbol>> {
        let mut indexes: BTreeMap<&str, BTreeSet<Symbol>> = BTreeMap::new();
        for change in &self.parts.memberships {
            indexes.entry(&change.item.index).or_default().insert(change.item.symbol.clone());
        }
        indexes
    }

    /// Number of daily bars.
    #[must_use]
    pub fn bar_count(&self) -> usize {
        self.parts.series.values().map(|series| series.bars.opened()).sum()
    }

    /// Number of intraday bars.
    #[must_use]
    pub fn intraday_bars(&self) -> usize {
        let within = self.parts.series.values().flat_map(|series| series.within.values());
        within.map(Bars::opened).sum()
    }

    /// The intervals of its intraday bars, shortest first; empty if it has only daily bars.
    #[must_use]
    pub fn intervals(&self) -> Vec<Interval> {
        let all: BTreeSet<Interval> =
            self.parts.series.values().flat_map(|series| series.within.keys().copied()).collect();
        all.into_iter().collect()
    }

    /// The complete unadjusted content, for exports. It has no instant: agents must never see it.
    #[must_use]
    pub fn contents(&self) -> DatasetStats<'_> {
        DatasetStats::new(&self.parts)
    }

    /// Its hash, recomputed from its rows.
    #[must_use]
    pub fn computed_hash(&self) -> ContentHash {
        canonical::hash(&self.parts)
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
