//! Rejected orders, and the round trips that made and lost most with their reasons.

use super::super::data::ReportData;
use super::super::trades::{Reason, RoundTrip, TripFill};
use super::super::words::{Words, count, gain, percent};
use super::{agent, cell, end, end_table, name, note, number, paragraph, section, table};
use crate::html::Html;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

/// The longest reason of an order that is shown.
const MAX_REASON: usize = 900;
/// The longest reason of an exit.
const MAX_EXIT: usize = 400;
/// The longest message of a rejection.
const MAX_MESSAGE: usize = 200;

/// Rejected orders by reason, and the first of them.
pub(super) fn rejected(html: &mut Html, data: &ReportData) {
    let words = data.words;
    section(html, words.pick("Rejected orders", "被拒委托"));
    let all = data.trades.rejected_count();
    let orders: usize = data.trades.costs.values().map(|costs| costs.orders).sum();
    if all == 0 {
        let orders = count(orders);
        paragraph(
            html,
            &words.pick(
                format!("None of {orders} orders was rejected."),
                format!("共 {orders} 笔委托，无一被拒。"),
            ),
        );
        end(html);
        return;
    }
    let (rejected, orders) = (count(all), count(orders));
    paragraph(
        html,
        &words.pick(
            format!("{rejected} of {orders} orders were rejected or expired."),
            format!("共 {orders} 笔委托，其中 {rejected} 笔被拒或失效。"),
        ),
    );
    table(
        html,
        &[
            (words.pick("Agent", "智能体"), false),
            (words.pick("Reason", "原因"), false),
            (words.pick("Orders", "委托数"), true),
        ],
    );
    for ((of, code), orders) in data.trades.rejected.iter().take(100) {
        html.raw("<tr><td>");
        agent(html, data, of);
        html.raw("</td><td>")
            .quote(&words.rejection(code), MAX_MESSAGE, |length| words.cut(length))
            .raw("</td>");
        number(html, &count(*orders));
        html.raw("</tr>\n");
    }
    end_table(html);
    let shown = data.trades.rejections.len();
    html.raw("<details");
    html.raw(if shown <= 10 { " open>" } else { ">" }).raw("<summary>");
    html.text(if shown < all {
        words.pick(format!("The first {shown} of {rejected}"), format!("前 {shown} 笔（共 {rejected} 笔）"))
    } else {
        words.pick(format!("All {rejected}"), format!("全部 {rejected} 笔"))
    });
    html.raw("</summary>\n");
    table(
        html,
        &[
            (words.pick("Day", "日期"), false),
            (words.pick("Agent", "智能体"), false),
            (words.pick("Order", "委托"), false),
            (words.pick("Reason, as recorded", "原因（原始记录）"), false),
        ],
    );
    for order in &data.trades.rejections {
        html.raw("<tr>");
        cell(html, &order.date.to_string());
        html.raw("<td>");
        agent(html, data, &order.agent);
        html.raw("</td><td>")
            .text(words.action(&order.side))
            .raw(" ")
            .text(order.quantity.normalize())
            .raw(" ");
        name(html, &order.symbol);
        html.raw("</td><td>");
        match &order.message {
            Some(message) => html.quote(message, MAX_MESSAGE, |length| words.cut(length)),
            None => html.text(words.rejection(&order.code)),
        };
        html.raw("</td></tr>\n");
    }
    end_table(html);
    html.raw("</details>\n");
    end(html);
}

/// The round trips that made and lost most.
pub(super) fn render(html: &mut Html, data: &ReportData) {
    let words = data.words;
    section(html, words.pick("Decisions that made and lost most", "盈亏最大的决策"));
    if data.trades.trips == 0 {
        paragraph(html, words.pick("No position was opened.", "没有开仓。"));
        end(html);
        return;
    }
    note(
        html,
        &words.pick(
            format!(
                "Of {} round trips: from the first fill of a position until it is flat. The result is from the books, after \
                 fees, dividends and financing; of an open position, with its value at the last close. The reasons are what \
                 the agents wrote, not what is known to have caused the result.",
                count(data.trades.trips)
            ),
            format!(
                "共 {} 次完整交易（从建仓到清仓）。盈亏取自账簿，已计费用、股息与融资；未平仓的按最后收盘价计。理由为智能体所写，\
                 不代表盈亏的真实原因。",
                count(data.trades.trips)
            ),
        ),
    );
    html.raw("<h3>").text(words.pick("Largest gains", "盈利最大")).raw("</h3>\n");
    list(html, data, &data.trades.best);
    html.raw("<h3>").text(words.pick("Largest losses", "亏损最大")).raw("</h3>\n");
    list(html, data, &data.trades.worst);
    end(html);
}

