//! A symbol's complete months, and charts that end in them.

use super::{DailyClose, PriceHistory};
use papertape_core::time::Date;

/// Trading days that a chart covers.
const CHART_DAYS: usize = 60;
/// Trading days between two points of a chart.
const CHART_STEP: usize = 5;
/// A month with fewer trading days is not used.
const MIN_DAYS: usize = 15;

/// A complete month of a symbol, by the positions of its closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Month {
    /// Months since year 0.
    pub(super) index: i32,
    /// The position of its last close.
    pub(super) last: usize,
    /// The position of the close before its first.
    pub(super) before: usize,
}

/// A symbol's complete months, oldest first.
pub(super) struct SymbolMonths<'a> {
    pub(super) history: &'a PriceHistory,
    pub(super) months: Vec<Month>,
}

impl<'a> SymbolMonths<'a> {
    /// The first and the last month of a history are never complete for certain.
    pub(super) fn of(history: &'a PriceHistory) -> Self {
        let closes = &history.closes;
        let mut months = Vec::new();
        let mut first = 0;
        while first < closes.len() {
            let index = index_of(closes[first].date);
            let end = first + closes[first..].partition_point(|close| index_of(close.date) == index);
            if first > 0 && end < closes.len() && end - first >= MIN_DAYS {
                months.push(Month { index, last: end - 1, before: first - 1 });
            }
            first = end;
        }
        Self { history, months }
    }

    pub(super) fn count(&self, in_range: impl Fn(i32) -> bool) -> usize {
        self.months.iter().filter(|month| in_range(month.index)).count()
    }

    /// The position of a month by its index.
    pub(super) fn position(&self, index: i32) -> Option<usize> {
        self.months.binary_search_by_key(&index, |month| month.index).ok()
    }

    pub(super) fn close(&self, at: usize) -> DailyClose {
        self.history.closes[at]
    }

    /// The symbol with the company's name.
    pub(super) fn company(&self) -> String {
        let PriceHistory { symbol, name, .. } = self.history;
        if name.is_empty() || name == symbol { symbol.clone() } else { format!("{symbol} ({name})") }
    }

    /// Whether a chart can end at a position.
    pub(super) fn has_chart(last: usize) -> bool {
        last >= CHART_DAYS
    }

    /// The weekly closes up to a position, the last one indexed to 100. `None` without enough earlier days.
    pub(super) fn chart_until(&self, last: usize) -> Option<Vec<f64>> {
        let first = last.checked_sub(CHART_DAYS)?;
        let base = self.close(last).adjusted;
        Some((first..=last).step_by(CHART_STEP).map(|at| 100.0 * self.close(at).adjusted / base).collect())
    }

    /// The weekly closes from a position on, run backward: they end with that position, which is indexed to 100. `None`
    /// without enough later days.
    pub(super) fn reversed_until(&self, last: usize) -> Option<Vec<f64>> {
        let end = last + CHART_DAYS;
        let base = self.history.closes.get(last)?.adjusted;
        self.history.closes.get(end)?;
        let points = (last..=end).rev().step_by(CHART_STEP);
        Some(points.map(|at| 100.0 * self.close(at).adjusted / base).collect())
    }
}

/// Inverts every change of a chart: a rise becomes the fall of the same log return.
pub(super) fn flipped(chart: &[f64]) -> Vec<f64> {
    let base = chart.last().copied().unwrap_or(100.0);
    chart.iter().map(|value| base * base / value).collect()
}

/// Runs a chart backward, indexed to 100 at its new end.
pub(super) fn backward(chart: &[f64]) -> Vec<f64> {
    let base = chart.first().copied().unwrap_or(100.0);
    chart.iter().rev().map(|value| 100.0 * value / base).collect()
}

/// Months since year 0.
pub(super) fn index_of(date: Date) -> i32 {
    i32::from(date.year()) * 12 + i32::from(date.month()) - 1
}

/// A month as `2012-03`.
pub(super) fn label(index: i32) -> String {
    format!("{}-{:02}", index.div_euclid(12), index.rem_euclid(12) + 1)
}

/// A month as `March 2012`.
pub(super) fn month_name(index: i32) -> String {
    let month = i8::try_from(index.rem_euclid(12) + 1).unwrap_or(1);
    let year = i16::try_from(index.div_euclid(12)).unwrap_or(i16::MAX);
    Date::new(year, month, 1).map(|first| first.strftime("%B %Y").to_string()).unwrap_or_default()
}
