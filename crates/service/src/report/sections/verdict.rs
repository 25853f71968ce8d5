//! Comparisons: verdicts in words, with their intervals drawn.

use super::super::chart;
use super::super::data::ReportData;
use super::super::words::{Words, count, p_value, points, ratio};
use super::{agent, end, name, note, paragraph, section};
use crate::html::Html;
use papertape_protocol::compare::pair::{CheckResponse, ComparedPair, DifferenceResponse};
use papertape_protocol::compare::{CompareResponse, ComparedItem};
use std::collections::BTreeSet;

/// The number of listed pairs.
const MAX_PAIRS: usize = 120;

pub(super) fn render(html: &mut Html, data: &ReportData) {
    let words = data.words;
    section(html, words.pick("Compared with the baselines", "与基线策略比较"));
    match data.against_baselines() {
        Ok(found) => {
            let has_baseline =
                |pair: &&ComparedPair| pair.b.starts_with("baseline:") || pair.a.starts_with("baseline:");
            let pairs: Vec<&ComparedPair> = found.pairs.iter().filter(has_baseline).collect();
            let others = found.pairs.len() > pairs.len();
            draw(html, data, found, &pairs);
            family(html, data, found);
            if others && data.is_single() {
                end(html);
                section(html, words.pick("Agents compared with each other", "智能体两两比较"));
                let pairs: Vec<&ComparedPair> =
                    found.pairs.iter().filter(|pair| !has_baseline(pair)).collect();
                draw(html, data, found, &pairs);
            }
        }
        Err(why) => missing(html, words, why),
    }
    end(html);
    if data.experiment.is_some() {
        section(html, words.pick("Comparison as declared", "按实验计划比较"));
        match &data.comparison {
            Ok(found) => {
                let pairs: Vec<&ComparedPair> = found.pairs.iter().collect();
                draw(html, data, found, &pairs);
                family(html, data, found);
            }
            Err(why) => missing(html, words, why),
        }
        end(html);
    }
}

fn missing(html: &mut Html, words: Words, why: &str) {
    html.raw("<p>")
        .text(words.pick("Not available: ", "无法比较："))
        .quote(why, 400, |length| words.cut(length));
    html.raw("</p>\n");
}

fn draw(html: &mut Html, data: &ReportData, found: &CompareResponse, pairs: &[&ComparedPair]) {
    let words = data.words;
    let bounds = |pair: &ComparedPair| {
        let difference = pair.difference.as_ref()?;
        let interval = difference.total_interval;
        Some(interval.map_or((difference.total, difference.total), |bounds| (bounds.low, bounds.high)))
    };
    let reach = pairs
        .iter()
        .filter_map(|pair| bounds(pair))
        .fold(0.0_f64, |reach, (low, high)| reach.max(low.abs()).max(high.abs()))
        .max(0.001);
    html.raw("<div class=\"pairs\">\n");
    for pair in pairs.iter().take(MAX_PAIRS) {
        html.raw("<div class=\"pair\"><p class=\"who\">");
        item(html, data, found, &pair.a);
        html.raw(" <span class=\"vs\">").text(words.pick("vs", "对比")).raw("</span> ");
        item(html, data, found, &pair.b);
        html.raw("</p><p class=\"verdict v-").text(&pair.verdict).raw("\">");
        html.text(verdict(words, pair)).raw("</p><div class=\"bar\">");
        match &pair.difference {
            Some(difference) => {
                let interval = difference.total_interval.map(|bounds| (bounds.low, bounds.high));
                chart::interval(html, difference.total, interval, reach);
            }
            None => {
                html.raw("<span class=\"note\">")
                    .text(words.pick("no difference to draw", "无可绘制的差异"))
                    .raw("</span>");
            }
        }
        html.raw("</div><p class=\"why\">").text(sentence(words, pair)).raw("</p></div>\n");
    }
    let scale = [-reach, 0.0, reach].map(points);
    html.raw("<div class=\"scale\"><span>")
        .text(&scale[0])
        .raw("</span><span>0</span><span>")
        .text(&scale[2]);
    html.raw("</span></div></div>\n");
    note(
        html,
        words.pick(
            "The bar is the 95% interval of the difference in points, A less B, over the shared days; the mark is the \
             estimate. Zero is in the middle. No bar: under 20 days there is no interval.",
            "横条为共同交易日内差异（前者减后者，单位：点）的 95% 置信区间，竖线为估计值，正中为零。不足 20 天没有区间。",
        ),
    );
    let claims: BTreeSet<&str> =
        pairs.iter().filter_map(|pair| claim(words, pair.estimand.as_deref())).collect();
    claims.into_iter().for_each(|claim| note(html, claim));
    if pairs.len() > MAX_PAIRS {
        let (all, shown) = (count(pairs.len()), count(MAX_PAIRS));
        note(
            html,
            &words.pick(
                format!("{shown} of {all} pairs are listed."),
                format!("共 {all} 对，列出 {shown} 对。"),
            ),
        );
    }
}

