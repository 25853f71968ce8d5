//! Costs, and the fill convention.

use super::super::data::ReportData;
use super::super::words::{NONE, Words, count, money, percent, signed};
use super::{agent, cell, end, end_table, note, number, paragraph, section, table};
use crate::html::Html;
use papertape_protocol::results::conventions::ConventionsResponse;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use std::collections::BTreeSet;

/// How many fees are listed: one per rate and date.
const MAX_FEES: usize = 40;

pub(super) fn render(html: &mut Html, data: &ReportData) {
    let words = data.words;
    section(html, words.pick("Costs and fills", "交易成本与成交方式"));
    match data.runs.iter().find_map(|run| run.result.conventions.as_ref()) {
        Some(found) => conventions(html, words, found),
        None => paragraph(html, words.pick("The job names no market.", "该任务没有市场规则。")),
    }
    paid(html, data);
    refilled(html, data);
    end(html);
}

fn conventions(html: &mut Html, words: Words, found: &ConventionsResponse) {
    let fill = match found.fill.as_str() {
        "open" => words.pick(
            "Orders fill at the open that the agent has seen. That is a convention: an order cannot still take part in that auction.",
            "委托按智能体已看到的当日开盘价成交。这只是一种约定：实际中已无法参与该次竞价。",
        ),
        "next_open" => words.pick("Orders fill at the next open of their instrument.", "委托按标的次日开盘价成交。"),
        _ => words.pick("Orders fill at the close of the same day.", "委托按当日收盘价成交。"),
    };
    html.raw("<p><strong>").text(fill).raw("</strong></p>\n<ul class=\"plain\">\n");
    let mut line = |text: String| {
        html.raw("<li>").text(text).raw("</li>\n");
    };
    line(words.pick(format!("Market: {}", found.market), format!("市场：{}", found.market)));
    if found.costs == "frictionless" {
        line(
            words
                .pick(
                    "Frictionless: no fees, slippage, borrow fees or financing.",
                    "无摩擦：没有手续费、滑点、融券费和融资利息。",
                )
                .to_owned(),
        );
    } else {
        for rule in &found.slippage {
            let of = if rule.symbols.is_empty() {
                String::new()
            } else {
                format!(" ({})", rule.symbols.join(", "))
            };
            line(
                words.pick(format!("Slippage{of}: {} bps", rule.bps), format!("滑点{of}：{} bps", rule.bps)),
            );
        }
        if !found.annual_borrow_bps.is_zero() {
            let bps = found.annual_borrow_bps;
            line(
                words.pick(format!("Borrowed shares: {bps} bps per year"), format!("融券年费率：{bps} bps")),
            );
        }
        if !found.annual_financing_bps.is_zero() {
            let bps = found.annual_financing_bps;
            line(words.pick(format!("Borrowed money: {bps} bps per year"), format!("融资年利率：{bps} bps")));
        }
        if !found.dividend_withholding_pct.is_zero() {
            let pct = found.dividend_withholding_pct;
            line(words.pick(format!("Tax withheld from dividends: {pct}%"), format!("股息预扣税：{pct}%")));
        }
    }
    line(match (found.participation_pct, found.participation_bars) {
        (Some(pct), Some(bars)) => words.pick(
            format!("Volume cap: {pct}% of the mean volume of the previous {bars} bars per day"),
            format!("成交量上限：每日不超过前 {bars} 根 K 线平均成交量的 {pct}%"),
        ),
        _ => words.pick("No volume cap", "没有成交量上限").to_owned(),
    });
    if found.has_price_limits {
        line(words.pick("Price limits are checked", "检查涨跌停").to_owned());
    }
    for text in &found.notes {
        line(words.convention(text));
    }
    html.raw("</ul>\n");
    fees(html, words, found);
}

fn fees(html: &mut Html, words: Words, found: &ConventionsResponse) {
    if found.fees.is_empty() || found.costs == "frictionless" {
        return;
    }
    table(
        html,
        &[
            (words.pick("Fee", "费用"), false),
            (words.pick("Rate", "费率"), true),
            (words.pick("Side", "方向"), false),
            (words.pick("Minimum", "最低"), true),
            (words.pick("Maximum", "最高"), true),
            (words.pick("From", "生效日"), false),
            (words.pick("Source", "来源"), false),
        ],
    );
    for fee in found.fees.iter().rev().take(MAX_FEES).rev() {
        html.raw("<tr>");
        let only = fee.only.as_ref().map(|only| format!(" ({only})")).unwrap_or_default();
        cell(html, &format!("{}{only}", words.fee(&fee.name)));
        let rate = match fee.basis.as_str() {
            "per_share" => words.pick(format!("{} per share", fee.rate), format!("每股 {}", fee.rate)),
            "per_million" => words.pick(format!("{} per million", fee.rate), format!("每百万 {}", fee.rate)),
            _ => format!("{} bps", fee.rate),
        };
        number(html, &rate);
        cell(
            html,
            match fee.side.as_str() {
                "sale" => words.pick("sales", "卖出"),
                "purchase" => words.pick("purchases", "买入"),
                _ => words.pick("both", "双向"),
            },
        );
        number(html, &fee.minimum.map_or_else(|| NONE.to_owned(), |minimum| minimum.to_string()));
        let maximum = fee.maximum.map(|maximum| maximum.to_string());
        let share = fee.maximum_bps.map(|bps| format!("{}%", bps.to_f64() / 100.0));
        number(html, &maximum.or(share).unwrap_or_else(|| NONE.to_owned()));
        cell(
            html,
            &fee.effective_from
                .map_or_else(|| words.pick("always", "始终").to_owned(), |date| date.to_string()),
        );
        cell(
            html,
            match (fee.approximate, fee.unverified) {
                (true, _) => words.pick("approximate", "近似值"),
                (false, true) => words.pick("unverified", "未核实"),
                (false, false) => words.pick("published", "已公布"),
            },
        );
        html.raw("</tr>\n");
    }
    end_table(html);
    if found.fees.len() > MAX_FEES {
        let (shown, all) = (count(MAX_FEES), count(found.fees.len()));
        note(
            html,
            &words.pick(
                format!("The newest {shown} of {all} rates."),
                format!("共 {all} 条费率，列出最新 {shown} 条。"),
            ),
        );
    }
}

