//! The analysts: they call the tools offered to them and report the numbers they read. The text of news,
//! posts and profiles is counted and dated, never judged and never repeated.

use super::RoleRequest;
use super::figures::Figures;
use super::materials::tool_answer;
use super::text;
use super::view::{has_no_data, view};
use crate::language::Language;
use crate::{Draft, indicators, number, phrases};
use papertape_core::message::{Message, ToolChoice};
use papertape_core::time::parse_date;
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// Bars to request when indicators are missing.
const BARS: u32 = 120;

/// A call and its result.
struct Answer {
    tool: String,
    arguments: Value,
    value: Value,
}

/// The calls so far, with their results.
fn answers(asked: &RoleRequest<'_>) -> Vec<Answer> {
    let messages = &asked.request.messages;
    let result_of = |id: &str| {
        messages.iter().find_map(|message| match message {
            Message::Tool { call_id, content, .. } if call_id == id => Some(tool_answer(content)),
            _ => None,
        })
    };
    let calls = messages.iter().flat_map(|message| match message {
        Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
        _ => &[],
    });
    calls
        .map(|call| Answer {
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            value: result_of(&call.id).unwrap_or_default(),
        })
        .collect()
}

/// The calls of `wanted` that are available and have not been made.
fn open_calls(
    asked: &RoleRequest<'_>,
    made: &[Answer],
    wanted: Vec<(&'static str, Value)>,
) -> Vec<(&'static str, Value)> {
    let may = asked.request.tool_choice != ToolChoice::None;
    let offered = |tool: &str| may && asked.request.tools.iter().any(|spec| spec.name == tool);
    let is_made = |(tool, arguments): &(&str, Value)| {
        made.iter().any(|answer| answer.tool == *tool && answer.arguments == *arguments)
    };
    wanted.into_iter().filter(|call| offered(call.0) && !is_made(call)).collect()
}

fn about(asked: &RoleRequest<'_>) -> Value {
    json!({ "symbol": asked.task.symbol() })
}

fn found<'a>(made: &'a [Answer], tool: &str) -> Option<&'a Value> {
    made.iter().find(|answer| answer.tool == tool).map(|answer| &answer.value)
}

/// Sentences about missing sources.
fn missing(asked: &RoleRequest<'_>, made: &[Answer]) -> Vec<String> {
    let mut tools: Vec<&str> = Vec::new();
    for answer in made {
        let is_missing = answer.value.is_null() || answer.value["error"].is_string();
        if is_missing && !tools.contains(&answer.tool.as_str()) {
            tools.push(&answer.tool);
        }
    }
    let say = |tool: &str| {
        asked.say(
            format!("{tool} returned no data (DATA_UNAVAILABLE or an error), so this source is missing."),
            format!("{tool} 没有数据（DATA_UNAVAILABLE 或出错），因此缺少该来源。"),
        )
    };
    tools.into_iter().map(say).collect()
}

fn request_data(asked: &RoleRequest<'_>, calls: Vec<(&'static str, Value)>) -> Draft {
    let text = asked.say("I read the sources first.", "先读取数据来源。");
    Draft { text, calls }
}

fn report(asked: &RoleRequest<'_>, made: &[Answer], lines: Vec<String>) -> Draft {
    let (symbol, date) = (asked.task.symbol(), asked.task.date());
    let head = asked.say(format!("Report on {symbol}, {date}."), format!("{symbol} 报告，{date}。"));
    let mut all = vec![head];
    all.extend(lines);
    all.extend(missing(asked, made));
    all.push(text::label(asked));
    Draft::text(all.join("\n"))
}

