//! What all vendors have in common: the trait, requests and responses without their transport, and how to
//! interpret a status.

use super::SourceName;
use super::request::{BarInterval, DataKind, DownloadRequest};
use crate::input::{Basis, Format, Source};
use papertape_core::id::Symbol;
use papertape_core::time::{Date, Timestamp};
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// One vendor: its requests, how to interpret their responses, and its file formats. It sends nothing itself.
pub(crate) trait Vendor: Send + Sync {
    fn name(&self) -> SourceName;

    fn needs_key(&self) -> bool {
        false
    }

    /// The lengths of its intraday bars in minutes.
    fn minutes(&self) -> &'static [u32];

    fn has_news(&self) -> bool {
        false
    }

    /// See [`SourceName::basis`].
    fn basis(&self) -> Option<Basis> {
        None
    }

    /// See [`SourceName::marks_unfinished_bars`].
    fn marks_unfinished_bars(&self) -> bool {
        true
    }

    /// The formats of its files, in the order in which they are tried.
    fn formats(&self) -> &'static [&'static Format];

    /// Checks whether the vendor offers this kind of data, or returns what it offers instead.
    fn check(&self, request: &DownloadRequest) -> Result<(), String> {
        check_offer(self, request)
    }

    /// The folder name for this kind of data, such as `1d`.
    fn folder(&self, request: &DownloadRequest) -> String {
        request.interval().map_or_else(|| "news".to_owned(), |interval| interval.to_string())
    }

    /// The format of the responses, and their file extension.
    fn format(&self, data: DataKind) -> (&'static Format, &'static str);

    /// The first request for a symbol.
    fn first_query(&self, request: &DownloadRequest, symbol: &Symbol, now: Timestamp) -> DataQuery;

    /// Interprets a response to one of its requests. Stored responses are read again when a download is resumed.
    fn classify(&self, context: &FetchContext<'_>, response: &DataResponse) -> Result<Page, ResponseError>;

    /// What the import reads of these stored responses, which are of one format.
    fn sources(&self, _format: &str, files: &[PathBuf]) -> Result<Vec<Source>, (PathBuf, io::Error)> {
        Ok(files.iter().map(Source::file).collect())
    }
}

/// Checks the kind of data and the length of bars.
pub(super) fn check_offer(vendor: &(impl Vendor + ?Sized), request: &DownloadRequest) -> Result<(), String> {
    let (name, minutes) = (vendor.name().as_str(), vendor.minutes());
    match request.data {
        DataKind::News if !vendor.has_news() => {
            Err(format!("{name} has no news for download; alpha-vantage does"))
        }
        DataKind::Bars { interval: BarInterval::Minutes(length), .. } if !minutes.contains(&length) => {
            let offered: String =
                minutes.iter().map(|length| format!("{}, ", BarInterval::Minutes(*length))).collect();
            match offered.strip_suffix(", ") {
                Some(offered) => {
                    Err(format!("{name} has no bars of {length} minutes; it has {offered} and 1d"))
                }
                None => Err(format!("{name} provides only daily bars: omit --interval")),
            }
        }
        _ => Ok(()),
    }
}

/// A request, without the vendor's base URL and without the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DataQuery {
    /// The name of the response's file after the symbol.
    pub(crate) stem: String,
    /// The segments of the path; an empty last one is a trailing slash.
    pub(crate) path: Vec<String>,
    pub(crate) parameters: Vec<(&'static str, String)>,
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct DataResponse {
    pub(crate) status: u16,
    /// The pause that it requests.
    pub(crate) retry_after: Option<Duration>,
    /// The request weight that this IP address has used in the current minute, as reported by Binance.
    pub(crate) used_weight: Option<u64>,
    /// The body, uncompressed.
    pub(crate) body: Vec<u8>,
}

/// The request to which there is a response.
pub(crate) struct FetchContext<'a> {
    pub(crate) request: &'a DownloadRequest,
    pub(crate) symbol: &'a Symbol,
    pub(crate) query: &'a DataQuery,
    /// When it was sent.
    pub(crate) fetched_at: Timestamp,
}

/// Why a response has no data.
#[derive(Debug)]
pub(crate) enum ResponseError {
    /// The vendor does not know the symbol. The other symbols continue.
    Unknown(String),
    /// Too many requests: wait for this pause or longer, and retry.
    Busy { pause: Option<Duration>, message: String },
    /// Nothing more for now: the download ends and can be resumed later.
    Quota(String),
    /// The vendor rejects all such requests, or this key: the user must act.
    Denied(String),
    /// The response is unreadable: retry.
    Broken(String),
    /// This request is rejected. The other symbols continue.
    Rejected(String),
}

/// A page of data.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// The number of rows.
    pub(crate) rows: u64,
    /// Whether a later request would return the same data up to the end of the requested days.
    pub(crate) settled: bool,
    /// The next request.
    pub(crate) next: Option<DataQuery>,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
    /// A pause before the next request.
    pub(crate) pause: Option<Duration>,
}

impl Page {
    pub(super) fn of(rows: usize) -> Self {
        Self { rows: u64::try_from(rows).unwrap_or(u64::MAX), ..Self::default() }
    }
}

/// The meaning of a status other than 200 for which the vendor has no message of its own.
pub(super) fn by_status(response: &DataResponse, message: Option<&str>) -> ResponseError {
    let status = response.status;
    let message = match message {
        Some(message) => format!("it answered {status}: {}", quote(message)),
        None => format!("it answered {status}"),
    };
    let pause = response.retry_after;
    match status {
        429 | 503 => ResponseError::Busy { pause, message },
        401 | 402 | 403 | 407 | 451 => ResponseError::Denied(message),
        500..=599 if pause.is_some() => ResponseError::Busy { pause, message },
        408 | 500..=599 => ResponseError::Broken(message),
        _ => ResponseError::Rejected(message),
    }
}

/// Passes a response with status 200.
pub(super) fn check_status(response: &DataResponse) -> Result<(), ResponseError> {
    if response.status == 200 { Ok(()) } else { Err(by_status(response, None)) }
}

/// Parses a JSON response. If it is none, the status decides.
pub(super) fn json(response: &DataResponse) -> Result<Value, ResponseError> {
    serde_json::from_slice(&response.body).map_err(|error| {
        if response.status != 200 {
            return by_status(response, None);
        }
        let html = response.body.trim_ascii_start().starts_with(b"<");
        let what = match () {
            () if response.body.trim_ascii().is_empty() => "an empty answer".to_owned(),
            () if html => "a web page instead of data".to_owned(),
            () if error.is_eof() => "the response ends early".to_owned(),
            () => format!("an answer that is not JSON (line {}, column {})", error.line(), error.column()),
        };
        ResponseError::Broken(format!("it gave {what}"))
    })
}

/// A vendor's message as one line, truncated if it is long.
pub(super) fn quote(message: &str) -> String {
    const MAX_CHARS: usize = 300;
    let words = message.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let text = words.collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// `2024-05-10` as `20240510`.
pub(super) fn compact(date: Date) -> String {
    date.strftime("%Y%m%d").to_string()
}
