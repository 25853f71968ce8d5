//! Available datasets.

use super::rows;
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::ContentHash;
use papertape_market::{Entry, UniverseEntry};
use papertape_protocol::datasets::{
    DatasetResponse, DatasetsQuery, DatasetsResponse, MaskedDatasetResponse, UniverseResponse,
};
use papertape_protocol::query::MAX_ROWS;

/// The default number of datasets of a page.
const USUAL_ROWS: u32 = 50;

fn universe(entry: UniverseEntry) -> UniverseResponse {
    let UniverseEntry { name, symbols, memberships } = entry;
    UniverseResponse { name, symbols, memberships }
}

/// A page of available datasets.
///
/// # Errors
/// A bad limit or cursor; a catalogue that cannot be read.
pub fn datasets(app: &App, query: &DatasetsQuery) -> Result<DatasetsResponse, ServiceError> {
    let limit = rows(query.limit, USUAL_ROWS, MAX_ROWS)?;
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
pub fn dataset(app: &App, name: &str) -> Result<DatasetResponse, ServiceError> {
    app.catalogue.find(name).map(dataset_response).map_err(|error| ServiceError::of_dataset("name", error))
}

/// The sort key of datasets.
type Key = (String, bool, ContentHash);

fn key(entry: &Entry) -> Key {
    (entry.name.clone(), entry.replaced, entry.hash)
}

fn cursor(entry: &Entry) -> String {
    format!("{}:{}:{}", entry.hash, u8::from(entry.replaced), entry.name)
}

fn read_cursor(cursor: &str) -> Result<Key, ServiceError> {
    let parts = || -> Option<Key> {
        let (hash, rest) = cursor.split_once(':')?;
        let (replaced, name) = rest.split_once(':')?;
        Some((name.to_owned(), replaced == "1", ContentHash::from_hex(hash)?))
    };
    parts().ok_or_else(|| ServiceError::invalid("cursor", "invalid cursor"))
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
        masked: entry.masked.map(|masked| MaskedDatasetResponse {
            mask: masked.kind.as_str().to_owned(),
            source: masked.source,
            source_hash: masked.source_hash.to_hex(),
        }),
        bytes: entry.bytes,
        replaced: entry.replaced,
    }
}
