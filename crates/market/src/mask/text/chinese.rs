//! Dates in Chinese: `2012年10月3日`, `10月3日`, `二〇一二年`, `2012年三季度`.

use super::span::{Span, like, nearest, shift, shifted_year, year, year_like};
use papertape_core::time::Date;
use regex::{Captures, Regex};
use std::sync::LazyLock;

const DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];

static NUMERIC: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"((?:19|20)\d{2}|\d{2})(\s*年(?:度)?)(?:(\s*)(\d{1,2})(\s*月)(?:(\s*)(\d{1,2})(\s*[日号]))?)?")
});
static NUMERIC_DAY: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\d{1,2})(\s*月\s*)(\d{1,2})(\s*[日号])"));
static QUARTER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"((?:19|20)\d{2}|\d{2}|[〇零○一二三四五六七八九]{4})(\s*年(?:度)?\s*(?:第)?)([一二三四1-4])(\s*季)",
    )
});
static HALF: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"((?:19|20)\d{2}|\d{2}|[〇零○一二三四五六七八九]{4})(\s*年(?:度)?\s*)([上下])(半年)")
});
static FISCAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"((?:19|20)\d{2}|\d{2})(\s*财年)"));
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"([〇零○一二三四五六七八九]{4})(年(?:度)?)(?:([一二三四五六七八九十]{1,2})(月)(?:([一二三四五六七八九十]{1,3})([日号]))?)?",
    )
});
static WRITTEN_DAY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"([一二三四五六七八九十]{1,2})(月)([一二三四五六七八九十]{1,3})([日号])"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a test compiles every pattern")
}

/// The dates of a text.
pub(super) fn find(text: &str, days: i32, reference: Date) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut with = |pattern: &Regex, rule: &dyn Fn(&Captures<'_>) -> Option<String>| {
        for found in pattern.captures_iter(text) {
            let Some(whole) = found.get(0) else { continue };
            let before = text[..whole.start()].chars().next_back();
            if before.is_some_and(|c| c.is_ascii_digit() || c == '.' || DIGITS.contains(&c)) {
                continue;
            }
            if let Some(replacement) = rule(&found) {
                spans.push(Span { start: whole.start(), end: whole.end(), replacement });
            }
        }
    };
    with(&NUMERIC, &|found| numeric(found, days, reference));
    with(&NUMERIC_DAY, &|found| {
        let [month, mark, day, end] = [1, 2, 3, 4].map(|at| group(found, at));
        let date = shift(nearest(month.parse().ok()?, day.parse().ok()?, reference)?, days)?;
        Some(format!("{}{mark}{}{end}", like(date.month(), month), like(date.day(), day)))
    });
    for period in [&QUARTER, &HALF] {
        with(period, &|found| {
            let [old, mark, part, end] = [1, 2, 3, 4].map(|at| group(found, at));
            let month = match part {
                "一" | "1" => 2,
                "二" | "2" => 5,
                "三" | "3" => 8,
                "四" | "4" => 11,
                "上" => 4,
                _ => 10,
            };
            let shifted = shifted_year(any_year(old, reference)?, month, days)?;
            Some(format!("{}{mark}{part}{end}", any_year_like(shifted, old)))
        });
    }
    with(&FISCAL, &|found| {
        let [old, mark] = [1, 2].map(|at| group(found, at));
        Some(format!("{}{mark}", year_like(shifted_year(year(old, reference)?, 7, days)?, old)))
    });
    with(&WRITTEN, &|found| written(found, days));
    with(&WRITTEN_DAY, &|found| {
        let [month, mark, day, end] = [1, 2, 3, 4].map(|at| group(found, at));
        let date = shift(nearest(read(month)?, read(day)?, reference)?, days)?;
        Some(format!("{}{mark}{}{end}", write(date.month()), write(date.day())))
    });
    spans
}

fn group<'a>(found: &Captures<'a>, at: usize) -> &'a str {
    found.get(at).map_or("", |part| part.as_str())
}

fn numeric(found: &Captures<'_>, days: i32, reference: Date) -> Option<String> {
    let [old, mark, gap, month, of_month, space, day, end] =
        [1, 2, 3, 4, 5, 6, 7, 8].map(|at| group(found, at));
    // `12年` may be a number of years.
    if month.is_empty() && old.len() == 2 {
        return None;
    }
    let from = year(old, reference)?;
    if month.is_empty() {
        return Some(format!("{}{mark}", year_like(shifted_year(from, 7, days)?, old)));
    }
    let on = if day.is_empty() { 15 } else { day.parse().ok()? };
    let date = shift(Date::new(from, month.parse().ok()?, on).ok()?, days)?;
    let mut text =
        format!("{}{mark}{gap}{}{of_month}", year_like(date.year(), old), like(date.month(), month));
    if !day.is_empty() {
        text.push_str(&format!("{space}{}{end}", like(date.day(), day)));
    }
    Some(text)
}

fn written(found: &Captures<'_>, days: i32) -> Option<String> {
    let [old, mark, month, of_month, day, end] = [1, 2, 3, 4, 5, 6].map(|at| group(found, at));
    let from = digits(old)?;
    if month.is_empty() {
        return Some(format!("{}{mark}", any_year_like(shifted_year(from, 7, days)?, old)));
    }
    let on = if day.is_empty() { 15 } else { read(day)? };
    let date = shift(Date::new(from, read(month)?, on).ok()?, days)?;
    let mut text = format!("{}{mark}{}{of_month}", any_year_like(date.year(), old), write(date.month()));
    if !day.is_empty() {
        text.push_str(&format!("{}{end}", write(date.day())));
    }
    Some(text)
}

fn any_year(text: &str, reference: Date) -> Option<i16> {
    if text.is_ascii() { year(text, reference) } else { digits(text) }
}

fn any_year_like(year: i16, text: &str) -> String {
    if text.is_ascii() {
        return year_like(year, text);
    }
    year.to_string().chars().filter_map(|c| Some(DIGITS[c.to_digit(10)? as usize])).collect()
}

/// Digits in a row: `二〇一二`.
fn digits(text: &str) -> Option<i16> {
    let digit =
        |c: char| if matches!(c, '零' | '○') { Some(0) } else { DIGITS.iter().position(|it| *it == c) };
    text.chars().try_fold(0_i16, |sum, c| sum.checked_mul(10)?.checked_add(i16::try_from(digit(c)?).ok()?))
}

/// A number below 100: `三`, `十二`, `三十一`.
fn read(text: &str) -> Option<i8> {
    let digit = |c: char| i8::try_from(DIGITS.iter().position(|it| *it == c)?).ok();
    match text.split_once('十') {
        None if text.chars().count() == 1 => text.chars().next().and_then(digit),
        None => None,
        Some((tens, ones)) => {
            let tens = if tens.is_empty() { 1 } else { tens.chars().next().and_then(digit)? };
            let ones = if ones.is_empty() { 0 } else { ones.chars().next().and_then(digit)? };
            Some(10 * tens + ones)
        }
    }
}

fn write(number: i8) -> String {
    let digit = |n: i8| DIGITS[usize::try_from(n).unwrap_or_default() % 10].to_string();
    match (number / 10, number % 10) {
        (0, ones) => digit(ones),
        (1, 0) => "十".to_owned(),
        (1, ones) => format!("十{}", digit(ones)),
        (tens, 0) => format!("{}十", digit(tens)),
        (tens, ones) => format!("{}十{}", digit(tens), digit(ones)),
    }
}
