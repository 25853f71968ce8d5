//! Metrics of single runs, with their number of days and intervals.

use super::super::data::ReportData;
use super::super::run::Run;
use super::super::words::{NONE, Words, count, money, percent, ratio, share};
use super::{agent, end, end_table, note, section};
use crate::html::Html;
use papertape_core::metric::MIN_ANNUALIZED_DAYS;
use papertape_protocol::results::metrics::Metrics;

/// The minimum number of days for tails.
const MIN_TAIL_DAYS: usize = 100;

/// A column: an agent, a baseline or the benchmark.
struct Column<'a> {
    run: Option<&'a Run>,
    name: String,
    metrics: &'a Metrics,
}

/// A value of a metric, or why it is missing.
type Value = Result<String, &'static str>;

pub(super) fn render(html: &mut Html, data: &ReportData) {
    let words = data.words;
    if !data.is_single() {
        return;
    }
    section(html, words.pick("Metrics", "指标"));
    let columns = columns(data);
    html.raw("<div class=\"scroll\"><table class=\"metrics\"><thead><tr><th></th>");
    for column in &columns {
        html.raw("<th class=\"num\">");
        match column.run {
            Some(run) => agent(html, data, &run.result.model),
            None => {
                html.text(&column.name);
            }
        }
        html.raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for (label, value) in rows(words) {
        html.raw("<tr><th>").text(label).raw("</th>");
        for column in &columns {
            match value(words, column.metrics) {
                Ok(text) => {
                    // An interval is below its estimate.
                    let (value, interval) = text.split_once('\n').unwrap_or((&text, ""));
                    html.raw("<td class=\"num\">").text(value);
                    if !interval.is_empty() {
                        html.raw("<small>").text(interval).raw("</small>");
                    }
                }
                Err(why) => {
                    html.raw("<td class=\"num missing\">").text(why);
                }
            }
            html.raw("</td>");
        }
        html.raw("</tr>\n");
    }
    reorder_bands(html, data, &columns);
    end_table(html);
    relative(html, data);
    note(
        html,
        words.pick(
            "Risk-free rate 0. In small type: 95% intervals. Value at risk and its mean are returns of one day at 5%, from \
             100 days on. A reorder band is where the drawdowns of the same days in another order lie (5% to 95%); it is \
             not a confidence interval.",
            "无风险利率取 0，小号数字为 95% 置信区间。风险价值与预期损失为单日 5% 分位收益率，需 100 天以上。“重排区间”指同样的交易日改变\
             顺序后回撤所在的 5%–95% 范围，不是置信区间。",
        ),
    );
    end(html);
}

fn columns(data: &ReportData) -> Vec<Column<'_>> {
    let words = data.words;
    let mut columns: Vec<Column<'_>> = data
        .runs
        .iter()
        .map(|run| Column { run: Some(run), name: String::new(), metrics: &run.result.period_metrics })
        .collect();
    if let Some(baselines) = data.runs.iter().find_map(|run| run.result.baselines.as_ref()) {
        for (id, found) in [
            ("baseline:buy_and_hold", &baselines.buy_and_hold),
            ("baseline:equal_weight", &baselines.equal_weight),
        ] {
            columns.push(Column { run: None, name: words.item(id, ""), metrics: &found.period_metrics });
        }
    }
    if let Some(benchmark) = data.runs.iter().find_map(|run| run.result.benchmark.as_ref())
        && let Some(metrics) = &benchmark.period_metrics
    {
        columns.push(Column { run: None, name: benchmark.symbol.clone(), metrics });
    }
    columns
}

fn undefined(words: Words) -> &'static str {
    words.pick("undefined", "无定义")
}

fn annual(words: Words, metrics: &Metrics, value: Option<f64>, text: fn(f64) -> String) -> Value {
    match value {
        Some(value) => Ok(text(value)),
        None if metrics.days < MIN_ANNUALIZED_DAYS => Err(words.pick("under 60 days", "不足 60 天")),
        None => Err(undefined(words)),
    }
}

fn tail(words: Words, metrics: &Metrics, value: Option<f64>, text: fn(f64) -> String) -> Value {
    match value {
        Some(value) => Ok(text(value)),
        None if metrics.days < MIN_TAIL_DAYS => Err(words.pick("under 100 days", "不足 100 天")),
        None => Err(undefined(words)),
    }
}

fn plain(words: Words, value: Option<f64>, text: fn(f64) -> String) -> Value {
    value.map(text).ok_or(undefined(words))
}

fn precise(value: f64) -> String {
    super::super::words::signed(100.0 * value, 3, "%")
}

/// How a number is written.
type Format = fn(f64) -> String;

