//! Alpha Vantage: daily bars, intraday bars by month, and news.
//!
//! It responds to everything with 200: data, or an object with `Note`, `Information` or `Error Message`,
//! whose text alone says whether to wait, to retry tomorrow, or to request something else.

mod news;
mod series;

use super::vendor::{check_offer, check_status, compact, json, quote};
use super::{
    BarInterval, DataKind, DataQuery, DataResponse, DownloadRequest, FetchContext, Page, ResponseError,
    SourceName, Vendor,
};
use crate::input::{Basis, Format, Source};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use news::{Feed, NEWS};
use papertape_core::id::Symbol;
use papertape_core::time::{Date, parse_date};
use serde_json::Value;
use series::{MERGED_JSONL, SERIES};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

const NEWS_PAGE: usize = 1000;
/// A compact response has a hundred trading days, which always fit into this many calendar days.
const SHORT_DAYS: i64 = 130;

super::config::vendor_config!(
    /// Alpha Vantage. It takes its key as a query parameter.
    AlphaVantageConfig,
    "https://www.alphavantage.co/",
    5,
    api_key_env = "ALPHAVANTAGE_API_KEY"
);

pub(super) struct AlphaVantage;

impl Vendor for AlphaVantage {
    fn name(&self) -> SourceName {
        SourceName::AlphaVantage
    }

    fn needs_key(&self) -> bool {
        true
    }

