//! Days as people write them: `1 Oct 2012`, `the autumn of 2012`, `2012年10月`.

use super::tokens::DATES;
use jiff::ToSpan as _;
use papertape_core::time::Date;

/// Months, the first months of seasons, and ordinals, by the beginnings of their names.
const NUMBERS: &str = "jan=1 feb=2 mar=3 apr=4 may=5 jun=6 jul=7 aug=8 sep=9 oct=10 nov=11 dec=12 \
    spring=3 summer=6 autumn=9 fall=9 winter=12 春=3 夏=6 秋=9 冬=12 first=1 second=2 third=3 fourth=4 上=1 下=2 \
    一=1 二=2 三=3 四=4 五=5 六=6 七=7 八=8 九=9 十=10 十一=11 十二=12";
/// Groups of date patterns that name months: how far one begins from the next, and how long it is.
const UNITS: [(&str, i8, i8); 4] = [("m", 1, 1), ("s", 1, 3), ("q", 3, 3), ("h", 6, 6)];

/// A day, month, quarter, half, season or year; the year may be missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) year: Option<i16>,
    month: i8,
    months: i8,
    day: Option<i8>,
}

/// From the first day of one span to the last day of another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Days {
    pub(super) from: Span,
    to: Span,
}

impl Days {
    /// One date or two. A day that no calendar has is `None`.
    pub(super) fn read(dates: &[String]) -> Option<Self> {
        let from = Span::read(dates.first()?)?;
        let to = dates.get(1).map_or(Some(from), |date| Span::read(date))?;
        Some(Self { from, to }.in_year(None))
    }

    /// These days, in a year where they name none. The year of one end holds for the other, a whole year for itself.
    pub(super) fn in_year(mut self, year: Option<i16>) -> Self {
        let Self { from, to } = &mut self;
        let turns = i16::from((to.month, to.day) < (from.month, from.day));
        from.year = from.year.or(to.year.filter(|_| to.months < 12).map(|year| year - turns)).or(year);
        to.year = to.year.or(from.year.map(|year| year + turns));
        self
    }

    /// The first and the last day, where the year is known.
    pub(super) fn period(&self) -> Option<(Date, Date)> {
        self.from.year?;
        let (first, last) = (self.from.days()?.0, self.to.days()?.1);
        (first <= last).then_some((first, last))
    }

    /// The last time that days without a year came between two days.
    pub(super) fn within(&self, first: Date, last: Date) -> Option<(Date, Date)> {
        let years = (first.year() - 1..=last.year()).rev();
        let mut periods = years.filter_map(|year| self.in_year(Some(year)).period());
        periods.find(|(from, to)| *from <= last && *to >= first)
    }
}

impl Span {
    fn read(date: &str) -> Option<Self> {
        let found = DATES.iter().find_map(|pattern| pattern.captures(date))?;
        let number = |group: &str| {
            let word = found.name(group)?.as_str().to_lowercase();
            let named = |(name, _): &(&str, &str)| word == *name || name.is_ascii() && word.starts_with(name);
            let mut numbers = NUMBERS.split_whitespace().filter_map(|one| one.split_once('='));
            word.parse::<i8>().ok().or_else(|| numbers.find(named)?.1.parse().ok())
        };
        let unit = |(group, step, months)| Some(((number(group)? - 1) * step + 1, months));
        let (month, months) = UNITS.into_iter().find_map(unit).unwrap_or((1, 12));
        let year = found.name("y").and_then(|year| year.as_str().parse().ok());
        let span = Self { year, month, months, day: number("d") };
        span.days().map(|_| span)
    }

    /// Its first and its last day, in a leap year where it has none.
    fn days(self) -> Option<(Date, Date)> {
        let first = Date::new(self.year.unwrap_or(2000), self.month, self.day.unwrap_or(1)).ok()?;
        let after = first.checked_add(i32::from(self.months).months()).ok()?;
        Some((first, if self.day.is_some() { first } else { after.yesterday().ok()? }))
    }
}
