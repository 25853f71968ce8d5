//! What a file gives: rows, each with its place, or why a row was refused.

use papertape_core::id::Symbol;
use papertape_core::ledger::CorporateAction;
use papertape_core::market::{BarRest, Fundamental, InstrumentType, Interval, MacroPoint, News};
use papertape_core::money::Price;
use papertape_core::time::{Date, Timestamp};
use serde::Serialize;

/// One row of a file, in whatever form the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A bar of a day, or within a day.
    Bar(BarRow),
    /// A split or a dividend, in the share units of its ex-date.
    Action(CorporateAction),
    /// What is known of an instrument besides its symbol.
    Instrument(InstrumentRow),
    /// A news item.
    News {
        /// When it was published; without it the row is refused.
        published_at: Option<Timestamp>,
        /// The item.
        item: News,
    },
    /// A figure of a company's reports.
    Fundamental {
        /// When it was published; without it the row is refused.
        published_at: Option<Timestamp>,
        /// The figure.
        item: Fundamental,
    },
    /// A value of a macroeconomic series.
    Macro {
        /// When it was published; without it the row is refused.
        published_at: Option<Timestamp>,
        /// The value.
        item: MacroPoint,
    },
    /// A trading day, from a calendar file.
    Day(DayRow),
    /// The splits of this symbol in this input are all that there were until the prices were taken, so
    /// that prices adjusted for splits can be turned back into those that were traded.
    SplitsComplete {
        /// Whose splits.
        symbol: Symbol,
    },
}

/// A bar as a file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarRow {
    /// Whose bar.
    pub symbol: Symbol,
    /// Which time it is about.
    pub at: BarTime,
    /// The first price.
    pub open: Price,
    /// The rest; `None` where the open alone is known, as of the newest bar.
    pub rest: Option<BarRest>,
    /// In which share units its prices and its volume are.
    pub basis: Basis,
    /// The close adjusted for splits and dividends, where the file has one. It adjusts nothing: the
    /// dividends given are checked against it.
    pub adjusted_close: Option<Price>,
}

/// Which time a bar is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BarTime {
    /// A trading day.
    Day(Date),
    /// A part of a trading day.
    Within {
        /// When it opens.
        opens_at: Timestamp,
        /// How long it lasts.
        interval: Interval,
    },
}

/// In which share units a bar is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Those of its own day: prices as they were traded.
    #[default]
    AsTraded,
    /// Those of the day on which the file was made: prices divided and volumes multiplied by every
    /// split since.
    SplitAdjusted,
}

/// An instrument as a file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstrumentRow {
    /// Its symbol.
    pub symbol: Symbol,
    /// Its name at the time: an agent may see it.
    pub name: Option<String>,
    /// The currency of its prices, ISO 4217.
    pub currency: Option<String>,
    /// What it is; a stock where it does not say.
    pub instrument_type: Option<InstrumentType>,
}

/// A trading day as a calendar file gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayRow {
    /// The day.
    pub date: Date,
    /// When trading begins; `None`: at the exchange's usual hour.
    pub open: Option<Timestamp>,
    /// When trading ends; `None`: at the exchange's usual hour.
    pub close: Option<Timestamp>,
}

/// A row that was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Refusal {
    /// The file, as it was named.
    pub file: String,
    /// Its line, from 1; in a file of columns (Parquet) its row, from 1.
    pub line: u64,
    /// Where in the line: a path in its JSON, where it is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What is wrong with it.
    pub reason: String,
    /// The row as the file has it.
    pub raw: String,
}

impl Refusal {
    /// Where it stands, in words.
    #[must_use]
    pub fn at(&self) -> String {
        let path = self.path.as_ref().map(|path| format!(", {path}")).unwrap_or_default();
        format!("{}, line {}{path}", self.file, self.line)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.at(), self.reason)
    }
}
