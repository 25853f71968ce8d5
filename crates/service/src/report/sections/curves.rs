//! Equity and drawdown curves, with degraded days marked.

use super::super::chart::{Chart, Line, strip};
use super::super::data::{MAX_DETAILED, ReportData};
use super::super::run::Run;
use super::super::words::{count, percent, ratio, share};
use super::{agent, end, note, section};
use crate::html::Html;
use papertape_core::time::Date;
use papertape_protocol::number::Number;
use std::collections::BTreeSet;

pub(super) fn render(html: &mut Html, data: &ReportData) {
    let words = data.words;
    let drawn: Vec<&str> = data.agents.iter().take(MAX_DETAILED).map(String::as_str).collect();
    let days: BTreeSet<Date> = data
        .runs
        .iter()
        .flat_map(|run| run.result.daily_portfolio_values.iter().map(|day| day.date))
        .collect();
    let days: Vec<Date> = days.into_iter().collect();
    section(html, words.pick("Equity and drawdown", "净值与回撤"));
    legend(html, data, &drawn);
    let lines = |value: fn(&[f64]) -> Vec<f64>, with_baselines: bool| {
        let mut lines = Vec::new();
        if with_baselines {
            lines.extend(baselines(data, &days, value));
        }
        for (color, name) in drawn.iter().enumerate() {
            for run in data.runs_of(name) {
                let closes = run.result.daily_portfolio_values.iter();
                let closes: Vec<(Date, Number)> = closes.map(|day| (day.date, day.portfolio_value)).collect();
                let points = series(&days, run.result.starting_portfolio_value, &closes, value);
                lines.push(Line { color: Some(color), class: "", points });
            }
        }
        lines
    };
    html.raw("<h3>").text(words.pick("Portfolio value, start = 100", "组合净值，期初 = 100")).raw("</h3>\n");
    let chart = Chart {
        days: &days,
        lines: lines(growth, true),
        reference: 100.0,
        has_area: false,
        label: words.pick("Portfolio value over time", "组合净值走势"),
        format: |value| if value.fract().abs() < 1e-9 { format!("{value:.0}") } else { ratio(value) },
    };
    chart.draw(html, words);
    html.raw("<h3>")
        .text(words.pick("Drawdown from the peak", "相对前高回撤"))
        .raw("</h3>\n<div class=\"low\">");
    let chart = Chart {
        days: &days,
        lines: lines(drawdown, false),
        reference: 0.0,
        has_area: true,
        label: words.pick("Drawdown over time", "回撤走势"),
        format: |value| {
            if value.abs() < 1e-9 || value.abs() >= 1.0 {
                share(value / 100.0)
            } else {
                percent(value / 100.0)
            }
        },
    };
    chart.draw(html, words);
    html.raw("</div>\n");
    strips(html, data, (&drawn, &days));
    if data.agents.len() > drawn.len() {
        let (drawn, all) = (count(drawn.len()), count(data.agents.len()));
        note(
            html,
            &words.pick(
                format!("{drawn} of {all} agents are drawn."),
                format!("共 {all} 个智能体，绘制 {drawn} 个。"),
            ),
        );
    }
    drawdowns(html, data);
    end(html);
}

fn legend(html: &mut Html, data: &ReportData, drawn: &[&str]) {
    let words = data.words;
    html.raw("<ul class=\"legend\">");
    for name in drawn {
        html.raw("<li>");
        agent(html, data, name);
        html.raw("</li>");
    }
    if data.runs.iter().any(|run| run.result.baselines.is_some()) {
        html.raw("<li><i class=\"key bh\"></i>").text(words.item("baseline:buy_and_hold", ""));
        html.raw("</li><li><i class=\"key ew\"></i>")
            .text(words.item("baseline:equal_weight", ""))
            .raw("</li>");
    } else {
        html.raw("<li class=\"note\">");
        html.text(words.pick("no baselines: the dataset is not available", "没有基线：数据集不可用"))
            .raw("</li>");
    }
    if let Some(benchmark) = data.runs.iter().find_map(|run| run.result.benchmark.as_ref()) {
        html.raw("<li><i class=\"key bm\"></i>").text(&benchmark.symbol).raw("</li>");
    }
    html.raw("</ul>\n");
}

