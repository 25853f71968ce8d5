//! Returns by month: partial months are marked with their days.

use super::super::data::{MAX_DETAILED, ReportData};
use super::super::words::signed;
use super::{agent, end, note, section};
use crate::html::Html;
use std::collections::BTreeMap;

/// A month of an agent: the mean over its trials.
#[derive(Default)]
struct Month {
    returns: Vec<f64>,
    days: usize,
    is_partial: Option<bool>,
}

pub(super) fn render(html: &mut Html, data: &ReportData) {
    let words = data.words;
    section(html, words.pick("Monthly returns", "月度收益"));
    for name in data.agents.iter().take(MAX_DETAILED) {
        let mut months: BTreeMap<i16, BTreeMap<i8, Month>> = BTreeMap::new();
        for run in data.runs_of(name) {
            for found in &run.result.history.months {
                let month = months.entry(found.year).or_default().entry(found.month).or_default();
                month.returns.push(found.total_return);
                month.days = month.days.max(found.days);
                month.is_partial = found.is_partial;
            }
        }
        html.raw("<h3>");
        agent(html, data, name);
        html.raw("</h3>\n<div class=\"scroll\"><table class=\"months\"><thead><tr><th></th>");
        for at in 0..12 {
            html.raw("<th class=\"num\">").text(words.month(at)).raw("</th>");
        }
        html.raw("<th class=\"num\">").text(words.pick("Year", "全年")).raw("</th></tr></thead><tbody>\n");
        for (year, months) in &months {
            html.raw("<tr><th>").text(year).raw("</th>");
            for at in 1..=12 {
                cell(html, months.get(&at));
            }
            let year = months.values().map(|month| 1.0 + mean(&month.returns)).product::<f64>() - 1.0;
            html.raw("<td class=\"num sum\">").text(signed(100.0 * year, 1, "")).raw("</td></tr>\n");
        }
        html.raw("</tbody></table></div>\n");
    }
    note(
        html,
        words.pick(
            "In percent, in the exchange's time zone. A small number is a partial month with its days; a question mark: \
             unknown, because the dataset is not available. A year has the months that are shown.",
            "单位：%，按交易所时区划分。带小号数字的为不完整月份及其交易日数；问号表示数据集不可用、无法判断。全年仅含所列月份。",
        ),
    );
    if !data.is_single() {
        note(html, words.pick("Means over the trials of each window.", "为每个窗口各次试验的均值。"));
    }
    end(html);
}

fn mean(returns: &[f64]) -> f64 {
    returns.iter().sum::<f64>() / returns.len().max(1) as f64
}

fn cell(html: &mut Html, month: Option<&Month>) {
    let Some(month) = month else {
        html.raw("<td></td>");
        return;
    };
    let value = mean(&month.returns);
    html.raw(match value {
        value if value >= 0.08 => "<td class=\"num u3\">",
        value if value >= 0.03 => "<td class=\"num u2\">",
        value if value > 0.0 => "<td class=\"num u1\">",
        value if value <= -0.08 => "<td class=\"num d3\">",
        value if value <= -0.03 => "<td class=\"num d2\">",
        value if value < 0.0 => "<td class=\"num d1\">",
        _ => "<td class=\"num\">",
    });
    html.text(signed(100.0 * value, 1, ""));
    if month.is_partial == Some(true) {
        html.raw("<sub>").text(month.days).raw("</sub>");
    } else if month.is_partial.is_none() {
        html.raw("<sub>?</sub>");
    }
    html.raw("</td>");
}
