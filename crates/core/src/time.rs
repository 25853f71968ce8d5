//! Instants and trading days. An instant is UTC; a day is a day of the dataset's calendar. Nothing
//! here reads a clock.

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
