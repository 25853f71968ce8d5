//! What the sources have in common.

use super::client::{DataQuery, DataResponse};
use super::config::SourceName;
use super::request::{DataKind, DownloadRequest};
use papertape_core::id::Symbol;
use papertape_core::time::{Date, Timestamp};
use serde_json::Value;
use std::time::Duration;

/// One source: its requests, and how to interpret their responses. It sends nothing itself.
pub(super) trait Source: Send + Sync {
    /// Checks whether the source offers this kind of data.
    ///
    /// # Errors
    /// A message with what it offers instead.
    fn check(&self, order: &DownloadRequest) -> Result<(), String>;

    /// The folder name for this kind of data, such as `1d`.
    fn kind(&self, order: &DownloadRequest) -> String;

    /// The importer's name of its response format, and the file extension.
    fn format(&self, what: DataKind) -> (&'static str, &'static str);

    /// The first request for a symbol.
    fn first(&self, order: &DownloadRequest, symbol: &Symbol, now: Timestamp) -> DataQuery;

    /// Interprets a response to one of its requests, sent at `fetched_at`. Stored responses are read again
    /// when a download is resumed.
    fn read(&self, asked: &FetchRequest<'_>, answer: &DataResponse) -> ResponseClass;
}

/// The context of a response.
pub(super) struct FetchRequest<'a> {
    pub(super) order: &'a DownloadRequest,
    pub(super) symbol: &'a Symbol,
    pub(super) question: &'a DataQuery,
    pub(super) fetched_at: Timestamp,
}

/// The meaning of a response.
#[derive(Debug)]
pub(super) enum ResponseClass {
    /// Data.
    Page(Page),
    /// The source does not know the symbol. The other symbols continue.
    Unknown(String),
    /// Too many requests: wait and retry.
    Busy {
        /// The minimum pause.
        pause: Option<Duration>,
        /// The source's message.
        said: String,
    },
    /// Nothing more for now: the download ends and can be resumed later.
    Quota(String),
    /// The source rejects all such requests, or this key: the user must act.
    Denied(String),
    /// The response is unreadable: retry.
    Broken(String),
    /// This request is rejected. The other symbols continue.
    Refused(String),
}

/// A page of data.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The number of rows.
    pub(super) rows: u64,
    /// Whether a later request would return the same data up to the end of the requested days.
    pub(super) settled: bool,
    /// The next request.
    pub(super) next: Option<DataQuery>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
    /// A pause before the next request.
    pub(super) pause: Option<Duration>,
}

/// The source of this name.
pub(super) fn source(name: SourceName) -> Box<dyn Source> {
    match name {
        SourceName::AlphaVantage => Box::new(super::alpha_vantage::AlphaVantage),
        SourceName::Yahoo => Box::new(super::yahoo::Yahoo),
        SourceName::Stooq => Box::new(super::stooq::Stooq),
        SourceName::Binance => Box::new(super::binance::Binance),
    }
}

/// Interprets a status other than 200 for which the source has no message of its own.
pub(super) fn by_status(answer: &DataResponse, said: Option<&str>) -> ResponseClass {
    let status = answer.status;
    let text = match said {
        Some(said) => format!("it answered {status}: {}", quote(said)),
        None => format!("it answered {status}"),
    };
    match status {
        429 | 503 => ResponseClass::Busy { pause: answer.retry_after, said: text },
        401 | 402 | 403 | 407 | 451 => ResponseClass::Denied(text),
        500..=599 if answer.retry_after.is_some() => {
            ResponseClass::Busy { pause: answer.retry_after, said: text }
        }
        408 | 500..=599 => ResponseClass::Broken(text),
        _ => ResponseClass::Refused(text),
    }
}

/// Parses a JSON response, or says why it is broken.
pub(super) fn json(answer: &DataResponse) -> Result<Value, String> {
    serde_json::from_slice(&answer.body).map_err(|error| {
        let html = answer.body.trim_ascii_start().starts_with(b"<");
        let what = match () {
            () if answer.body.trim_ascii().is_empty() => "an empty answer".to_owned(),
            () if html => "a web page instead of data".to_owned(),
            () if error.is_eof() => "an answer that breaks off before its end".to_owned(),
            () => format!("an answer that is no JSON (line {}, column {})", error.line(), error.column()),
        };
        format!("it gave {what}")
    })
}

/// A source's message as one line, truncated if it is long.
pub(super) fn quote(said: &str) -> String {
    const LONGEST: usize = 300;
    let mut text = String::new();
    for word in said.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// `2024-05-10` as `20240510`.
pub(super) fn compact(date: Date) -> String {
    date.strftime("%Y%m%d").to_string()
}
