//! Datasets that are available.

use crate::query::rows;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which datasets.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DatasetsQuery {
    /// Max datasets.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of datasets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DatasetsResponse {
    /// The datasets, by name.
    pub datasets: Vec<DatasetResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// A dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
    /// Its tradable symbols, in byte order.
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
    /// The intervals of its intraday bars, shortest first.
    pub intervals: Vec<String>,
    /// The number of intraday bars.
    pub intraday_bars: usize,
    /// How many splits and dividends it has.
    pub actions: usize,
    /// How many news items it has.
    pub news: usize,
    /// The number of reported fundamentals.
    pub fundamentals: usize,
    /// How many values of macroeconomic series it has.
    pub macros: usize,
    /// The indexes of which it has members over time; a run can have one as its universe.
    pub universes: Vec<UniverseResponse>,
    /// Of a masked dataset: what it was derived from; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<MaskedDatasetResponse>,
    /// Its size on disk; 0 for the bundled dataset.
    pub bytes: u64,
    /// Whether newer content of the same name replaced it. It can still be found by its hash.
    pub replaced: bool,
}

/// What a masked dataset was derived from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MaskedDatasetResponse {
    /// What is masked: `dates`, `entities` or `all`.
    pub mask: String,
    /// The name of the source.
    pub source: String,
    /// The content hash of the source, 64 hex digits.
    pub source_hash: String,
}

/// An index of which a dataset has members over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UniverseResponse {
    /// Its name.
    #[schema(example = "SP500")]
    pub name: String,
    /// How many symbols were ever members.
    pub symbols: usize,
    /// How many periods of membership there are.
    pub memberships: usize,
}
