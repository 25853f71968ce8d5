//! Binance's klines: `/api/v3/klines`, a thousand per page.

mod klines;

use super::vendor::{by_status, check_status, json, quote};
use super::{
    DataKind, DataQuery, DataResponse, DownloadRequest, FetchContext, Page, ResponseError, SourceName, Vendor,
};
use crate::input::Format;
use klines::{KLINES, Kline};
use papertape_core::id::Symbol;
use papertape_core::time::Timestamp;
use serde_json::Value;
use std::time::Duration;

const PAGE_ROWS: usize = 1000;
/// Of the 6000 that an IP address may use per minute; others may share the address.
const MAX_WEIGHT: u64 = 5400;
/// The error code for an unknown symbol.
const INVALID_SYMBOL: i64 = -1121;
/// The error code for too many requests.
const TOO_MANY: i64 = -1003;

super::config::vendor_config!(
    /// Binance's spot market. It takes no key for prices.
    BinanceConfig,
    "https://api.binance.com/",
    600
);

pub(super) struct Binance;

impl Vendor for Binance {
    fn name(&self) -> SourceName {
        SourceName::Binance
    }

    fn minutes(&self) -> &'static [u32] {
        &[1, 3, 5, 15, 30, 60, 120, 240, 360, 480, 720]
    }

    fn formats(&self) -> &'static [&'static Format] {
        &[&KLINES]
    }

    fn format(&self, _data: DataKind) -> (&'static Format, &'static str) {
        (&KLINES, "json")
    }

    fn first_query(&self, request: &DownloadRequest, symbol: &Symbol, _now: Timestamp) -> DataQuery {
        page_query(request, symbol, request.begin())
    }

    fn classify(&self, context: &FetchContext<'_>, response: &DataResponse) -> Result<Page, ResponseError> {
        let is_banned = response.status == 418;
        let banned = || busy(response, "banned for a while");
        let body = json(response).map_err(|error| if is_banned { banned() } else { error })?;
        if let Some(code) = body.get("code").and_then(Value::as_i64) {
            let message = body.get("msg").and_then(Value::as_str).unwrap_or_default();
            let message = quote(&format!("{code}: {message}"));
            return Err(match (code, response.status) {
                (INVALID_SYMBOL, _) => ResponseError::Unknown(message),
                (_, 418 | 429) | (TOO_MANY, _) => busy(response, &message),
                (_, 451) => ResponseError::Denied(message),
                (_, 200) => ResponseError::Rejected(message),
                _ => by_status(response, Some(&message)),
            });
        }
        check_status(response).map_err(|error| if is_banned { banned() } else { error })?;
        let broken =
            |more: String| ResponseError::Broken(format!("its answer is not a list of klines{more}"));
        let rows = body.as_array().ok_or_else(|| broken(String::new()))?;
        let times: Result<Vec<(Timestamp, Timestamp)>, String> =
            rows.iter().map(|row| Kline::read(row).map(|kline| (kline.opens_at, kline.closes_at))).collect();
        page(context, response, &times.map_err(|reason| broken(format!(": {reason}")))?)
    }
}

fn busy(response: &DataResponse, message: &str) -> ResponseError {
    let message = format!("it answered {}: {message}", response.status);
    ResponseError::Busy { pause: response.retry_after, message }
}

fn page(
    context: &FetchContext<'_>,
    response: &DataResponse,
    times: &[(Timestamp, Timestamp)],
) -> Result<Page, ResponseError> {
    if times.windows(2).any(|pair| pair[1].0 <= pair[0].0) {
        return Err(ResponseError::Broken("its klines are not in the order of time".to_owned()));
    }
    let end = context.request.end();
    let mut page = Page::of(times.len());
    let is_closed = |(_, closes): &(Timestamp, Timestamp)| *closes < context.fetched_at;
    let all_closed = times.last().is_none_or(is_closed);
    // A kline ends a millisecond before the next one starts.
    let after = times.last().and_then(|(_, closes)| closes.checked_add(Duration::from_millis(1)).ok());
    let is_full = times.len() >= PAGE_ROWS;
    let reached = all_closed && after.is_some_and(|after| after >= end);
    page.settled = reached || context.fetched_at >= end || (is_full && all_closed);
    if !all_closed && times.last().is_some_and(|(opens, _)| *opens < end) {
        page.notes.push("its last bar is not over: only its open is taken".to_owned());
    }
    if let Some(after) = after.filter(|after| is_full && all_closed && *after < end) {
        let next = page_query(context.request, context.symbol, after);
        if next.stem <= context.query.stem {
            return Err(ResponseError::Broken("the klines are earlier than requested".to_owned()));
        }
        page.next = Some(next);
    }
    if response.used_weight.is_some_and(|used| used >= MAX_WEIGHT) {
        // The count resets every minute.
        page.pause = Some(Duration::from_secs(60));
    }
    Ok(page)
}

fn page_query(request: &DownloadRequest, symbol: &Symbol, from: Timestamp) -> DataQuery {
    DataQuery {
        // Sorting the files by name also sorts them by time.
        stem: from.strftime("%Y%m%dT%H%M%SZ").to_string(),
        path: ["api", "v3", "klines"].map(str::to_owned).to_vec(),
        parameters: vec![
            ("symbol", symbol.as_str().to_owned()),
            ("interval", Binance.folder(request)),
            ("startTime", from.as_millisecond().to_string()),
            ("limit", PAGE_ROWS.to_string()),
        ],
    }
}
