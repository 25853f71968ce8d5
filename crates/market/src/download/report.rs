//! The result of a download, and its progress events.

use crate::vendors::{Page, SourceName};
use papertape_core::id::Symbol;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The result of a download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DownloadReport {
    /// The source.
    pub source: SourceName,
    /// The kind of data, as in the folder's name: `1d`, `news`.
    pub kind: String,
    /// The importer's name of the files' format.
    pub format: &'static str,
    /// Every requested symbol, in the order of the request.
    pub symbols: Vec<SymbolReport>,
    /// The number of requests sent.
    pub requests: u64,
    /// The number of responses reused from the cache.
    pub cached: u64,
    /// The size of the newly stored responses in bytes.
    pub bytes: u64,
    /// Why it ended early; `None` if it did not.
    pub ended: Option<Ended>,
}

/// The result for one symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SymbolReport {
    /// The symbol.
    pub symbol: Symbol,
    /// The outcome.
    pub state: State,
    /// The reason, if it is not complete.
    pub reason: Option<String>,
    /// The number of rows in its responses, including those outside the requested days.
    pub rows: u64,
    /// The files with its responses, where they contain rows.
    pub files: Vec<PathBuf>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The outcome of a symbol's download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Everything that the source has is stored.
    Complete,
    /// The source does not know the symbol.
    Unknown,
    /// The source rejects the request.
    Rejected,
    /// No complete response arrived in any attempt.
    Failed,
    /// The download ended before this symbol was done.
    Missing,
}

/// Why a download ended early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", content = "message", rename_all = "snake_case")]
pub enum Ended {
    /// The source's daily quota is used up.
    Quota(String),
    /// The source requests a longer pause than is configured, or keeps requesting pauses.
    Busy {
        /// The last requested pause.
        pause_secs: u64,
        /// The source's message.
        message: String,
    },
    /// The source rejects the key, or all requests.
    Denied(String),
    /// The source cannot be reached.
    Unreachable(String),
}

impl Ended {
    /// Whether a later run can continue without any change.
    #[must_use]
    pub fn is_resumable(&self) -> bool {
        !matches!(self, Self::Denied(_))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quota(message) => write!(f, "its quota is used up: {message}"),
            Self::Busy { pause_secs, message } => {
                write!(f, "it has too many requests, and asks to wait {pause_secs} s: {message}")
            }
            Self::Denied(message) => write!(f, "the source denied the request: {message}"),
            Self::Unreachable(message) => f.write_str(message),
        }
    }
}

impl DownloadReport {
    pub(super) fn new(source: SourceName, kind: String, format: &'static str) -> Self {
        Self { source, kind, format, symbols: Vec::new(), requests: 0, cached: 0, bytes: 0, ended: None }
    }

    /// The symbols in this state.
    pub fn in_state(&self, state: State) -> impl Iterator<Item = &SymbolReport> {
        self.symbols.iter().filter(move |one| one.state == state)
    }

    /// Whether everything requested is stored.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.symbols.iter().all(|one| one.state == State::Complete)
    }
}

impl SymbolReport {
    pub(super) fn new(symbol: Symbol) -> Self {
        Self { symbol, state: State::Missing, reason: None, rows: 0, files: Vec::new(), notes: Vec::new() }
    }

    pub(super) fn add(&mut self, page: &Page, file: Option<PathBuf>) {
        self.rows = self.rows.saturating_add(page.rows);
        self.files.extend(file.filter(|_| page.rows > 0));
        for note in &page.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
    }
}

/// What a download would request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Planned {
    /// The symbol.
    pub symbol: Symbol,
    /// The number of final stored responses.
    pub cached: u64,
    /// The URL of the next request, without the key; `None` if nothing is left to request. What follows
    /// depends on its response.
    pub next_url: Option<String>,
}

/// Observes the progress of a download.
pub trait ProgressSink: Send + Sync {
    /// Called for every event.
    fn on_event(&self, event: &Event<'_>);
}

/// A progress event.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A symbol starts.
    Started {
        /// The symbol.
        symbol: &'a Symbol,
        /// Its index in the request, from 0.
        at: usize,
        /// The total number of symbols.
        of: usize,
    },
    /// A page is available.
    Page {
        /// Its symbol.
        symbol: &'a Symbol,
        /// The number of rows.
        rows: u64,
        /// The size in bytes.
        bytes: u64,
        /// Whether it was just downloaded.
        is_new: bool,
    },
    /// The download pauses.
    Waiting {
        /// The symbol whose request follows.
        symbol: &'a Symbol,
        /// The length of the pause.
        pause: Duration,
        /// The reason.
        reason: &'a str,
    },
    /// A symbol is done.
    Finished {
        /// Its result.
        report: &'a SymbolReport,
    },
}