type Row = (&'static str, fn(Words, &Metrics) -> Value);

fn rows(words: Words) -> [Row; 19] {
    [
        (words.pick("Days", "天数"), |_, metrics| Ok(count(metrics.days))),
        (words.pick("Total return", "总收益率"), |words, metrics| {
            plain(words, metrics.total_return, percent)
        }),
        (words.pick("Annualized return", "年化收益率"), |words, metrics| {
            annual(words, metrics, metrics.annualized_return, percent)
        }),
        (words.pick("Mean log return per day", "日均对数收益率"), |words, metrics| {
            match metrics.mean_interval {
                Some(mean) => {
                    Ok(format!("{}\n{} … {}", precise(mean.mean), precise(mean.low), precise(mean.high)))
                }
                None => Err(words.pick("under 20 days", "不足 20 天")),
            }
        }),
        (words.pick("Daily deviation", "日收益率标准差"), |words, metrics| {
            plain(words, metrics.daily_deviation, |value| precise(value).trim_start_matches('+').to_owned())
        }),
        (words.pick("Volatility per year", "年化波动率"), |words, metrics| {
            annual(words, metrics, metrics.volatility, share)
        }),
        (words.pick("Sharpe ratio", "夏普比率"), |words, metrics| {
            let value = annual(words, metrics, metrics.sharpe, ratio)?;
            Ok(match metrics.sharpe_interval {
                Some(bounds) => format!("{value}\n{} … {}", ratio(bounds.low), ratio(bounds.high)),
                None => words.pick(format!("{value}\nno interval"), format!("{value}\n无区间")),
            })
        }),
        (words.pick("Sortino ratio", "索提诺比率"), |words, metrics| {
            annual(words, metrics, metrics.sortino, ratio)
        }),
        (words.pick("Max drawdown", "最大回撤"), |words, metrics| {
            plain(words, metrics.max_drawdown, percent)
        }),
        (words.pick("Calmar ratio", "卡玛比率"), |words, metrics| match metrics.calmar {
            Some(value) => Ok(ratio(value)),
            None if metrics.days < usize::from(metrics.trading_days_per_year) => {
                Err(words.pick("under a year", "不足一年"))
            }
            None => Err(undefined(words)),
        }),
        (words.pick("Value at risk, 5%", "风险价值（5%）"), |words, metrics| {
            tail(words, metrics, metrics.value_at_risk, percent)
        }),
        (words.pick("Mean below it", "预期损失（5%）"), |words, metrics| {
            tail(words, metrics, metrics.conditional_value_at_risk, percent)
        }),
        (words.pick("Tail ratio", "尾部比率"), |words, metrics| {
            tail(words, metrics, metrics.tail_ratio, ratio)
        }),
        (words.pick("Profit factor", "盈亏比（按平仓）"), |words, metrics| {
            metrics.profit_factor.map(ratio).ok_or(words.pick("no closed loss", "无亏损平仓"))
        }),
        (words.pick("Profit factor of days", "盈亏比（按日）"), |words, metrics| {
            metrics.profit_factor_days.map(ratio).ok_or(words.pick("no losing day", "无亏损日"))
        }),
        (words.pick("Win rate", "胜率"), |words, metrics| {
            metrics.win_rate.map(share).ok_or(words.pick("nothing closed", "无平仓"))
        }),
        (words.pick("Turnover", "换手率"), |words, metrics| plain(words, metrics.turnover, ratio)),
        (words.pick("Mean exposure", "平均敞口"), |words, metrics| plain(words, metrics.exposure, share)),
        (words.pick("Trading costs", "交易成本"), |_, metrics| Ok(money(metrics.costs))),
    ]
}

/// The reorder bands of drawdowns, which only the comparison has.
fn reorder_bands(html: &mut Html, data: &ReportData, columns: &[Column<'_>]) {
    let words = data.words;
    html.raw("<tr><th>").text(words.pick("Drawdown, reorder band", "回撤重排区间")).raw("</th>");
    for column in columns {
        let items = data.comparison.as_ref().map(|found| found.items.as_slice()).unwrap_or_default();
        let item = items.iter().find(|item| match column.run {
            Some(run) => item.agent.as_deref() == Some(&run.result.model),
            None => item.kind == "baseline" && words.item(&item.id, "") == column.name,
        });
        match item.and_then(|item| item.reorder_band) {
            Some(band) => {
                html.raw("<td class=\"num\">").text(percent(band.low)).raw(" … ").text(percent(band.high));
            }
            None if column.metrics.days < MIN_ANNUALIZED_DAYS => {
                html.raw("<td class=\"num missing\">").text(words.pick("under 60 days", "不足 60 天"));
            }
            None => {
                html.raw("<td class=\"num missing\">").text(NONE);
            }
        }
        html.raw("</td>");
    }
    html.raw("</tr>\n");
}

/// The metrics relative to the benchmark.
fn relative(html: &mut Html, data: &ReportData) {
    let words = data.words;
    let runs: Vec<_> =
        data.runs.iter().filter_map(|run| Some((run, run.result.benchmark.as_ref()?))).collect();
    let Some((_, first)) = runs.first() else { return };
    html.raw("<h3>");
    html.text(words.pick(format!("Against {}", first.symbol), format!("相对 {}", first.symbol)))
        .raw("</h3>\n");
    if let Some(why) = &first.unavailable {
        html.raw("<p>")
            .text(words.pick("Not available: ", "无法计算："))
            .quote(why, 300, |length| words.cut(length));
        html.raw("</p>\n");
        return;
    }
    super::table(
        html,
        &[
            (words.pick("Agent", "智能体"), false),
            (words.pick("Excess return", "超额收益"), true),
            (words.pick("Alpha", "Alpha"), true),
            (words.pick("Beta", "Beta"), true),
            (words.pick("Correlation", "相关系数"), true),
            (words.pick("Tracking error", "跟踪误差"), true),
            (words.pick("Information ratio", "信息比率"), true),
        ],
    );
    for (run, benchmark) in runs {
        let metrics = &benchmark.relative_metrics;
        let days = run.result.period_metrics.days;
        html.raw("<tr><td>");
        agent(html, data, &run.result.model);
        html.raw("</td>");
        let values: [(Option<f64>, Format); 6] = [
            (metrics.excess_return, percent),
            (metrics.alpha, percent),
            (metrics.beta, ratio),
            (metrics.correlation, ratio),
            (metrics.tracking_error, share),
            (metrics.information_ratio, ratio),
        ];
        for (value, text) in values {
            let missing =
                if days < MIN_ANNUALIZED_DAYS { words.pick("under 60 days", "不足 60 天") } else { NONE };
            super::number(html, &value.map_or_else(|| missing.to_owned(), text));
        }
        html.raw("</tr>\n");
    }
    end_table(html);
}
