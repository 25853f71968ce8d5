//! The analysts: they call the tools offered to them and report the numbers they read. The text of news,
//! posts and profiles is counted and dated, never judged and never repeated.

use super::RoleRequest;
use super::figures::Figures;
use super::text;
use super::view::{is_blind, view};
use crate::day::{ToolExchange, exchanges};
use crate::{Draft, indicators, number, phrases};
use papertape_core::message::ToolChoice;
use papertape_core::time::parse_date;
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// Bars to request when indicators are missing.
const BARS: u32 = 120;

/// The next turn while some of these calls are available and have not been made.
fn request_data(
    asked: &RoleRequest<'_>,
    made: &[ToolExchange<'_>],
    calls: Vec<(&'static str, Value)>,
) -> Option<Draft> {
    let may = asked.request.tool_choice != ToolChoice::None;
    let is_open = |(tool, arguments): &(&str, Value)| {
        may && asked.request.tools.iter().any(|spec| spec.name == *tool)
            && !made.iter().any(|call| call.tool == *tool && call.arguments == arguments)
    };
    let calls: Vec<_> = calls.into_iter().filter(is_open).collect();
    (!calls.is_empty())
        .then(|| Draft { text: asked.say("I read the sources first.", "先读取数据来源。"), calls })
}

fn about(asked: &RoleRequest<'_>) -> Value {
    json!({ "symbol": asked.task.symbol() })
}

fn found<'a>(made: &'a [ToolExchange<'_>], tool: &str) -> Option<&'a Value> {
    made.iter().find(|call| call.tool == tool).map(|call| &call.result)
}

/// Sentences about missing sources.
fn missing(asked: &RoleRequest<'_>, made: &[ToolExchange<'_>]) -> Vec<String> {
    let mut tools: Vec<&str> = Vec::new();
    for call in made {
        let is_missing = call.result.is_null() || call.error().is_some();
        if is_missing && !tools.contains(&call.tool) {
            tools.push(call.tool);
        }
    }
    let say = |tool: &str| {
        asked.say(
            format!("{tool} gave no data (DATA_UNAVAILABLE or an error), so this source is missing."),
            format!("{tool} 没有数据（DATA_UNAVAILABLE 或出错），因此缺少该来源。"),
        )
    };
    tools.into_iter().map(say).collect()
}

fn report(asked: &RoleRequest<'_>, made: &[ToolExchange<'_>], lines: Vec<String>) -> Draft {
    let (symbol, date) = (asked.task.symbol(), asked.task.date());
    let head = asked.say(format!("Report on {symbol}, {date}."), format!("{symbol} 报告，{date}。"));
    let mut all = vec![head];
    all.extend(lines);
    all.extend(missing(asked, made));
    all.push(text::label(asked));
    Draft::text(all.join("\n"))
}

pub(super) fn market(asked: &RoleRequest<'_>) -> Draft {
    let made = exchanges(&asked.request.messages);
    let snapshot = asked.request.tools.iter().any(|tool| tool.name == "get_snapshot");
    let names = json!(["sma_20", "sma_50", "rsi_14", "atr_14"]);
    let calls = if snapshot {
        vec![("get_snapshot", about(asked))]
    } else {
        vec![
            ("get_price", about(asked)),
            ("get_indicators", json!({ "symbol": asked.task.symbol(), "indicators": names })),
        ]
    };
    if let Some(draft) = request_data(asked, &made, calls) {
        return draft;
    }
    let mut figures = read_figures(&made);
    let gaps = [figures.sma_20, figures.sma_50, figures.rsi_14].iter().any(Option::is_none);
    if gaps {
        let bars = vec![("get_bars", json!({ "symbol": asked.task.symbol(), "limit": BARS }))];
        if let Some(draft) = request_data(asked, &made, bars) {
            return draft;
        }
        fill(&mut figures, &made);
    }
    let (_, opinion) = view(asked.strategy, figures, asked.task.symbol());
    let reading = phrases::reason(asked.language, &opinion);
    let mut lines = vec![asked.say(format!("Reading: {reading}."), format!("解读：{reading}。"))];
    if is_blind(&opinion) {
        lines.push(asked.say("That is too little for a view.", "不足以形成看法。"));
    }
    if let Some(share) = text::daily_move(figures) {
        let share = number::show(share);
        lines.push(asked.say(
            format!("A normal day's move is {share}% of the price (ATR)."),
            format!("正常一天的波动为价格的 {share}%（ATR）。"),
        ));
    }
    lines.push(figures.write());
    report(asked, &made, lines)
}

fn read_figures(made: &[ToolExchange<'_>]) -> Figures {
    let snapshot = found(made, "get_snapshot").unwrap_or(&Value::Null);
    let table = found(made, "get_indicators").unwrap_or(snapshot);
    let price = found(made, "get_price").unwrap_or(snapshot);
    let indicator = |name: &str| number::read(&table["indicators"][name]);
    Figures {
        price: number::read(&price["price"]).filter(|price| *price > Decimal::ZERO),
        sma_20: indicator("sma_20"),
        sma_50: indicator("sma_50"),
        rsi_14: indicator("rsi_14"),
        atr_14: indicator("atr_14"),
    }
}

/// Computes from bars what the tools did not return.
fn fill(figures: &mut Figures, made: &[ToolExchange<'_>]) {
    let bars = found(made, "get_bars").and_then(|value| value["bars"].as_array());
    let closes: Vec<Decimal> =
        bars.into_iter().flatten().filter_map(|bar| number::read(&bar["close"])).collect();
    figures.sma_20 = figures.sma_20.or_else(|| indicators::sma(&closes, 20));
    figures.sma_50 = figures.sma_50.or_else(|| indicators::sma(&closes, 50));
    figures.rsi_14 = figures.rsi_14.or_else(|| indicators::rsi(&closes, 14));
}

pub(super) fn sentiment(asked: &RoleRequest<'_>) -> Draft {
    let made = exchanges(&asked.request.messages);
    let calls = vec![("get_news", about(asked)), ("get_news", json!({}))];
    if let Some(draft) = request_data(asked, &made, calls) {
        return draft;
    }
    let mut lines = counts(asked, &made);
    lines.push(asked.say(
        "My rules count and date posts; they do not judge their mood, so sentiment stays open.",
        "我的规则只统计数量和日期，不判断语气，因此情绪不作结论。",
    ));
    report(asked, &made, lines)
}

pub(super) fn news(asked: &RoleRequest<'_>) -> Draft {
    let made = exchanges(&asked.request.messages);
    let calls = vec![("get_news", about(asked)), ("get_news", json!({})), ("get_macro", json!({}))];
    if let Some(draft) = request_data(asked, &made, calls) {
        return draft;
    }
    let mut lines = counts(asked, &made);
    if let Some(series) = found(&made, "get_macro").and_then(|value| value["series"].as_array()) {
        let count = series.len();
        lines.push(
            asked.say(
                format!("{count} macroeconomic series are known."),
                format!("已知 {count} 个宏观序列。"),
            ),
        );
    }
    lines.push(asked.say(
        "My rules do not judge what news says, so nothing follows from it here.",
        "我的规则不判断新闻内容，因此这里不作推论。",
    ));
    report(asked, &made, lines)
}

/// The number of items and the day of the latest.
fn counts(asked: &RoleRequest<'_>, made: &[ToolExchange<'_>]) -> Vec<String> {
    let count = |call: &ToolExchange<'_>| {
        let items = call.result["items"].as_array()?;
        let newest = items.iter().filter_map(|item| day_of(&item["published_at"])).max();
        let newest = newest.map(|day| asked.say(format!(", the newest of {day}"), format!("，最新为 {day}")));
        let (count, newest) = (items.len(), newest.unwrap_or_default());
        let is_own = call.arguments["symbol"].is_string();
        let (english, chinese) = if is_own { ("about it", "相关") } else { ("in all", "全部") };
        Some(
            asked.say(
                format!("{count} items {english}{newest}."),
                format!("{chinese}消息 {count} 条{newest}。"),
            ),
        )
    };
    made.iter().filter(|call| call.tool == "get_news").filter_map(count).collect()
}

/// The day of an instant, `YYYY-MM-DD`; `None` for other text.
fn day_of(instant: &Value) -> Option<&str> {
    instant.as_str()?.get(..10).filter(|day| parse_date(day).is_ok())
}

pub(super) fn fundamentals(asked: &RoleRequest<'_>) -> Draft {
    let made = exchanges(&asked.request.messages);
    let calls =
        vec![("get_profile", about(asked)), ("get_statements", about(asked)), ("get_price", about(asked))];
    if let Some(draft) = request_data(asked, &made, calls) {
        return draft;
    }
    let mut lines = Vec::new();
    let figures = found(&made, "get_statements").and_then(|value| value["figures"].as_array());
    if let Some(figures) = figures {
        let newest = figures.iter().filter_map(|figure| day_of(&figure["period_end"])).max();
        let (count, newest) = (figures.len(), newest.unwrap_or("?"));
        lines.push(asked.say(
            format!("{count} reported figures, the newest period ending {newest}."),
            format!("已公布数据 {count} 项，最新期间截至 {newest}。"),
        ));
        lines.extend(
            ["revenue", "net_income", "eps"]
                .into_iter()
                .filter_map(|metric| metric_line(asked, figures, metric)),
        );
    } else {
        lines.push(
            asked.say("Without statements the fundamentals cannot be judged.", "没有报表，基本面无法判断。"),
        );
    }
    if let Some(price) = found(&made, "get_price").and_then(|value| number::read(&value["price"])) {
        let price = number::show(price);
        lines.push(asked.say(format!("The price is {price}."), format!("价格为 {price}。")));
    }
    report(asked, &made, lines)
}

/// The latest value of a known metric.
fn metric_line(asked: &RoleRequest<'_>, figures: &[Value], metric: &str) -> Option<String> {
    let own = figures.iter().filter(|figure| figure["metric"] == metric);
    let (day, value) =
        own.filter_map(|f| Some((day_of(&f["period_end"])?, number::read(&f["value"])?))).max()?;
    let value = number::show(value);
    Some(asked.say(
        format!("{metric} {value} for the period to {day}."),
        format!("{metric} {value}，期间截至 {day}。"),
    ))
}
