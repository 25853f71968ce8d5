//! Days in words: `from 2012-10-01 to 2012-12-31`, `the autumn of 2012`, `Q4 2012`, `October to December
//! 2012`, `2012年10月到12月`, `2012年秋天`.

use papertape_core::time::{Date, parse_date};

/// Days from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) from: Date,
    pub(super) to: Date,
}

const MONTHS: [(&str, &str); 12] = [
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may", "may"),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sep"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
];

/// The period that a text names; where it names no year, `year` is its. `None` where it names none.
pub(super) fn period(text: &str, year: Option<i16>) -> Option<Period> {
    let days = days(text);
    if let (Some(from), Some(to)) = (days.iter().min(), days.iter().max()) {
        return Some(Period { from: *from, to: *to });
    }
    let lower = text.to_lowercase();
    let years = years(&lower);
    let year = years.first().copied().or(year)?;
    let last_year = years.last().copied().unwrap_or(year);
    let months = months(&lower);
    if let (Some(first), Some(last)) = (months.first(), months.last()) {
        // A year that is named once goes on into the next where the months go round.
        let last_year = if last_year == year && last < first { year + 1 } else { last_year };
        return of_months((year, *first), (last_year, *last));
    }
    if let Some(quarter) = quarter(&lower) {
        return of_months((year, quarter * 3 - 2), (year, quarter * 3));
    }
    let seasons: [(&[&str], i8); 4] = [
        (&["spring", "春"], 3),
        (&["summer", "夏"], 6),
        (&["autumn", "fall of", "in the fall", "秋"], 9),
        (&["winter", "冬"], 12),
    ];
    for (names, first) in seasons {
        if names.iter().any(|name| lower.contains(name)) {
            let end = if first == 12 { (year + 1, 2) } else { (year, first + 2) };
            return of_months((year, first), end);
        }
    }
    if years.is_empty() { None } else { of_months((year, 1), (last_year, 12)) }
}

/// Months that a text names without a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Months {
    from: i8,
    to: i8,
}

impl Months {
    /// Those of a text that names no day and no year.
    pub(super) fn of(text: &str) -> Option<Self> {
        let lower = text.to_lowercase();
        if !days(text).is_empty() || !years(&lower).is_empty() {
            return None;
        }
        let months = months(&lower);
        Some(Self { from: *months.first()?, to: *months.last()? })
    }

    /// The last time that they came between two days; `None`: they did not.
    pub(super) fn between(self, first: Date, last: Date) -> Option<Period> {
        (first.year().saturating_sub(1)..=last.year()).rev().find_map(|year| {
            let to_year = if self.to < self.from { year + 1 } else { year };
            let found = of_months((year, self.from), (to_year, self.to))?;
            (found.from <= last && found.to >= first).then_some(found)
        })
    }
}

fn of_months((from_year, from): (i16, i8), (to_year, to): (i16, i8)) -> Option<Period> {
    let from = Date::new(from_year, from, 1).ok()?;
    let to = Date::new(to_year, to, 1).ok()?.last_of_month();
    (from <= to).then_some(Period { from, to })
}

fn days(text: &str) -> Vec<Date> {
    let is_part = |c: char| c.is_ascii_digit() || c == '-';
    text.split(|c: char| !is_part(c)).filter_map(|word| parse_date(word).ok()).collect()
}

fn years(text: &str) -> Vec<i16> {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| digits.len() == 4);
    numbers.filter_map(|digits| digits.parse().ok()).filter(|year| (1900..2100).contains(year)).collect()
}

/// The months that are named, in the order of the text.
fn months(text: &str) -> Vec<i8> {
    let mut found: Vec<(usize, i8)> = Vec::new();
    for (word, at) in words(text) {
        let month = (1_i8..).zip(MONTHS).find(|(_, (long, short))| {
            // `may` is a verb as well: it counts behind a preposition, or before a year or another month.
            let is_name = word == *long || word == *short || (word == "sept" && *short == "sep");
            is_name && (*long != "may" || is_month_of_may(text, at))
        });
        found.extend(month.map(|(number, _)| (at, number)));
    }
    for (at, _) in text.match_indices('月') {
        let before = &text[..at];
        let digits: String = before.chars().rev().take_while(char::is_ascii_digit).collect();
        let number: Option<i8> = digits.chars().rev().collect::<String>().parse().ok();
        let number = number.or_else(|| chinese(before));
        found.extend(number.filter(|month| (1..=12).contains(month)).map(|month| (at, month)));
    }
    found.sort_unstable();
    found.into_iter().map(|(_, month)| month).collect()
}

fn is_month_of_may(text: &str, at: usize) -> bool {
    let before = text[..at].split_whitespace().next_back().unwrap_or_default();
    let after = text[at + 3..].split_whitespace().next().unwrap_or_default();
    let after_is_year =
        after.starts_with(|c: char| c.is_ascii_digit()) || matches!(after, "to" | "and" | "of");
    matches!(before, "in" | "of" | "from" | "to" | "until" | "through" | "during") || after_is_year
}

/// The number that a text ends with, `十一`.
fn chinese(text: &str) -> Option<i8> {
    const DIGITS: [char; 10] = ['一', '二', '三', '四', '五', '六', '七', '八', '九', '十'];
    let tail: Vec<char> = text.chars().rev().take_while(|c| DIGITS.contains(c)).collect();
    let value =
        |c: &char| DIGITS.iter().position(|digit| digit == c).and_then(|at| i8::try_from(at + 1).ok());
    match tail.as_slice() {
        [one] => value(one),
        [one, '十'] => value(one).map(|one| 10 + one),
        _ => None,
    }
}

fn quarter(text: &str) -> Option<i8> {
    const NAMES: [[&str; 5]; 4] = [
        ["q1", "first quarter", "第一季度", "一季度", "1季度"],
        ["q2", "second quarter", "第二季度", "二季度", "2季度"],
        ["q3", "third quarter", "第三季度", "三季度", "3季度"],
        ["q4", "fourth quarter", "第四季度", "四季度", "4季度"],
    ];
    (1_i8..)
        .zip(NAMES)
        .find(|(_, names)| names.iter().any(|name| text.contains(name)))
        .map(|(number, _)| number)
}

/// Words of letters with their places.
fn words(text: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    let mut from = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_ascii_alphabetic(), from) {
            (true, None) => from = Some(at),
            (false, Some(start)) => {
                found.push((&text[start..at], start));
                from = None;
            }
            _ => {}
        }
    }
    found
}
