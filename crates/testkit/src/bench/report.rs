//! Tables of results: the measurement, its reference, their ratio per round, and the target.

use std::time::Duration;

/// One measurement's values, one per round.
#[derive(Clone, Debug, Default)]
pub struct Series(Vec<f64>);

impl Series {
    /// Adds a round's value.
    pub fn push(&mut self, figure: f64) {
        self.0.push(figure);
    }

    /// The median.
    ///
    /// # Panics
    /// Panics if there are no values.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The value at this quantile, from 0 to 1.
    ///
    /// # Panics
    /// Panics if there are no values.
    #[must_use]
    pub fn quantile(&self, part: f64) -> f64 {
        percentile(&self.0, part)
    }

    /// Each value divided by the other series' value of the same round.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one / other).collect())
    }

    /// Each value minus the other series' value of the same round.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one - other).collect())
    }
}

impl FromIterator<f64> for Series {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        Self(figures.into_iter().collect())
    }
}

impl FromIterator<Duration> for Series {
    fn from_iter<I: IntoIterator<Item = Duration>>(times: I) -> Self {
        times.into_iter().map(|time| time.as_secs_f64()).collect()
    }
}

/// The value at this quantile (0.5: the median), by nearest rank.
///
/// # Panics
/// Panics if there are no values.
#[must_use]
pub fn percentile(figures: &[f64], part: f64) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    assert!(!sorted.is_empty(), "there is no figure");
    let last = sorted.len() - 1;
    let at = (0..last).find(|at| (at + 1) as f64 >= part * sorted.len() as f64).unwrap_or(last);
    sorted[at]
}

/// Unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A rate per second.
    PerSecond,
    /// Given in seconds, shown in milliseconds.
    Millis,
    /// Given in seconds, shown in microseconds.
    Micros,
    /// Given in bytes, shown in MB.
    Megabytes,
    /// Bytes.
    Bytes,
    /// A plain number.
    Number,
}

impl Unit {
    fn show(self, figure: f64) -> String {
        match self {
            Self::PerSecond if figure >= 100.0 => format!("{figure:.0}/s"),
            Self::PerSecond => format!("{figure:.1}/s"),
            Self::Millis if figure >= 0.1 => format!("{:.0} ms", figure * 1e3),
            Self::Millis => format!("{:.2} ms", figure * 1e3),
            Self::Micros => format!("{:.0} µs", figure * 1e6),
            Self::Megabytes => format!("{:.0} MB", figure / 1e6),
            Self::Bytes => format!("{figure:.0} B"),
            Self::Number => format!("{figure:.2}"),
        }
    }
}

/// Target of a line.
#[derive(Clone, Copy, Debug)]
pub enum BenchTarget {
    /// At least this ratio to its reference.
    RatioFrom(f64),
    /// At most this ratio to its reference.
    RatioTo(f64),
    /// At most this value (in the unit of the measurement).
    To(f64),
    /// No target: for information.
    Shown,
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name.
    pub what: String,
    /// Its values.
    pub measured: Series,
    /// Their unit.
    pub unit: Unit,
    /// Name of the reference, and its values in the same rounds.
    pub against: Option<(String, Series)>,
    /// Its target.
    pub aim: BenchTarget,
}

/// Lines printed together as a Markdown table.
#[derive(Clone, Debug, Default)]
pub struct Table(Vec<Line>);

impl Table {
    /// Adds a line.
    pub fn add(
        &mut self,
        what: impl Into<String>,
        unit: Unit,
        measured: &Series,
        against: Option<(&str, &Series)>,
        aim: BenchTarget,
    ) {
        let against = against.map(|(name, series)| (name.to_owned(), series.clone()));
        self.0.push(Line { what: what.into(), measured: measured.clone(), unit, against, aim });
    }

    /// Prints it.
    pub fn print(&self) {
        println!("| what | measured | compared with | ratio (lowest - highest) | aim | |");
        println!("|---|---|---|---|---|---|");
        for line in &self.0 {
            println!("{}", row(line));
        }
    }
}

fn row(line: &Line) -> String {
    let spread = |series: &Series, show: &dyn Fn(f64) -> String| {
        let (low, high) = (series.quantile(0.0), series.quantile(1.0));
        format!("{} ({} - {})", show(series.median()), show(low), show(high))
    };
    let show = |figure| line.unit.show(figure);
    let measured = spread(&line.measured, &show);
    let against = line.against.as_ref();
    let ratio = against.map(|(_, series)| line.measured.over(series));
    let compared =
        against.map_or_else(String::new, |(name, series)| format!("{name}: {}", show(series.median())));
    let shown =
        ratio.as_ref().map_or_else(String::new, |ratio| spread(ratio, &|figure| format!("{figure:.2}")));
    let middle = ratio.as_ref().map(Series::median);
    let (aim, reached) = match line.aim {
        BenchTarget::RatioFrom(least) => (format!("{least} or more"), middle.map(|ratio| ratio >= least)),
        BenchTarget::RatioTo(most) => (format!("{most} or less"), middle.map(|ratio| ratio <= most)),
        BenchTarget::To(most) => (format!("{} or less", show(most)), Some(line.measured.median() <= most)),
        BenchTarget::Shown => (String::new(), None),
    };
    let verdict = match reached {
        Some(true) => "reached",
        Some(false) => "missed",
        None => "",
    };
    format!("| {} | {measured} | {compared} | {shown} | {aim} | {verdict} |", line.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The median of an even number of values is one of the middle two, and the extremes are the extremes.
    #[test]
    fn quantiles_are_figures_that_were_measured() {
        let series: Series = [4.0, 1.0, 3.0, 2.0].into_iter().collect();
        let at = |part| series.quantile(part).to_string();
        assert_eq!([at(0.0), at(0.5), at(0.99), at(1.0)], ["1", "2", "4", "4"]);
    }

    /// Ratios are taken per round, so that a slow round does not affect them.
    #[test]
    fn a_row_judges_the_median_of_the_rounds_ratios() {
        let mut table = Table::default();
        let (measured, reference) = ([10.0, 200.0, 30.0], [20.0, 100.0, 10.0]);
        let (measured, reference): (Series, Series) =
            (measured.into_iter().collect(), reference.into_iter().collect());
        table.add("it", Unit::PerSecond, &measured, Some(("bare", &reference)), BenchTarget::RatioFrom(2.5));
        let expected =
            "| it | 30.0/s (10.0/s - 200/s) | bare: 20.0/s | 2.00 (0.50 - 3.00) | 2.5 or more | missed |";
        assert_eq!(row(&table.0[0]), expected);
    }
}
