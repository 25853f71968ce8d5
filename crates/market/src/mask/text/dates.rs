//! Dates in Latin script: ISO, US and European, names of months, quarters and years.

use super::month_names::{self, like as month_like};
use super::span::{Span, is_bounded, like, nearest, shift, shifted_year, year, year_like};
use papertape_core::time::Date;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// The range around the reference year in which a number on its own is read as a year.
const YEARS: std::ops::RangeInclusive<i16> = -80..=30;

/// What a pattern's match becomes; `None`: it is not a date.
type Rule = fn(&Captures<'_>, &Shift) -> Option<String>;

/// The shift, and the day of the text.
struct Shift {
    days: i32,
    reference: Date,
}

impl Shift {
    fn date(&self, year: i16, month: i8, day: i8) -> Option<Date> {
        shift(Date::new(year, month, day).ok()?, self.days)
    }

    fn year(&self, text: &str) -> Option<i16> {
        year(text, self.reference)
    }
}

/// The patterns with their rules. `MON` is a month's name, `YYYY` a year.
const RULES: [(&str, Rule); 12] = [
    (r"(YYYY)([-/.])(\d{1,2})([-/.])(\d{1,2})(T\d{2}:?\d{2}[\d:.]*(?:Z|[-+]\d{2}:?\d{2})?)?", iso),
    (r"(YYYY)(\d{2})(\d{2})", compact),
    (r"(\d{1,2})([-/.])(\d{1,2})([-/.])(YYYY|\d{2})", numeric),
    (r"(MON)(\.\s*|\s+)(\d{1,2})((?i)st|nd|rd|th)?(?:(\s?[-–]\s?)(\d{1,2}))?(?:(,?\s+)(YYYY))?", month_day),
    (r"(\d{1,2})((?i)st|nd|rd|th)?(\s+(?:of\s+)?)(MON)(?:(\.?,?\s+)(YYYY))?", day_month),
    (r"(\d{1,2})(-)(MON)(-)(YYYY|\d{2})", day_month_dashed),
    (r"(MON)(\.?,?\s+(?:of\s+)?|-|\s+['’])(YYYY|\d{2})", month_year),
    (r"(?i)(Q[1-4]|H[12])([-/\s]*(?:(?:of\s+)?(?:fiscal|FY|CY)\s*)?['’]?)(YYYY|\d{2})", period_year),
    (r"(?i)([1-4]Q|[12]H)([-/\s]*(?:(?:of\s+)?(?:fiscal|FY|CY)\s*)?['’]?)(YYYY|\d{2})", period_year),
    (r"(?i)((?:FY|CY)\s?['’]?)(YYYY|\d{2})", prefixed_year),
    (r"(YYYY)([-/–])(\d{2})", years),
    (r"(YYYY)(E|A|F|e|Q[1-4]|H[12])?", bare_year),
];

static PATTERNS: LazyLock<Vec<(Regex, Rule)>> = LazyLock::new(|| {
    let made = RULES.iter().map(|(pattern, rule)| {
        let pattern = pattern.replace("MON", month_names::PATTERN).replace("YYYY", r"(?:19|20)\d{2}");
        (Regex::new(&pattern).expect("a test compiles every pattern"), *rule)
    });
    made.collect()
});

/// The dates of a text.
pub(super) fn find(text: &str, days: i32, reference: Date) -> Vec<Span> {
    let shift = Shift { days, reference };
    let mut spans = Vec::new();
    for (pattern, rule) in PATTERNS.iter() {
        for found in pattern.captures_iter(text) {
            let Some(whole) = found.get(0) else { continue };
            let (start, end) = (whole.start(), whole.end());
            if is_bounded(text, start, end)
                && !is_amount(text, start, end)
                && let Some(replacement) = rule(&found, &shift)
            {
                spans.push(Span { start, end, replacement });
            }
        }
    }
    spans
}

/// Whether what looks like a date is a part of an amount: `$2,012`, `2012.5`, `2012 shares`, `2012%`.
fn is_amount(text: &str, start: usize, end: usize) -> bool {
    const MARKS: [char; 5] = ['$', '€', '£', '¥', '￥'];
    const UNITS: [&str; 9] =
        ["shares", "units", "points", "people", "employees", "stores", "jobs", "dollars", "yuan"];
    let mut before = text[..start].chars().rev();
    let (last, next_to_last) = (before.next(), before.next());
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let in_number = |c: Option<char>| c.is_some_and(|c| matches!(c, '.' | ','));
    if last.is_some_and(|c| MARKS.contains(&c)) || (in_number(last) && is_digit(next_to_last)) {
        return true;
    }
    let rest = &text[end..];
    let mut after = rest.chars();
    let (first, second) = (after.next(), after.next());
    if first == Some('%') || (in_number(first) && is_digit(second)) {
        return true;
    }
    let is_bare = text[start..end].chars().all(|c| c.is_ascii_digit());
    let word: String = rest.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
    is_bare && UNITS.contains(&word.as_str())
}

fn group<'a>(found: &Captures<'a>, at: usize) -> &'a str {
    found.get(at).map_or("", |part| part.as_str())
}

fn number(text: &str) -> Option<i8> {
    text.parse().ok()
}

fn iso(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [year, one, month, other, day, time] = [1, 2, 3, 4, 5, 6].map(|at| group(found, at));
    let date = to.date(year.parse().ok()?, number(month)?, number(day)?).filter(|_| one == other)?;
    let (month, day) = (like(date.month(), month), like(date.day(), day));
    Some(format!("{}{one}{month}{one}{day}{time}", date.year()))
}

