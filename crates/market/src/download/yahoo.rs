//! Yahoo's chart API: `/v8/finance/chart/SYMBOL`.
//!
//! Its prices are divided by every split up to now, so a request always extends to now: only then does the
//! response contain all splits, with which the importer restores the traded prices.

use super::client::{DataQuery, DataResponse};
use super::request::{BarInterval, DataKind, DownloadRequest};
use super::source::{FetchRequest, Page, ResponseClass, Source, by_status, compact, json, quote};
use crate::import::yahoo_chart::Chart;
use papertape_core::id::Symbol;
use papertape_core::time::Timestamp;
use serde_json::Value;

/// The available bar lengths, in minutes.
const MINUTES: [u32; 6] = [1, 2, 5, 15, 30, 60];
const DAY_SECS: i64 = 86_400;

pub(super) struct Yahoo;

impl Source for Yahoo {
    fn check(&self, order: &DownloadRequest) -> Result<(), String> {
        match order.what {
            DataKind::News => Err("yahoo has no news for download; alpha-vantage does".to_owned()),
            DataKind::Bars { span: BarInterval::Minutes(minutes), .. } if !MINUTES.contains(&minutes) => {
                Err(format!("yahoo has no bars of {minutes} minutes; it has 1m, 2m, 5m, 15m, 30m, 1h and 1d"))
            }
            DataKind::Bars { .. } => Ok(()),
        }
    }

    fn kind(&self, order: &DownloadRequest) -> String {
        interval(order.what)
    }

    fn format(&self, _what: DataKind) -> (&'static str, &'static str) {
        ("yahoo-chart", "json")
    }

    fn first(&self, order: &DownloadRequest, symbol: &Symbol, now: Timestamp) -> DataQuery {
        // A day starts up to 14 hours before it does in UTC: rows that are too early are dropped later.
        let from = order.begin().as_second() - DAY_SECS;
        let until = now.as_second().max(from + DAY_SECS);
        DataQuery {
            stem: compact(order.from),
            path: ["v8", "finance", "chart", symbol.as_str()].map(str::to_owned).to_vec(),
            query: vec![
                ("period1", from.to_string()),
                ("period2", until.to_string()),
                ("interval", interval(order.what)),
                ("events", "div,split".to_owned()),
            ],
        }
    }

    fn read(&self, asked: &FetchRequest<'_>, answer: &DataResponse) -> ResponseClass {
        let body = match json(answer) {
            Ok(body) => body,
            // Some errors are plain text: `Too Many Requests`.
            Err(_) if answer.status != 200 => {
                let said = String::from_utf8_lossy(&answer.body);
                let said =
                    Some(&*said).filter(|said| !said.trim_start().starts_with('<') && !said.is_empty());
                return by_status(answer, said);
            }
            Err(reason) => return ResponseClass::Broken(reason),
        };
        let error = ["/chart/error", "/finance/error"].into_iter().find_map(|at| body.pointer(at));
        if let Some(error) = error.filter(|error| !error.is_null()) {
            return refused(answer, error);
        }
        if answer.status != 200 {
            return by_status(answer, None);
        }
        match Chart::read(&body) {
            Ok(chart) => ResponseClass::Page(page(asked, &chart)),
            Err(reason) => ResponseClass::Broken(format!("its answer is none of its charts: {reason}")),
        }
    }
}

fn refused(answer: &DataResponse, error: &Value) -> ResponseClass {
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let said = quote(&format!("{}: {}", text("code"), text("description")));
    match answer.status {
        404 => ResponseClass::Unknown(said),
        // The requested days precede the symbol's first.
        400 if said.contains("Data doesn't exist") => {
            ResponseClass::Page(Page { settled: true, notes: vec![said], ..Page::default() })
        }
        200 => ResponseClass::Refused(said),
        _ => by_status(answer, Some(&said)),
    }
}

fn page(asked: &FetchRequest<'_>, chart: &Chart) -> Page {
    let today = asked.fetched_at.to_zoned(chart.zone.clone()).date();
    let newest = chart.times.last().map(|at| chart.date(*at));
    let is_unfinished = chart.is_unfinished_at_its_end(Some(asked.fetched_at));
    let reached = newest.is_some_and(|newest| newest >= asked.order.to && !is_unfinished);
    let mut notes = Vec::new();
    if is_unfinished && newest.is_some_and(|newest| newest <= asked.order.to) {
        notes.push("its last bar is not over: only its open is taken".to_owned());
    }
    let empty = chart.empty_rows();
    if empty > 0 {
        notes.push(format!("{empty} of its rows are empty and left out, as of days without trading"));
    }
    let rows = u64::try_from(chart.times.len()).unwrap_or(u64::MAX);
    Page { rows, settled: reached || today > asked.order.to, notes, ..Page::default() }
}

fn interval(what: DataKind) -> String {
    match what {
        DataKind::Bars { span: BarInterval::Minutes(60), .. } => "60m".to_owned(),
        DataKind::Bars { span, .. } => span.to_string(),
        DataKind::News => "news".to_owned(),
    }
}
