//! What ran, and its results at a glance.

use super::super::data::ReportData;
use super::super::words::{NONE, count, gain, money, percent, points, ratio};
use super::{agent, cell, colored, end, end_table, name, note, number, section, table};
use crate::html::Html;
use papertape_agents::config::AgentKind;
use papertape_core::time::Timestamp;
use papertape_protocol::compare::pair::ComparedPair;

/// The maximum number of symbols that are listed.
const MAX_SYMBOLS: usize = 40;

/// The title of the page.
pub(in crate::report) fn title(data: &ReportData) -> String {
    let id = match &data.experiment {
        Some(found) => found.experiment.experiment.experiment_id.clone(),
        None => data.job.id.to_string(),
    };
    let what = match &data.experiment {
        Some(_) => data.words.pick("Experiment", "实验"),
        None => data.words.pick("Backtest", "回测"),
    };
    format!("{what} {id} · Papertape")
}

pub(super) fn render(html: &mut Html, data: &ReportData) {
    let words = data.words;
    html.raw("<header>\n<p class=\"brand\">Papertape · ");
    html.text(words.pick("paper trading of LLM agents", "大模型智能体模拟交易")).raw("</p>\n<h1>");
    html.text(match &data.experiment {
        Some(_) => words.pick("Experiment report", "实验报告"),
        None => words.pick("Backtest report", "回测报告"),
    });
    html.raw("</h1>\n");
    if data.is_interim() {
        html.raw("<p class=\"banner\">").text(interim(data)).raw("</p>\n");
    }
    html.raw("<dl class=\"facts\">\n");
    let mut fact = |label: &str, text: &str| {
        html.raw("<div><dt>").text(label).raw("</dt><dd>").text(text).raw("</dd></div>\n");
    };
    for (label, text) in facts(data) {
        fact(label, &text);
    }
    html.raw("</dl>\n");
    html.raw("<dl class=\"agents\">\n");
    for config in &data.config.agents {
        html.raw("<div><dt>");
        agent(html, data, config.name.as_str());
        html.raw("</dt><dd>");
        let kind = match config.kind {
            AgentKind::Solo => words.pick("one agent with tools", "单智能体"),
            AgentKind::Desk => words.pick("desk", "交易团队"),
            AgentKind::External => words.pick("external agent", "外部智能体"),
        };
        html.text(kind).raw(" · ");
        let models: Vec<String> = config.models().iter().map(ToString::to_string).collect();
        name(html, &models.join(", "));
        let label = if config.is_rule_based() {
            words.pick(" · rules, not an LLM", " · 规则策略，非大模型")
        } else if models.is_empty() {
            words.pick("its models are unknown", "所用模型未知")
        } else {
            words.pick(" · LLM", " · 大模型")
        };
        html.text(label).raw("</dd></div>\n");
    }
    html.raw("</dl>\n</header>\n");
}

fn interim(data: &ReportData) -> String {
    let words = data.words;
    match &data.experiment {
        Some(found) => {
            let summary = &found.experiment.experiment;
            let (done, planned) = (summary.completed_jobs, summary.planned_jobs);
            words.pick(
                format!("Interim: {done} of {planned} planned jobs have completed. Repeated checks of an unfinished run find differences that do not exist."),
                format!("尚未完成：{planned} 个计划任务中已完成 {done} 个。反复查看未完成的运行会发现并不存在的差异。"),
            )
        }
        None => {
            let status = words.0.status(data.job.status.as_str()).to_owned();
            words.pick(
                format!("Interim: the job is {status}. The numbers cover the days that are closed."),
                format!("尚未完成：任务状态为“{status}”，数据仅涵盖已收盘的交易日。"),
            )
        }
    }
}

