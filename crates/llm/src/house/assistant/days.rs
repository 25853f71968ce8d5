//! Days in words: `between 1 Oct and 15 Nov 2012`, `the autumn of 2012`, `Q4 2012`, `2012年10月到12月`.

use jiff::ToSpan as _;
use papertape_core::time::Date;
use regex::Captures;

/// One named day, month, quarter, season or year; without its year where the text has none.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    year: Option<i16>,
    month: i8,
    day: Option<i8>,
    months: i8,
}

/// Days from the first to the last, with the words that named them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Days {
    from: Point,
    to: Point,
    pub(super) words: String,
}

impl Days {
    /// A date by the parts of its pattern: `y`, `d` or `e`, a month `m`, a season `s`, a quarter `q` or `o`. A day that
    /// no calendar has is none.
    pub(super) fn of(found: &Captures<'_>) -> Option<Self> {
        let point = Point::of(found)?;
        point.days(point.year.unwrap_or(2000))?;
        Some(Self { from: point, to: point, words: found[0].to_owned() })
    }

    /// From these days to those; the year that one of them names is the other's.
    pub(super) fn until(&self, end: &Self, words: &str) -> Self {
        let (mut from, mut to) = (self.from, end.to);
        let turns = i16::from((to.month, to.day) < (from.month, from.day));
        from.year = from.year.or(to.year.map(|year| year - turns));
        to.year = to.year.or(from.year.map(|year| year + turns));
        Self { from, to, words: words.to_owned() }
    }

    /// Do those months begin where these end?
    pub(super) fn are_followed_by(&self, next: &Self) -> bool {
        let joined = self.until(next, "");
        let (year, other) = (joined.from.year.unwrap_or(2000), joined.to.year.unwrap_or(2000));
        let (own, others) = (joined.from.days(year), joined.to.days(other));
        self.from.day.is_none()
            && own.zip(others).is_some_and(|(own, next)| own.1.tomorrow().ok() == Some(next.0))
    }

    /// The first and the last day, where the year is known or given.
    pub(super) fn period(&self, year: Option<i16>) -> Option<(Date, Date)> {
        let given = Self { from: Point { year: self.from.year.or(year), ..self.from }, ..self.clone() };
        let whole = given.until(&given, "");
        let (from, to) = (whole.from.days(whole.from.year?)?, whole.to.days(whole.to.year?)?);
        (from.0 <= to.1).then_some((from.0, to.1))
    }

    /// The last time that days without a year came between two days.
    pub(super) fn within(&self, first: Date, last: Date) -> Option<(Date, Date)> {
        let mut years = (first.year() - 1..=last.year()).rev();
        years.find_map(|year| self.period(Some(year)).filter(|(from, to)| *from <= last && *to >= first))
    }

    /// These days in another year, where it is a year and nothing else that is named.
    pub(super) fn in_year(&self, named: &Self) -> Option<Self> {
        let is_year = named.from.months == 12 && self.from.year.is_none();
        is_year.then(|| {
            let from = Point { year: named.from.year, ..self.from };
            Self { from, ..self.clone() }.until(self, &format!("{} {}", self.words, named.words))
        })
    }

    /// Do they name a year?
    pub(super) fn has_year(&self) -> bool {
        self.from.year.is_some()
    }

    /// These days, in the other's year where they name none.
    pub(super) fn with_year_of(&self, other: &Option<Self>) -> Self {
        let year = self.from.year.or(other.as_ref().and_then(|other| other.from.year));
        Self { from: Point { year, ..self.from }, ..self.clone() }.until(self, &self.words)
    }
}

impl Point {
    fn of(found: &Captures<'_>) -> Option<Self> {
        let text = |name: &str| found.name(name).map(|part| part.as_str());
        let year = text("y").and_then(|year| year.parse().ok());
        let day = text("d").or(text("e")).and_then(|day| day.parse().ok());
        // A verb as well: without a day or a year it is a month where it has a capital.
        if year.is_none() && day.is_none() && text("m") == Some("may") {
            return None;
        }
        let (month, months) = match (text("m"), text("s"), text("q").or(text("o"))) {
            (Some(month), _, _) => (number(month)?, 1),
            (_, Some(season), _) => (number(season)?, 3),
            (_, _, Some(quarter)) => (number(quarter)? * 3 - 2, 3),
            _ => (1, 12),
        };
        Some(Self { year, month, day, months })
    }

    /// Its first and its last day.
    fn days(self, year: i16) -> Option<(Date, Date)> {
        let first = Date::new(year, self.month, self.day.unwrap_or(1)).ok()?;
        let after = first.checked_add(i32::from(self.months).months()).ok()?;
        Some((first, if self.day.is_some() { first } else { after.yesterday().ok()? }))
    }
}

/// The number of a month, a quarter, or a season's first month.
fn number(word: &str) -> Option<i8> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    const SEASONS: [&str; 9] = ["spring", "summer", "autumn", "winter", "fall", "春", "夏", "秋", "冬"];
    const DIGITS: &str = "一二三四五六七八九十";
    let word = word.to_lowercase();
    let place = |at: usize| i8::try_from(at + 1).ok();
    if let Some(season) = SEASONS.iter().position(|name| *name == word) {
        return [3, 6, 9, 12, 9, 3, 6, 9, 12].get(season).copied();
    }
    let ordinal = ["first", "second", "third", "fourth"].iter().position(|name| *name == word);
    let named = ordinal.or_else(|| NAMES.iter().position(|name| word.starts_with(name)));
    named.and_then(place).or_else(|| word.parse().ok()).or_else(|| {
        let digits: Vec<i8> =
            word.chars().filter_map(|c| place(DIGITS.chars().position(|d| d == c)?)).collect();
        match digits.as_slice() {
            [one] => Some(*one),
            [10, one] => Some(10 + one),
            _ => None,
        }
    })
}
