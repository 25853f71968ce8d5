//! Available datasets.

use super::{MAX_ROWS, ViewError};
use crate::app::App;
use papertape_core::id::ContentHash;
use papertape_market::{Entry, MarketError, UniverseEntry};
use papertape_protocol::datasets::{DatasetResponse, DatasetsResponse, UniverseResponse};

/// The default number of datasets of a page.
const USUAL_ROWS: u32 = 50;

/// Which datasets.
#[derive(Clone, Debug, Default)]
pub struct DatasetsQuery {
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

fn universe(entry: UniverseEntry) -> UniverseResponse {
    let UniverseEntry { name, symbols, memberships } = entry;
    UniverseResponse { name, symbols, memberships }
}

/// A page of available datasets.
///
/// # Errors
/// A bad limit or cursor; a catalogue that cannot be read.
pub fn datasets(app: &App, query: &DatasetsQuery) -> Result<DatasetsResponse, ViewError> {
    let limit = query.limit.unwrap_or(USUAL_ROWS);
    if limit == 0 || limit > MAX_ROWS {
        return Err(ViewError::bad("limit", format!("{limit} is out of range; expected 1 to {MAX_ROWS}")));
    }
    let after = query.cursor.as_deref().map(read_cursor).transpose()?;
    let all = app.catalogue.list().map_err(anyhow::Error::from)?;
    let mut rest = all.into_iter().filter(|entry| after.as_ref().is_none_or(|after| key(entry) > *after));
    let page: Vec<Entry> = rest.by_ref().take(limit as usize).collect();
    let next_cursor = rest.next().and(page.last()).map(cursor);
    let datasets: Vec<DatasetResponse> = page.into_iter().map(dataset_response).collect();
    Ok(DatasetsResponse { count: datasets.len(), datasets, next_cursor })
}

/// The dataset of this name, or whose hash begins with these digits.
///
/// # Errors
/// No or several datasets of that name; a catalogue that cannot be read.
pub fn dataset(app: &App, name: &str) -> Result<DatasetResponse, ViewError> {
    match app.catalogue.find(name) {
        Ok(entry) => Ok(dataset_response(entry)),
        Err(error @ MarketError::NotFound { .. }) => Err(ViewError::NotFound(error.to_string())),
        Err(error @ MarketError::Ambiguous { .. }) => Err(ViewError::bad("name", error.to_string())),
        Err(error) => Err(ViewError::Record(error.into())),
    }
}

/// The sort key of datasets.
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
    parts().ok_or_else(|| ViewError::bad("cursor", "invalid cursor"))
}

/// A catalogue's entry as a response.
#[must_use]
pub fn dataset_response(entry: Entry) -> DatasetResponse {
    DatasetResponse {
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
        intraday_bars: entry.intraday_bars,
        actions: entry.actions,
        news: entry.news,
        fundamentals: entry.fundamentals,
        macros: entry.macros,
        universes: entry.universes.into_iter().map(universe).collect(),
        bytes: entry.bytes,
        replaced: entry.replaced,
    }
}
