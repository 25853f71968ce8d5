//! What to download.

use papertape_core::id::Symbol;
use papertape_core::time::{Date, Timestamp};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The maximum number of symbols per download.
const MAX_SYMBOLS: usize = 10_000;
const LONGEST_SYMBOL: usize = 32;

/// What to download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownloadRequest {
    symbols: Vec<Symbol>,
    /// The first day.
    pub from: Date,
    /// The last day, inclusive.
    pub to: Date,
    /// The kind of data.
    pub what: DataKind,
}

/// What to download for each symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// Bars.
    Bars {
        /// The length of each bar.
        span: BarInterval,
        /// Whether to request splits and dividends too, where they need a separate request (Alpha Vantage).
        actions: bool,
    },
    /// News.
    News,
}

/// The length of a bar: a day, or a number of minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BarInterval {
    /// Intraday, in minutes.
    Minutes(u32),
    /// A day.
    Day,
}

impl BarInterval {
    /// The length; a day counts as 24 hours.
    #[must_use]
    pub fn duration(self) -> Duration {
        match self {
            Self::Minutes(minutes) => Duration::from_secs(u64::from(minutes) * 60),
            Self::Day => Duration::from_secs(86_400),
        }
    }
}

impl fmt::Display for BarInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minutes(minutes) if minutes % 60 == 0 => write!(f, "{}h", minutes / 60),
            Self::Minutes(minutes) => write!(f, "{minutes}m"),
            Self::Day => f.write_str("1d"),
        }
    }
}

impl FromStr for BarInterval {
    type Err = String;

    /// Parses `1d`, `1m`, `60m`, `4h`.
    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("`{text}` is no interval: 1m, 5m, 15m, 30m, 1h, 4h and 1d are, for example");
        let end = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(refuse)?;
        let number: u32 = text[..end].parse().map_err(|_| refuse())?;
        let minutes = match &text[end..] {
            "d" if number == 1 => return Ok(Self::Day),
            "m" => number,
            "h" => number.saturating_mul(60),
            _ => return Err(refuse()),
        };
        if (1..1440).contains(&minutes) { Ok(Self::Minutes(minutes)) } else { Err(refuse()) }
    }
}

impl DownloadRequest {
    /// A request for these symbols, in capitals, without duplicates, in the given order.
    ///
    /// # Errors
    /// No symbol, an invalid symbol, or a last day before the first.
    pub fn new(
        symbols: impl IntoIterator<Item = impl AsRef<str>>,
        from: Date,
        to: Date,
        what: DataKind,
    ) -> Result<Self, String> {
        let mut kept: Vec<Symbol> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for symbol in symbols {
            let symbol = symbol.as_ref().trim().to_ascii_uppercase();
            let fits = |c: char| c.is_ascii_alphanumeric() || "._-^=:".contains(c);
            let named = symbol.chars().any(|c| c.is_ascii_alphanumeric());
            if !named || symbol.len() > LONGEST_SYMBOL || !symbol.chars().all(fits) {
                return Err(format!("`{}` is no symbol", symbol.escape_default()));
            }
            if seen.insert(symbol.clone()) {
                kept.push(Symbol::from(symbol));
            }
        }
        if kept.is_empty() {
            return Err("there are no symbols to download".to_owned());
        }
        if kept.len() > MAX_SYMBOLS {
            return Err(format!("{} symbols are more than {MAX_SYMBOLS}", kept.len()));
        }
        if to < from {
            return Err(format!("the last day, {to}, comes before the first, {from}"));
        }
        if from.year() < 1900 || to.year() > 9000 {
            return Err("the years must be from 1900 to 9000".to_owned());
        }
        Ok(Self { symbols: kept, from, to, what })
    }

    /// The symbols.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The start of its first day, in UTC.
    pub(super) fn begin(&self) -> Timestamp {
        midnight(self.from)
    }

    /// The end of its last day, in UTC.
    pub(super) fn end(&self) -> Timestamp {
        midnight(self.to.saturating_add(jiff::Span::new().days(1)))
    }
}

/// The start of a day in UTC.
///
/// # Panics
/// Never within the years that a request may name.
pub(super) fn midnight(date: Date) -> Timestamp {
    let zoned = date.to_zoned(jiff::tz::TimeZone::UTC);
    zoned.expect("the years of an order are within what can be told").timestamp()
}
