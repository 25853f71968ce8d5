//! Charts as SVG without text: labels are HTML around it, so that they stay legible at any width.

use super::words::{Words, count};
use crate::html::Html;
use papertape_core::time::Date;
use std::collections::BTreeSet;

/// The width and height of the drawing area, in its own units.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 300.0;
/// Groups of days in a chart with more days than `MAX_POINTS`.
const GROUPS: usize = 300;
/// Up to this many days, every day is drawn.
const MAX_POINTS: usize = 800;
/// How many dates are below a chart.
const DATES: usize = 6;

/// A line of a chart.
pub(super) struct Line {
    /// The number of its color, or `None` for a class of its own.
    pub(super) color: Option<usize>,
    /// The class if it has no color: `bh`, `ew` or `bm`.
    pub(super) class: &'static str,
    /// The position of the day, and the value.
    pub(super) points: Vec<(usize, f64)>,
}

/// A chart over days.
pub(super) struct Chart<'a> {
    pub(super) days: &'a [Date],
    pub(super) lines: Vec<Line>,
    /// A value that is marked by a line: 100, or 0.
    pub(super) reference: f64,
    /// Whether areas below the reference are filled.
    pub(super) has_area: bool,
    pub(super) label: &'a str,
    pub(super) format: fn(f64) -> String,
}

impl Chart<'_> {
    /// Draws it.
    pub(super) fn draw(&self, html: &mut Html, words: Words) {
        let values = self.lines.iter().flat_map(|line| line.points.iter().map(|(_, value)| *value));
        let (mut low, mut high) = values
            .fold((self.reference, self.reference), |(low, high), value| (low.min(value), high.max(value)));
        if high - low < 1e-9 {
            (low, high) = (low - 1.0, high + 1.0);
        }
        let margin = 0.04 * (high - low);
        if !self.has_area {
            high += margin;
        }
        low -= margin;
        let y = |value: f64| HEIGHT * (high - value) / (high - low);
        let x = |at: usize| match self.days.len() {
            0 | 1 => WIDTH / 2.0,
            days => WIDTH * at as f64 / (days - 1) as f64,
        };
        html.raw("<div class=\"chart\"><div class=\"plot\"><svg viewBox=\"0 0 1000 300\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"");
        html.text(self.label).raw("\">");
        let ticks = ticks(low, high);
        for tick in &ticks {
            html.raw("<path class=\"grid\" d=\"M0 ").text(tenths(y(*tick))).raw("H1000\"/>");
        }
        html.raw("<path class=\"ref\" d=\"M0 ").text(tenths(y(self.reference))).raw("H1000\"/>");
        for line in &self.lines {
            let points = reduced(&line.points);
            if self.has_area && self.lines.len() == 1 {
                html.raw("<path class=\"area ");
                class(html, line);
                html.raw("\" d=\"M").text(tenths(x(points.first().map_or(0, |point| point.0))));
                html.raw(" ").text(tenths(y(self.reference)));
                path(html, &points, (&x, &y), true);
                html.raw("L").text(tenths(x(points.last().map_or(0, |point| point.0))));
                html.raw(" ").text(tenths(y(self.reference))).raw("Z\"/>");
            }
            html.raw("<path class=\"line ");
            class(html, line);
            html.raw("\" d=\"");
            path(html, &points, (&x, &y), false);
            html.raw("\"/>");
        }
        html.raw("</svg></div>");
        for tick in &ticks {
            html.raw("<span class=\"y\" style=\"top:").text(tenths(100.0 * y(*tick) / HEIGHT)).raw("%\">");
            html.text((self.format)(*tick)).raw("</span>");
        }
        dates(html, words, self.days);
        html.raw("</div>");
        let drawn = self.lines.iter().map(|line| line.points.len()).max().unwrap_or_default();
        if drawn > MAX_POINTS {
            html.raw("<p class=\"note\">").text(words.pick(
                format!(
                    "{} days are drawn as {GROUPS} groups. Each keeps its first, lowest, highest and last value, so no \
                     extreme is missing.",
                    count(drawn)
                ),
                format!("{} 个交易日合并为 {GROUPS} 组绘制，每组保留首值、最低值、最高值和末值，不遗漏极值。", count(drawn)),
            ));
            html.raw("</p>");
        }
    }
}

fn class(html: &mut Html, line: &Line) {
    match line.color {
        Some(color) => html.raw("s").text(color % 12),
        None => html.raw(line.class),
    };
}

fn path(
    html: &mut Html,
    points: &[(usize, f64)],
    (x, y): (&dyn Fn(usize) -> f64, &dyn Fn(f64) -> f64),
    joins: bool,
) {
    for (at, (day, value)) in points.iter().enumerate() {
        html.raw(if at == 0 && !joins { "M" } else { "L" });
        html.text(tenths(x(*day))).raw(" ").text(tenths(y(*value)));
    }
}

