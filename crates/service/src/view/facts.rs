//! What a dataset holds besides bars: news, fundamentals, macroeconomic values.

use super::bars::{open_dataset, symbol_of};
use super::rows;
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::market::{Fundamental, MacroPoint, News, Published};
use papertape_protocol::facts::{
    FactsQuery, FundamentalItem, FundamentalsResponse, MacroItem, MacrosQuery, MacrosResponse, NewsItem,
    NewsResponse,
};
use papertape_protocol::number::number;
use papertape_protocol::query::MAX_ROWS;

/// The default number of items of a page.
const USUAL_ROWS: u32 = 50;

/// News of a dataset.
///
/// # Errors
/// No such dataset or instrument; a bad limit or cursor; a dataset that cannot be read.
pub fn news(app: &App, name: &str, query: &FactsQuery) -> Result<NewsResponse, ServiceError> {
    let dataset = open_dataset(app, "name", name)?;
    let symbol = query.symbol.as_deref().map(|symbol| symbol_of(&dataset, symbol)).transpose()?;
    let about = |one: &&Published<News>| symbol.as_ref().is_none_or(|it| one.item.symbols.contains(it));
    let items = dataset.contents().news().iter().rev().filter(about);
    let (news, next_cursor) = paged(items, (query.limit, query.cursor.as_deref()), |one| NewsItem {
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
pub fn fundamentals(app: &App, name: &str, query: &FactsQuery) -> Result<FundamentalsResponse, ServiceError> {
    let dataset = open_dataset(app, "name", name)?;
    let symbol = query.symbol.as_deref().map(|symbol| symbol_of(&dataset, symbol)).transpose()?;
    let of = |one: &&Published<Fundamental>| symbol.as_ref().is_none_or(|it| one.item.symbol == *it);
    let (fundamentals, next_cursor) =
        paged(dataset.contents().fundamentals().filter(of), (query.limit, query.cursor.as_deref()), |one| {
            FundamentalItem {
                symbol: one.item.symbol.to_string(),
                metric: one.item.metric.clone(),
                period_end: one.item.period_end,
                value: number(one.item.value),
                unit: one.item.unit.clone(),
                published_at: one.published_at,
            }
        })?;
    let count = fundamentals.len();
    Ok(FundamentalsResponse { dataset: dataset.hash().to_hex(), count, fundamentals, next_cursor })
}

/// Macroeconomic values of a dataset; of a series that it does not have, none.
///
/// # Errors
/// As [`news`].
pub fn macros(app: &App, name: &str, query: &MacrosQuery) -> Result<MacrosResponse, ServiceError> {
    let dataset = open_dataset(app, "name", name)?;
    let of = |one: &&Published<MacroPoint>| query.series.as_ref().is_none_or(|it| one.item.series == *it);
    let (macros, next_cursor) =
        paged(dataset.contents().macros().filter(of), (query.limit, query.cursor.as_deref()), |one| {
            MacroItem {
                series: one.item.series.clone(),
                period: one.item.period,
                value: number(one.item.value),
                unit: one.item.unit.clone(),
                published_at: one.published_at,
            }
        })?;
    Ok(MacrosResponse { dataset: dataset.hash().to_hex(), count: macros.len(), macros, next_cursor })
}

/// A page of a list that never changes: the cursor is the offset.
fn paged<I, T>(
    items: impl Iterator<Item = I>,
    (limit, cursor): (Option<u32>, Option<&str>),
    of: impl Fn(I) -> T,
) -> Result<(Vec<T>, Option<String>), ServiceError> {
    let limit = rows(limit, USUAL_ROWS, MAX_ROWS)?;
    let done = match cursor {
        None => 0,
        Some(cursor) => {
            let wrong = |_| ServiceError::invalid("cursor", "invalid cursor");
            cursor.parse::<u32>().map_err(wrong)? as usize
        }
    };
    let mut rest = items.skip(done);
    let page: Vec<T> = rest.by_ref().take(limit as usize).map(of).collect();
    let next = rest.next().map(|_| (done + page.len()).to_string());
    Ok((page, next))
}
