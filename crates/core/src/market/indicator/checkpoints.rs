//! The states of running indicators after every few bars of a series, so that a value costs the bars since the newest
//! one and not the whole history. A state depends only on the bars before it, so it is valid at every instant that
//! knows them in the same share units.

use super::Indicator;
use super::running::Running;
use crate::id::Symbol;
use crate::time::Date;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Number of bars between two states.
pub(super) const EVERY: usize = 128;
/// Maximum number of states in memory, about 50 MB. The usual indicators of 500 symbols over 25 years have 125,000.
const MAX_STATES: usize = 500_000;

/// The states of a dataset's series.
#[derive(Default)]
pub(in crate::market) struct Checkpoints {
    states: Mutex<States>,
}

/// The states of a symbol's indicators, by the latest split in effect, which determines the share units.
type SymbolStates = BTreeMap<(Option<Date>, Indicator), Vec<Running>>;

#[derive(Default)]
struct States {
    by_symbol: BTreeMap<Symbol, SymbolStates>,
    count: usize,
}

/// The states of one series in the share units of one instant.
#[derive(Clone, Copy)]
pub(in crate::market) struct SeriesCheckpoints<'a> {
    of: &'a Checkpoints,
    symbol: &'a Symbol,
    split: Option<Date>,
}

impl Checkpoints {
    /// The states of a symbol's daily bars after this latest split.
    pub(in crate::market) fn series<'a>(
        &'a self,
        symbol: &'a Symbol,
        split: Option<Date>,
    ) -> SeriesCheckpoints<'a> {
        SeriesCheckpoints { of: self, symbol, split }
    }
}

impl SeriesCheckpoints<'_> {
    /// The newest state after at most `rows` bars, and the number of bars that it includes.
    pub(super) fn newest(self, indicator: Indicator, rows: usize) -> Option<(usize, Running)> {
        let states = self.of.states.lock().unwrap_or_else(PoisonError::into_inner);
        let states = states.by_symbol.get(self.symbol)?.get(&(self.split, indicator))?;
        let count = states.len().min(rows / EVERY);
        Some((count * EVERY, *states.get(count.checked_sub(1)?)?))
    }

    /// Adds the states that follow the first `after` ones. Others may have added some of them in the meantime.
    pub(super) fn add(self, indicator: Indicator, after: usize, new: Vec<Running>) {
        if new.is_empty() {
            return;
        }
        let mut states = self.of.states.lock().unwrap_or_else(PoisonError::into_inner);
        if states.count + new.len() > MAX_STATES {
            *states = States::default();
        }
        let States { by_symbol, count } = &mut *states;
        if !by_symbol.contains_key(self.symbol) {
            by_symbol.insert(self.symbol.clone(), BTreeMap::new());
        }
        let Some(series) = by_symbol.get_mut(self.symbol) else { return };
        let known = series.entry((self.split, indicator)).or_default();
        if let Some(present) = known.len().checked_sub(after) {
            let before = known.len();
            known.extend(new.into_iter().skip(present));
            *count += known.len() - before;
        }
    }
}

impl fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoints").finish_non_exhaustive()
    }
}