pub(super) fn market(asked: &RoleRequest<'_>) -> Draft {
    let made = answers(asked);
    let snapshot = asked.request.tools.iter().any(|tool| tool.name == "get_snapshot");
    let names = json!(["sma_20", "sma_50", "rsi_14", "atr_14"]);
    let sources = if snapshot {
        vec![("get_snapshot", about(asked))]
    } else {
        vec![
            ("get_price", about(asked)),
            ("get_indicators", json!({ "symbol": asked.task.symbol(), "indicators": names })),
        ]
    };
    let calls = open_calls(asked, &made, sources);
    if !calls.is_empty() {
        return request_data(asked, calls);
    }
    let mut figures = read_figures(&made);
    let gaps = [figures.sma_20, figures.sma_50, figures.rsi_14].iter().any(Option::is_none);
    if gaps {
        let bars = vec![("get_bars", json!({ "symbol": asked.task.symbol(), "limit": BARS }))];
        let calls = open_calls(asked, &made, bars);
        if !calls.is_empty() {
            return request_data(asked, calls);
        }
        fill(&mut figures, &made);
    }
    let (_, opinion) = view(asked.strategy, figures, asked.task.symbol());
    let reading = phrases::reason(asked.language, &opinion);
    let mut lines = vec![asked.say(format!("Reading: {reading}."), format!("解读：{reading}。"))];
    if has_no_data(&opinion) {
        lines.push(asked.say("This is too little for a view.", "不足以形成看法。"));
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

fn read_figures(made: &[Answer]) -> Figures {
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
fn fill(figures: &mut Figures, made: &[Answer]) {
    let bars = found(made, "get_bars").and_then(|value| value["bars"].as_array());
    let closes: Vec<Decimal> =
        bars.into_iter().flatten().filter_map(|bar| number::read(&bar["close"])).collect();
    figures.sma_20 = figures.sma_20.or_else(|| indicators::sma(&closes, 20));
    figures.sma_50 = figures.sma_50.or_else(|| indicators::sma(&closes, 50));
    figures.rsi_14 = figures.rsi_14.or_else(|| indicators::rsi(&closes, 14));
}

pub(super) fn sentiment(asked: &RoleRequest<'_>) -> Draft {
    let made = answers(asked);
    let calls = open_calls(asked, &made, vec![("get_news", about(asked)), ("get_news", json!({}))]);
    if !calls.is_empty() {
        return request_data(asked, calls);
    }
    let mut lines = counts(asked, &made);
    lines.push(asked.say(
        "My rules count and date posts; they do not judge tone, so sentiment stays open.",
        "我的规则只统计数量和日期，不判断语气，因此情绪不作结论。",
    ));
    report(asked, &made, lines)
}

pub(super) fn news(asked: &RoleRequest<'_>) -> Draft {
    let made = answers(asked);
    let sources = vec![("get_news", about(asked)), ("get_news", json!({})), ("get_macro", json!({}))];
    let calls = open_calls(asked, &made, sources);
    if !calls.is_empty() {
        return request_data(asked, calls);
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
fn counts(asked: &RoleRequest<'_>, made: &[Answer]) -> Vec<String> {
    let lists = made.iter().filter(|answer| answer.tool == "get_news");
    lists
        .filter_map(|answer| {
            let items = answer.value["items"].as_array()?;
            let newest = items.iter().filter_map(|item| day_of(&item["published_at"])).max();
            let newest = newest.map(|day| match asked.language {
                Language::En => format!(", the latest from {day}"),
                Language::Zh => format!("，最新为 {day}"),
            });
            let (count, newest) = (items.len(), newest.unwrap_or_default());
            Some(if answer.arguments["symbol"].is_string() {
                asked.say(
                    format!("{count} items about the symbol{newest}."),
                    format!("相关消息 {count} 条{newest}。"),
                )
            } else {
                asked.say(format!("{count} items in all{newest}."), format!("全部消息 {count} 条{newest}。"))
            })
        })
        .collect()
}

/// The day of an instant, `YYYY-MM-DD`; `None` for other text.
fn day_of(instant: &Value) -> Option<&str> {
    instant.as_str()?.get(..10).filter(|day| parse_date(day).is_ok())
}

pub(super) fn fundamentals(asked: &RoleRequest<'_>) -> Draft {
    let made = answers(asked);
    let sources =
        vec![("get_profile", about(asked)), ("get_statements", about(asked)), ("get_price", about(asked))];
    let calls = open_calls(asked, &made, sources);
    if !calls.is_empty() {
        return request_data(asked, calls);
    }
    let mut lines = Vec::new();
    let figures = found(&made, "get_statements").and_then(|value| value["figures"].as_array());
    if let Some(figures) = figures {
        let newest = figures.iter().filter_map(|figure| day_of(&figure["period_end"])).max();
        let (count, newest) = (figures.len(), newest.unwrap_or("?"));
        lines.push(asked.say(
            format!("{count} reported figures, the latest period ending {newest}."),
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
