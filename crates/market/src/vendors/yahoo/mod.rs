//! Yahoo's chart API: `/v8/finance/chart/SYMBOL`.
//!
//! Its prices are divided by every split up to now, so a request always extends to now: only then does the
//! response contain all splits, with which the importer restores the traded prices.

mod chart;

use super::vendor::{by_status, check_status, compact, json, quote};
use super::{
    BarInterval, DataKind, DataQuery, DataResponse, DownloadRequest, FetchContext, Page, ResponseError,
    SourceName, Vendor,
};
use crate::input::Format;
use chart::{CHART, Chart};
use papertape_core::id::Symbol;
use papertape_core::time::Timestamp;
use serde_json::Value;

const DAY_SECS: i64 = 86_400;

super::config::vendor_config!(
    /// Yahoo's chart API. It takes no key.
    YahooConfig,
    "https://query1.finance.yahoo.com/",
    30
);

pub(super) struct Yahoo;

impl Vendor for Yahoo {
    fn name(&self) -> SourceName {
        SourceName::Yahoo
    }

    fn minutes(&self) -> &'static [u32] {
        &[1, 2, 5, 15, 30, 60]
    }

    fn formats(&self) -> &'static [&'static Format] {
        &[&CHART]
    }

    /// The length of its bars as the API spells it.
    fn folder(&self, request: &DownloadRequest) -> String {
        match request.data {
            DataKind::Bars { interval: BarInterval::Minutes(60), .. } => "60m".to_owned(),
            DataKind::Bars { interval, .. } => interval.to_string(),
            DataKind::News => "news".to_owned(),
        }
    }

    fn format(&self, _data: DataKind) -> (&'static Format, &'static str) {
        (&CHART, "json")
    }

    fn first_query(&self, request: &DownloadRequest, symbol: &Symbol, now: Timestamp) -> DataQuery {
        // A day starts up to 14 hours before it does in UTC: rows that are too early are dropped later.
        let from = request.begin().as_second() - DAY_SECS;
        let until = now.as_second().max(from + DAY_SECS);
        DataQuery {
            stem: compact(request.from),
            path: ["v8", "finance", "chart", symbol.as_str()].map(str::to_owned).to_vec(),
            parameters: vec![
                ("period1", from.to_string()),
                ("period2", until.to_string()),
                ("interval", self.folder(request)),
                ("events", "div,split".to_owned()),
            ],
        }
    }

    fn classify(&self, context: &FetchContext<'_>, response: &DataResponse) -> Result<Page, ResponseError> {
        let body = json(response).map_err(|error| plain_error(response).unwrap_or(error))?;
        let error = ["/chart/error", "/finance/error"].into_iter().find_map(|at| body.pointer(at));
        if let Some(error) = error.filter(|error| !error.is_null()) {
            return no_chart(response, error);
        }
        check_status(response)?;
        let chart = Chart::read(&body).map_err(|reason| {
            ResponseError::Broken(format!("its answer is not one of its charts: {reason}"))
        })?;
        Ok(page(context, &chart))
    }
}

/// Some errors are plain text: `Too Many Requests`.
fn plain_error(response: &DataResponse) -> Option<ResponseError> {
    let message = String::from_utf8_lossy(&response.body);
    let is_plain = response.status != 200 && !message.is_empty() && !message.trim_start().starts_with('<');
    is_plain.then(|| by_status(response, Some(&message)))
}

fn no_chart(response: &DataResponse, error: &Value) -> Result<Page, ResponseError> {
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let message = quote(&format!("{}: {}", text("code"), text("description")));
    match response.status {
        404 => Err(ResponseError::Unknown(message)),
        // The requested days precede the symbol's first.
        400 if message.contains("Data doesn't exist") => {
            Ok(Page { settled: true, notes: vec![message], ..Page::default() })
        }
        200 => Err(ResponseError::Rejected(message)),
        _ => Err(by_status(response, Some(&message))),
    }
}

fn page(context: &FetchContext<'_>, chart: &Chart) -> Page {
    let today = context.fetched_at.to_zoned(chart.zone.clone()).date();
    let newest = chart.times.last().map(|at| chart.date(*at));
    let is_unfinished = chart.is_unfinished_at_its_end(Some(context.fetched_at));
    let reached = newest.is_some_and(|newest| newest >= context.request.to && !is_unfinished);
    let mut notes = Vec::new();
    if is_unfinished && newest.is_some_and(|newest| newest <= context.request.to) {
        notes.push("its last bar is not over: only its open is taken".to_owned());
    }
    let empty = chart.empty_rows();
    if empty > 0 {
        notes.push(format!("{empty} of its rows are empty and left out, as of days without trading"));
    }
    let settled = reached || today > context.request.to;
    Page { settled, notes, ..Page::of(chart.times.len()) }
}