fn list(html: &mut Html, data: &ReportData, trips: &[RoundTrip]) {
    let words = data.words;
    if trips.is_empty() {
        paragraph(html, words.pick("None.", "无。"));
        return;
    }
    html.raw("<ol class=\"trips\">\n");
    for trip in trips {
        html.raw("<li><div class=\"trip\"><span class=\"symbol\">");
        name(html, &trip.symbol);
        html.raw("</span> <span class=\"side\">");
        html.text(match trip.is_short {
            true => words.pick("short", "空头"),
            false => words.pick("long", "多头"),
        });
        html.raw("</span> <span class=\"by\">");
        agent(html, data, &trip.agent);
        if !data.is_single() {
            let (window, trial) = (trip.window, trip.trial);
            html.text(words.pick(
                format!(" · window {window}, trial {trial}"),
                format!(" · 窗口 {window}，试验 {trial}"),
            ));
        }
        let pnl = trip.pnl().to_f64().unwrap_or(f64::NAN);
        html.raw(if pnl < 0.0 {
            "</span> <span class=\"pnl down\">"
        } else {
            "</span> <span class=\"pnl up\">"
        });
        html.text(gain(pnl));
        if let Some(return_) = return_of(trip) {
            html.raw(" <small>").text(percent(return_)).raw("</small>");
        }
        html.raw("</span></div>\n<p class=\"note\">").text(dates(words, trip)).raw("</p>\n");
        let why = words.pick("Why it was opened", "开仓理由");
        reason(html, words, (why, trip.opened.is_some()), trip.reason.as_ref(), MAX_REASON);
        if trip.closed.as_ref().is_some_and(|closed| closed.order.is_some()) || trip.exit_reason.is_some() {
            let why = words.pick("Why it was closed", "平仓理由");
            reason(html, words, (why, true), trip.exit_reason.as_ref(), MAX_EXIT);
        }
        html.raw("</li>\n");
    }
    html.raw("</ol>\n");
}

/// The result over the largest quantity at the first price.
fn return_of(trip: &RoundTrip) -> Option<f64> {
    let entry = trip.opened.as_ref()?.price * trip.quantity;
    (entry > Decimal::ZERO).then(|| (trip.pnl() / entry).to_f64()).flatten()
}

fn dates(words: Words, trip: &RoundTrip) -> String {
    let at = |fill: &TripFill| format!("{} @ {}", fill.date, fill.price.normalize());
    let quantity = trip.quantity.normalize();
    let opened = match &trip.opened {
        Some(fill) => at(fill),
        None => words.pick("before the first day", "首日之前").to_owned(),
    };
    let closed = match &trip.closed {
        Some(fill) => format!("{} ({})", at(fill), words.action(&fill.action)),
        None => words.pick("open at the last close", "最后收盘时仍持有").to_owned(),
    };
    words.pick(
        format!("Up to {quantity} units · {opened} → {closed}"),
        format!("最多 {quantity} 单位 · {opened} → {closed}"),
    )
}

fn reason(
    html: &mut Html,
    words: Words,
    (label, is_known): (&'static str, bool),
    reason: Option<&Reason>,
    max_chars: usize,
) {
    html.raw("<div class=\"reason\"><b>").text(label).raw("</b>");
    match reason {
        Some(reason) => {
            if let Some(node) = reason.node {
                html.raw(" <span class=\"note\">").text(node).raw("</span>");
            }
            html.raw("<blockquote dir=\"auto\">");
            html.quote(reason.text.trim(), max_chars, |length| words.cut(length));
            html.raw("</blockquote>");
        }
        None if is_known => {
            html.raw(" <span class=\"note\">");
            html.text(
                words.pick("The agent wrote nothing before this order.", "智能体下单前没有写下任何内容。"),
            )
            .raw("</span>");
        }
        None => {
            html.raw(" <span class=\"note\">");
            html.text(
                words.pick("It was opened before the first day of this run.", "建仓早于本次运行的首日。"),
            )
            .raw("</span>");
        }
    }
    html.raw("</div>\n");
}
