//! The results of reading a view.

use super::MarketView;
use crate::broker::Ohlc;
use crate::id::ContentHash;
use crate::market::facts::Published;
use crate::money::{Price, Quantity};
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// A result, with what was read for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewRead<T> {
    /// The result.
    pub value: T,
    /// What was read.
    pub exposure: Exposure,
}

/// The rows that a result was computed from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    /// The dataset's content hash.
    pub dataset: ContentHash,
    /// The series, such as `AAPL/bars`.
    pub series: String,
    /// The exchange's date of the earliest row; `None` without rows.
    pub first: Option<Date>,
    /// The exchange's date of the latest row; `None` without rows.
    pub last: Option<Date>,
    /// Number of rows.
    pub rows: u64,
    /// When the latest of these facts became known; never after the view's instant.
    pub latest_known_at: Option<Timestamp>,
}

/// One complete bar, in the share units of the view's instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bar {
    /// Its trading day.
    pub date: Date,
    /// When it opened.
    pub opens_at: Timestamp,
    /// When it closed; its high, low, close and volume are known from then on.
    pub closes_at: Timestamp,
    /// The first price.
    pub open: Price,
    /// The highest price.
    pub high: Price,
    /// The lowest price.
    pub low: Price,
    /// The last price.
    pub close: Price,
    /// Shares or units traded.
    pub volume: Quantity,
}

impl From<&Bar> for Ohlc {
    fn from(bar: &Bar) -> Self {
        Self { open: bar.open, high: bar.high, low: bar.low, close: bar.close }
    }
}

/// The fact that a price is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriceKind {
    /// The open of the current trading day, which has not closed yet.
    TodayOpen,
    /// The close of the latest complete bar.
    LastClose,
}

/// A single price, in the share units of the view's instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPrice {
    /// Which fact it is.
    pub kind: PriceKind,
    /// Its trading day; for a symbol that has stopped trading, possibly long ago.
    pub date: Date,
    /// The price.
    pub price: Price,
    /// When it became known.
    pub known_at: Timestamp,
}

/// The bars to read: the latest `limit` of those from `from` to `to`, both included. `None` means unbounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarRange {
    /// The first day.
    pub from: Option<Date>,
    /// The last day; it can be in the future.
    pub to: Option<Date>,
    /// The maximum number of bars.
    pub limit: Option<usize>,
}

impl BarRange {
    /// The latest `limit` bars.
    #[must_use]
    pub fn newest(limit: usize) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }

    /// All bars from one day to another, both included.
    #[must_use]
    pub fn between(from: Date, to: Date) -> Self {
        Self { from: Some(from), to: Some(to), limit: None }
    }
}

impl MarketView<'_> {
    pub(super) fn read_published<'p, T>(
        &self,
        list: Vec<&'p Published<T>>,
        series: &str,
    ) -> ViewRead<Vec<&'p Published<T>>> {
        let instants = || list.iter().map(|one| one.published_at);
        let (oldest, newest) = (instants().min(), instants().max());
        let date = |at: Timestamp| at.to_zoned(self.zone.clone()).date();
        let dates: Vec<Date> = oldest.into_iter().chain(newest).map(date).collect();
        let rows = list.len();
        self.read(list, series, &dates, rows, newest)
    }
}