/// What each agent paid.
fn paid(html: &mut Html, data: &ReportData) {
    let words = data.words;
    let names: BTreeSet<&String> = data.trades.costs.values().flat_map(|costs| costs.fees.keys()).collect();
    html.raw("<h3>").text(words.pick("Paid", "实际支出")).raw("</h3>\n");
    let fee_names: Vec<String> = names.iter().map(|name| words.fee(name)).collect();
    let mut headings = vec![
        (words.pick("Agent", "智能体"), false),
        (words.pick("Orders", "委托"), true),
        (words.pick("Fills", "成交"), true),
    ];
    headings.extend(fee_names.iter().map(|name| (name.as_str(), true)));
    headings.extend([
        (words.pick("Slippage", "滑点"), true),
        (words.pick("Financing", "融资融券"), true),
        (words.pick("Total", "合计"), true),
    ]);
    table(html, &headings);
    for name in &data.agents {
        let Some(costs) = data.trades.costs.get(name) else { continue };
        html.raw("<tr><td>");
        agent(html, data, name);
        html.raw("</td>");
        number(html, &count(costs.orders));
        number(html, &count(costs.fills));
        for fee in &names {
            number(html, &amount(costs.fees.get(*fee).copied().unwrap_or_default()));
        }
        number(html, &amount(costs.slippage));
        number(html, &amount(costs.financing));
        let total = costs.fees.values().sum::<Decimal>() + costs.slippage + costs.financing;
        number(html, &amount(total));
        html.raw("</tr>\n");
    }
    end_table(html);
    note(
        html,
        words.pick(
            "In the account's currency. Slippage is already in the fill prices. Over all trials, where there are several.",
            "单位为账户货币。滑点已计入成交价。有多次试验时为合计。",
        ),
    );
}

fn amount(value: Decimal) -> String {
    money(value.to_f64().unwrap_or(f64::NAN))
}

/// The same orders at the next open.
fn refilled(html: &mut Html, data: &ReportData) {
    let words = data.words;
    let found: Vec<_> =
        data.runs.iter().filter_map(|run| Some((run, run.result.refilled_at_next_open.as_ref()?))).collect();
    if found.is_empty() || !data.is_single() {
        return;
    }
    html.raw("<h3>")
        .text(words.pick("The same orders at the next open", "同样的委托改为次日开盘成交"))
        .raw("</h3>\n");
    table(
        html,
        &[
            (words.pick("Agent", "智能体"), false),
            (words.pick("Return", "收益率"), true),
            (words.pick("At the next open", "次日开盘成交"), true),
            (words.pick("Difference", "差异"), true),
            (words.pick("Filled", "成交"), true),
            (words.pick("Reduced", "缩减"), true),
            (words.pick("Not filled", "未成交"), true),
        ],
    );
    for (run, refill) in found {
        html.raw("<tr><td>");
        agent(html, data, &run.result.model);
        html.raw("</td>");
        let own = run.result.period_metrics.total_return;
        number(html, &own.map_or_else(|| NONE.to_owned(), percent));
        if let Some(why) = &refill.unavailable {
            html.raw("<td class=\"missing\" colspan=\"5\">");
            html.text(words.pick("not available: ", "无法计算："))
                .quote(why, 200, |length| words.cut(length));
            html.raw("</td></tr>\n");
            continue;
        }
        number(html, &refill.total_return.map_or_else(|| NONE.to_owned(), percent));
        let difference = own.zip(refill.total_return).map(|(own, next)| signed(100.0 * (next - own), 2, ""));
        number(html, &difference.unwrap_or_else(|| NONE.to_owned()));
        number(html, &count(refill.filled));
        number(html, &refill.reduced.to_string());
        number(html, &count(refill.rejected + refill.without_next_bar));
        html.raw("</tr>\n");
    }
    end_table(html);
}
