//! The datasets at hand.

use super::{MAX_ROWS, ViewError};
use crate::app::App;
use papertape_core::id::ContentHash;
use papertape_core::time::Date;
use papertape_market::{Entry, MarketError, UniverseEntry};
use serde::Serialize;
use utoipa::ToSchema;

/// How many datasets a page has where the caller does not say.
const USUAL_ROWS: u32 = 50;

/// Which datasets.
#[derive(Clone, Debug, Default)]
pub struct DatasetsQuery {
    /// How many at most.
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// A page of datasets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DatasetsResponse {
    /// The datasets, by name.
    pub datasets: Vec<DatasetResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null`: this is the last.
    pub next_cursor: Option<String>,
}

/// A dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DatasetResponse {
    /// Its name.
    #[schema(example = "us-daily-2000-2013")]
    pub name: String,
    /// Its content hash, 64 hex digits.
    pub hash: String,
    /// The exchange's time zone.
    #[schema(example = "America/New_York")]
    pub zone: String,
    /// The market profile of runs that name none.
    #[schema(example = "us_equity")]
    pub market: Option<String>,
    /// Its symbols that can be traded, in byte order.
    pub symbols: Vec<String>,
    /// The symbols of its indexes, in byte order: a run can name one as its benchmark.
    pub indexes: Vec<String>,
    /// Its first trading day.
    pub first_day: Option<Date>,
    /// Its last trading day.
    pub last_day: Option<Date>,
    /// How many trading days it has.
    pub days: usize,
    /// How many daily bars it has.
    pub bars: usize,
    /// The lengths of its bars within the day, shortest first.
    pub intervals: Vec<String>,
    /// How many bars within the day it has.
    pub bars_within_days: usize,
    /// How many splits and dividends it has.
    pub actions: usize,
    /// How many news items it has.
    pub news: usize,
    /// How many figures of companies' reports it has.
    pub fundamentals: usize,
    /// How many values of macroeconomic series it has.
    pub macros: usize,
    /// The indexes of which it has members over time; a run can have one as its universe.
    pub universes: Vec<UniverseResponse>,
    /// How many bytes it takes on the disk; 0: it is part of the program.
    pub bytes: u64,
    /// Is it older content whose name stands for another now? It is found by its hash.
    pub replaced: bool,
}

/// An index of which a dataset has members over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct UniverseResponse {
    /// Its name.
    #[schema(example = "SP500")]
    pub name: String,
    /// How many symbols ever were members.
    pub symbols: usize,
    /// How many periods of membership there are.
    pub memberships: usize,
}

impl From<UniverseEntry> for UniverseResponse {
    fn from(entry: UniverseEntry) -> Self {
        let UniverseEntry { name, symbols, memberships } = entry;
        Self { name, symbols, memberships }
    }
}

/// A page of the datasets at hand.
///
/// # Errors
/// A bad limit or cursor; a catalogue that cannot be read.
pub fn datasets(app: &App, query: &DatasetsQuery) -> Result<DatasetsResponse, ViewError> {
    let limit = query.limit.unwrap_or(USUAL_ROWS);
    if limit == 0 || limit > MAX_ROWS {
        return Err(ViewError::bad("limit", format!("{limit} is not from 1 to {MAX_ROWS}")));
    }
    let after = query.cursor.as_deref().map(read_cursor).transpose()?;
    let all = app.catalogue.list().map_err(anyhow::Error::from)?;
    let mut rest = all.into_iter().filter(|entry| after.as_ref().is_none_or(|after| key(entry) > *after));
    let page: Vec<Entry> = rest.by_ref().take(limit as usize).collect();
    let next_cursor = rest.next().and(page.last()).map(cursor);
    let datasets: Vec<DatasetResponse> = page.into_iter().map(DatasetResponse::from).collect();
    Ok(DatasetsResponse { count: datasets.len(), datasets, next_cursor })
}

/// The dataset of this name, or whose hash begins with these digits.
///
/// # Errors
/// Nothing or several of that name; a catalogue that cannot be read.
pub fn dataset(app: &App, name: &str) -> Result<DatasetResponse, ViewError> {
    match app.catalogue.find(name) {
        Ok(entry) => Ok(entry.into()),
        Err(error @ MarketError::NotFound { .. }) => Err(ViewError::NotFound(error.to_string())),
        Err(error @ MarketError::Ambiguous { .. }) => Err(ViewError::bad("name", error.to_string())),
        Err(error) => Err(ViewError::Record(error.into())),
    }
}

/// What datasets are sorted by.
type Key = (String, bool, ContentHash);

fn key(entry: &Entry) -> Key {
    (entry.name.clone(), entry.replaced, entry.hash)
}

fn cursor(entry: &Entry) -> String {
    format!("{}:{}:{}", entry.hash, u8::from(entry.replaced), entry.name)
}

fn read_cursor(cursor: &str) -> Result<Key, ViewError> {
    let parts = || -> Option<Key> {
        let (hash, rest) = cursor.split_once(':')?;
        let (replaced, name) = rest.split_once(':')?;
        Some((name.to_owned(), replaced == "1", ContentHash::from_hex(hash)?))
    };
    parts().ok_or_else(|| ViewError::bad("cursor", "it is not one of this list's"))
}

impl From<Entry> for DatasetResponse {
    fn from(entry: Entry) -> Self {
        Self {
            name: entry.name,
            hash: entry.hash.to_hex(),
            zone: entry.zone,
            market: entry.market,
            symbols: entry.symbols.iter().map(ToString::to_string).collect(),
            indexes: entry.indexes.iter().map(ToString::to_string).collect(),
            first_day: entry.first_day,
            last_day: entry.last_day,
            days: entry.days,
            bars: entry.bars,
            intervals: entry.intervals.iter().map(ToString::to_string).collect(),
            bars_within_days: entry.bars_within_days,
            actions: entry.actions,
            news: entry.news,
            fundamentals: entry.fundamentals,
            macros: entry.macros,
            universes: entry.universes.into_iter().map(UniverseResponse::from).collect(),
            bytes: entry.bytes,
            replaced: entry.replaced,
        }
    }
}
