//! News, fundamentals and macroeconomic values of a dataset.

use crate::number::Number;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A page of news.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewsResponse {
    /// The dataset's content hash.
    pub dataset: String,
    /// The items, the newest first.
    pub news: Vec<NewsItem>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
}

/// A news item. Its text is somebody else's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewsItem {
    /// Unique within the dataset.
    pub id: String,
    /// From this instant on it is known.
    pub published_at: Timestamp,
    /// The instruments that it is about; none for general news.
    pub symbols: Vec<String>,
    /// Who published it.
    pub source: String,
    /// Its headline.
    pub headline: String,
    /// Its text.
    pub body: Option<String>,
    /// Where it was found.
    pub url: Option<String>,
}

/// A page of companies' figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FundamentalsResponse {
    /// The dataset's content hash.
    pub dataset: String,
    /// The figures, by instrument and publication. One that was published anew stands there as often.
    pub fundamentals: Vec<FundamentalItem>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
}

/// One figure of a company's reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FundamentalItem {
    /// Whose figure.
    pub symbol: String,
    /// What it measures.
    pub metric: String,
    /// The last day of its period.
    pub period_end: Date,
    /// The figure.
    pub value: Number,
    /// Its unit.
    pub unit: String,
    /// From this instant on it is known.
    pub published_at: Timestamp,
}

/// A page of macroeconomic values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MacrosResponse {
    /// The dataset's content hash.
    pub dataset: String,
    /// The values, by series and publication.
    pub macros: Vec<MacroItem>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
}

/// One value of a macroeconomic series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MacroItem {
    /// The series.
    pub series: String,
    /// The first day of its period.
    pub period: Date,
    /// The value.
    pub value: Number,
    /// Its unit.
    pub unit: String,
    /// From this instant on it is known.
    pub published_at: Timestamp,
}
