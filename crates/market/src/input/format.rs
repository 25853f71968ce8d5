//! A file format, and what it reads from and writes to.

use super::row::{Basis, ImportedRow};
use super::source::Source;
use jiff::tz::TimeZone;
use papertape_core::id::Symbol;
use papertape_core::market::Interval;
use std::fmt::Display;

/// A file format. It only parses rows and decides nothing else.
#[derive(Debug)]
pub struct Format {
    /// Its name for `--format`, such as `csv`.
    pub name: &'static str,
    /// A one-line description.
    pub description: &'static str,
    /// Whether a file has the format, judging by its name and its first 8 KiB.
    pub detect: fn(file_name: &str, head: &[u8]) -> bool,
    /// Passes on all rows in file order. An unreadable row goes to the sink with the reason, and reading
    /// continues after it. It fails if the whole file is unusable, or if the sink stops it.
    pub read: fn(&Source, &Hints, &mut dyn Sink) -> Result<(), ReadAbort>,
}

/// Defaults for what a file does not say.
#[derive(Clone, Debug)]
pub struct Hints {
    /// The symbol of rows that name none. Default: the file's name up to its first dot.
    pub symbol: Option<Symbol>,
    /// The time zone of times that name none: the exchange's.
    pub zone: TimeZone,
    /// The length of intraday bars, if the rows do not say. Default: the shortest distance between two bars
    /// of a symbol.
    pub interval: Option<Interval>,
    /// The share units of prices, overriding what the format assumes.
    pub basis: Option<Basis>,
}

impl Hints {
    /// The symbol of rows that name none: the source's, this one, or the file's name. `None` if the name is not a symbol either.
    #[must_use]
    pub fn symbol_of(&self, source: &Source) -> Option<Symbol> {
        if let Some(symbol) = source.symbol().or(self.symbol.as_ref()) {
            return Some(symbol.clone());
        }
        let stem = source.file_name();
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        let fits = |c: char| c.is_ascii_alphanumeric() || "._-^=".contains(c);
        (!stem.is_empty() && stem.chars().all(fits)).then(|| Symbol::new(stem.to_ascii_uppercase()))
    }
}

/// Receives the rows of a file.
pub trait Sink {
    /// Receives a row, or why it is unreadable, with its location. `raw` writes the row as it is in the file,
    /// and is only called if needed.
    ///
    /// # Errors
    /// [`ReadAbort::Enough`]: stop reading.
    fn row(
        &mut self,
        at: Location<'_>,
        row: Result<ImportedRow, String>,
        raw: &dyn Display,
    ) -> Result<(), ReadAbort>;
}

/// The location of a row in a file.
#[derive(Clone, Copy, Debug)]
pub struct Location<'a> {
    /// The line, from 1; in a columnar file the row, from 1.
    pub line: u64,
    /// The path in the line's JSON, if it is JSON: `$."Time Series (Daily)"."2025-10-30"`.
    pub path: Option<&'a str>,
}

impl Location<'_> {
    /// A whole line.
    #[must_use]
    pub fn line(line: u64) -> Self {
        Location { line, path: None }
    }
}

/// Why the rest of a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadAbort {
    /// The sink needs no more rows.
    #[error("enough was read")]
    Enough,
    /// The whole file is unusable. Its supplier must act.
    #[error("line {line}: {reason}")]
    File {
        /// The line of the problem, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// The file could not be read, or its rows could not be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl ReadAbort {
    /// The whole file is unusable.
    pub fn file(line: u64, reason: impl Into<String>) -> Self {
        Self::File { line, reason: reason.into() }
    }
}
