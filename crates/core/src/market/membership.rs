//! Which symbols an index had on a day, and the view of a trader whose universe is an index.

use super::calendar::TradingDay;
use super::dataset::{Dataset, DatasetParts};
use super::error::{BuildError, ReadError};
use super::facts::{Membership, MembershipChange, News, Published};
use super::read::{Exposure, ViewRead};
use super::view::MarketView;
use crate::id::Symbol;
use crate::time::{Date, Timestamp};
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};

/// The series of news that is about no symbol, where it is read by itself.
pub const GENERAL_NEWS: &str = "news/general";

/// Which members a view is limited to.
pub(super) struct Universe {
    members: BTreeSet<Symbol>,
    /// The members and what is held or waited for.
    pub(super) shown: BTreeSet<Symbol>,
    exposure: Option<Exposure>,
}

impl MarketView<'_> {
    /// The members of an index on the current trading day, listed or not, as far as its changes are known: a change
    /// counts from its date on, and not before it was announced.
    ///
    /// # Errors
    /// [`ReadError::NoTradingDay`]; [`ReadError::NoData`] where nothing is known of such an index.
    pub fn members(&self, index: &str) -> Result<ViewRead<BTreeSet<Symbol>>, ReadError> {
        let today = self.today()?.value.date;
        let of_index = |change: &&Published<MembershipChange>| change.item.index == index;
        let mut counted: Vec<&Published<MembershipChange>> =
            self.memberships.iter().filter(of_index).collect();
        if counted.is_empty() {
            return Err(ReadError::NoData { series: series(index), instant: self.instant() });
        }
        counted.retain(|change| change.item.date <= today);
        counted.sort_by_key(|change| (change.item.date, change.item.joins));
        let mut members = BTreeSet::new();
        for change in &counted {
            let MembershipChange { symbol, joins, .. } = &change.item;
            if *joins {
                members.insert(symbol.clone())
            } else {
                members.remove(symbol)
            };
        }
        let dates: Vec<Date> = counted.iter().map(|change| change.item.date).collect();
        let known_at = counted.iter().map(|change| change.published_at).max();
        Ok(self.read(members, &series(index), &dates, counted.len(), known_at))
    }

    /// The view of a trader whose universe is this index: it shows the members of the current trading day and
    /// `also` (what is held or waited for). Every other symbol is unknown to it, whether it exists or not, and so is
    /// news about such symbols only. Positions in what is not a member can only be reduced or closed.
    #[must_use]
    pub fn in_universe(mut self, index: &str, also: &BTreeSet<Symbol>) -> Self {
        let read = self.members(index).ok();
        let (members, exposure) =
            read.map_or_else(Default::default, |read| (read.value, Some(read.exposure)));
        let shown: BTreeSet<Symbol> = members.union(also).cloned().collect();
        self.series.retain(|symbol, _| shown.contains(*symbol));
        self.fundamentals.retain(|symbol, _| shown.contains(*symbol));
        self.universe = Some(Universe { members, shown, exposure });
        self
    }

    /// May a position in this symbol be opened or enlarged? Without a universe in any.
    #[must_use]
    pub fn is_in_universe(&self, symbol: &Symbol) -> bool {
        self.universe.as_ref().is_none_or(|universe| universe.members.contains(symbol))
    }

    /// What a read of the news of all symbols has shown, for the record. In a universe it passes over items, so it is
    /// recorded as what it is: the newest news of each symbol, and of none ([`GENERAL_NEWS`]).
    #[must_use]
    pub fn news_exposures(&self, read: &ViewRead<Vec<&Published<News>>>) -> Vec<Exposure> {
        let Some(universe) = &self.universe else { return vec![read.exposure.clone()] };
        let mut by_series: BTreeMap<String, Vec<&Published<News>>> = BTreeMap::new();
        for one in &read.value {
            let about = one.item.symbols.iter().filter(|symbol| universe.shown.contains(*symbol));
            let general = one.item.symbols.is_empty().then(|| GENERAL_NEWS.to_owned());
            for series in about.map(|symbol| format!("{symbol}/news")).chain(general) {
                by_series.entry(series).or_default().push(one);
            }
        }
        by_series.into_iter().map(|(series, list)| self.read_published(list, &series).exposure).collect()
    }

    /// What of the index's changes the universe was made of.
    #[must_use]
    pub fn universe_exposure(&self) -> Option<&Exposure> {
        self.universe.as_ref()?.exposure.as_ref()
    }
}

