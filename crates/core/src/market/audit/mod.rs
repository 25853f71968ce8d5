//! Data for audits: a dataset as of an instant, from which everything later is absent or replaced.
//!
//! [`Dataset::truncate_at`](super::Dataset::truncate_at) copies what a view shows. An audit must not: a view that
//! knows too much would take its leak along. So [`known`] decides on its own what was known, and a test holds the two
//! against each other.

mod known;
mod poison;

use super::calendar::TradingDay;
use super::column::Bars;
use super::dataset::Dataset;
use super::interval::Interval;
use super::keys::refill;
use super::parts::{DatasetParts, Series};
use crate::id::ContentHash;
use crate::time::{Date, Timestamp};
use known::{Clock, KnownRows};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What follows the instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Future {
    /// Nothing.
    Cut,
    /// Other prices, volumes, corporate actions, news, fundamentals, macro points, memberships, listings and trading
    /// days than in the source, derived from the source's hash and the instant.
    Poisoned,
}

/// A dataset at an instant that can be moved. It claims the hash of its source: otherwise every digest would differ.
///
/// Moving forward copies only the rows that become known, so a walk over all days copies each row once. Moving back
/// drops rows, and all caches with them. The poisoned rows are bounded, see [`Future::Poisoned`] and `docs/audit.md`.
pub struct AuditDataset {
    source: Arc<Dataset>,
    future: Future,
    at: Option<Timestamp>,
    dataset: Dataset,
}

impl AuditDataset {
    /// Starts before the first instant: nothing is known.
    #[must_use]
    pub fn new(source: Arc<Dataset>, future: Future) -> Self {
        let parts = source.parts();
        let empty = DatasetParts {
            zone_name: parts.zone_name.clone(),
            zone: parts.zone.clone(),
            days: Vec::new(),
            series: BTreeMap::new(),
            news: Vec::new(),
            fundamentals: BTreeMap::new(),
            macros: BTreeMap::new(),
            memberships: Vec::new(),
        };
        let dataset = Dataset::known(source.name().to_owned(), source.hash(), empty);
        #[cfg(feature = "planted-leaks")]
        let dataset = match source.leak() {
            Some(leak) => dataset.with_leak(leak),
            None => dataset,
        };
        Self { source, future, at: None, dataset }
    }

    /// The data as of this instant.
    pub fn at(&mut self, instant: Timestamp) -> &Dataset {
        self.move_to(instant, None)
    }

    /// The data as of the close of a trading day. The date of the next trading day is known too, because an exchange
    /// publishes its calendar in advance and the books need it at the close; nothing else of that day is.
    pub fn at_close(&mut self, day: &TradingDay) -> &Dataset {
        let next = self.source.next_trading_day(day.date);
        self.move_to(day.close, Some((day.date, next)))
    }

    /// The dataset as of the latest instant.
    #[must_use]
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// Drops what views have computed, for use after a session in which something read beyond its instant.
    pub fn drop_caches(&mut self) {
        self.dataset.parts_for_audit(true, None);
        self.at = None;
    }

    fn move_to(&mut self, instant: Timestamp, announced: Option<(Date, Date)>) -> &Dataset {
        let source = self.source.parts();
        let now = Clock::new(&source.days, instant);
        let before = self.at.map(|at| Clock::new(&source.days, at));
        let is_back = self.at.is_some_and(|at| instant < at);
        let parts = self.dataset.parts_for_audit(is_back, announced);
        Copying { source, before, now }.run(parts);
        if self.future == Future::Poisoned {
            poison::add(source, parts, &now, (seed(self.source.hash(), instant), announced.is_some()));
        }
        self.at = Some(instant);
        &self.dataset
    }
}

/// The seed of the poisoned values at an instant.
fn seed(hash: ContentHash, instant: Timestamp) -> u64 {
    let bytes = hash.as_bytes();
    let head = bytes.iter().take(8).fold(0_u64, |seed, byte| (seed << 8) | u64::from(*byte));
    head ^ instant.as_microsecond().cast_unsigned()
}