fn compact(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [year, month, day] = [1, 2, 3].map(|at| group(found, at));
    let date = to.date(year.parse().ok()?, number(month)?, number(day)?)?;
    Some(format!("{}{:02}{:02}", date.year(), date.month(), date.day()))
}

/// Month, day and year, unless the first can only be a day, or periods are between them.
fn numeric(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [a, one, b, other, year] = [1, 2, 3, 4, 5].map(|at| group(found, at));
    if one != other || (one != "/" && year.len() == 2) {
        return None;
    }
    let (first, second) = (number(a)?, number(b)?);
    let is_day_first = first > 12 || (one == "." && second <= 12);
    let (month, day) = if is_day_first { (second, first) } else { (first, second) };
    let date = to.date(to.year(year)?, month, day)?;
    let (first, second) = match is_day_first {
        true => (date.day(), date.month()),
        false => (date.month(), date.day()),
    };
    Some(format!("{}{one}{}{one}{}", like(first, a), like(second, b), year_like(date.year(), year)))
}

/// The date of a month and a day, in the given year or in the one next to the text's day.
fn dated(month: &str, day: &str, year: &str, to: &Shift) -> Option<Date> {
    // As words, these are not months in lower case.
    if year.is_empty() && matches!(month, "may" | "march" | "mar") {
        return None;
    }
    let (month, day) = (month_names::month(month)?, number(day)?);
    match year {
        "" => shift(nearest(month, day, to.reference)?, to.days),
        year => to.date(to.year(year)?, month, day),
    }
}

fn ordinal(day: i8, like: &str) -> String {
    if like.is_empty() {
        return String::new();
    }
    let suffix = match (day % 10, day) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    suffix.to_owned()
}

fn month_day(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [month, gap, day, nth, dash, last, comma, year] = [1, 2, 3, 4, 5, 6, 7, 8].map(|at| group(found, at));
    let date = dated(month, day, year, to)?;
    let mut text = format!("{}{gap}{}", month_like(date.month(), month), like(date.day(), day));
    text.push_str(&ordinal(date.day(), nth));
    if !last.is_empty() {
        let until = dated(month, last, year, to)?;
        text.push_str(dash);
        if until.month() != date.month() {
            text.push_str(&format!("{} ", month_like(until.month(), month)));
        }
        text.push_str(&like(until.day(), last));
    }
    if !year.is_empty() {
        text.push_str(&format!("{comma}{}", date.year()));
    }
    Some(text)
}

fn day_month(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [day, nth, gap, month, comma, year] = [1, 2, 3, 4, 5, 6].map(|at| group(found, at));
    let date = dated(month, day, year, to)?;
    let mut text = like(date.day(), day);
    text.push_str(&ordinal(date.day(), nth));
    text.push_str(&format!("{gap}{}", month_like(date.month(), month)));
    if !year.is_empty() {
        text.push_str(&format!("{comma}{}", date.year()));
    }
    Some(text)
}

fn day_month_dashed(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [day, _, month, _, year] = [1, 2, 3, 4, 5].map(|at| group(found, at));
    let date = dated(month, day, year, to)?;
    let (day, month) = (like(date.day(), day), month_like(date.month(), month));
    Some(format!("{day}-{month}-{}", year_like(date.year(), year)))
}

fn month_year(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [month, gap, year] = [1, 2, 3].map(|at| group(found, at));
    // `Oct 12` is a day; `Oct-12` and `Oct '12` are years.
    if year.len() == 2 && !(gap == "-" || gap.ends_with(['\'', '’'])) {
        return None;
    }
    let date = to.date(to.year(year)?, month_names::month(month)?, 15)?;
    Some(format!("{}{gap}{}", month_like(date.month(), month), year_like(date.year(), year)))
}

/// Quarters and halves of years. Their number stays: whole years of 364 days keep the season.
fn period_year(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [period, gap, year] = [1, 2, 3].map(|at| group(found, at));
    let shifted = shifted_year(to.year(year)?, middle(period)?, to.days)?;
    Some(format!("{period}{gap}{}", year_like(shifted, year)))
}

/// The middle month of a quarter or half.
fn middle(period: &str) -> Option<i8> {
    let number = i8::try_from(period.chars().find_map(|c| c.to_digit(10))?).ok()?;
    let months = if period.to_ascii_uppercase().contains('Q') { 3 } else { 6 };
    Some(months * (number - 1) + if months == 3 { 2 } else { 4 })
}

fn prefixed_year(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [prefix, year] = [1, 2].map(|at| group(found, at));
    let shifted = shifted_year(to.year(year)?, 7, to.days)?;
    Some(format!("{prefix}{}", year_like(shifted, year)))
}

/// `2012-13`.
fn years(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [first, dash, last] = [1, 2, 3].map(|at| group(found, at));
    let (from, until) = (first.parse::<i16>().ok()?, last.parse::<i16>().ok()?);
    if (from + 1).rem_euclid(100) != until {
        return None;
    }
    let shifted = shifted_year(from, 7, to.days)?;
    Some(format!("{shifted}{dash}{:02}", (shifted + 1).rem_euclid(100)))
}

/// `2012`, `2012E`, `2012Q3`.
fn bare_year(found: &Captures<'_>, to: &Shift) -> Option<String> {
    let [year, after] = [1, 2].map(|at| group(found, at));
    let number: i16 = year.parse().ok()?;
    if !YEARS.contains(&(number - to.reference.year())) {
        return None;
    }
    let month = if after.len() == 2 { middle(after)? } else { 7 };
    Some(format!("{}{after}", shifted_year(number, month, to.days)?))
}
