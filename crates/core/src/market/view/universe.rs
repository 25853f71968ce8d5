//! The view of a trader whose universe is an index.

use super::MarketView;
use super::read::{Exposure, ViewRead};
use crate::id::Symbol;
use crate::market::caches::Members;
use crate::market::error::ReadError;
use crate::market::facts::{MembershipChange, News, Published};
use crate::market::membership::series;
use crate::time::Date;
use std::collections::{BTreeMap, BTreeSet};

/// The series of general news, about no symbol.
pub const GENERAL_NEWS: &str = "news/general";

/// Which members a view is limited to.
pub(in crate::market) struct Universe {
    members: BTreeSet<Symbol>,
    /// The members, and symbols with a position or a pending order.
    pub(super) shown: BTreeSet<Symbol>,
    exposure: Option<Exposure>,
}

impl MarketView<'_> {
    /// The known members of an index on the current trading day, listed or not. A change counts from its date
    /// on, and not before it was announced.
    ///
    /// # Errors
    /// [`ReadError::NoTradingDay`]; [`ReadError::NoData`] if nothing is known of such an index.
    pub fn members(&self, index: &str) -> Result<ViewRead<BTreeSet<Symbol>>, ReadError> {
        let today = self.today()?.value.date;
        let key = (index, today, self.memberships.len());
        let found = self.caches.members.of(key, || self.compute_members(index, today));
        let Some(found) = found else {
            return Err(ReadError::NoData { series: series(index), instant: self.instant() });
        };
        let dates: Vec<Date> = found.effective.into_iter().flat_map(|(first, last)| [first, last]).collect();
        Ok(self.read(found.symbols.clone(), &series(index), &dates, found.changes, found.known_at))
    }

    /// The members from all known changes; `None` if there is none of such an index.
    fn compute_members(&self, index: &str, today: Date) -> Option<Members> {
        let of_index = |change: &&Published<MembershipChange>| change.item.index == index;
        let known: Vec<&Published<MembershipChange>> = self.memberships.iter().filter(of_index).collect();
        if known.is_empty() {
            return None;
        }
        let (mut counted, later): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|change| change.item.date <= today);
        counted.sort_by_key(|change| (change.item.date, change.item.joins));
        let mut symbols = BTreeSet::new();
        for change in &counted {
            let MembershipChange { symbol, joins, .. } = &change.item;
            if *joins {
                symbols.insert(symbol)
            } else {
                symbols.remove(symbol)
            };
        }
        Some(Members {
            symbols: symbols.into_iter().cloned().collect(),
            effective: counted
                .first()
                .zip(counted.last())
                .map(|(first, last)| (first.item.date, last.item.date)),
            changes: counted.len(),
            known_at: counted.iter().map(|change| change.published_at).max(),
            until: later.iter().map(|change| change.item.date).min(),
        })
    }

    /// The view of a trader whose universe is this index: it shows the members of the current trading day and
    /// `also` (positions and pending orders). Every other symbol is unknown to it, whether it exists or not,
    /// and so is news about only such symbols. Positions in non-members can only be reduced or closed.
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

    /// Whether a position in this symbol can be opened or enlarged. Always true without a universe.
    #[must_use]
    pub fn is_in_universe(&self, symbol: &Symbol) -> bool {
        self.universe.as_ref().is_none_or(|universe| universe.members.contains(symbol))
    }

    /// The exposures of a read of all symbols' news. In a universe, items are left out, so it is recorded as
    /// the latest news of each symbol and general news ([`GENERAL_NEWS`]).
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

    /// The index's changes that the universe was computed from.
    #[must_use]
    pub fn universe_exposure(&self) -> Option<&Exposure> {
        self.universe.as_ref()?.exposure.as_ref()
    }
}
