//! Days in words: `between 1 Oct and 15 Nov 2012`, `the autumn of 2012`, `Q4 2012`, `2012年10月到12月`.

use jiff::ToSpan as _;
use papertape_core::time::Date;
use regex::Captures;

/// Months, the first months of seasons, and numbers, by the beginnings of their names.
const NUMBERS: &str = "jan=1 feb=2 mar=3 apr=4 may=5 jun=6 jul=7 aug=8 sep=9 oct=10 nov=11 dec=12 \
    spring=3 summer=6 autumn=9 fall=9 winter=12 春=3 夏=6 秋=9 冬=12 first=1 second=2 third=3 fourth=4 \
    一=1 二=2 三=3 四=4 五=5 六=6 七=7 八=8 九=9 十=10 十一=11 十二=12";

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
        let number = |names: &[&str]| names.iter().find_map(|name| number(found.name(name)?.as_str()));
        let has = |name: &str| found.name(name).is_some();
        let year = found.name("y").and_then(|year| year.as_str().parse().ok());
        let (month, months) = match number(&["m", "s", "q", "o"]) {
            Some(quarter) if has("q") || has("o") => (quarter * 3 - 2, 3),
            Some(month) => (month, if has("s") { 3 } else { 1 }),
            None => (1, 12),
        };
        let point = Point { year, month, day: number(&["d", "e"]), months };
        point.days()?;
        // A verb as well: without a day or a year it is a month where it has a capital.
        let is_verb = found[0].trim_end_matches('.') == "may" && year.is_none();
        (!is_verb).then(|| Self { from: point, to: point, words: found[0].to_owned() })
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
        let (own, others) = (joined.from.days(), joined.to.days());
        self.from.day.is_none()
            && own.zip(others).is_some_and(|(own, next)| own.1.tomorrow().ok() == Some(next.0))
    }

    /// The first and the last day, where the year is known or given.
    pub(super) fn period(&self, year: Option<i16>) -> Option<(Date, Date)> {
        let whole = self.with_year(year, "");
        whole.year()?;
        let (from, to) = (whole.from.days()?.0, whole.to.days()?.1);
        (from <= to).then_some((from, to))
    }

    /// The last time that days without a year came between two days.
    pub(super) fn within(&self, first: Date, last: Date) -> Option<(Date, Date)> {
        let mut years = (first.year() - 1..=last.year()).rev();
        years.find_map(|year| self.period(Some(year)).filter(|(from, to)| *from <= last && *to >= first))
    }

    /// These days in another year, where it is a year and nothing else that is named.
    pub(super) fn in_year(&self, named: &Self) -> Option<Self> {
        let is_year = named.from.months == 12 && self.year().is_none();
        is_year.then(|| self.with_year(named.year(), &format!("{} {}", self.words, named.words)))
    }

    /// The year of the first day, where it is known.
    pub(super) fn year(&self) -> Option<i16> {
        self.from.year
    }

    /// These days, in a year where they name none.
    pub(super) fn with_year(&self, year: Option<i16>, words: &str) -> Self {
        let from = Point { year: self.from.year.or(year), ..self.from };
        Self { from, ..self.clone() }.until(self, words)
    }
}

impl Point {
    /// Its first and its last day, in a leap year where it has none.
    fn days(self) -> Option<(Date, Date)> {
        let first = Date::new(self.year.unwrap_or(2000), self.month, self.day.unwrap_or(1)).ok()?;
        let after = first.checked_add(i32::from(self.months).months()).ok()?;
        Some((first, if self.day.is_some() { first } else { after.yesterday().ok()? }))
    }
}

fn number(word: &str) -> Option<i8> {
    let word = word.to_lowercase();
    let is_it = |name: &str| word == name || name.is_ascii() && word.starts_with(name);
    let mut named = NUMBERS.split(' ').filter_map(|one| one.split_once('='));
    word.parse().ok().or_else(|| named.find(|(name, _)| is_it(name))?.1.parse().ok())
}