fn facts(data: &ReportData) -> Vec<(&'static str, String)> {
    let words = data.words;
    let config = &data.config;
    let mut facts = Vec::new();
    let instant = |at: Timestamp| format!("{} UTC", at.strftime("%Y-%m-%d %H:%M"));
    match &data.experiment {
        Some(found) => {
            let summary = &found.experiment.experiment;
            facts.push((words.pick("Experiment", "实验"), summary.experiment_id.clone()));
            facts.push((
                words.pick("Status", "状态"),
                format!(
                    "{}, {}/{} {}",
                    words.0.status(summary.status.as_str()),
                    summary.completed_jobs,
                    summary.planned_jobs,
                    words.pick("jobs completed", "个任务已完成")
                ),
            ));
            let seeds: Vec<String> =
                found.experiment.manifest.seeds.iter().map(ToString::to_string).collect();
            facts.push((
                words.pick("Trials × windows", "试验次数 × 时间窗口"),
                format!("{} × {}", summary.trials, summary.windows),
            ));
            facts.push((words.pick("Seeds", "随机种子"), seeds.join(", ")));
            facts.push((words.pick("Manifest hash", "计划哈希"), found.experiment.manifest_hash.clone()));
            facts.push((words.pick("Requested", "创建时间"), instant(summary.created_at)));
        }
        None => {
            facts.push((words.pick("Job", "任务"), data.job.id.to_string()));
            let status = words.0.status(data.job.status.as_str()).to_owned();
            facts.push((words.pick("Status", "状态"), status));
            facts.push((words.pick("Seed", "随机种子"), config.seed.to_string()));
            if data.is_bundled {
                return with_run(data, facts);
            }
            facts.push((words.pick("Requested", "创建时间"), instant(data.job.created_at)));
            let completed = data.job.completed_at.map_or_else(|| NONE.to_owned(), instant);
            facts.push((words.pick("Completed", "完成时间"), completed));
        }
    }
    with_run(data, facts)
}

/// Adds what the runs have in common.
fn with_run(data: &ReportData, mut facts: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let words = data.words;
    let config = &data.config;
    let starts = data.runs.iter().map(|run| run.result.start_date).min();
    let ends = data.runs.iter().map(|run| run.result.end_date).max();
    if let Some((first, last)) = starts.zip(ends) {
        let days = data.runs.iter().map(|run| run.result.period_metrics.days).max().unwrap_or_default();
        let of_run =
            if data.is_single() { "" } else { words.pick(" per run at most", "（单次运行最多）") };
        facts.push((
            words.pick("Period", "区间"),
            format!("{}, {}{of_run}", words.period(first, last), words.days(days)),
        ));
    }
    facts.push((words.pick("Data", "数据集"), config.dataset.name.clone()));
    facts.push((words.pick("Data hash", "数据哈希"), config.dataset.hash.to_hex()));
    let symbols: Vec<&str> = config.symbols.iter().map(papertape_core::id::Symbol::as_str).collect();
    let listed = symbols.iter().take(MAX_SYMBOLS).copied().collect::<Vec<_>>().join(", ");
    let more = symbols.len().saturating_sub(MAX_SYMBOLS);
    let listed = if more == 0 { listed } else { format!("{listed} (+{})", count(more)) };
    let universe = match &config.universe {
        Some(index) => words.pick(format!("members of {index} on each day"), format!("{index} 当日成分股")),
        None => listed,
    };
    facts.push((words.pick("Instruments", "标的"), universe));
    facts.push((words.pick("Market", "市场"), config.market.name.clone()));
    facts.push((words.pick("Initial cash", "初始资金"), money(config.initial_cash.to_f64())));
    let fallback = words.pick("none", "无").to_owned();
    facts.push((
        words.pick("Benchmark", "业绩基准"),
        config.benchmark.as_ref().map_or(fallback, ToString::to_string),
    ));
    facts.push((words.pick("Rules version", "规则版本"), data.job.rules_version.to_string()));
    if !data.is_bundled {
        facts.push((words.pick("Configuration hash", "配置哈希"), data.job.fingerprint.to_hex()));
    }
    facts.push((words.pick("Model usage", "模型用量"), usage(data)));
    facts
}

