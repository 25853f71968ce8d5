//! What a dataset computes once for all its views. A view gets from here only what follows from the rows that it knows,
//! so the caches change no result.

use super::facts::{News, Published};
use super::indicator::Checkpoints;
use crate::id::Symbol;
use crate::time::{Date, Timestamp};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The caches of a dataset.
#[derive(Debug, Default)]
pub(super) struct Caches {
    /// The states of running indicators.
    pub(super) checkpoints: Checkpoints,
    /// The news of each symbol.
    pub(super) news: NewsIndex,
    /// The members of each index.
    pub(super) members: MembersCache,
}

/// The positions of each symbol's news in the dataset's list, as far as a view has read the list.
#[derive(Default)]
pub(super) struct NewsIndex {
    read: Mutex<NewsPositions>,
}

#[derive(Default)]
struct NewsPositions {
    count: usize,
    by_symbol: BTreeMap<Symbol, Vec<usize>>,
}

impl NewsIndex {
    /// Calls `take` with the positions of a symbol's news in a list, in its order. The list is a prefix of the
    /// dataset's, and nothing behind it is read.
    pub(super) fn of<T>(
        &self,
        symbol: &Symbol,
        known: &[Published<News>],
        take: impl FnOnce(&[usize]) -> T,
    ) -> T {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let NewsPositions { count, by_symbol } = &mut *read;
        for (at, news) in known.iter().enumerate().skip(*count) {
            for symbol in &news.item.symbols {
                let positions = by_symbol.entry(symbol.clone()).or_default();
                // An item can name a symbol twice.
                if positions.last() != Some(&at) {
                    positions.push(at);
                }
            }
        }
        *count = known.len().max(*count);
        let positions = by_symbol.get(symbol).map(Vec::as_slice).unwrap_or_default();
        take(&positions[..positions.partition_point(|at| *at < known.len())])
    }
}

/// The members of an index, as of the changes that were known and in effect.
#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) symbols: BTreeSet<Symbol>,
    /// The dates of the first and the last change in effect; `None` if there is none.
    pub(super) effective: Option<(Date, Date)>,
    /// Number of changes in effect.
    pub(super) changes: usize,
    /// When the latest of them became known.
    pub(super) known_at: Option<Timestamp>,
    /// The date of the next change that is known.
    pub(super) until: Option<Date>,
}

/// The latest results of one index, each with the number of changes that were known.
type MembersResults = VecDeque<(usize, Arc<Members>)>;

/// The latest results by index.
#[derive(Default)]
pub(super) struct MembersCache {
    latest: Mutex<BTreeMap<String, MembersResults>>,
}

impl MembersCache {
    /// Number of results of one index in memory: concurrent agents are on different days.
    const MAX_RESULTS: usize = 16;

    /// The members of an index on a day, when this many of the dataset's changes are known.
    pub(super) fn of(
        &self,
        (index, today, known): (&str, Date, usize),
        compute: impl FnOnce() -> Option<Members>,
    ) -> Option<Arc<Members>> {
        let is_valid = |count: usize, members: &Members| {
            count == known
                && members.effective.is_none_or(|(_, last)| last <= today)
                && members.until.is_none_or(|until| today < until)
        };
        let latest = || self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let found = latest().get(index).and_then(|results| {
            results
                .iter()
                .find(|(count, members)| is_valid(*count, members))
                .map(|(_, found)| Arc::clone(found))
        });
        if found.is_some() {
            return found;
        }
        let members = Arc::new(compute()?);
        let mut latest = latest();
        let results = latest.entry(index.to_owned()).or_default();
        results.truncate(Self::MAX_RESULTS - 1);
        results.push_front((known, Arc::clone(&members)));
        Some(members)
    }
}

impl fmt::Debug for MembersCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MembersCache").finish_non_exhaustive()
    }
}

impl fmt::Debug for NewsIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewsIndex").finish_non_exhaustive()
    }
}