fn item(html: &mut Html, data: &ReportData, found: &CompareResponse, id: &str) {
    let known = found.items.iter().find(|item| item.id == id);
    match known.and_then(|item: &ComparedItem| item.agent.as_deref()) {
        Some(known) => agent(html, data, known),
        None => {
            html.raw("<i class=\"key ")
                .text(if id.ends_with("equal_weight") { "ew" } else { "bh" })
                .raw("\"></i>");
            name(html, &data.words.item(id, known.map_or(id, |item| &item.label)));
        }
    }
}

/// The verdict in words; a verdict that depends on an assumption names it.
fn verdict(words: Words, pair: &ComparedPair) -> String {
    let mut text = words.verdict(&pair.verdict).to_owned();
    let mut depends = Vec::new();
    if pair.words.contains("depends on the fill") {
        depends.push(words.pick("depends on the fill", "取决于成交方式"));
    }
    if pair.words.contains("depends on model cost") {
        depends.push(words.pick("depends on model cost", "取决于模型费用"));
    }
    if !depends.is_empty() {
        text.push_str(
            &words.pick(format!(" ({})", depends.join(", ")), format!("（{}）", depends.join("、"))),
        );
    }
    text
}

fn sentence(words: Words, pair: &ComparedPair) -> String {
    let mut parts = Vec::new();
    parts.extend(pair.difference.as_ref().map(|difference| size(words, difference, pair.holm_p)));
    parts.push(why(words, pair));
    if let Some(windows) = pair.windows_ahead {
        let (ahead, of) = (windows.ahead, windows.of);
        parts.push(words.pick(
            format!("Ahead in {ahead} of {of} windows."),
            format!("在 {of} 个窗口中有 {ahead} 个领先。"),
        ));
    }
    parts.join(words.pick(" ", ""))
}

fn size(words: Words, difference: &DifferenceResponse, p: Option<f64>) -> String {
    let total = points(difference.total);
    let days = words.days(difference.days);
    let interval = difference.total_interval.map(|bounds| (points(bounds.low), points(bounds.high)));
    let p = p.map(p_value);
    match (interval, p) {
        (Some((low, high)), Some(p)) => words.pick(
            format!(
                "{total} points over {days} (95% interval {low} to {high}; {p} after Holm's adjustment)."
            ),
            format!("{days}内差异为 {total} 点（95% 置信区间 {low} 至 {high}，Holm 校正后 {p}）。"),
        ),
        _ => words.pick(
            format!("{total} points over {days}, without an interval."),
            format!("{days}内差异为 {total} 点，没有置信区间。"),
        ),
    }
}