impl Dataset {
    /// What a trader may know at the open of a day: all that was known, or where its universe is an index, what
    /// [`MarketView::in_universe`] leaves of it.
    #[must_use]
    pub fn view_of(&self, at: Timestamp, universe: Option<&str>, also: &BTreeSet<Symbol>) -> MarketView<'_> {
        let view = self.view(at);
        match universe {
            Some(index) => view.in_universe(index, also),
            None => view,
        }
    }

    /// The indexes of which it has members, with every symbol that ever was one. For a job's configuration to be
    /// checked against: nothing of it may be shown to an agent.
    #[must_use]
    pub fn universes(&self) -> BTreeMap<&str, BTreeSet<Symbol>> {
        let mut indexes: BTreeMap<&str, BTreeSet<Symbol>> = BTreeMap::new();
        for change in &self.parts().memberships {
            indexes.entry(&change.item.index).or_default().insert(change.item.symbol.clone());
        }
        indexes
    }
}

fn series(index: &str) -> String {
    format!("index/{index}")
}

/// The changes that periods of membership come to, by when they became known.
///
/// # Errors
/// [`BuildError::Fact`]: a period that ends before it begins, or that overlaps another of its symbol and index.
pub(super) fn changes(
    mut periods: Vec<Membership>,
    days: &[TradingDay],
    zone: &TimeZone,
) -> Result<Vec<Published<MembershipChange>>, BuildError> {
    periods.sort_unstable();
    for pair in periods.windows(2) {
        let alike = (&pair[0].index, &pair[0].symbol) == (&pair[1].index, &pair[1].symbol);
        if alike && pair[0].until.is_none_or(|until| pair[1].from < until) {
            return Err(refused(&pair[1], "it overlaps another period"));
        }
    }
    let mut changes = Vec::new();
    for period in periods {
        if period.until.is_some_and(|until| until <= period.from) {
            return Err(refused(&period, "it ends before it begins"));
        }
        let mut add = |date: Date, joins: bool, announced_at: Option<Timestamp>| {
            let published_at = announced_at.or_else(|| effective_at(date, days, zone));
            let published_at = published_at.ok_or_else(|| refused(&period, "its date is out of range"))?;
            let (index, symbol) = (period.index.clone(), period.symbol.clone());
            changes.push(Published { published_at, item: MembershipChange { index, symbol, date, joins } });
            Ok::<_, BuildError>(())
        };
        add(period.from, true, period.announced_at)?;
        if let Some(until) = period.until {
            add(until, false, period.until_announced_at)?;
        }
    }
    changes.sort_unstable();
    Ok(changes)
}

/// The open of the first trading day from a date on; behind the calendar's end, the date's midnight.
fn effective_at(date: Date, days: &[TradingDay], zone: &TimeZone) -> Option<Timestamp> {
    let day = days.get(days.partition_point(|day| day.date < date));
    let midnight =
        || zone.to_ambiguous_timestamp(date.to_datetime(jiff::civil::Time::midnight())).later().ok();
    day.map_or_else(midnight, |day| Some(day.open))
}

fn refused(period: &Membership, reason: &str) -> BuildError {
    BuildError::Fact {
        series: series(&period.index),
        item: format!("{} {}", period.symbol, period.from),
        reason: reason.to_owned(),
    }
}

/// The periods of membership that a dataset's changes are, by index, symbol and first day.
pub(super) fn periods(parts: &DatasetParts) -> Vec<Membership> {
    let mut changes: Vec<&Published<MembershipChange>> = parts.memberships.iter().collect();
    changes.sort_by_key(|change| {
        let MembershipChange { index, symbol, date, joins } = &change.item;
        (index, symbol, *date, *joins)
    });
    let mut periods: Vec<Membership> = Vec::new();
    for Published { published_at, item } in changes {
        if item.joins {
            periods.push(Membership {
                index: item.index.clone(),
                symbol: item.symbol.clone(),
                from: item.date,
                until: None,
                announced_at: Some(*published_at),
                until_announced_at: None,
            });
        } else if let Some(period) = periods.last_mut().filter(|period| {
            period.until.is_none() && (&period.index, &period.symbol) == (&item.index, &item.symbol)
        }) {
            (period.until, period.until_announced_at) = (Some(item.date), Some(*published_at));
        }
    }
    periods
}
