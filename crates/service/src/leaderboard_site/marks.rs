//! What a reader must know about an entry, in words.

use crate::report::words::{Words, share};
use papertape_core::point_in_time::UnverifiedKind;
use papertape_protocol::cutoff::TrainingCutoffResponse;
use papertape_protocol::leaderboard::LeaderboardEntry;

/// What an entry is.
pub(super) fn kind(words: Words, entry: &LeaderboardEntry) -> &'static str {
    match (entry.kind.as_str(), entry.is_llm) {
        ("baseline", _) => words.pick("baseline", "基准策略"),
        (_, Some(false)) => words.pick("rules, not an LLM", "规则策略，非大模型"),
        _ => words.pick("LLM", "大模型"),
    }
}

/// Why an entry is not ranked.
pub(super) fn unranked(words: Words, code: &str) -> &'static str {
    match code {
        "insolvent" => words.pick("insolvent", "资不抵债"),
        "interim" => words.pick("interim", "尚未完成"),
        "too_few_days" => words.pick("under 60 days", "不足 60 天"),
        "two_trials" => {
            words.pick("two trials support no claim; run a third", "两次试验无法得出结论，请再运行一次")
        }
        _ => words.pick("nothing to compare it with", "没有可比较的对象"),
    }
}

/// A caveat of a board.
pub(super) fn note(words: Words, code: &str) -> &'static str {
    match code {
        "single_runs" => words.pick(
            "An entry of one trial is about that run, not about a model or a configuration. Run 3 or more trials.",
            "只有一次试验的条目仅说明该次运行，不能说明模型或配置。请运行 3 次以上试验。",
        ),
        "mixed_trials" => words.pick(
            "Single runs are not compared with configurations of three or more trials, so their ranks are wide.",
            "单次运行不与三次及以上试验的配置比较，因此名次区间较宽。",
        ),
        "no_baseline" => words.pick(
            "Buy and hold is missing: the dataset is not available.",
            "缺少买入持有基准：数据集不可用。",
        ),
        "omitted_runs" => words.pick(
            "Repeated days, repeated runs of rules and trials beyond the newest 10 are not counted as trials.",
            "重复的交易日、规则策略的重复运行，以及最近 10 次以外的试验不计入试验次数。",
        ),
        _ => "",
    }
}

/// All warnings about an entry.
pub(super) fn warnings(words: Words, entry: &LeaderboardEntry) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(code) = &entry.unranked {
        found.push(words.pick(
            format!("Not ranked: {}.", unranked(words, code)),
            format!("未排名：{}。", unranked(words, code)),
        ));
    }
    if let Some(on) = entry.insolvent_on {
        let on = words.date(on);
        found.push(words.pick(format!("Lost everything on {on}."), format!("{on} 资金全部亏损。")));
    }
    if entry.point_in_time.as_deref() == Some("unverified") {
        let why = entry.point_in_time_reason.as_ref().map(|reason| unverified(words, reason.kind));
        let why = why.unwrap_or(words.pick("unknown reason", "原因未知"));
        found.push(words.pick(
            format!("Not verified as point-in-time: {why}."),
            format!("未验证为仅使用当时可见数据：{why}。"),
        ));
    }
    if let Some(program) = &entry.imported_from {
        found.push(words.pick(format!("Imported from {program}."), format!("导入自 {program}。")));
    }
    if let Some(mask) = &entry.mask {
        found.push(words.pick(format!("Masked: {mask}."), format!("已遮蔽：{mask}。")));
    }
    if let Some(quality) = entry.quality.filter(|quality| quality.degraded_days > 0) {
        let of = share(quality.degraded_share.unwrap_or_default());
        let (days, none, failed) = (quality.degraded_days, quality.no_decision_days, quality.failed_days);
        found.push(words.pick(
            format!(
                "{of} of the model-days are degraded ({days}; {none} without a decision, {failed} failed)."
            ),
            format!("{of} 的模型交易日存在降级（共 {days} 天，其中无决策 {none} 天、失败 {failed} 天）。"),
        ));
    }
    if entry.kind == "agent" && entry.model_cost_usd.is_none() {
        let text =
            words.pick("The model cost is unknown: a call has no price.", "模型费用未知：部分调用没有价格。");
        found.push(text.to_owned());
    }
    found.extend(entry.training_cutoffs.iter().filter_map(|cutoff| cutoff_warning(words, cutoff)));
    if entry.omitted_runs > 0 {
        let runs = entry.omitted_runs;
        found.push(words.pick(
            format!("{runs} more {} not counted as trials.", if runs == 1 { "run is" } else { "runs are" }),
            format!("另有 {runs} 次运行未计入试验。"),
        ));
    }
    found
}

fn unverified(words: Words, kind: UnverifiedKind) -> &'static str {
    match kind {
        UnverifiedKind::ExternalTools => words.pick("it used external tools", "使用了外部工具"),
        UnverifiedKind::External => words.pick("it is an external agent", "为外部智能体"),
        UnverifiedKind::Import => words.pick("its days were imported", "交易日为外部导入"),
        UnverifiedKind::Memory => words.pick("it read an unverified memory", "读取了未验证的记忆"),
        UnverifiedKind::Continuation => {
            words.pick("its account continues an unverified one", "账户延续自未验证的运行")
        }
        UnverifiedKind::Branch => words.pick("it branched off an unverified run", "分支自未验证的运行"),
    }
}

fn cutoff_warning(words: Words, cutoff: &TrainingCutoffResponse) -> Option<String> {
    let warning = cutoff.warning.as_ref()?;
    let (model, days) = (&cutoff.model, cutoff.days);
    let zh = match (cutoff.date, cutoff.days_before) {
        (Some(date), Some(before)) => {
            format!("{days} 个交易日中有 {before} 天早于 {model} 声明的训练截止日（{date}）。")
        }
        _ => format!("{model} 的训练截止日未知：其训练数据可能包含这些交易日。"),
    };
    Some(words.pick(format!("{warning}."), zh))
}