/// Copies what became known between two instants. Rows behind the earlier one's are dropped first: they are poisoned.
struct Copying<'a> {
    source: &'a DatasetParts,
    before: Option<Clock<'a>>,
    now: Clock<'a>,
}

impl Copying<'_> {
    fn run(&self, parts: &mut DatasetParts) {
        let count = |of: &dyn Fn(&Clock<'_>) -> usize| (self.before.as_ref().map_or(0, of), of(&self.now));
        let (valid, days) = count(&|clock| clock.days.len());
        refill(&mut parts.days, &self.source.days, valid, days);
        // What was not listed before is all poisoned.
        let was_listed = |series: &Series| {
            self.before.as_ref().is_some_and(|before| before.daily(&series.bars).opened > 0)
        };
        parts.series.retain(|symbol, _| self.source.series.get(symbol).is_some_and(was_listed));
        for (symbol, source) in &self.source.series {
            match parts.series.get_mut(symbol) {
                Some(series) => self.series(series, source),
                None if self.now.daily(&source.bars).opened > 0 => {
                    let mut series = empty_like(source);
                    self.series(&mut series, source);
                    parts.series.insert(symbol.clone(), series);
                }
                None => {}
            }
        }
        parts.series.retain(|_, series| series.bars.opened() > 0);
        let (valid, news) = count(&|clock| clock.published(&self.source.news));
        refill(&mut parts.news, &self.source.news, valid, news);
        let (valid, changes) = count(&|clock| clock.published(&self.source.memberships));
        refill(&mut parts.memberships, &self.source.memberships, valid, changes);
        for (symbol, list) in &self.source.fundamentals {
            let (valid, known) = count(&|clock| clock.published(list));
            refill(parts.fundamentals.entry(symbol.clone()).or_default(), list, valid, known);
        }
        parts.fundamentals.retain(|_, list| !list.is_empty());
        for (name, list) in &self.source.macros {
            let (valid, known) = count(&|clock| clock.published(list));
            refill(parts.macros.entry(name.clone()).or_default(), list, valid, known);
        }
        parts.macros.retain(|name, list| self.source.macros.contains_key(name) && !list.is_empty());
    }

    fn series(&self, series: &mut Series, source: &Series) {
        series.instrument.clone_from(&source.instrument);
        self.bars(&mut series.bars, &source.bars, &|clock, bars| clock.daily(bars));
        for (interval, bars) in &source.within {
            let known = |clock: &Clock<'_>, bars: &Bars| clock.intraday(bars, *interval);
            let to = series.within.entry(*interval).or_insert_with(|| bars.empty_like());
            self.bars(to, bars, &known);
        }
        series.within.retain(|_, bars| bars.opened() > 0);
        let count = |clock: &Clock<'_>| {
            let today = clock.days.last().map(|day| day.date);
            source.actions.iter().take_while(|action| Some(action.ex_date) <= today).count()
        };
        let valid = self.before.as_ref().map_or(0, count);
        refill(&mut series.actions, &source.actions, valid, count(&self.now));
    }

    fn bars(&self, bars: &mut Bars, source: &Bars, known: &dyn Fn(&Clock<'_>, &Bars) -> KnownRows) {
        let valid = self.before.as_ref().map_or_else(KnownRows::default, |clock| known(clock, source));
        let KnownRows { opened, closed } = known(&self.now, source);
        bars.opens_at.refill(&source.opens_at, valid.opened, opened);
        bars.open.refill(&source.open, valid.opened, opened);
        for (column, source) in [
            (&mut bars.high, &source.high),
            (&mut bars.low, &source.low),
            (&mut bars.close, &source.close),
            (&mut bars.volume, &source.volume),
        ] {
            column.refill(source, valid.closed, closed);
        }
    }
}

/// The series without its rows.
fn empty_like(source: &Series) -> Series {
    let within: BTreeMap<Interval, Bars> =
        source.within.iter().map(|(interval, bars)| (*interval, bars.empty_like())).collect();
    Series {
        instrument: source.instrument.clone(),
        bars: source.bars.empty_like(),
        within,
        actions: Vec::new(),
    }
}
