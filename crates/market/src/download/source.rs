//! What the sources have in common.

use super::client::{Answer, Question};
use super::config::SourceName;
use super::order::{Order, What};
use papertape_core::id::Symbol;
use papertape_core::time::{Date, Timestamp};
use serde_json::Value;
use std::time::Duration;

/// One source: what to ask, and what an answer means. It asks nothing itself.
pub(super) trait Source: Send + Sync {
    /// Can it be asked for this at all?
    ///
    /// # Errors
    /// What it has instead.
    fn check(&self, order: &Order) -> Result<(), String>;

    /// The folder of what is asked for, such as `1d`.
    fn kind(&self, order: &Order) -> String;

    /// The importer's name of its answers' format, and what their files' names end with.
    fn format(&self, what: What) -> (&'static str, &'static str);

    /// The first question about a symbol.
    fn first(&self, order: &Order, symbol: &Symbol, now: Timestamp) -> Question;

    /// What an answer to one of its questions means, that was asked for at `fetched_at`. An answer
    /// that is kept is read again when the download is gone on with.
    fn read(&self, asked: &Asked<'_>, answer: &Answer) -> Verdict;
}

/// A question that has been answered.
pub(super) struct Asked<'a> {
    pub(super) order: &'a Order,
    pub(super) symbol: &'a Symbol,
    pub(super) question: &'a Question,
    pub(super) fetched_at: Timestamp,
}

/// What an answer means.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Data.
    Page(Page),
    /// The source knows nothing of the symbol. The others go on.
    Unknown(String),
    /// Too many requests: wait, and ask again.
    Busy {
        /// The least pause.
        pause: Option<Duration>,
        /// Why.
        said: String,
    },
    /// Nothing more for now: the download ends, to be gone on with later.
    Quota(String),
    /// The source answers nothing of this kind, or not to this key: whoever asks must act.
    Denied(String),
    /// The answer cannot be read: ask again.
    Broken(String),
    /// This question is refused. The other symbols go on.
    Refused(String),
}

/// A page of data.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// How many rows it has.
    pub(super) rows: u64,
    /// Would the source answer the same to the end of what is ordered, were it asked again later?
    pub(super) settled: bool,
    /// The question after it.
    pub(super) next: Option<Question>,
    /// What is worth telling.
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

/// What a status other than 200 means where the source has no words of its own for it.
pub(super) fn by_status(answer: &Answer, said: Option<&str>) -> Verdict {
    let status = answer.status;
    let text = match said {
        Some(said) => format!("it answered {status}: {}", shown(said)),
        None => format!("it answered {status}"),
    };
    match status {
        429 | 503 => Verdict::Busy { pause: answer.retry_after, said: text },
        401 | 402 | 403 | 407 | 451 => Verdict::Denied(text),
        500..=599 if answer.retry_after.is_some() => Verdict::Busy { pause: answer.retry_after, said: text },
        408 | 500..=599 => Verdict::Broken(text),
        _ => Verdict::Refused(text),
    }
}

/// Reads a JSON answer, or says why it is broken.
pub(super) fn json(answer: &Answer) -> Result<Value, String> {
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

/// A source's words: one line, cut where they are long.
pub(super) fn shown(said: &str) -> String {
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
