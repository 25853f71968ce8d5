//! Intervals of intraday bars.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The length of an intraday bar: 1, 2, 5, 10, 15, 30, 60, 120 and 240 minutes.
///
/// Written `5m` or `1h`; ordered by length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Interval(u16);

impl Interval {
    /// The valid lengths, in minutes.
    const MINUTES: [u16; 9] = [1, 2, 5, 10, 15, 30, 60, 120, 240];

    /// The interval of this many minutes; `None` if that is not a valid length.
    #[must_use]
    pub fn from_minutes(minutes: u16) -> Option<Self> {
        Self::MINUTES.contains(&minutes).then_some(Self(minutes))
    }

    /// Its length in minutes.
    #[must_use]
    pub fn minutes(self) -> u16 {
        self.0
    }

    /// Its length in microseconds.
    #[must_use]
    pub fn micros(self) -> i64 {
        i64::from(self.0) * 60_000_000
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            hours if hours % 60 == 0 => write!(f, "{}h", hours / 60),
            minutes => write!(f, "{minutes}m"),
        }
    }
}

impl FromStr for Interval {
    type Err = String;

    /// Parses `5m`, `60m`, `1h`, and some vendors' `5min` and `60min`.
    fn from_str(text: &str) -> Result<Self, String> {
        let unknown =
            || format!("unknown interval `{text}`; expected one of 1m, 2m, 5m, 10m, 15m, 30m, 1h, 2h, 4h");
        let end = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(unknown)?;
        let (number, unit) = text.split_at(end);
        let number: u16 = number.parse().map_err(|_| unknown())?;
        let minutes = match unit {
            "m" | "min" => Some(number),
            "h" => number.checked_mul(60),
            _ => None,
        };
        minutes.and_then(Self::from_minutes).ok_or_else(unknown)
    }
}

impl TryFrom<String> for Interval {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Interval> for String {
    fn from(interval: Interval) -> Self {
        interval.to_string()
    }
}
