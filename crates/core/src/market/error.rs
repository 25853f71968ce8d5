//! Why a dataset could not be built, and why a view has no answer.

use super::interval::Interval;
use crate::id::Symbol;
use crate::time::{Date, Timestamp};

/// A row that cannot be true, or that does not fit the rest. Whoever supplies the data must act.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A bar is impossible, doubled or not on a trading day.
    #[error("{symbol} {date}: bar rejected: {reason}")]
    Bar {
        /// Whose bar.
        symbol: Symbol,
        /// Its day.
        date: Date,
        /// What is wrong with it.
        reason: String,
    },
    /// A bar within a day is impossible, doubled, overlaps another or lies outside of trading hours.
    #[error("{symbol} {opens_at} ({interval}): bar rejected: {reason}")]
    Within {
        /// Whose bar.
        symbol: Symbol,
        /// How long it lasts.
        interval: Interval,
        /// When it opens.
        opens_at: Timestamp,
        /// What is wrong with it.
        reason: String,
    },
    /// A corporate action is impossible, doubled or not on a trading day.
    #[error("{symbol} {ex_date}: corporate action rejected: {reason}")]
    Action {
        /// Whose action.
        symbol: Symbol,
        /// Its ex-date.
        ex_date: Date,
        /// What is wrong with it.
        reason: String,
    },
    /// A news item, fundamental or macro point is undated, doubled or otherwise not usable.
    #[error("{series} `{item}`: rejected: {reason}")]
    Fact {
        /// `news`, `SYMBOL/fundamentals` or `macro/SERIES`.
        series: String,
        /// The item's id, or its metric or period.
        item: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A trading day is impossible or doubled.
    #[error("calendar {date}: trading day rejected: {reason}")]
    Day {
        /// The day.
        date: Date,
        /// What is wrong with it.
        reason: String,
    },
    /// An instrument is doubled, or missing for rows that name it.
    #[error("{symbol}: instrument rejected: {reason}")]
    Instrument {
        /// The instrument's symbol.
        symbol: Symbol,
        /// What is wrong with it.
        reason: String,
    },
    /// The exchange's time zone is not in the time zone database.
    #[error("`{zone}` is not a time zone of the IANA database")]
    Zone {
        /// The name as given.
        zone: String,
    },
}

/// Why a view cannot answer. Whoever asked must act; the view says nothing of what comes later.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No such symbol, or none yet: the two are not told apart.
    #[error("no symbol `{symbol}` is known")]
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
    /// There is nothing of the kind asked for.
    #[error("no data in {series} at {instant}")]
    NoData {
        /// The series, such as `AAPL/bars`.
        series: String,
        /// The view's instant.
        instant: Timestamp,
    },
    /// The date asked for has not begun.
    #[error("{date} had not begun at {instant}")]
    NotYet {
        /// The date asked for.
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
        /// What is wrong with it.
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
