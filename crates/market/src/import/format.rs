//! The formats, one file each, in one table.

use super::row::{Basis, Row};
use super::source::Source;
use jiff::tz::TimeZone;
use papertape_core::id::Symbol;
use papertape_core::market::Interval;
use std::fmt::Display;

/// How a file of one format is read.
///
/// A new one is a file of this folder and a line of [`FORMATS`].
pub trait Format: Sync {
    /// Its name for `--format`, such as `csv`.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn about(&self) -> &'static str;

    /// Is this file of the format, by its name and its first 8 KiB? The first of the table that says
    /// so reads it.
    fn recognises(&self, file_name: &str, head: &[u8]) -> bool;

    /// Reads all rows in the order of the file. A row that cannot be read goes to the sink with the
    /// reason, and reading goes on after it.
    ///
    /// # Errors
    /// What makes the whole file useless, or the sink's wish to end.
    fn read(&self, source: &Source, hints: &Hints, sink: &mut dyn Sink) -> Result<(), Halt>;
}

/// What a file may leave unsaid.
#[derive(Clone, Debug)]
pub struct Hints {
    /// The symbol of rows that name none. Without it: the file's name up to its first dot.
    pub symbol: Option<Symbol>,
    /// The zone of times that name none: the exchange's.
    pub zone: TimeZone,
    /// How long bars within the day last, where the rows do not say. Without it: the shortest distance
    /// between two bars of a symbol.
    pub interval: Option<Interval>,
    /// In which share units prices are, whatever the format takes them for.
    pub basis: Option<Basis>,
}

impl Hints {
    /// The symbol of rows that name none, from a file of this name. `None` where the name is no
    /// symbol either.
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

/// Takes the rows of a file.
pub trait Sink {
    /// Takes a row, or why it cannot be read, from this place. `raw` writes the row as the file has
    /// it; it is asked for only where it is needed.
    ///
    /// # Errors
    /// [`Halt::Enough`]: the rest is not wanted.
    fn row(&mut self, at: At<'_>, row: Result<Row, String>, raw: &dyn Display) -> Result<(), Halt>;
}

/// Where in a file a row stands.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The line, from 1; in a file of columns the row, from 1.
    pub line: u64,
    /// The path in the line's JSON, where it is JSON: `$."Time Series (Daily)"."2025-10-30"`.
    pub path: Option<&'a str>,
}

impl At<'_> {
    /// A whole line.
    #[must_use]
    pub fn line(line: u64) -> Self {
        At { line, path: None }
    }
}

/// Why the rest of a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// The sink wants no more.
    #[error("enough was read")]
    Enough,
    /// The file as a whole is of no use. Whoever supplies it must act.
    #[error("line {line}: {reason}")]
    File {
        /// Where it shows, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// The file could not be read, or what is made of it not be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Halt {
    /// The file as a whole is of no use.
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
/// A sentence that lists what there is.
pub fn format_named(name: &str) -> Result<&'static dyn Format, String> {
    let found = FORMATS.iter().find(|format| format.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
        format!("there is no format `{name}`; there are: {}", names.join(", "))
    })
}

/// The format by which this file is recognised; `None` where it is by none.
///
/// # Errors
/// The file cannot be read.
pub fn recognise(source: &Source) -> std::io::Result<Option<&'static dyn Format>> {
    let head = source.head()?;
    Ok(FORMATS.iter().copied().find(|format| format.recognises(source.file_name(), &head)))
}
