//! The rows that passed so far, and why others were rejected.

use crate::import::collect::{Keyed, RowLocation};
use crate::import::options::ImportOptions;
use papertape_core::id::Symbol;
use papertape_core::market::{BuildError, DatasetBuilder, Interval, TradingDay};
use papertape_core::money::Price;
use papertape_core::time::{Date, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Adds rows to a builder, and collects what is wrong with them.
pub(in crate::import) struct Reconciler<'a> {
    pub(super) options: &'a ImportOptions,
    pub(super) is_strict: bool,
    pub(in crate::import) builder: DatasetBuilder,
    pub(in crate::import) refused: BTreeMap<RowLocation, String>,
    pub(in crate::import) notes: Vec<String>,
    /// The days of a calendar file, if there is one.
    pub(super) calendar: Option<BTreeMap<Date, TradingDay>>,
    /// The days that have bars.
    pub(super) days: BTreeMap<Date, TradingDay>,
    pub(in crate::import) symbols: BTreeSet<Symbol>,
    /// Bars outside trading hours, by symbol and length.
    pub(super) outside: Vec<Outside>,
    /// Newest bars that have only an open.
    pub(super) open_only: Vec<OpenOnlyBar>,
    pub(in crate::import) error: Option<BuildError>,
}

pub(super) struct Outside {
    pub(in crate::import) symbol: Symbol,
    pub(in crate::import) bars: u64,
    pub(in crate::import) inside: u64,
}

pub(super) struct OpenOnlyBar {
    pub(in crate::import) symbol: Symbol,
    pub(in crate::import) interval: Option<Interval>,
    pub(in crate::import) date: Date,
    /// The opening time in microseconds, for an intraday bar.
    pub(in crate::import) key: i64,
    pub(in crate::import) open: Price,
    pub(in crate::import) place: RowLocation,
}

impl<'a> Reconciler<'a> {
    pub(super) fn new(options: &'a ImportOptions, is_strict: bool) -> Self {
        Self {
            options,
            is_strict,
            builder: DatasetBuilder::new(&options.name, &options.zone),
            refused: BTreeMap::new(),
            notes: Vec::new(),
            calendar: None,
            days: BTreeMap::new(),
            symbols: BTreeSet::new(),
            outside: Vec::new(),
            open_only: Vec::new(),
            error: None,
        }
    }

    pub(super) fn note_error(&mut self, result: Result<(), BuildError>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }

    pub(super) fn refuse(&mut self, place: RowLocation, reason: impl Into<String>) {
        self.refused.insert(place, reason.into());
    }

    /// One row per key; contradictory rows are rejected.
    pub(super) fn dedupe<K: Ord, V: PartialEq>(
        &mut self,
        rows: Keyed<K, V>,
        what: &str,
    ) -> BTreeMap<K, (V, RowLocation)> {
        let mut unique = BTreeMap::new();
        for (key, mut list) in rows {
            list.sort_by_key(|(_, place)| *place);
            if list.windows(2).any(|pair| pair[0].0 != pair[1].0) {
                for (_, place) in list {
                    self.refuse(place, format!("{what} twice, with different values"));
                }
                continue;
            }
            let mut list = list.into_iter();
            let Some(first) = list.next() else { continue };
            for (_, place) in list {
                self.refuse(place, format!("{what} twice"));
            }
            unique.insert(key, first);
        }
        unique
    }

    /// The trading day of a date, by the calendar or the usual hours.
    pub(super) fn day(&self, date: Date) -> Result<TradingDay, String> {
        match &self.calendar {
            Some(calendar) => {
                calendar.get(&date).copied().ok_or_else(|| "no trading day of the calendar".to_owned())
            }
            None => self.options.hours.day(date).map_err(|error| error.to_string()),
        }
    }

    /// Whether the calendar file has no trading on the day of an instant.
    pub(super) fn is_closed_on(&self, instant: Timestamp) -> bool {
        let date = instant.to_zoned(self.options.hours.zone().clone()).date();
        self.calendar.as_ref().is_some_and(|calendar| !calendar.contains_key(&date))
    }

    /// The trading day whose hours include an instant.
    pub(super) fn day_with(&self, instant: Timestamp) -> Option<TradingDay> {
        let Some(calendar) = &self.calendar else { return self.options.hours.day_of(instant) };
        let date = instant.to_zoned(self.options.hours.zone().clone()).date();
        let near = date.yesterday().unwrap_or(date)..=date;
        calendar.range(near).map(|(_, day)| *day).find(|day| day.open <= instant && instant < day.close)
    }
}
