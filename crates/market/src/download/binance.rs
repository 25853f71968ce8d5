//! Binance's klines: `/api/v3/klines`, a thousand per page.

use super::client::{DataQuery, DataResponse};
use super::request::{BarInterval, DataKind, DownloadRequest};
use super::source::{FetchRequest, Page, ResponseClass, Source, by_status, json, quote};
use crate::import::binance_klines::Kline;
use papertape_core::id::Symbol;
use papertape_core::time::Timestamp;
use serde_json::Value;
use std::time::Duration;

const PAGE_ROWS: usize = 1000;
const MINUTES: [u32; 11] = [1, 3, 5, 15, 30, 60, 120, 240, 360, 480, 720];
/// Of the 6000 that an IP address may use per minute; others may share the address.
const MAX_WEIGHT: u64 = 5400;
/// The error code for an unknown symbol.
const INVALID_SYMBOL: i64 = -1121;
/// The error code for too many requests.
const TOO_MANY: i64 = -1003;

pub(super) struct Binance;

impl Source for Binance {
    fn check(&self, order: &DownloadRequest) -> Result<(), String> {
        match order.what {
            DataKind::News => Err("binance has no news; alpha-vantage does".to_owned()),
            DataKind::Bars { span: BarInterval::Minutes(minutes), .. } if !MINUTES.contains(&minutes) => {
                Err(format!(
                    "binance has no bars of {minutes} minutes; it has 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, \
                 12h and 1d"
                ))
            }
            DataKind::Bars { .. } => Ok(()),
        }
    }

    fn kind(&self, order: &DownloadRequest) -> String {
        span(order).to_string()
    }

    fn format(&self, _what: DataKind) -> (&'static str, &'static str) {
        ("binance-klines", "json")
    }

    fn first(&self, order: &DownloadRequest, symbol: &Symbol, _now: Timestamp) -> DataQuery {
        question(order, symbol, order.begin())
    }

    fn read(&self, asked: &FetchRequest<'_>, answer: &DataResponse) -> ResponseClass {
        let body = match json(answer) {
            Ok(body) => body,
            Err(_) if answer.status == 418 => return busy(answer, "banned for a while"),
            Err(_) if answer.status != 200 => return by_status(answer, None),
            Err(reason) => return ResponseClass::Broken(reason),
        };
        if let Some(code) = body.get("code").and_then(Value::as_i64) {
            let said = body.get("msg").and_then(Value::as_str).unwrap_or_default();
            let said = quote(&format!("{code}: {said}"));
            return match (code, answer.status) {
                (INVALID_SYMBOL, _) => ResponseClass::Unknown(said),
                (_, 418 | 429) | (TOO_MANY, _) => busy(answer, &said),
                (_, 451) => ResponseClass::Denied(said),
                (_, 200) => ResponseClass::Refused(said),
                _ => by_status(answer, Some(&said)),
            };
        }
        if answer.status != 200 {
            return if answer.status == 418 {
                busy(answer, "banned for a while")
            } else {
                by_status(answer, None)
            };
        }
        let Some(rows) = body.as_array() else {
            return ResponseClass::Broken("its answer is no list of klines".to_owned());
        };
        let times: Result<Vec<(Timestamp, Timestamp)>, String> =
            rows.iter().map(|row| Kline::read(row).map(|kline| (kline.opens_at, kline.closes_at))).collect();
        match times {
            Ok(times) => page(asked, answer, &times),
            Err(reason) => ResponseClass::Broken(format!("its answer is no list of klines: {reason}")),
        }
    }
}

fn busy(answer: &DataResponse, said: &str) -> ResponseClass {
    ResponseClass::Busy { pause: answer.retry_after, said: format!("it answered {}: {said}", answer.status) }
}

fn page(asked: &FetchRequest<'_>, answer: &DataResponse, times: &[(Timestamp, Timestamp)]) -> ResponseClass {
    if times.windows(2).any(|pair| pair[1].0 <= pair[0].0) {
        return ResponseClass::Broken("its klines are not in the order of time".to_owned());
    }
    let end = asked.order.end();
    let mut page = Page { rows: u64::try_from(times.len()).unwrap_or(u64::MAX), ..Page::default() };
    let is_closed = |(_, closes): &(Timestamp, Timestamp)| *closes < asked.fetched_at;
    let all_closed = times.last().is_none_or(is_closed);
    // A kline ends a millisecond before the next one starts.
    let after = times.last().and_then(|(_, closes)| closes.checked_add(Duration::from_millis(1)).ok());
    let is_full = times.len() >= PAGE_ROWS;
    let reached = all_closed && after.is_some_and(|after| after >= end);
    page.settled = reached || asked.fetched_at >= end || (is_full && all_closed);
    if !all_closed && times.last().is_some_and(|(opens, _)| *opens < end) {
        page.notes.push("its last bar is not over: only its open is taken".to_owned());
    }
    if let Some(after) = after.filter(|after| is_full && all_closed && *after < end) {
        let next = question(asked.order, asked.symbol, after);
        if next.stem <= asked.question.stem {
            return ResponseClass::Broken("its klines come before those that were asked for".to_owned());
        }
        page.next = Some(next);
    }
    if answer.used_weight.is_some_and(|used| used >= MAX_WEIGHT) {
        // The count resets every minute.
        page.pause = Some(Duration::from_secs(60));
    }
    ResponseClass::Page(page)
}

fn question(order: &DownloadRequest, symbol: &Symbol, from: Timestamp) -> DataQuery {
    DataQuery {
        // Sorting the files by name also sorts them by time.
        stem: from.strftime("%Y%m%dT%H%M%SZ").to_string(),
        path: ["api", "v3", "klines"].map(str::to_owned).to_vec(),
        query: vec![
            ("symbol", symbol.as_str().to_owned()),
            ("interval", span(order).to_string()),
            ("startTime", from.as_millisecond().to_string()),
            ("limit", PAGE_ROWS.to_string()),
        ],
    }
}

fn span(order: &DownloadRequest) -> BarInterval {
    match order.what {
        DataKind::Bars { span, .. } => span,
        DataKind::News => BarInterval::Day,
    }
}
