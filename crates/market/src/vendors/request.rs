//! What to download.

use papertape_core::id::Symbol;
use papertape_core::time::{Date, Timestamp};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The maximum number of symbols per download.
const MAX_SYMBOLS: usize = 10_000;
const MAX_SYMBOL_CHARS: usize = 32;

/// What to download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownloadRequest {
    symbols: Vec<Symbol>,
    /// The first day.
    pub from: Date,
    /// The last day, inclusive.
    pub to: Date,
    /// The kind of data.
    pub data: DataKind,
}

/// What to download for each symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// Bars.
    Bars {
        /// The length of each bar.
        interval: BarInterval,
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
        let refuse =
            || format!("unknown interval `{text}`; expected for example 1m, 5m, 15m, 30m, 1h, 4h or 1d");
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
        data: DataKind,
    ) -> Result<Self, String> {
        let mut unique: Vec<Symbol> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for symbol in symbols {
            let symbol = symbol.as_ref().trim().to_ascii_uppercase();
            let fits = |c: char| c.is_ascii_alphanumeric() || "._-^=:".contains(c);
            let named = symbol.chars().any(|c| c.is_ascii_alphanumeric());
            if !named || symbol.len() > MAX_SYMBOL_CHARS || !symbol.chars().all(fits) {
                return Err(format!("`{}` is not a symbol", symbol.escape_default()));
            }
            if seen.insert(symbol.clone()) {
                unique.push(Symbol::from(symbol));
            }
        }
        if unique.is_empty() {
            return Err("no symbols to download".to_owned());
        }
        if unique.len() > MAX_SYMBOLS {
            return Err(format!("{} symbols are more than {MAX_SYMBOLS}", unique.len()));
        }
        if to < from {
            return Err(format!("the last day, {to}, comes before the first, {from}"));
        }
        if from.year() < 1900 || to.year() > 9000 {
            return Err("the years must be from 1900 to 9000".to_owned());
        }
        Ok(Self { symbols: unique, from, to, data })
    }

    /// The symbols.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The length of the requested bars.
    pub(crate) fn interval(&self) -> Option<BarInterval> {
        match self.data {
            DataKind::Bars { interval, .. } => Some(interval),
            DataKind::News => None,
        }
    }

    /// The start of its first day, in UTC.
    pub(crate) fn begin(&self) -> Timestamp {
        midnight(self.from)
    }

    /// The end of its last day, in UTC.
    pub(crate) fn end(&self) -> Timestamp {
        midnight(self.to.saturating_add(jiff::Span::new().days(1)))
    }
}

/// The start of a day in UTC.
///
/// # Panics
/// Never within the years that a request may name.
fn midnight(date: Date) -> Timestamp {
    let zoned = date.to_zoned(jiff::tz::TimeZone::UTC);
    zoned.expect("the years of a request are representable").timestamp()
}
