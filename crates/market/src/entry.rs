//! What a catalogue knows of a dataset without opening it.

use papertape_core::id::{ContentHash, Symbol};
use papertape_core::market::{Dataset, Interval, MaskKind, Masking, TradingDay};
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One dataset of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name. Content whose name now refers to other content keeps the name that it was imported under.
    pub name: String,
    /// Its content hash.
    pub hash: ContentHash,
    /// The exchange's time zone.
    pub zone: String,
    /// The market profile of runs that name none; not part of the hash.
    #[serde(default)]
    pub market: Option<String>,
    /// Its symbols that can be traded, in byte order.
    pub symbols: Vec<Symbol>,
    /// The symbols of its indexes, in byte order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<Symbol>,
    /// Its first trading day.
    pub first_day: Option<Date>,
    /// Its last trading day.
    pub last_day: Option<Date>,
    /// The number of trading days.
    pub days: usize,
    /// The number of daily bars.
    pub bars: usize,
    /// The lengths of its intraday bars, shortest first.
    pub intervals: Vec<Interval>,
    /// The number of intraday bars.
    #[serde(rename = "bars_within_days")]
    pub intraday_bars: usize,
    /// The number of splits and dividends.
    pub actions: usize,
    /// The number of news items.
    pub news: usize,
    /// The number of fundamentals.
    pub fundamentals: usize,
    /// The number of values of macroeconomic series.
    pub macros: usize,
    /// The indexes whose members over time it holds; a run can use one of them as its universe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub universes: Vec<UniverseEntry>,
    /// Of a masked dataset: what it was derived from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<MaskedEntry>,
    /// The size on disk in bytes; 0 for a dataset that is part of the program.
    pub bytes: u64,
    /// Whether this is older content whose name now refers to other content. It is found by its hash.
    #[serde(default)]
    pub replaced: bool,
}

/// What a masked dataset was derived from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskedEntry {
    /// What is masked.
    pub kind: MaskKind,
    /// The name of the source.
    pub source: String,
    /// The content hash of the source.
    pub source_hash: ContentHash,
}

/// An index of which a dataset has members over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniverseEntry {
    /// Its name.
    pub name: String,
    /// How many symbols ever were members.
    pub symbols: usize,
    /// How many periods of membership there are.
    pub memberships: usize,
}

impl Entry {
    pub(crate) fn of(dataset: &Dataset) -> Self {
        let date = |day: Option<&TradingDay>| day.map(|day| day.date);
        let contents = dataset.contents();
        Self {
            name: dataset.name().to_owned(),
            hash: dataset.hash(),
            zone: dataset.zone().to_owned(),
            market: None,
            symbols: dataset.tradable_symbols().cloned().collect(),
            indexes: dataset.indexes().cloned().collect(),
            first_day: date(dataset.days().first()),
            last_day: date(dataset.days().last()),
            days: dataset.days().len(),
            bars: dataset.bar_count(),
            intervals: dataset.intervals(),
            intraday_bars: dataset.intraday_bars(),
            actions: contents.actions().count(),
            news: contents.news().len(),
            fundamentals: contents.fundamentals().count(),
            macros: contents.macros().count(),
            universes: universes(dataset),
            masked: None,
            bytes: 0,
            replaced: false,
        }
    }
}

fn universes(dataset: &Dataset) -> Vec<UniverseEntry> {
    let periods = dataset.contents().memberships();
    let entry = |(name, symbols): (&str, BTreeSet<Symbol>)| UniverseEntry {
        name: name.to_owned(),
        symbols: symbols.len(),
        memberships: periods.iter().filter(|period| period.index == name).count(),
    };
    dataset.universes().into_iter().map(entry).collect()
}

impl From<&Masking> for MaskedEntry {
    fn from(masking: &Masking) -> Self {
        Self { kind: masking.kind, source: masking.source.clone(), source_hash: masking.source_hash }
    }
}
