//! A part of a text and what replaces it.

use papertape_core::time::Date;

/// A part of a text and what replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) replacement: String,
}

/// Whether letters and digits end where the part does. Chinese characters count as ends.
pub(super) fn is_bounded(text: &str, start: usize, end: usize) -> bool {
    let part = &text[start..end];
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let begins = is_word(part.chars().next()) && is_word(text[..start].chars().next_back());
    let continues = is_word(part.chars().next_back()) && is_word(text[end..].chars().next());
    !begins && !continues
}

/// The date this many days later; `None` if it does not exist.
pub(super) fn shift(date: Date, days: i32) -> Option<Date> {
    date.checked_add(jiff::Span::new().days(days)).ok()
}

/// The date with this month and day that is next to a reference.
pub(super) fn nearest(month: i8, day: i8, reference: Date) -> Option<Date> {
    let near = |years: i16| Date::new(reference.year().checked_add(years)?, month, day).ok();
    let distance = |date: &Date| date.duration_since(reference).as_hours().abs();
    [-1, 0, 1].into_iter().filter_map(near).min_by_key(distance)
}

/// A year as it is written with four digits or two: the latter means one up to five years after the reference.
pub(super) fn year(text: &str, reference: Date) -> Option<i16> {
    let number: i16 = text.parse().ok()?;
    match text.len() {
        4 => Some(number),
        2 => {
            let century = reference.year() / 100 * 100;
            let year = century + number;
            Some(if year > reference.year() + 5 { year - 100 } else { year })
        }
        _ => None,
    }
}

/// A number with as many digits as the text that it replaces, at least.
pub(super) fn like(number: impl std::fmt::Display, text: &str) -> String {
    format!("{number:0>width$}", width = text.len().min(2))
}

/// The year of a period, from its middle: half a year, a quarter.
pub(super) fn shifted_year(year: i16, month: i8, days: i32) -> Option<i16> {
    Some(shift(Date::new(year, month, 15).ok()?, days)?.year())
}

/// A year like its text: four digits, or the last two.
pub(super) fn year_like(year: i16, text: &str) -> String {
    if text.len() == 2 { format!("{:02}", year.rem_euclid(100)) } else { year.to_string() }
}
