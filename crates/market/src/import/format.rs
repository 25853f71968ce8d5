//! The formats, one file each, in one table.

use super::row::{Basis, ImportedRow};
use super::source::Source;
use jiff::tz::TimeZone;
use papertape_core::id::Symbol;
use papertape_core::market::Interval;
use std::fmt::Display;

/// Reads files of one format.
///
/// A new format is a file in this folder and a line in [`FORMATS`].
pub trait Format: Sync {
    /// Its name for `--format`, such as `csv`.
    fn name(&self) -> &'static str;

    /// A one-line description.
    fn about(&self) -> &'static str;

    /// Whether this file has the format, judging by its name and its first 8 KiB. The first match in the
    /// table reads the file.
    fn recognises(&self, file_name: &str, head: &[u8]) -> bool;

    /// Reads all rows in file order. An unreadable row goes to the sink with the reason, and reading
    /// continues after it.
    ///
    /// # Errors
    /// A problem that makes the whole file unusable, or the sink's request to stop.
    fn read(&self, source: &Source, hints: &Hints, sink: &mut dyn Sink) -> Result<(), ReadAbort>;
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
    /// The symbol of rows that name none, from a file of this name. `None` if the name is not a symbol either.
    #[must_use]
    pub fn symbol_of(&self, source: &Source) -> Option<Symbol> {
        if let Some(symbol) = &self.symbol {
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

/// Every format, in the order in which they are tried.
pub static FORMATS: &[&dyn Format] = &[
    &super::yahoo_chart::YahooChart,
    &super::binance_klines::BinanceKlines,
    &super::alpha_vantage_news::AlphaVantageNews,
    &super::stooq_csv::StooqCsv,
    &super::parquet::Parquet,
    &super::vendor::MergedJsonl,
    &super::vendor::AlphaVantage,
    &super::jsonl::Jsonl,
    &super::table::Csv,
];

/// The format of this name.
///
/// # Errors
/// A message that lists the available formats.
pub fn format_named(name: &str) -> Result<&'static dyn Format, String> {
    let found = FORMATS.iter().find(|format| format.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
        format!("there is no format `{name}`; there are: {}", names.join(", "))
    })
}

/// Detects the format of a file; `None` if no format matches.
///
/// # Errors
/// The file cannot be read.
pub fn detect(source: &Source) -> std::io::Result<Option<&'static dyn Format>> {
    let head = source.head()?;
    Ok(FORMATS.iter().copied().find(|format| format.recognises(source.file_name(), &head)))
}
