//! Stooq's history as CSV: `/q/d/l/?s=aapl.us&i=d`.
//!
//! It responds to everything with 200: data, `No data`, the end of the daily quota, and web pages.

use super::client::{DataQuery, DataResponse};
use super::request::{BarInterval, DataKind, DownloadRequest};
use super::source::{FetchRequest, Page, ResponseClass, Source, by_status, compact, quote};
use papertape_core::id::Symbol;
use papertape_core::time::{Date, Timestamp, parse_date};
use std::time::Duration;

const COLUMNS: &str = "Date,Open,High,Low,Close";

pub(super) struct Stooq;

impl Source for Stooq {
    fn check(&self, order: &DownloadRequest) -> Result<(), String> {
        match order.what {
            DataKind::Bars { span: BarInterval::Day, .. } => Ok(()),
            DataKind::Bars { .. } => {
                Err("stooq is asked for daily bars alone: leave --interval out".to_owned())
            }
            DataKind::News => Err("stooq has no news for download; alpha-vantage does".to_owned()),
        }
    }

    fn kind(&self, _order: &DownloadRequest) -> String {
        "1d".to_owned()
    }

    fn format(&self, _what: DataKind) -> (&'static str, &'static str) {
        ("stooq-csv", "csv")
    }

    fn first(&self, order: &DownloadRequest, symbol: &Symbol, _now: Timestamp) -> DataQuery {
        let name = symbol.as_str().to_ascii_lowercase();
        // Without a market suffix it would be a Warsaw symbol; an index (`^spx`) or a pair has none.
        let name = if name.contains(['.', '^', '=']) { name } else { format!("{name}.us") };
        DataQuery {
            stem: format!("{}-{}", compact(order.from), compact(order.to)),
            path: ["q", "d", "l", ""].map(str::to_owned).to_vec(),
            query: vec![
                ("s", name),
                ("d1", compact(order.from)),
                ("d2", compact(order.to)),
                ("i", "d".to_owned()),
                // Without any of its adjustments: prices as traded.
                ("o", "1111111".to_owned()),
            ],
        }
    }

    fn read(&self, asked: &FetchRequest<'_>, answer: &DataResponse) -> ResponseClass {
        let text = String::from_utf8_lossy(&answer.body);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.contains("Exceeded the daily hits limit") || text.contains("Przekroczony dzienny limit") {
            return ResponseClass::Quota("it says: Exceeded the daily hits limit".to_owned());
        }
        if answer.status != 200 {
            return by_status(answer, None);
        }
        if text.starts_with("No data") || text.starts_with("Brak danych") {
            return ResponseClass::Unknown(
                "No data: it has no such symbol, or nothing of these days".to_owned(),
            );
        }
        if text.to_ascii_lowercase().contains("apikey") {
            return ResponseClass::Denied("it asks for a key".to_owned());
        }
        if text.starts_with('<') {
            return ResponseClass::Denied(
                "it answers with a web page instead of data, as it does when it takes the reader for a robot"
                    .to_owned(),
            );
        }
        match rows(text) {
            Ok(dates) => ResponseClass::Page(page(asked, &dates)),
            Err(reason) => ResponseClass::Broken(reason),
        }
    }
}

/// The days of its rows. Stooq sometimes writes warnings before the header.
fn rows(text: &str) -> Result<Vec<Date>, String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(COLUMNS));
    let Some(header) = lines.next() else {
        let first = text.lines().next().unwrap_or_default();
        return Err(match first {
            "" => "it gave an empty answer".to_owned(),
            first => format!("its answer is no table: {}", quote(first)),
        });
    };
    let fields = header.split(',').count();
    let read = |line: &str| {
        let date = line.split(',').next().map(parse_date);
        match date {
            Some(Ok(date)) if line.split(',').count() == fields => Ok(date),
            _ => Err(format!("its answer breaks off, or is no table: {}", quote(line))),
        }
    };
    lines.filter(|line| !line.trim().is_empty()).map(read).collect()
}

fn page(asked: &FetchRequest<'_>, dates: &[Date]) -> Page {
    // A day's row is final some hours after the day.
    let over = asked.order.end().checked_add(Duration::from_secs(12 * 3600));
    let settled = over.is_ok_and(|over| asked.fetched_at >= over);
    let today = asked.fetched_at.to_zoned(jiff::tz::TimeZone::UTC).date();
    let mut notes = vec![
        "stooq gives neither splits nor dividends: import them from a table of actions, or results are \
         wrong around them"
            .to_owned(),
    ];
    if dates.last().is_some_and(|last| *last >= today) {
        notes.push("its last bar is of a day that may not be over: only its open is taken".to_owned());
    }
    Page { rows: u64::try_from(dates.len()).unwrap_or(u64::MAX), settled, notes, ..Page::default() }
}
