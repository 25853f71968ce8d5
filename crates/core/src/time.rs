//! Instants and trading days. An instant is UTC; a day is a day of the dataset's calendar. Nothing
//! here reads a clock.

use std::time::Duration;

pub use jiff::Timestamp;
pub use jiff::civil::Date;

/// An instant as whole microseconds since the Unix epoch, the form that the record keeps.
#[must_use]
pub fn to_micros(instant: Timestamp) -> i64 {
    instant.as_microsecond()
}

/// The instant of so many microseconds since the Unix epoch; `None` where that is out of range.
#[must_use]
pub fn from_micros(micros: i64) -> Option<Timestamp> {
    Timestamp::from_microsecond(micros).ok()
}

/// Reads `YYYY-MM-DD` and nothing else.
///
/// # Errors
/// A sentence that repeats the text and names the form.
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

/// The pause that a `Retry-After` asks for at `now`: whole or broken seconds, or a date (RFC 9110,
/// 10.2.3). A date that has passed asks for none; `None` for what is neither.
#[must_use]
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = http_date(value)?;
    Some(Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// Reads a date as HTTP writes it, `Sun, 06 Nov 1994 08:49:37 GMT`.
#[must_use]
pub fn http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp())
}
