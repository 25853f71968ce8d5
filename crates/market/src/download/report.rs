//! What a download came to, and what can be seen of it meanwhile.

use super::config::SourceName;
use super::source::Page;
use papertape_core::id::Symbol;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What a download came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The source.
    pub source: SourceName,
    /// What was asked for, as its folder is called: `1d`, `news`.
    pub kind: String,
    /// The importer's name of the files' format.
    pub format: &'static str,
    /// Every symbol that was ordered, in the order's order.
    pub symbols: Vec<SymbolReport>,
    /// How many requests were sent.
    pub asked: u64,
    /// How many answers were there already.
    pub kept: u64,
    /// How many bytes of answers were kept anew.
    pub bytes: u64,
    /// Why it ended before its end; `None` where it did not.
    pub ended: Option<Ended>,
}

/// What became of one symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SymbolReport {
    /// The symbol.
    pub symbol: Symbol,
    /// What became of it.
    pub state: State,
    /// Why, where it did not go well.
    pub reason: Option<String>,
    /// How many rows its answers have, those outside of the days ordered included.
    pub rows: u64,
    /// The files with its answers, as far as they have rows.
    pub files: Vec<PathBuf>,
    /// What is worth knowing of them.
    pub notes: Vec<String>,
}

/// How far a symbol's download came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All is there that the source has of it.
    Complete,
    /// The source does not know it.
    Unknown,
    /// The source refuses it.
    Refused,
    /// No whole answer came, however often it was asked.
    Failed,
    /// The download ended before.
    Missing,
}

/// Why a download ended before its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", content = "said", rename_all = "snake_case")]
pub enum Ended {
    /// The source gives nothing more today.
    Quota(String),
    /// The source asks to wait longer than is configured, or does not stop asking to wait.
    Busy {
        /// The pause that was asked for last.
        pause_secs: u64,
        /// Its words.
        said: String,
    },
    /// The source refuses the key, or all who ask.
    Denied(String),
    /// There is no way to the source.
    Unreachable(String),
}

impl Ended {
    /// Is it of use to go on later, with nothing changed?
    #[must_use]
    pub fn can_go_on(&self) -> bool {
        !matches!(self, Self::Denied(_))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quota(said) => write!(f, "its quota is used up: {said}"),
            Self::Busy { pause_secs, said } => {
                write!(f, "it has too many requests, and asks to wait {pause_secs} s: {said}")
            }
            Self::Denied(said) => write!(f, "it refuses to answer: {said}"),
            Self::Unreachable(said) => f.write_str(said),
        }
    }
}

impl Report {
    pub(super) fn new(source: SourceName, kind: String, format: &'static str) -> Self {
        Self { source, kind, format, symbols: Vec::new(), asked: 0, kept: 0, bytes: 0, ended: None }
    }

    /// The symbols in this state.
    pub fn in_state(&self, state: State) -> impl Iterator<Item = &SymbolReport> {
        self.symbols.iter().filter(move |one| one.state == state)
    }

    /// Is all there that was ordered?
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

/// What a download would ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Planned {
    /// The symbol.
    pub symbol: Symbol,
    /// How many of its answers are there for good.
    pub kept: u64,
    /// The address of the next question, without the key; `None` where nothing is left to ask. What
    /// follows it depends on its answer.
    pub ask: Option<String>,
}

/// Sees how a download goes.
pub trait Watch: Send + Sync {
    /// Something has happened.
    fn see(&self, event: &Event<'_>);
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A symbol begins.
    Begun {
        /// The symbol.
        symbol: &'a Symbol,
        /// Its place in the order, from 0.
        at: usize,
        /// How many there are.
        of: usize,
    },
    /// A page is there.
    Page {
        /// Whose.
        symbol: &'a Symbol,
        /// How many rows it has.
        rows: u64,
        /// How many bytes it has.
        bytes: u64,
        /// It was asked for just now.
        is_new: bool,
    },
    /// Nothing is asked for a while.
    Waiting {
        /// The symbol that is asked for again then.
        symbol: &'a Symbol,
        /// For how long.
        pause: Duration,
        /// Why.
        why: &'a str,
    },
    /// A symbol is done with.
    Ended {
        /// What became of it.
        report: &'a SymbolReport,
    },
}
