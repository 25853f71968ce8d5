//! What a dataset holds besides bars: news, fundamentals, macroeconomic values.

use super::bars::{open_dataset, symbol_of};
use super::{MAX_ROWS, ViewError};
use crate::app::App;
use papertape_core::market::{Fundamental, MacroPoint, News, Published};
use papertape_protocol::facts::{
    FundamentalItem, FundamentalsResponse, MacroItem, MacrosResponse, NewsItem, NewsResponse,
};
use papertape_protocol::number::number;

/// The default number of items of a page.
const USUAL_ROWS: u32 = 50;

/// Which items.
#[derive(Clone, Debug, Default)]
pub struct FactsQuery {
    /// The dataset's name, or the first digits of its hash.
    pub dataset: String,
    /// About this instrument; of macroeconomic values, of this series.
    pub of: Option<String>,
    /// The maximum number of rows, 1 to 200.
    pub limit: Option<u32>,
    /// The cursor.
    pub cursor: Option<String>,
}

/// News of a dataset.
///
/// # Errors
/// No such dataset or instrument; a bad limit or cursor; a dataset that cannot be read.
pub fn news(app: &App, query: &FactsQuery) -> Result<NewsResponse, ViewError> {
    let dataset = open_dataset(app, "name", &query.dataset)?;
    let symbol = query.of.as_deref().map(|symbol| symbol_of(&dataset, symbol)).transpose()?;
    let about = |one: &&Published<News>| symbol.as_ref().is_none_or(|it| one.item.symbols.contains(it));
    let items = dataset.contents().news().iter().rev().filter(about);
    let (news, next_cursor) = paged(items, query, |one| NewsItem {
        id: one.item.id.clone(),
        published_at: one.published_at,
        symbols: one.item.symbols.iter().map(ToString::to_string).collect(),
        source: one.item.source.clone(),
        headline: one.item.headline.clone(),
        body: one.item.body.clone(),
        url: one.item.url.clone(),
    })?;
    Ok(NewsResponse { dataset: dataset.hash().to_hex(), count: news.len(), news, next_cursor })
}

/// Fundamentals of a dataset.
///
/// # Errors
/// As [`news`].
pub fn fundamentals(app: &App, query: &FactsQuery) -> Result<FundamentalsResponse, ViewError> {
    let dataset = open_dataset(app, "name", &query.dataset)?;
    let symbol = query.of.as_deref().map(|symbol| symbol_of(&dataset, symbol)).transpose()?;
    let of = |one: &&Published<Fundamental>| symbol.as_ref().is_none_or(|it| one.item.symbol == *it);
    let (fundamentals, next_cursor) =
        paged(dataset.contents().fundamentals().filter(of), query, |one| FundamentalItem {
            symbol: one.item.symbol.to_string(),
            metric: one.item.metric.clone(),
            period_end: one.item.period_end,
            value: number(one.item.value),
            unit: one.item.unit.clone(),
            published_at: one.published_at,
        })?;
    let count = fundamentals.len();
    Ok(FundamentalsResponse { dataset: dataset.hash().to_hex(), count, fundamentals, next_cursor })
}

/// Macroeconomic values of a dataset; of a series that it does not have, none.
///
/// # Errors
/// As [`news`].
pub fn macros(app: &App, query: &FactsQuery) -> Result<MacrosResponse, ViewError> {
    let dataset = open_dataset(app, "name", &query.dataset)?;
    let of = |one: &&Published<MacroPoint>| query.of.as_ref().is_none_or(|it| one.item.series == *it);
    let (macros, next_cursor) = paged(dataset.contents().macros().filter(of), query, |one| MacroItem {
        series: one.item.series.clone(),
        period: one.item.period,
        value: number(one.item.value),
        unit: one.item.unit.clone(),
        published_at: one.published_at,
    })?;
    Ok(MacrosResponse { dataset: dataset.hash().to_hex(), count: macros.len(), macros, next_cursor })
}

/// A page of a list that never changes: the cursor is the offset.
fn paged<I, T>(
    items: impl Iterator<Item = I>,
    query: &FactsQuery,
    of: impl Fn(I) -> T,
) -> Result<(Vec<T>, Option<String>), ViewError> {
    let limit = query.limit.unwrap_or(USUAL_ROWS);
    if limit == 0 || limit > MAX_ROWS {
        return Err(ViewError::bad("limit", format!("{limit} is out of range; expected 1 to {MAX_ROWS}")));
    }
    let done = match &query.cursor {
        None => 0,
        Some(cursor) => {
            let wrong = |_| ViewError::bad("cursor", "invalid cursor");
            cursor.parse::<u32>().map_err(wrong)? as usize
        }
    };
    let mut rest = items.skip(done);
    let page: Vec<T> = rest.by_ref().take(limit as usize).map(of).collect();
    let next = rest.next().map(|_| (done + page.len()).to_string());
    Ok((page, next))
}
