//! Stooq's history as CSV: `/q/d/l/?s=aapl.us&i=d`.
//!
//! It responds to everything with 200: data, `No data`, the end of the daily quota, and web pages.

mod csv;

use super::vendor::{check_status, compact, quote};
use super::{
    DataKind, DataQuery, DataResponse, DownloadRequest, FetchContext, Page, ResponseError, SourceName, Vendor,
};
use crate::input::Format;
use csv::{CSV, HEADER};
use papertape_core::id::Symbol;
use papertape_core::time::{Date, Timestamp, parse_date};
use std::time::Duration;

super::config::vendor_config!(
    /// Stooq. It takes an optional key as a query parameter.
    StooqConfig,
    "https://stooq.com/",
    20,
    api_key_env = "STOOQ_API_KEY"
);

pub(super) struct Stooq;

impl Vendor for Stooq {
    fn name(&self) -> SourceName {
        SourceName::Stooq
    }

    fn minutes(&self) -> &'static [u32] {
        &[]
    }

    fn formats(&self) -> &'static [&'static Format] {
        &[&CSV]
    }

    fn format(&self, _data: DataKind) -> (&'static Format, &'static str) {
        (&CSV, "csv")
    }

    fn first_query(&self, request: &DownloadRequest, symbol: &Symbol, _now: Timestamp) -> DataQuery {
        let name = symbol.as_str().to_ascii_lowercase();
        // Without a market suffix it would be a Warsaw symbol; an index (`^spx`) or a pair has none.
        let name = if name.contains(['.', '^', '=']) { name } else { format!("{name}.us") };
        DataQuery {
            stem: format!("{}-{}", compact(request.from), compact(request.to)),
            path: ["q", "d", "l", ""].map(str::to_owned).to_vec(),
            parameters: vec![
                ("s", name),
                ("d1", compact(request.from)),
                ("d2", compact(request.to)),
                ("i", "d".to_owned()),
                // Without any of its adjustments: prices as traded.
                ("o", "1111111".to_owned()),
            ],
        }
    }

    fn classify(&self, context: &FetchContext<'_>, response: &DataResponse) -> Result<Page, ResponseError> {
        let text = String::from_utf8_lossy(&response.body);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.contains("Exceeded the daily hits limit") || text.contains("Przekroczony dzienny limit") {
            return Err(ResponseError::Quota("it says: Exceeded the daily hits limit".to_owned()));
        }
        check_status(response)?;
        if text.starts_with("No data") || text.starts_with("Brak danych") {
            let message = "No data: it has no such symbol, or nothing of these days";
            return Err(ResponseError::Unknown(message.to_owned()));
        }
        if text.to_ascii_lowercase().contains("apikey") {
            return Err(ResponseError::Denied("it asks for a key".to_owned()));
        }
        if text.starts_with('<') {
            let message = "it answers with a web page instead of data, as it does for suspected bots";
            return Err(ResponseError::Denied(message.to_owned()));
        }
        Ok(page(context, &rows(text).map_err(ResponseError::Broken)?))
    }
}

/// The days of its rows. Stooq sometimes writes warnings before the header.
fn rows(text: &str) -> Result<Vec<Date>, String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(HEADER));
    let Some(header) = lines.next() else {
        let first = text.lines().next().unwrap_or_default();
        return Err(match first {
            "" => "it gave an empty answer".to_owned(),
            first => format!("its answer is not a table: {}", quote(first)),
        });
    };
    let fields = header.split(',').count();
    let classify = |line: &str| {
        let date = line.split(',').next().map(parse_date);
        match date {
            Some(Ok(date)) if line.split(',').count() == fields => Ok(date),
            _ => Err(format!("the response is incomplete or not a table: {}", quote(line))),
        }
    };
    lines.filter(|line| !line.trim().is_empty()).map(classify).collect()
}

fn page(context: &FetchContext<'_>, dates: &[Date]) -> Page {
    // A day's row is final some hours after the day.
    let over = context.request.end().checked_add(Duration::from_secs(12 * 3600));
    let settled = over.is_ok_and(|over| context.fetched_at >= over);
    let today = context.fetched_at.to_zoned(jiff::tz::TimeZone::UTC).date();
    let mut notes = vec![
        "stooq gives neither splits nor dividends: import them from a table of actions, or results are \
         wrong around them"
            .to_owned(),
    ];
    if dates.last().is_some_and(|last| *last >= today) {
        notes.push("its last bar is of a day that may not be over: only its open is taken".to_owned());
    }
    Page { settled, notes, ..Page::of(dates.len()) }
}
