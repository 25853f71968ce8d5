//! Every trial of an experiment, with mean and spread.

use super::super::data::ReportData;
use super::super::words::{NONE, count, percent, ratio};
use super::{agent, cell, colored, end, end_table, note, number, section, table};
use crate::html::Html;
use papertape_protocol::experiments::{Spread, TrialResult, VariesBy, WindowTrials};

/// How many trials are listed.
const MAX_TRIALS: usize = 400;

pub(super) fn render(html: &mut Html, data: &ReportData) {
    let words = data.words;
    let Some(found) = &data.experiment else { return };
    section(html, words.pick("Trials", "各次试验"));
    let mut listed = 0;
    for of_agent in &found.results.agents {
        html.raw("<h3>");
        agent(html, data, &of_agent.agent.name);
        html.raw("</h3>\n");
        match of_agent.agent.varies_by {
            VariesBy::Nothing => note(
                html,
                words.pick(
                    "It runs once: its rules always decide the same.",
                    "仅运行一次：规则策略的结果总是相同。",
                ),
            ),
            VariesBy::Chance => note(
                html,
                words.pick(
                    "Its provider takes no seed: its trials differ by chance.",
                    "服务商不接受随机种子，各次试验仅有随机差异。",
                ),
            ),
            VariesBy::Seed => {}
        }
        table(
            html,
            &[
                (words.pick("Window", "窗口"), false),
                (words.pick("Trial", "试验"), false),
                (words.pick("Return", "收益率"), true),
                (words.pick("Max drawdown", "最大回撤"), true),
                (words.pick("Sharpe", "夏普比率"), true),
                (words.pick("Days", "天数"), true),
                (words.pick("Degraded", "降级"), true),
                (words.pick("Failed", "失败"), true),
                (words.pick("Model cost", "模型费用"), true),
                (words.pick("Buy and hold", "买入持有"), true),
            ],
        );
        for window in &of_agent.windows {
            for trial in &window.trials {
                listed += 1;
                if listed <= MAX_TRIALS {
                    row(html, data, window, trial);
                }
            }
            summary(html, data, window);
        }
        end_table(html);
    }
    if listed > MAX_TRIALS {
        let (shown, all) = (count(MAX_TRIALS), count(listed));
        note(
            html,
            &words.pick(
                format!("{shown} of {all} trials are listed."),
                format!("共 {all} 次试验，列出 {shown} 次。"),
            ),
        );
    }
    note(
        html,
        words.pick(
            "Mean and spread (sample deviation) are of the trials that have completed the window. Sharpe ratios need 60 days.",
            "均值与离散度（样本标准差）仅含已完成该窗口的试验。夏普比率需 60 天以上。",
        ),
    );
    end(html);
}

fn row(html: &mut Html, data: &ReportData, window: &WindowTrials, trial: &TrialResult) {
    let words = data.words;
    let none = || NONE.to_owned();
    html.raw("<tr>");
    cell(html, &format!("{}: {} – {}", window.number, window.window.start_date, window.window.end_date));
    let status = match trial.is_complete {
        true => String::new(),
        false => format!(" ({})", words.0.status(trial.status.as_str())),
    };
    cell(
        html,
        &words.pick(
            format!("{}, seed {}{status}", trial.trial, trial.seed),
            format!("{}，种子 {}{status}", trial.trial, trial.seed),
        ),
    );
    match trial.total_return {
        Some(value) => colored(html, value, &percent(value)),
        None => number(html, NONE),
    }
    number(html, &trial.max_drawdown.map_or_else(none, percent));
    number(html, &trial.sharpe.map_or_else(none, ratio));
    number(html, &trial.days.to_string());
    number(html, &trial.degraded_days.to_string());
    number(html, &trial.failed_days.to_string());
    let unknown = words.pick("unknown", "未知").to_owned();
    number(html, &trial.cost_usd.map_or(unknown, |cost| format!("${cost}")));
    number(html, &window.buy_and_hold.map_or_else(none, percent));
    html.raw("</tr>\n");
}

fn summary(html: &mut Html, data: &ReportData, window: &WindowTrials) {
    let words = data.words;
    let spread = &window.spread;
    let text = |found: Option<Spread>, format: fn(f64) -> String| match found {
        Some(Spread { mean, deviation: Some(deviation), .. }) => {
            format!("{} ± {}", format(mean), format(deviation).trim_start_matches('+'))
        }
        Some(Spread { mean, .. }) => format(mean),
        None => NONE.to_owned(),
    };
    html.raw("<tr class=\"sum\">");
    cell(html, &window.number.to_string());
    cell(
        html,
        &words.pick(
            format!("mean ± spread of {}", spread.trials),
            format!("{} 次的均值 ± 离散度", spread.trials),
        ),
    );
    number(html, &text(spread.total_return, percent));
    number(html, &text(spread.max_drawdown, percent));
    number(html, &text(spread.sharpe, ratio));
    html.raw("<td></td><td></td><td></td><td></td><td></td></tr>\n");
}
