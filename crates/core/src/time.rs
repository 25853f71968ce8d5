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
