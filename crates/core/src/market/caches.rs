//! What a dataset computes once and serves to all its views. Nothing here is data: an entry is a function of rows that
//! the view knows, and it is found again or computed again.

use super::facts::{News, Published};
use super::indicator::Checkpoints;
use crate::id::Symbol;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The caches of a dataset.
#[derive(Debug, Default)]
pub(super) struct Caches {
    /// The states of running indicators.
    pub(super) checkpoints: Checkpoints,
    /// The news of each symbol.
    pub(super) news: NewsIndex,
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

impl fmt::Debug for NewsIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewsIndex").finish_non_exhaustive()
    }
}