/// The baselines and the benchmark of each window, once.
fn baselines(data: &ReportData, days: &[Date], value: fn(&[f64]) -> Vec<f64>) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut known: BTreeSet<(Date, Date)> = BTreeSet::new();
    for Run { result, .. } in &data.runs {
        let is_new = known.insert((result.start_date, result.end_date));
        let Some(baselines) = result.baselines.as_ref().filter(|_| is_new) else { continue };
        let mut of = vec![
            ("bh", &baselines.buy_and_hold.daily_portfolio_values),
            ("ew", &baselines.equal_weight.daily_portfolio_values),
        ];
        of.extend(result.benchmark.as_ref().map(|benchmark| ("bm", &benchmark.daily_portfolio_values)));
        for (class, values) in of.into_iter().filter(|(_, values)| !values.is_empty()) {
            let closes: Vec<(Date, Number)> =
                values.iter().map(|day| (day.date, day.portfolio_value)).collect();
            let points = series(days, result.starting_portfolio_value, &closes, value);
            lines.push(Line { color: None, class, points });
        }
    }
    lines
}

/// A curve, at the positions of its days.
fn series(
    days: &[Date],
    start: Number,
    closes: &[(Date, Number)],
    value: fn(&[f64]) -> Vec<f64>,
) -> Vec<(usize, f64)> {
    let values: Vec<f64> =
        std::iter::once(start).chain(closes.iter().map(|(_, value)| *value)).map(Number::to_f64).collect();
    let places = closes.iter().map(|(date, _)| days.binary_search(date).unwrap_or_default());
    places.zip(value(&values)).collect()
}

/// The values after the first, which is 100.
fn growth(values: &[f64]) -> Vec<f64> {
    values.iter().skip(1).map(|value| if values[0] > 0.0 { 100.0 * value / values[0] } else { 0.0 }).collect()
}

/// The decline of each value after the first from the peak so far, in percent.
fn drawdown(values: &[f64]) -> Vec<f64> {
    let mut peak = values[0];
    let decline = |value: &f64| {
        peak = peak.max(*value);
        if peak > 0.0 { 100.0 * (value / peak - 1.0) } else { 0.0 }
    };
    values.iter().skip(1).map(decline).collect()
}

/// A strip per agent that marks its degraded days, below the charts.
fn strips(html: &mut Html, data: &ReportData, (drawn, days): (&[&str], &[Date])) {
    let words = data.words;
    let degraded = |name: &str| -> BTreeSet<Date> {
        data.runs_of(name).flat_map(|run| run.result.provenance.degraded_days.iter().copied()).collect()
    };
    let marked: Vec<(&str, Vec<Date>)> =
        drawn.iter().map(|name| (*name, degraded(name).into_iter().collect::<Vec<_>>())).collect();
    if marked.iter().all(|(_, days)| days.is_empty()) {
        note(html, words.pick("No degraded days.", "没有降级交易日。"));
        return;
    }
    html.raw("<div class=\"strips\"><p class=\"note\">");
    html.text(words.pick("Degraded days", "降级交易日")).raw("</p>");
    for (name, marked) in marked.iter().filter(|(_, marked)| !marked.is_empty()) {
        html.raw("<div class=\"row\">");
        strip(html, days, marked);
        html.raw("<span>");
        agent(html, data, name);
        html.raw(": ").text(words.days(marked.len())).raw("</span></div>");
    }
    html.raw("</div>\n");
}

/// The deepest drawdowns of each agent that ran once.
fn drawdowns(html: &mut Html, data: &ReportData) {
    let words = data.words;
    if !data.is_single() {
        return;
    }
    html.raw("<h3>").text(words.pick("Deepest drawdowns", "最大的几次回撤")).raw("</h3>\n");
    super::table(
        html,
        &[
            (words.pick("Agent", "智能体"), false),
            (words.pick("Depth", "幅度"), true),
            (words.pick("Peak", "峰值日"), false),
            (words.pick("Trough", "谷底日"), false),
            (words.pick("Recovery", "恢复日"), false),
            (words.pick("Trading days", "交易日数"), true),
        ],
    );
    for run in data.runs.iter().take(MAX_DETAILED) {
        for found in run.result.history.drawdowns.iter().take(3) {
            html.raw("<tr><td>");
            agent(html, data, &run.result.model);
            html.raw("</td>");
            super::colored(html, found.depth, &percent(found.depth));
            let start = words.pick("start", "期初").to_owned();
            super::cell(html, &found.peak.map_or(start, |date| date.to_string()));
            super::cell(html, &found.trough.to_string());
            let open = words.pick("open", "未恢复").to_owned();
            super::cell(html, &found.recovery.map_or(open, |date| date.to_string()));
            super::number(html, &count(found.days));
            html.raw("</tr>\n");
        }
    }
    super::end_table(html);
}
