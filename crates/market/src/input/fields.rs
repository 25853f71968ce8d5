//! Fields as files write them.

use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;
use papertape_core::id::Symbol;
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp, parse_date};
use rust_decimal::Decimal;

/// The most characters of a field that a reason repeats.
const MAX_QUOTED_CHARS: usize = 60;

/// A text for a reason, cut where it is long.
pub(crate) fn quote(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// An exact decimal: `1.5`, `1e-3`; more than 28 digits are refused, for they would be lost.
pub(crate) fn decimal(text: &str) -> Result<Decimal, String> {
    let text = text.trim();
    let parsed = if text.contains(['e', 'E']) {
        Decimal::from_scientific(text)
    } else {
        Decimal::from_str_exact(text)
    };
    parsed.map_err(|_| match text {
        "" | "null" | "NaN" | "nan" | "N/A" | "N/D" | "-" => "it is missing".to_owned(),
        other => format!("{} is not a number", quote(other)),
    })
}

/// A price.
pub(crate) fn price(name: &str, text: &str) -> Result<Price, String> {
    decimal(text).map(Price).map_err(|reason| format!("{name}: {reason}"))
}

/// A quantity.
pub(crate) fn quantity(name: &str, text: &str) -> Result<Quantity, String> {
    decimal(text).map(Quantity).map_err(|reason| format!("{name}: {reason}"))
}

/// A ticker symbol: up to 32 visible characters.
pub(crate) fn symbol(text: &str) -> Result<Symbol, String> {
    let text = text.trim();
    let fits = |c: char| !c.is_whitespace() && !c.is_control();
    if text.is_empty() || text.chars().count() > 32 || !text.chars().all(fits) {
        return Err(format!("{} is not a symbol", quote(text)));
    }
    Ok(Symbol::new(text))
}

/// The name of an index: up to 64 characters.
pub(crate) fn index(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > 64 || text.chars().any(char::is_control) {
        return Err(format!("{} is not the name of an index", quote(text)));
    }
    Ok(text.to_owned())
}

/// A date: `2025-10-30` or `20251030`.
pub(crate) fn date(text: &str) -> Result<Date, String> {
    let text = text.trim();
    if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return parse_date(&format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]))
            .map_err(|_| format!("{} is not a date", quote(text)));
    }
    parse_date(text).map_err(|_| format!("{} is not a date of the form YYYY-MM-DD", quote(text)))
}

/// The day of a date, or of an instant since the Unix epoch: its day in UTC, by which such files count days.
pub(crate) fn day(text: &str) -> Result<Date, String> {
    match epoch(text) {
        Some(at) => Ok(TimeZone::UTC.to_datetime(at?).date()),
        None => date(text),
    }
}

/// An instant since the Unix epoch in seconds, milliseconds, microseconds or nanoseconds, told apart by how many
/// digits they have (from 1973 on); `None` where the text is no such number. pandas writes one as `1700000000.0`.
pub(crate) fn epoch(text: &str) -> Option<Result<Timestamp, String>> {
    let text = text.trim();
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() < 9 || !is_digits(whole) || !is_digits(part) {
        return None;
    }
    let refuse = || format!("{} is not a time", quote(text));
    let read = || {
        let count: i64 = whole.parse().map_err(|_| refuse())?;
        let millis =
            || part.bytes().chain(*b"000").take(3).fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        let at = match whole.len() {
            9 | 10 => Timestamp::from_millisecond(count * 1_000 + millis()),
            12 | 13 => Timestamp::from_millisecond(count),
            15 | 16 => Timestamp::from_microsecond(count),
            18 | 19 => Timestamp::from_nanosecond(count.into()),
            _ => return Err(refuse()),
        };
        at.map_err(|_| refuse())
    };
    Some(read())
}

/// An instant: `2025-10-30T14:30:00Z`, with an offset, or without one at a wall clock in this zone.
/// The seconds may be left out, and a blank may stand for the `T`. A number counts since the Unix epoch.
///
/// A wall-clock time that the zone skips or has twice is refused.
pub(crate) fn instant(text: &str, zone: &TimeZone) -> Result<Timestamp, String> {
    match moment(text)? {
        (_, Some(at)) => Ok(at),
        (wall, None) => at_wall_clock(wall, zone),
    }
}

/// A time as it is written, and its instant where it has an offset.
pub(crate) fn moment(text: &str) -> Result<(DateTime, Option<Timestamp>), String> {
    let text = text.trim();
    if let Some(at) = epoch(text) {
        let at = at?;
        return Ok((TimeZone::UTC.to_datetime(at), Some(at)));
    }
    let refuse = || format!("{} is not a time", quote(text));
    let pieces = Pieces::parse(text).map_err(|_| refuse())?;
    let time = pieces.time().ok_or_else(|| format!("{} has no time of day", quote(text)))?;
    let wall = pieces.date().to_datetime(time);
    let Some(offset) = pieces.to_numeric_offset() else { return Ok((wall, None)) };
    let at = offset.to_timestamp(wall).map_err(|_| refuse())?;
    Ok((wall, Some(at)))
}

/// The instant of a wall-clock time in a zone.
///
/// # Errors
/// Where the zone's clocks skip it or show it twice: nobody could say which instant is meant.
pub(crate) fn at_wall_clock(wall: DateTime, zone: &TimeZone) -> Result<Timestamp, String> {
    let ambiguous = zone.to_ambiguous_timestamp(wall);
    ambiguous.unambiguous().map_err(|_| {
        let zone = zone.iana_name().unwrap_or("its zone");
        format!(
            "{wall} is not a single instant in {zone}: the clocks were put forward or back; give an offset"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_since_the_epoch_are_read_by_their_digits() {
        let read = |text: &str| instant(text, &TimeZone::UTC).map(|at| at.to_string());
        let noon = Ok("2023-11-14T22:13:20Z".to_owned());
        for text in ["1700000000", "1700000000.0", "1700000000000", "1700000000000000", "1700000000000000000"]
        {
            assert_eq!(read(text), noon, "{text}");
        }
        assert_eq!(read("1700000000.5").as_deref(), Ok("2023-11-14T22:13:20.5Z"));
        assert!(read("17000000000").is_err(), "eleven digits are nothing");
        assert_eq!(day("1700000000").map(|day| day.to_string()).as_deref(), Ok("2023-11-14"));
        assert_eq!(day("20231114").map(|day| day.to_string()).as_deref(), Ok("2023-11-14"));
    }
}
