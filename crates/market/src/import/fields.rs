//! Fields as files write them.

use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;
use papertape_core::id::Symbol;
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp, parse_date};
use rust_decimal::Decimal;

/// The most characters of a field that a reason repeats.
const SHOWN_CHARS: usize = 60;

/// A text for a reason, cut where it is long.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// An exact decimal: `1.5`, `1e-3`; more than 28 digits are refused, for they would be lost.
pub(super) fn decimal(text: &str) -> Result<Decimal, String> {
    let text = text.trim();
    let parsed = if text.contains(['e', 'E']) {
        Decimal::from_scientific(text)
    } else {
        Decimal::from_str_exact(text)
    };
    parsed.map_err(|_| match text {
        "" | "null" | "NaN" | "nan" | "N/A" | "N/D" | "-" => "it is missing".to_owned(),
        other => format!("{} is no number", shown(other)),
    })
}

/// A price.
pub(super) fn price(name: &str, text: &str) -> Result<Price, String> {
    decimal(text).map(Price).map_err(|reason| format!("{name}: {reason}"))
}

/// A quantity.
pub(super) fn quantity(name: &str, text: &str) -> Result<Quantity, String> {
    decimal(text).map(Quantity).map_err(|reason| format!("{name}: {reason}"))
}

/// A ticker symbol: up to 32 visible characters.
pub(super) fn symbol(text: &str) -> Result<Symbol, String> {
    let text = text.trim();
    let fits = |c: char| !c.is_whitespace() && !c.is_control();
    if text.is_empty() || text.chars().count() > 32 || !text.chars().all(fits) {
        return Err(format!("{} is no symbol", shown(text)));
    }
    Ok(Symbol::new(text))
}

/// A date: `2025-10-30` or `20251030`.
pub(super) fn date(text: &str) -> Result<Date, String> {
    let text = text.trim();
    if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return parse_date(&format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]))
            .map_err(|_| format!("{} is no date", shown(text)));
    }
    parse_date(text).map_err(|_| format!("{} is no date of the form YYYY-MM-DD", shown(text)))
}

/// An instant: `2025-10-30T14:30:00Z`, with an offset, or without one at a wall clock in this zone.
/// The seconds may be left out, and a blank may stand for the `T`.
///
/// A wall-clock time that the zone skips or has twice is refused.
pub(super) fn instant(text: &str, zone: &TimeZone) -> Result<Timestamp, String> {
    match moment(text)? {
        (_, Some(at)) => Ok(at),
        (wall, None) => at_wall_clock(wall, zone),
    }
}

/// A time as it is written, and its instant where it has an offset.
pub(super) fn moment(text: &str) -> Result<(DateTime, Option<Timestamp>), String> {
    let text = text.trim();
    let refuse = || format!("{} is no time", shown(text));
    let pieces = Pieces::parse(text).map_err(|_| refuse())?;
    let time = pieces.time().ok_or_else(|| format!("{} has no time of day", shown(text)))?;
    let wall = pieces.date().to_datetime(time);
    let Some(offset) = pieces.to_numeric_offset() else { return Ok((wall, None)) };
    let at = offset.to_timestamp(wall).map_err(|_| refuse())?;
    Ok((wall, Some(at)))
}

/// The instant of a wall-clock time in a zone.
///
/// # Errors
/// Where the zone's clocks skip it or show it twice: nobody could say which instant is meant.
pub(super) fn at_wall_clock(wall: DateTime, zone: &TimeZone) -> Result<Timestamp, String> {
    let ambiguous = zone.to_ambiguous_timestamp(wall);
    ambiguous.unambiguous().map_err(|_| {
        let zone = zone.iana_name().unwrap_or("its zone");
        format!("{wall} is no one instant in {zone}: the clocks were put forward or back; give an offset")
    })
}
