//! Degraded, failed and unverified days.

use super::super::data::ReportData;
use super::super::words::{Words, count, percent};
use super::{agent, cell, end, end_table, note, number, paragraph, section, table};
use crate::html::Html;
use papertape_core::point_in_time::UnverifiedKind;
use papertape_protocol::results::point_in_time::PointInTimeReason;
use std::collections::BTreeMap;

/// How many days are listed of each reason.
const MAX_DAYS: usize = 8;
/// How many reasons are listed.
const MAX_REASONS: usize = 60;
/// The longest reason.
const MAX_REASON: usize = 160;

/// Days of an agent by state and reason.
type Reasons<'a> = BTreeMap<(&'a str, &'a str, Option<&'a str>), Vec<String>>;

pub(super) fn render(html: &mut Html, data: &ReportData) {
    let words = data.words;
    section(html, words.pick("Degraded days", "降级交易日"));
    table(
        html,
        &[
            (words.pick("Agent", "智能体"), false),
            (words.pick("Days", "天数"), true),
            (words.pick("Full research", "完整研究"), true),
            (words.pick("Degraded", "降级"), true),
            (words.pick("Failed", "失败"), true),
            (words.pick("Return on full research days", "完整研究日收益率"), true),
            (words.pick("Point in time", "时点核验"), false),
        ],
    );
    let mut reasons: Reasons<'_> = BTreeMap::new();
    let mut unexplained = 0;
    for run in &data.runs {
        let result = &run.result;
        let provenance = &result.provenance;
        html.raw("<tr><td>");
        agent(html, data, &result.model);
        if !data.is_single() {
            html.text(format!(" · {}/{}", run.window, run.trial));
        }
        html.raw("</td>");
        number(html, &count(result.full_research.total_days));
        number(html, &count(result.full_research.days));
        number(
            html,
            &count(
                provenance.degraded_days.len()
                    - provenance.failed_days.len().min(provenance.degraded_days.len()),
            ),
        );
        number(html, &count(provenance.failed_days.len()));
        let full = result.full_research.period_metrics.total_return;
        number(html, &full.map_or_else(|| words.pick("no such day", "无").to_owned(), percent));
        cell(
            html,
            match provenance.point_in_time.as_deref() {
                Some("verified") => words.pick("verified", "已核验"),
                _ => words.pick("unverified", "未核验"),
            },
        );
        html.raw("</tr>\n");
        for day in &provenance.reasons {
            let key = (result.model.as_str(), day.state.as_str(), day.reason.as_deref());
            reasons.entry(key).or_default().push(day.date.to_string());
        }
        unexplained += provenance.degraded_days.len().saturating_sub(provenance.reasons.len());
    }
    end_table(html);
    if reasons.is_empty() && unexplained == 0 {
        paragraph(
            html,
            words.pick(
                "Every day has full research: no node failed.",
                "每个交易日均为完整研究，没有节点失败。",
            ),
        );
    } else {
        listed(html, data, &reasons);
    }
    unverified(html, data);
    end(html);
}

fn listed(html: &mut Html, data: &ReportData, reasons: &Reasons<'_>) {
    let words = data.words;
    table(
        html,
        &[
            (words.pick("Agent", "智能体"), false),
            (words.pick("State", "状态"), false),
            (words.pick("First reason", "首要原因"), false),
            (words.pick("Days", "天数"), true),
            (words.pick("On", "日期"), false),
        ],
    );
    for ((name, state, reason), days) in reasons.iter().take(MAX_REASONS) {
        html.raw("<tr><td>");
        agent(html, data, name);
        html.raw("</td>");
        cell(html, words.quality(state));
        html.raw("<td>");
        match reason {
            Some(reason) => html.quote(reason, MAX_REASON, |length| words.cut(length)),
            None => html.text(words.pick("not recorded", "未记录")),
        };
        html.raw("</td>");
        number(html, &count(days.len()));
        let more = days.len().saturating_sub(MAX_DAYS);
        let first = days.iter().take(MAX_DAYS).cloned().collect::<Vec<_>>().join(", ");
        cell(html, &if more == 0 { first } else { format!("{first} (+{})", count(more)) });
        html.raw("</tr>\n");
    }
    end_table(html);
    if reasons.len() > MAX_REASONS {
        let (shown, all) = (count(MAX_REASONS), count(reasons.len()));
        note(
            html,
            &words.pick(
                format!("{shown} of {all} reasons are listed."),
                format!("共 {all} 种原因，列出 {shown} 种。"),
            ),
        );
    }
    note(
        html,
        words.pick(
            "Days with full research are a selected subset, so their return is not a result of its own. A fallback on the \
             other days is never counted as the model's opinion.",
            "完整研究日是被筛选出的子集，其收益率不能单独作为结论。其余日子的兜底结果不视为模型的观点。",
        ),
    );
}

fn unverified(html: &mut Html, data: &ReportData) {
    let words = data.words;
    let mut shown: Vec<String> = Vec::new();
    for run in &data.runs {
        let Some(reason) = &run.result.provenance.point_in_time_reason else { continue };
        let text = format!("{}: {}", run.result.model, sentence(words, reason));
        if !shown.contains(&text) {
            shown.push(text);
        }
    }
    if shown.is_empty() {
        return;
    }
    html.raw("<p class=\"warning\"><strong>");
    html.text(words.pick("Not verified as point-in-time.", "未通过时点核验。")).raw("</strong> ");
    html.text(words.pick(
        "An agent may have seen data from after its decisions. The first day of each agent that is unverified, and why:",
        "智能体可能看到了决策之后的数据。以下为各智能体首个未核验交易日及原因：",
    ));
    html.raw("</p>\n<ul class=\"plain\">\n");
    for text in shown.iter().take(MAX_REASONS) {
        html.raw("<li>").quote(text, 300, |length| words.cut(length)).raw("</li>\n");
    }
    html.raw("</ul>\n");
}

fn sentence(words: Words, reason: &PointInTimeReason) -> String {
    if matches!(words.0, papertape_core::language::Language::En) {
        return reason.sentence();
    }
    let origin = format!("任务 {} 中 {} 的交易日", reason.job, reason.date);
    match reason.kind {
        UnverifiedKind::ExternalTools => format!("{origin}使用了外部工具"),
        UnverifiedKind::External => format!("{origin}由外部智能体交易"),
        UnverifiedKind::Import => format!("{origin}为导入数据"),
        UnverifiedKind::Memory => format!("读取了源自{origin}的记忆"),
        UnverifiedKind::Continuation => format!("账户延续自{origin}"),
        UnverifiedKind::Branch => format!("分支点在{origin}之后"),
    }
}