fn why(words: Words, pair: &ComparedPair) -> String {
    match pair.verdict.as_str() {
        "better" | "worse" => {
            let checks = [
                check(
                    words,
                    words.pick("With the same orders at the next open", "若同样的委托改为次日开盘成交"),
                    &pair.refilled,
                ),
                check(words, words.pick("Net of model cost", "扣除模型费用后"), &pair.net_of_model_cost),
            ];
            checks.join(words.pick(" ", ""))
        }
        "not_distinguishable" => {
            let mut text = words
                .pick(
                    "No difference is shown, which does not mean that there is none.",
                    "未显示出差异，但不代表没有差异。",
                )
                .to_owned();
            if let Some(smallest) = pair.min_detectable_points {
                let smallest = ratio(smallest);
                text.push_str(&words.pick(
                    format!(" Differences under {smallest} points per year would not have been seen."),
                    format!("每年小于 {smallest} 点的差异无法被发现。"),
                ));
                text.push_str(&match pair.days_needed {
                    Some(days) => {
                        let days = words.days(days);
                        words.pick(
                            format!(" It takes {days} to detect 10 points per year."),
                            format!("要发现每年 10 点的差异需要 {days}。"),
                        )
                    }
                    None => words
                        .pick(
                            " No number of days would show 10 points per year.",
                            "任何天数都不足以发现每年 10 点的差异。",
                        )
                        .to_owned(),
                });
            }
            text
        }
        "too_few_days" => {
            let (days, different) = (words.days(pair.days), words.days(pair.different_days));
            words.pick(
                format!("A verdict needs 60 shared days, 30 of them with a difference. There are {days}, {different} with a difference."),
                format!("结论至少需要 60 个共同交易日，其中 30 个有差异；现有 {days}，其中 {different}有差异。"),
            )
        }
        "interim" => words
            .pick(
                "The planned last day or trial has not been reached.",
                "尚未到达计划的最后一天或最后一次试验。",
            )
            .to_owned(),
        "identical" => words
            .pick("No day differs by more than rounding.", "每个交易日都没有超出舍入误差的差异。")
            .to_owned(),
        "insolvent" => words.pick("An account lost everything.", "有账户已亏损殆尽。").to_owned(),
        _ => {
            let found: Vec<&str> =
                pair.mismatches.iter().map(|mismatch| words.mismatch(&mismatch.what)).collect();
            let found = found.join(words.pick(", ", "、"));
            words.pick(
                format!("The runs differ in more than the agents: {found}."),
                format!("两者的条件不一致：{found}。"),
            )
        }
    }
}

fn check(words: Words, what: &str, check: &CheckResponse) -> String {
    match (&check.difference, check.holm_p) {
        (Some(difference), p) => {
            let total = points(difference.total);
            let p = p.map(|p| format!(", {}", p_value(p))).unwrap_or_default();
            words.pick(format!("{what}: {total} points{p}."), format!("{what}：{total} 点{p}。"))
        }
        (None, _) => words
            .pick(format!("{what}: does not apply or not available."), format!("{what}：不适用或无法计算。")),
    }
}

/// What a verdict is about.
fn claim(words: Words, estimand: Option<&str>) -> Option<&'static str> {
    match estimand? {
        "run_against_baseline" | "two_runs" => Some(words.pick(
            "The verdicts are about these runs on days like these, not about the models.",
            "结论仅针对这些运行及类似交易日，不代表模型本身。",
        )),
        "configurations" => Some(words.pick(
            "The verdicts are about these configurations, on days like these.",
            "结论针对这些配置及类似交易日。",
        )),
        "windows" => Some(words.pick(
            "The verdicts are about these configurations, over all windows together.",
            "结论针对这些配置，合并所有时间窗口。",
        )),
        _ => None,
    }
}

fn family(html: &mut Html, data: &ReportData, found: &CompareResponse) {
    let words = data.words;
    let family = &found.family;
    let tests = count(family.tests);
    let level = family.level;
    let declared = match family.declared_by {
        Some(_) => words.pick("declared before the runs", "运行前已声明"),
        None => words.pick("not declared before the runs", "运行前未声明"),
    };
    let kind = match family.kind.as_str() {
        "against" => words.pick("all against one", "全部与同一对象比较"),
        _ => words.pick("all pairs of agents and baselines", "智能体与基线两两比较"),
    };
    paragraph(
        html,
        &words.pick(
            format!(
                "Family of tests: {kind}, {tests} in all, adjusted together by Holm at {level}; {declared}."
            ),
            format!("检验族：{kind}，共 {tests} 项，统一按 Holm 方法校正，水平 {level}；{declared}。"),
        ),
    );
    if let Some(any) = &found.any_better {
        let p = p_value(any.p_value);
        let items = any.items;
        note(
            html,
            &words.pick(
                format!("Is any of the {items} better? SPA: {p}. It does not say which."),
                format!("{items} 个中是否有任何一个更好？SPA 检验：{p}，不说明是哪一个。"),
            ),
        );
    }
}
