//! Instants and trading days. An instant is UTC; a day is a trading day of the dataset's calendar. Nothing
//! here reads a clock.

use std::time::Duration;

pub use jiff::Timestamp;
pub use jiff::civil::Date;

/// An instant as whole microseconds since the Unix epoch, its stored form.
#[must_use]
pub fn to_micros(instant: Timestamp) -> i64 {
    instant.as_microsecond()
}

/// The instant at `micros` since the Unix epoch; `None` when out of range.
#[must_use]
pub fn from_micros(micros: i64) -> Option<Timestamp> {
    Timestamp::from_microsecond(micros).ok()
}

/// Parses `YYYY-MM-DD`, and no other format.
///
/// # Errors
/// A sentence that repeats the text and names the format.
pub fn parse_date(text: &str) -> Result<Date, String> {
    let shape = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    shape
        .then(|| text.parse::<Date>().ok())
        .flatten()
        .ok_or_else(|| format!("`{text}` is not a date of the form YYYY-MM-DD"))
}

/// The delays between attempts: `first`, doubled with each further one, and at most `max`.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// The first delay.
    pub first: Duration,
    /// The longest delay.
    pub max: Duration,
}

impl Backoff {
    /// The delay that follows this many earlier ones.
    #[must_use]
    pub fn delay(self, earlier: u32) -> Duration {
        self.first.saturating_mul(1 << earlier.min(20)).min(self.max)
    }
}

/// The delay that a `Retry-After` header requests, measured from `now`: whole or fractional seconds, or a
/// date (RFC 9110, 10.2.3). A past date gives zero; an unparseable value gives `None`.
#[must_use]
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = http_date(value)?;
    Some(Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// Parses an HTTP date, `Sun, 06 Nov 1994 08:49:37 GMT`.
#[must_use]
pub fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: delays double up to the longest, and no number of attempts overflows.
    #[test]
    fn delays_double_up_to_the_longest() {
        let backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(60) };
        let delays: Vec<u64> = (0..8).map(|earlier| backoff.delay(earlier).as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(backoff.delay(u32::MAX).as_secs(), 60);
    }
}