fn usage(data: &ReportData) -> String {
    let words = data.words;
    let used = &data.used;
    let tokens = used.usage.input_tokens.saturating_add(used.usage.output_tokens);
    let tokens = crate::format::count(tokens);
    let cost = match used.unpriced_calls {
        0 => format!("${}", used.cost_usd.normalize()),
        calls => words.pick(
            format!("cost unknown ({calls} calls without a price)"),
            format!("费用未知（{calls} 次调用没有价格）"),
        ),
    };
    let estimated = match used.estimated_calls {
        0 => String::new(),
        calls => words.pick(format!(", {calls} calls estimated"), format!("，其中 {calls} 次为估算")),
    };
    words.pick(format!("{tokens} tokens, {cost}{estimated}"), format!("{tokens} 个 token，{cost}{estimated}"))
}

/// The results at a glance: a row per agent.
pub(super) fn overview(html: &mut Html, data: &ReportData) {
    if !data.is_single() {
        return;
    }
    let words = data.words;
    section(html, words.pick("Results", "结果"));
    table(
        html,
        &[
            (words.pick("Agent", "智能体"), false),
            (words.pick("Return", "收益率"), true),
            (words.pick("Profit", "盈亏"), true),
            (words.pick("vs buy and hold", "相对买入持有"), true),
            (words.pick("Max drawdown", "最大回撤"), true),
            (words.pick("Sharpe", "夏普比率"), true),
            (words.pick("Days", "天数"), true),
            (words.pick("Verdict against buy and hold", "与买入持有相比"), false),
        ],
    );
    for run in &data.runs {
        let result = &run.result;
        let metrics = &result.period_metrics;
        html.raw("<tr><td>");
        agent(html, data, &result.model);
        html.raw("</td>");
        match metrics.total_return {
            Some(value) => colored(html, value, &percent(value)),
            None => number(html, NONE),
        }
        let profit = result.ending_portfolio_value.to_f64() - result.starting_portfolio_value.to_f64();
        colored(html, profit, &gain(profit));
        let pair = against(data, &result.model, "baseline:buy_and_hold");
        match pair.and_then(|pair| pair.difference.as_ref()) {
            Some(found) => {
                let text =
                    words.pick(format!("{} pts", points(found.total)), format!("{} 点", points(found.total)));
                colored(html, found.total, &text);
            }
            None => number(html, NONE),
        }
        number(html, &metrics.max_drawdown.map_or_else(|| NONE.to_owned(), percent));
        let sharpe = match metrics.sharpe {
            Some(sharpe) => ratio(sharpe),
            None if metrics.days < 60 => words.pick("under 60 days", "不足 60 天").to_owned(),
            None => NONE.to_owned(),
        };
        number(html, &sharpe);
        number(html, &count(metrics.days));
        let verdict = pair.map_or_else(|| NONE.to_owned(), |pair| words.verdict(&pair.verdict).to_owned());
        cell(html, &verdict);
        html.raw("</tr>\n");
    }
    end_table(html);
    note(
        html,
        words.pick(
            "Points are differences of log returns over the shared days. Returns are after trading costs and before model \
             cost. Nothing is annualized under 60 days.",
            "“点”为共同交易日内对数收益率之差。收益已扣除交易成本，未扣除模型费用。不足 60 天不做年化。",
        ),
    );
    end(html);
}

/// The pair of an agent and a baseline.
fn against<'a>(data: &'a ReportData, agent: &str, baseline: &str) -> Option<&'a ComparedPair> {
    let found = data.against_baselines().as_ref().ok()?;
    let item = found.items.iter().find(|item| item.agent.as_deref() == Some(agent))?;
    found.pairs.iter().find(|pair| pair.a == item.id && pair.b == baseline)
}