/// The dates below a chart, at the same positions as its points.
fn dates(html: &mut Html, words: Words, days: &[Date]) {
    html.raw("<div class=\"dates\">");
    let last = days.len().saturating_sub(1);
    let positions: BTreeSet<usize> =
        if last == 0 { BTreeSet::from([0]) } else { (0..DATES).map(|at| at * last / (DATES - 1)).collect() };
    let is_long =
        days.first().zip(days.last()).is_some_and(|(first, last)| (*last - *first).get_days() > 120);
    for (at, day) in positions.iter().filter_map(|at| Some((*at, *days.get(*at)?))) {
        let is_minor = at != 0 && at != last && at != 2 * last / (DATES - 1);
        html.raw(if is_minor { "<span class=\"minor\"" } else { "<span" });
        let left = if last == 0 { 50.0 } else { 100.0 * at as f64 / last as f64 };
        html.raw(" style=\"left:").text(tenths(left)).raw("%\">");
        html.text(if is_long { words.month_of(day) } else { day.to_string() }).raw("</span>");
    }
    html.raw("</div>");
}

/// Marks of some days, on the same scale as a chart.
pub(super) fn strip(html: &mut Html, days: &[Date], marked: &[Date]) {
    let last = days.len().saturating_sub(1).max(1) as f64;
    let at = |date: &Date| days.binary_search(date).ok();
    // Neighbors that fall on the same place are one mark.
    let places: BTreeSet<u32> = marked
        .iter()
        .filter_map(at)
        .map(|at| (WIDTH * at as f64 / last).round().clamp(0.0, WIDTH) as u32)
        .collect();
    html.raw("<svg class=\"strip\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path d=\"");
    for place in places {
        html.raw("M").text(place).raw(" 0V10");
    }
    html.raw("\"/></svg>");
}

/// A point and its interval, on a scale from `-scale` to `scale`.
pub(super) fn interval(html: &mut Html, point: f64, bounds: Option<(f64, f64)>, scale: f64) {
    let x = |value: f64| tenths((500.0 + 480.0 * value / scale).clamp(0.0, WIDTH));
    html.raw("<svg class=\"interval\" viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path class=\"zero\" d=\"M500 0V20\"/>");
    if let Some((low, high)) = bounds {
        html.raw("<path class=\"bounds\" d=\"M").text(x(low)).raw(" 10H").text(x(high)).raw("\"/>");
        html.raw("<path class=\"ends\" d=\"M").text(x(low)).raw(" 5V15M").text(x(high)).raw(" 5V15\"/>");
    }
    html.raw("<path class=\"point\" d=\"M").text(x(point)).raw(" 3V17\"/></svg>");
}

/// The points that are drawn: all, or of each group the first, the lowest, the highest and the last.
fn reduced(points: &[(usize, f64)]) -> Vec<(usize, f64)> {
    if points.len() <= MAX_POINTS {
        return points.to_vec();
    }
    let mut drawn = Vec::new();
    for group in 0..GROUPS {
        let part = &points[group * points.len() / GROUPS..(group + 1) * points.len() / GROUPS];
        let by_value = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
        let kept = [part.first(), part.iter().min_by(by_value), part.iter().max_by(by_value), part.last()];
        let mut kept: Vec<(usize, f64)> = kept.into_iter().flatten().copied().collect();
        kept.sort_by_key(|point| point.0);
        kept.dedup_by_key(|point| point.0);
        drawn.extend(kept);
    }
    drawn
}

/// Three to six round values between two.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|at| at as f64 * step).collect()
}

/// With at most one decimal.
fn tenths(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a long curve is drawn with fewer points, and keeps its ends and extremes.
    #[test]
    fn a_long_curve_keeps_its_extremes() {
        let mut points: Vec<(usize, f64)> = (0..5000).map(|at| (at, (at as f64 / 50.0).sin())).collect();
        points[1234].1 = -9.0;
        points[4321].1 = 9.0;
        let drawn = reduced(&points);
        assert!(drawn.len() <= 4 * GROUPS, "{}", drawn.len());
        for kept in [0, 1234, 4321, 4999] {
            assert!(drawn.contains(&points[kept]), "{kept}");
        }
        assert!(drawn.windows(2).all(|pair| pair[0].0 < pair[1].0), "in order, none twice");
        assert_eq!(reduced(&points[..MAX_POINTS]).len(), MAX_POINTS);
    }

    /// Goal: ticks are round numbers within the range.
    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(93.0, 118.0), [95.0, 100.0, 105.0, 110.0, 115.0]);
        assert_eq!(ticks(-0.25, 0.0).len(), 6);
    }
}
