//! Why a dataset cannot be built, and why a view cannot answer.

use super::interval::Interval;
use crate::id::Symbol;
use crate::time::{Date, Timestamp};

/// An impossible row, or one that conflicts with the others. The supplier of the data must act.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A bar is impossible, duplicate or not on a trading day.
    #[error("{symbol} {date}: bar rejected: {reason}")]
    Bar {
        /// The symbol.
        symbol: Symbol,
        /// Its day.
        date: Date,
        /// The problem.
        reason: String,
    },
    /// An intraday bar is impossible, duplicate, overlaps another or lies outside of trading hours.
    #[error("{symbol} {opens_at} ({interval}): bar rejected: {reason}")]
    Within {
        /// The symbol.
        symbol: Symbol,
        /// Its interval.
        interval: Interval,
        /// When it opens.
        opens_at: Timestamp,
        /// The problem.
        reason: String,
    },
    /// A corporate action is impossible, duplicate or not on a trading day.
    #[error("{symbol} {ex_date}: corporate action rejected: {reason}")]
    Action {
        /// The symbol.
        symbol: Symbol,
        /// Its ex-date.
        ex_date: Date,
        /// The problem.
        reason: String,
    },
    /// A news item, fundamental or macro point is undated, duplicate or otherwise unusable.
    #[error("{series} `{item}`: rejected: {reason}")]
    Fact {
        /// `news`, `SYMBOL/fundamentals` or `macro/SERIES`.
        series: String,
        /// The item's id, or its metric or period.
        item: String,
        /// The problem.
        reason: String,
    },
    /// A trading day is impossible or duplicate.
    #[error("calendar {date}: trading day rejected: {reason}")]
    Day {
        /// The day.
        date: Date,
        /// The problem.
        reason: String,
    },
    /// An instrument is duplicate, or missing for rows that name it.
    #[error("{symbol}: instrument rejected: {reason}")]
    Instrument {
        /// The instrument's symbol.
        symbol: Symbol,
        /// The problem.
        reason: String,
    },
    /// The exchange's time zone is not in the time zone database.
    #[error("`{zone}` is not a time zone of the IANA database")]
    Zone {
        /// The name as given.
        zone: String,
    },
}

/// Why a view cannot answer. The caller must act; the view reveals nothing about later data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No such symbol, or none yet: the error does not tell which.
    #[error("unknown symbol `{symbol}`")]
    UnknownSymbol {
        /// The symbol as given.
        symbol: Symbol,
    },
    /// The instant lies before the first trading day.
    #[error("no trading day had begun at {instant}")]
    NoTradingDay {
        /// The view's instant.
        instant: Timestamp,
    },
    /// The series has no data.
    #[error("no data in {series} at {instant}")]
    NoData {
        /// The series, such as `AAPL/bars`.
        series: String,
        /// The view's instant.
        instant: Timestamp,
    },
    /// The requested date has not begun.
    #[error("{date} had not begun at {instant}")]
    NotYet {
        /// The requested date.
        date: Date,
        /// The view's instant.
        instant: Timestamp,
    },
    /// A range ends before it begins.
    #[error("the range ends ({to}) before it begins ({from})")]
    Range {
        /// Its first day.
        from: Date,
        /// Its last day.
        to: Date,
    },
    /// An indicator's name or parameters make no sense.
    #[error("indicator `{text}`: {reason}")]
    Indicator {
        /// The text as given.
        text: String,
        /// The problem.
        reason: String,
    },
}

impl ReadError {
    /// A stable snake_case code for tools and the API.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownSymbol { .. } => "unknown_symbol",
            Self::NoTradingDay { .. } => "no_trading_day",
            Self::NoData { .. } => "no_data",
            Self::NotYet { .. } => "not_yet",
            Self::Range { .. } => "bad_range",
            Self::Indicator { .. } => "bad_indicator",
        }
    }
}
