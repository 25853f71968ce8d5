//! News, fundamentals and macroeconomic values of a dataset.

use crate::number::Number;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which news or fundamentals.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FactsQuery {
    /// Only this instrument.
    pub symbol: Option<String>,
    /// Max rows.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Which macroeconomic values.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MacrosQuery {
    /// Only this series.
    pub series: Option<String>,
    /// Max rows.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of news.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewsResponse {
    /// The dataset's content hash.
    pub dataset: String,
    /// The items, newest first.
    pub news: Vec<NewsItem>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// A news item. Its text is untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewsItem {
    /// Unique within the dataset.
    pub id: String,
    /// When it became known.
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

/// A page of fundamentals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FundamentalsResponse {
    /// The dataset's content hash.
    pub dataset: String,
    /// The values, by instrument and publication; a restated value is listed once per publication.
    pub fundamentals: Vec<FundamentalItem>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// One reported value of a company.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FundamentalItem {
    /// The instrument.
    pub symbol: String,
    /// What it measures.
    pub metric: String,
    /// The last day of its period.
    pub period_end: Date,
    /// The value.
    pub value: Number,
    /// Its unit.
    pub unit: String,
    /// When it became known.
    pub published_at: Timestamp,
}

/// A page of macroeconomic values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MacrosResponse {
    /// The dataset's content hash.
    pub dataset: String,
    /// The values, by series and publication.
    pub macros: Vec<MacroItem>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
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
    /// When it became known.
    pub published_at: Timestamp,
}