    fn minutes(&self) -> &'static [u32] {
        &[1, 5, 15, 30, 60]
    }

    fn has_news(&self) -> bool {
        true
    }

    /// Intraday bars are requested unadjusted.
    fn basis(&self) -> Option<Basis> {
        Some(Basis::AsTraded)
    }

    fn marks_unfinished_bars(&self) -> bool {
        false
    }

    fn formats(&self) -> &'static [&'static Format] {
        &[&NEWS, &MERGED_JSONL, &SERIES]
    }

    fn check(&self, request: &DownloadRequest) -> Result<(), String> {
        check_offer(self, request)?;
        match request.data {
            DataKind::Bars { interval: BarInterval::Minutes(_), actions: true } => {
                Err("alpha-vantage provides splits and dividends only with daily bars".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn folder(&self, request: &DownloadRequest) -> String {
        match request.data {
            DataKind::News => "news".to_owned(),
            DataKind::Bars { actions: true, .. } => "1d-adjusted".to_owned(),
            DataKind::Bars { interval, .. } => interval.to_string(),
        }
    }

    fn format(&self, data: DataKind) -> (&'static Format, &'static str) {
        match data {
            DataKind::News => (&NEWS, "json"),
            DataKind::Bars { .. } => (&SERIES, "json"),
        }
    }

    fn first_query(&self, request: &DownloadRequest, symbol: &Symbol, now: Timestamp) -> DataQuery {
        match request.data {
            DataKind::News => news_query(symbol, request, request.begin()),
            DataKind::Bars { interval: BarInterval::Minutes(minutes), .. } => {
                month_query(symbol, minutes, request.from)
            }
            DataKind::Bars { interval: BarInterval::Day, actions } => {
                let recent = request.begin().checked_add((SHORT_DAYS * 24).hours());
                let size = if recent.is_ok_and(|recent| recent > now) { "compact" } else { "full" };
                let function = if actions { "TIME_SERIES_DAILY_ADJUSTED" } else { "TIME_SERIES_DAILY" };
                let parameters = vec![
                    ("function", function.to_owned()),
                    ("symbol", symbol.as_str().to_owned()),
                    ("outputsize", size.to_owned()),
                ];
                data_query(size.to_owned(), parameters)
            }
        }
    }

    fn classify(&self, context: &FetchContext<'_>, response: &DataResponse) -> Result<Page, ResponseError> {
        let body = json(response)?;
        let message = ["Note", "Information", "Error Message"]
            .into_iter()
            .find_map(|name| Some((name, body.get(name)?.as_str()?)));
        if let Some((name, message)) = message {
            return interpret(context, response, name, message);
        }
        check_status(response)?;
        match context.request.data {
            DataKind::News => news_page(context, &body),
            DataKind::Bars { .. } => bars_page(context, &body),
        }
    }

    /// Every news item is included once, although it is in the responses of each of its symbols.
    fn sources(&self, format: &str, files: &[PathBuf]) -> Result<Vec<Source>, (PathBuf, io::Error)> {
        if format != NEWS.name {
            return Ok(files.iter().map(Source::file).collect());
        }
        let feed = news::merge(files)?;
        Ok(feed.map(|feed| Source::bytes("the news of the download", feed)).into_iter().collect())
    }
}

/// Interprets one of its messages.
fn interpret(
    context: &FetchContext<'_>,
    response: &DataResponse,
    name: &str,
    message: &str,
) -> Result<Page, ResponseError> {
    let lower = message.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let message = quote(message);
    if has(&["no articles found"]) {
        return Ok(Page { settled: context.fetched_at >= context.request.end(), ..Page::default() });
    }
    Err(if has(&["per second", "per minute", "more sparingly", "spreading out"]) {
        let pause = if has(&["per minute"]) { 60 } else { 2 };
        let pause = Duration::from_secs(pause).max(response.retry_after.unwrap_or_default());
        ResponseError::Busy { pause: Some(pause), message }
    } else if has(&["per day", "daily rate limit", "rate limit"]) {
        ResponseError::Quota(message)
    } else if has(&["premium"]) || (has(&["apikey", "api key"]) && !has(&["invalid api call"])) {
        ResponseError::Denied(message)
    // For the functions used here, only the symbol can be wrong.
    } else if name == "Error Message" || has(&["invalid inputs"]) {
        ResponseError::Unknown(message)
    // It has used this key for limits before, with changing texts.
    } else if name == "Note" {
        ResponseError::Busy { pause: Some(Duration::from_secs(60)), message }
    } else {
        ResponseError::Rejected(message)
    })
}

fn bars_page(context: &FetchContext<'_>, body: &Value) -> Result<Page, ResponseError> {
    let broken = |reason: &str| ResponseError::Broken(reason.to_owned());
    let object = body.as_object().ok_or_else(|| broken("its answer is not an object"))?;
    if object.is_empty() {
        return Err(ResponseError::Unknown("it answers with nothing".to_owned()));
    }
    let series = object.iter().find(|(name, _)| name.starts_with("Time Series"));
    let rows = series.and_then(|(_, series)| series.as_object());
    let rows = rows.ok_or_else(|| broken("its answer has no time series"))?;
    for at in rows.keys() {
        parse_date(at.get(..10).unwrap_or(at)).map_err(ResponseError::Broken)?;
    }
    let today = context.fetched_at.to_zoned(new_york()).date();
    let mut page = Page::of(rows.len());
    match context.request.data {
        DataKind::Bars { interval: BarInterval::Minutes(minutes), .. } => {
            let first = month_of(context.query).unwrap_or(context.request.from);
            page.settled = today > first.last_of_month().min(context.request.to);
            if let Ok(next) = first.first_of_month().checked_add(1.month())
                && next <= context.request.to
                && next <= today
            {
                page.next = Some(month_query(context.symbol, minutes, next));
            }
        }
        _ => {
            page.settled = today > context.request.to;
            if let DataKind::Bars { actions: false, .. } = context.request.data {
                page.notes.push(
                    "its daily bars come without splits and dividends: ask with --actions, or import them from \
                     a table of actions, or results are wrong around them"
                        .to_owned(),
                );
            }
        }
    }
    Ok(page)
}

fn news_page(context: &FetchContext<'_>, body: &Value) -> Result<Page, ResponseError> {
    let feed = Feed::read(body)
        .map_err(|reason| ResponseError::Broken(format!("its answer is not one of its feeds: {reason}")))?;
    let mut page = Page::of(feed.items.len());
    let newest = feed.items.iter().filter_map(|item| Feed::published_at(item).ok()).max();
    let is_full = feed.items.len() >= NEWS_PAGE;
    page.settled = is_full || context.fetched_at >= context.request.end();
    if is_full {
        let newest = newest.ok_or_else(|| ResponseError::Broken("its news are undated".to_owned()))?;
        let mut next = news_query(context.symbol, context.request, newest);
        if next.stem <= context.query.stem {
            // One minute has more news than a page, and a request cannot be narrower than a minute.
            let minute = newest.checked_add(1.minute()).unwrap_or(newest);
            next = news_query(context.symbol, context.request, minute);
            page.notes
                .push(format!("more than {NEWS_PAGE} news within one minute ({newest}): some are missing"));
        }
        if newest < context.request.end() && next.stem > context.query.stem {
            page.next = Some(next);
        }
    }
    Ok(page)
}

/// News from this minute on, oldest first.
fn news_query(symbol: &Symbol, request: &DownloadRequest, from: Timestamp) -> DataQuery {
    let minute = |at: Timestamp| at.strftime("%Y%m%dT%H%M").to_string();
    // The end is an inclusive minute.
    let until = request.end().checked_sub(1.minute()).unwrap_or(request.end());
    let parameters = vec![
        ("function", "NEWS_SENTIMENT".to_owned()),
        ("tickers", symbol.as_str().to_owned()),
        ("time_from", minute(from)),
        ("time_to", minute(until)),
        ("sort", "EARLIEST".to_owned()),
        ("limit", NEWS_PAGE.to_string()),
    ];
    data_query(format!("{}-to-{}", minute(from), compact(request.to)), parameters)
}

/// The bars of one month.
fn month_query(symbol: &Symbol, minutes: u32, date: Date) -> DataQuery {
    let month = date.strftime("%Y-%m").to_string();
    let parameters = vec![
        ("function", "TIME_SERIES_INTRADAY".to_owned()),
        ("symbol", symbol.as_str().to_owned()),
        ("interval", format!("{minutes}min")),
        ("month", month.clone()),
        ("outputsize", "full".to_owned()),
        // As traded, within the exchange's hours.
        ("adjusted", "false".to_owned()),
        ("extended_hours", "false".to_owned()),
    ];
    data_query(month, parameters)
}

fn month_of(query: &DataQuery) -> Option<Date> {
    let (_, month) = query.parameters.iter().find(|(name, _)| *name == "month")?;
    parse_date(&format!("{month}-01")).ok()
}

fn data_query(stem: String, parameters: Vec<(&'static str, String)>) -> DataQuery {
    DataQuery { stem, path: vec!["query".to_owned()], parameters }
}

/// The time zone of its days.
fn new_york() -> TimeZone {
    let found = jiff::tz::TimeZoneDatabase::bundled().get(papertape_core::market::TradingHours::US_ZONE);
    found.unwrap_or(TimeZone::UTC)
}
