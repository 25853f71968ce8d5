//! Alpha Vantage: daily bars, intraday bars by month, and news.
//!
//! It responds to everything with 200: data, or an object with `Note`, `Information` or `Error Message`,
//! whose text alone says whether to wait, to retry tomorrow, or to request something else.

use super::client::{DataQuery, DataResponse};
use super::request::{BarInterval, DataKind, DownloadRequest};
use super::source::{FetchRequest, Page, ResponseClass, Source, by_status, compact, json, quote};
use crate::import::alpha_vantage_news::Feed;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use papertape_core::id::Symbol;
use papertape_core::time::{Date, parse_date};
use serde_json::Value;
use std::time::Duration;

const NEWS_PAGE: usize = 1000;
/// A compact response has a hundred trading days, which always fit into this many calendar days.
const SHORT_DAYS: i64 = 130;

pub(super) struct AlphaVantage;

impl Source for AlphaVantage {
    fn check(&self, order: &DownloadRequest) -> Result<(), String> {
        match order.what {
            DataKind::Bars { span: BarInterval::Minutes(minutes), .. }
                if ![1, 5, 15, 30, 60].contains(&minutes) =>
            {
                Err(format!(
                    "alpha-vantage has no bars of {minutes} minutes; it has 1m, 5m, 15m, 30m, 1h and 1d"
                ))
            }
            DataKind::Bars { span: BarInterval::Minutes(_), actions: true } => {
                Err("alpha-vantage gives splits and dividends with daily bars alone".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn kind(&self, order: &DownloadRequest) -> String {
        match order.what {
            DataKind::News => "news".to_owned(),
            DataKind::Bars { actions: true, .. } => "1d-adjusted".to_owned(),
            DataKind::Bars { span, .. } => span.to_string(),
        }
    }

    fn format(&self, what: DataKind) -> (&'static str, &'static str) {
        match what {
            DataKind::News => ("alpha-vantage-news", "json"),
            DataKind::Bars { .. } => ("alpha-vantage", "json"),
        }
    }

    fn first(&self, order: &DownloadRequest, symbol: &Symbol, now: Timestamp) -> DataQuery {
        match order.what {
            DataKind::News => news(symbol, order, order.begin()),
            DataKind::Bars { span: BarInterval::Minutes(minutes), .. } => month(symbol, minutes, order.from),
            DataKind::Bars { span: BarInterval::Day, actions } => {
                let recent = order.begin().checked_add((SHORT_DAYS * 24).hours());
                let size = if recent.is_ok_and(|recent| recent > now) { "compact" } else { "full" };
                let function = if actions { "TIME_SERIES_DAILY_ADJUSTED" } else { "TIME_SERIES_DAILY" };
                let query = vec![
                    ("function", function.to_owned()),
                    ("symbol", symbol.as_str().to_owned()),
                    ("outputsize", size.to_owned()),
                ];
                question(size.to_owned(), query)
            }
        }
    }

    fn read(&self, asked: &FetchRequest<'_>, answer: &DataResponse) -> ResponseClass {
        let body = match json(answer) {
            Ok(body) => body,
            Err(_) if answer.status != 200 => return by_status(answer, None),
            Err(reason) => return ResponseClass::Broken(reason),
        };
        let said = ["Note", "Information", "Error Message"]
            .into_iter()
            .find_map(|name| Some((name, body.get(name)?.as_str()?)));
        if let Some((name, said)) = said {
            return refused(asked, answer, name, said);
        }
        if answer.status != 200 {
            return by_status(answer, None);
        }
        match asked.order.what {
            DataKind::News => news_page(asked, &body),
            DataKind::Bars { .. } => bars_page(asked, &body),
        }
    }
}

/// Interprets one of its messages.
fn refused(asked: &FetchRequest<'_>, answer: &DataResponse, name: &str, said: &str) -> ResponseClass {
    let lower = said.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let said = quote(said);
    if has(&["no articles found"]) {
        return ResponseClass::Page(empty_news(asked));
    }
    if has(&["per second", "per minute", "more sparingly", "spreading out"]) {
        let pause = if has(&["per minute"]) { 60 } else { 2 };
        let pause = Duration::from_secs(pause).max(answer.retry_after.unwrap_or_default());
        return ResponseClass::Busy { pause: Some(pause), said };
    }
    if has(&["per day", "daily rate limit", "rate limit"]) {
        return ResponseClass::Quota(said);
    }
    if has(&["premium"]) || (has(&["apikey", "api key"]) && !has(&["invalid api call"])) {
        return ResponseClass::Denied(said);
    }
    match name {
        // For the functions used here, only the symbol can be wrong.
        "Error Message" => ResponseClass::Unknown(said),
        _ if has(&["invalid inputs"]) => ResponseClass::Unknown(said),
        // It has used this key for limits before, with changing texts.
        "Note" => ResponseClass::Busy { pause: Some(Duration::from_secs(60)), said },
        _ => ResponseClass::Refused(said),
    }
}

fn bars_page(asked: &FetchRequest<'_>, body: &Value) -> ResponseClass {
    let Some(object) = body.as_object() else {
        return ResponseClass::Broken("its answer is no object".to_owned());
    };
    let series = object.iter().find(|(name, _)| name.starts_with("Time Series"));
    let Some(rows) = series.and_then(|(_, series)| series.as_object()) else {
        return if object.is_empty() {
            ResponseClass::Unknown("it answers with nothing".to_owned())
        } else {
            ResponseClass::Broken("its answer has no time series".to_owned())
        };
    };
    let mut dates = Vec::new();
    for at in rows.keys() {
        match parse_date(at.get(..10).unwrap_or(at)) {
            Ok(date) => dates.push(date),
            Err(reason) => return ResponseClass::Broken(reason),
        }
    }
    let today = asked.fetched_at.to_zoned(new_york()).date();
    let mut page = Page { rows: u64::try_from(rows.len()).unwrap_or(u64::MAX), ..Page::default() };
    match asked.order.what {
        DataKind::Bars { span: BarInterval::Minutes(minutes), .. } => {
            let first = month_of(asked.question).unwrap_or(asked.order.from);
            page.settled = today > first.last_of_month().min(asked.order.to);
            if let Ok(next) = first.first_of_month().checked_add(1.month())
                && next <= asked.order.to
                && next <= today
            {
                page.next = Some(month(asked.symbol, minutes, next));
            }
        }
        _ => {
            page.settled = today > asked.order.to;
            if let DataKind::Bars { actions: false, .. } = asked.order.what {
                page.notes.push(
                    "its daily bars come without splits and dividends: ask with --actions, or import them from \
                     a table of actions, or results are wrong around them"
                        .to_owned(),
                );
            }
        }
    }
    ResponseClass::Page(page)
}

fn news_page(asked: &FetchRequest<'_>, body: &Value) -> ResponseClass {
    let feed = match Feed::read(body) {
        Ok(feed) => feed,
        Err(reason) => return ResponseClass::Broken(format!("its answer is none of its feeds: {reason}")),
    };
    let mut page = Page { rows: u64::try_from(feed.items.len()).unwrap_or(u64::MAX), ..Page::default() };
    let newest = feed.items.iter().filter_map(|item| Feed::published_at(item).ok()).max();
    let is_full = feed.items.len() >= NEWS_PAGE;
    page.settled = is_full || asked.fetched_at >= asked.order.end();
    if is_full {
        let Some(newest) = newest else {
            return ResponseClass::Broken("its news are undated".to_owned());
        };
        let mut next = news(asked.symbol, asked.order, newest);
        if next.stem <= asked.question.stem {
            // One minute has more news than a page, and a request cannot be narrower than a minute.
            let minute = newest.checked_add(1.minute()).unwrap_or(newest);
            next = news(asked.symbol, asked.order, minute);
            page.notes
                .push(format!("more than {NEWS_PAGE} news within one minute ({newest}): some are missing"));
        }
        if newest < asked.order.end() && next.stem > asked.question.stem {
            page.next = Some(next);
        }
    }
    ResponseClass::Page(page)
}

fn empty_news(asked: &FetchRequest<'_>) -> Page {
    Page { settled: asked.fetched_at >= asked.order.end(), ..Page::default() }
}

/// News from this minute on, oldest first.
fn news(symbol: &Symbol, order: &DownloadRequest, from: Timestamp) -> DataQuery {
    let minute = |at: Timestamp| at.strftime("%Y%m%dT%H%M").to_string();
    // The end is an inclusive minute.
    let until = order.end().checked_sub(1.minute()).unwrap_or(order.end());
    let query = vec![
        ("function", "NEWS_SENTIMENT".to_owned()),
        ("tickers", symbol.as_str().to_owned()),
        ("time_from", minute(from)),
        ("time_to", minute(until)),
        ("sort", "EARLIEST".to_owned()),
        ("limit", NEWS_PAGE.to_string()),
    ];
    question(format!("{}-to-{}", minute(from), compact(order.to)), query)
}

/// The bars of one month.
fn month(symbol: &Symbol, minutes: u32, date: Date) -> DataQuery {
    let month = date.strftime("%Y-%m").to_string();
    let query = vec![
        ("function", "TIME_SERIES_INTRADAY".to_owned()),
        ("symbol", symbol.as_str().to_owned()),
        ("interval", format!("{minutes}min")),
        ("month", month.clone()),
        ("outputsize", "full".to_owned()),
        // As traded, within the exchange's hours.
        ("adjusted", "false".to_owned()),
        ("extended_hours", "false".to_owned()),
    ];
    question(month, query)
}

fn month_of(question: &DataQuery) -> Option<Date> {
    let (_, month) = question.query.iter().find(|(name, _)| *name == "month")?;
    parse_date(&format!("{month}-01")).ok()
}

fn question(stem: String, query: Vec<(&'static str, String)>) -> DataQuery {
    DataQuery { stem, path: vec!["query".to_owned()], query }
}

/// The time zone of its days.
fn new_york() -> TimeZone {
    let found = jiff::tz::TimeZoneDatabase::bundled().get(papertape_core::market::TradingHours::US_ZONE);
    found.unwrap_or(TimeZone::UTC)
}
