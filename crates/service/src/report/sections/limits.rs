//! What the numbers do not show.

use super::super::data::ReportData;
use super::{end, section};
use crate::html::Html;
use papertape_core::metric::MIN_ANNUALIZED_DAYS;
use papertape_protocol::cutoff::TrainingCutoffResponse;
use std::collections::BTreeMap;

pub(super) fn render(html: &mut Html, data: &ReportData) {
    let words = data.words;
    section(html, words.pick("Limits of this report", "本报告的局限"));
    html.raw("<ul class=\"plain\">\n");
    for text in limits(data) {
        html.raw("<li>").text(text).raw("</li>\n");
    }
    html.raw("</ul>\n");
    end(html);
    html.raw("<footer><p>");
    html.text(words.pick(
        "Paper trading on recorded market days. Not advice. Everything here is from the record; texts of models are quoted \
         as data.",
        "基于历史行情的模拟交易，不构成投资建议。全部内容取自记录，模型文本仅作引用。",
    ));
    html.raw(" <code>papertape ").text(env!("CARGO_PKG_VERSION")).raw("</code> <code>papertape verify ");
    html.text(data.job.id.as_str()).raw("</code></p></footer>\n");
}

fn limits(data: &ReportData) -> Vec<String> {
    let words = data.words;
    let mut limits = Vec::new();
    let mut add = |en: &str, zh: &str| limits.push(words.pick(en, zh).to_owned());
    if data.is_interim() {
        add("The run is not finished: every number can still change.", "运行尚未结束，所有数字都可能变化。");
    }
    let is_llm = |run: &super::super::run::Run| run.result.is_llm != Some(false);
    if data.is_single() && data.runs.iter().any(is_llm) {
        add(
            "A single run says something about that run, not about a model or a configuration. Run 3 or more trials.",
            "单次运行只能说明该次运行，不能说明模型或配置。请运行 3 次以上试验。",
        );
    }
    if data.runs.iter().any(|run| run.result.is_llm == Some(false)) {
        add("House models are rules, not LLMs.", "内置模型（house）是规则策略，不是大模型。");
    }
    if data.runs.iter().any(|run| run.result.provenance.point_in_time.as_deref() != Some("verified")) {
        add(
            "Some days are not verified as point-in-time: an agent may have seen its future.",
            "部分交易日未通过时点核验，智能体可能看到了未来数据。",
        );
    }
    if data.runs.iter().any(|run| run.result.baselines.is_none()) {
        add(
            "The dataset is not available, so baselines and full months are missing.",
            "数据集不可用，因此缺少基线与完整月份判断。",
        );
    }
    if data.runs.iter().any(|run| run.result.period_metrics.days < MIN_ANNUALIZED_DAYS) {
        add(
            "Under 60 days nothing is annualized and there is no verdict.",
            "不足 60 天不做年化，也不下结论。",
        );
    }
    if data.used.unpriced_calls > 0 {
        add(
            "The price of some model calls is unknown, so the model cost is unknown, and so are returns net of it.",
            "部分模型调用没有价格，模型费用及扣除后的收益未知。",
        );
    }
    if data.used.estimated_calls > 0 {
        add("The usage of some model calls is an estimate.", "部分模型调用的用量为估算值。");
    }
    let conventions = data.runs.iter().find_map(|run| run.result.conventions.as_ref());
    if conventions.is_some_and(|found| found.costs == "frictionless") {
        add(
            "Trading cost nothing in this run: results with costs are lower.",
            "本次运行不计交易成本，计入后结果会更低。",
        );
    }
    if conventions.is_some_and(|found| found.fees.iter().any(|fee| fee.unverified || fee.approximate)) {
        add("Some fee rates are approximate or have no verified source.", "部分费率为近似值或来源未核实。");
    }
    if data.config.imported.is_some() {
        add(
            "The days were imported: orders keep the convention of their source.",
            "交易日为导入数据，委托沿用来源的成交约定。",
        );
    }
    if data.runs.iter().any(|run| run.result.insolvent.is_some()) {
        add(
            "An account became insolvent; its trading stopped, and only its drawdown covers all days.",
            "有账户资不抵债并停止交易，仅回撤覆盖全部交易日。",
        );
    }
    if data.runs.iter().any(|run| !run.result.done_before.is_empty()) {
        add(
            "Some days were completed by earlier jobs; they are included.",
            "部分交易日由更早的任务完成，已包含在内。",
        );
    }
    if data.config.masking.is_some() {
        add(
            "The run was masked: the agents saw other names, days or prices. Results are under real names and dates; what \
             agents wrote is quoted as they wrote it.",
            "本次运行经过脱敏：智能体看到的代码、日期或价格并非真实。结果以真实代码和日期显示，智能体的文字按原文引用。",
        );
    }
    for cutoff in cutoffs(data) {
        let TrainingCutoffResponse { model, days, .. } = cutoff;
        match (cutoff.date, cutoff.days_before) {
            (Some(_), Some(0)) => {}
            (Some(date), Some(before)) => add(
                &format!(
                    "{before} of {days} days lie before the stated training cut-off of {model} ({date})."
                ),
                &format!(
                    "{days} 个交易日中有 {before} 个早于 {model} 的训练数据截止日期（厂商声明：{date}）。"
                ),
            ),
            _ => add(
                &format!(
                    "The training cut-off of {model} is not known: it may have been trained on these days."
                ),
                &format!("{model} 的训练数据截止日期未知，可能已学习过这些交易日。"),
            ),
        }
    }
    add(
        "Fills do not move the market, and orders of an agent never meet those of another.",
        "成交不影响市场价格，智能体之间的委托互不影响。",
    );
    add(
        "A language model may remember the days that it trades. Nothing here excludes that.",
        "大模型可能记得所交易的历史行情，本报告无法排除这一点。",
    );
    limits
}

/// The training cut-offs of the runs' models: of each model, the one with the most days.
fn cutoffs(data: &ReportData) -> impl Iterator<Item = &TrainingCutoffResponse> {
    let mut of_model: BTreeMap<&str, &TrainingCutoffResponse> = BTreeMap::new();
    for cutoff in data.runs.iter().flat_map(|run| &run.result.training_cutoffs) {
        let found = of_model.entry(&cutoff.model).or_insert(cutoff);
        if cutoff.days > found.days {
            *found = cutoff;
        }
    }
    of_model.into_values()
}
