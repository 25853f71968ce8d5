//! The house models' texts, in English and in Chinese.

use super::day::{ToolExchange, Transcript, is_order};
use super::language::{Language, choose};
use super::market::Market;
use super::number::{self, show, show_price};
use super::plan::{Plan, SymbolView};
use super::strategy::{Reason, Signal, Strategy};
use Language::{En, Zh};
use papertape_core::message::ModelName;
use papertape_core::prompt::lines::FINISH_SIGNAL;
use rust_decimal::Decimal;

/// The line that identifies the author as a house model.
pub(crate) fn label(language: Language, model: &ModelName) -> String {
    match language {
        En => format!("({model} is a rule-based stand-in, not a language model.)"),
        Zh => format!("（{model} 是基于规则的替身，不是语言模型。）"),
    }
}

/// Whether the line is such a label.
pub(super) fn is_label(line: &str) -> bool {
    line.contains("is a rule-based stand-in")
        || line.contains("是基于规则的替身")
        || line.contains(FINISH_SIGNAL)
}

fn ending(language: Language, model: &ModelName) -> String {
    format!("{FINISH_SIGNAL}\n{}", label(language, model))
}

/// The reply to a conversation that the house models cannot handle.
pub(super) fn nothing_to_do(model: &ModelName) -> String {
    format!("There is nothing here that my rules cover.\n{}", ending(En, model))
}

/// The reply when the day cannot be traded.
pub(super) fn blind(day: &Transcript<'_>, model: &ModelName, why: &str) -> String {
    let reply = choose(
        day.language,
        format!("I cannot see the portfolio ({why}), so I place no orders today."),
        format!("无法读取持仓（{why}），今天不下单。"),
    );
    format!("{reply}\n{}", ending(day.language, model))
}

pub(super) fn no_tool(language: Language) -> String {
    choose(language, "there is no tool for it", "没有相应的工具")
}

pub(super) fn portfolio_first(language: Language) -> String {
    choose(language, "I start with the portfolio's holdings.", "先看账户里的持仓和现金。")
}

pub(super) fn opening_line(language: Language, strategy: Strategy) -> String {
    match strategy {
        Strategy::BuyAndHold => choose(language, "Next I check today's prices.", "接着看今天的价格。"),
        _ => choose(language, "Next I check today's prices and indicators.", "接着看今天的价格和指标。"),
    }
}

pub(super) fn compute(language: Language) -> String {
    choose(
        language,
        "Some indicators are missing, so I read the bars and compute what I can.",
        "部分指标缺失，我读取行情自行计算。",
    )
}

pub(super) fn selling(language: Language) -> String {
    choose(language, "I sell first to free cash for the rest.", "先卖出，腾出现金。")
}

pub(super) fn buying(language: Language, market: &Market) -> String {
    let (leverage, lot) = (market.leverage, market.unit);
    if market.is_leveraged() {
        return choose(
            language,
            format!(
                "Now I open positions, each with a leverage of {leverage}, a stop and a target, and keep a little cash for fees."
            ),
            format!("现在开仓，每笔 {leverage} 倍杠杆并设置止损和止盈，同时留一点现金付手续费。"),
        );
    }
    let (english, chinese) = if market.is_fractional() {
        ("in fractions".to_owned(), "可买小数数量，".to_owned())
    } else if lot == Decimal::ONE {
        ("in whole shares".to_owned(), "只买整股，".to_owned())
    } else {
        (format!("in whole lots of {lot}"), format!("每手 {lot} 股，只买整手，"))
    };
    choose(
        language,
        format!("Now I buy, {english}, and keep a little cash for fees."),
        format!("现在买入，{chinese}并留一点现金付手续费。"),
    )
}

pub(super) fn smaller(language: Language) -> String {
    choose(
        language,
        "An order was rejected for its size; I try a smaller one once.",
        "有订单因数量被拒，我减少数量再试一次。",
    )
}

/// An order to place, with its reason.
pub(super) fn order(language: Language, tool: &str, quantity: Decimal, symbol: &str, why: &str) -> String {
    let quantity = quantity.normalize();
    match language {
        En => format!("- {tool} {quantity} {symbol}: {why}"),
        Zh => format!("- {} {symbol} {quantity} 股：{why}", verbs(Zh, tool).0),
    }
}

/// What an order did, and what it is to do.
fn verbs(language: Language, tool: &str) -> (&'static str, &'static str) {
    match (language, tool) {
        (En, "buy") => ("bought", "buy"),
        (En, "sell") => ("sold", "sell"),
        (En, "short") => ("sold short", "sell short"),
        (En, _) => ("covered", "cover"),
        (Zh, "buy") => ("买入", "买入"),
        (Zh, "sell") => ("卖出", "卖出"),
        (Zh, "short") => ("卖空", "卖空"),
        (Zh, _) => ("平仓", "平仓"),
    }
}

/// The reason for a symbol's signal, without a period.
pub(super) fn reason(language: Language, opinion: &SymbolView) -> String {
    let facts = &opinion.facts;
    let at = |value: Option<Decimal>| value.map_or_else(|| "n/a".to_owned(), show_price);
    let (price, rsi) = (at(facts.price), facts.rsi_14.map_or_else(|| "n/a".to_owned(), show));
    let (fast, slow) = (at(facts.sma_20), at(facts.sma_50));
    let (english, chinese) = match opinion.reason {
        Reason::NoPrice => ("there is no price today".into(), "今天没有价格".into()),
        Reason::TooLittleHistory => {
            ("there is too little history to judge it".into(), "历史数据太少，无法判断".into())
        }
        Reason::TrendUp => (
            format!(
                "the trend is up, because the price {price} is above the 20-day average {fast}, which is not below the 50-day average {slow} (RSI {rsi})"
            ),
            format!(
                "趋势向上，因为价格 {price} 高于 20 日均线 {fast}，且不低于 50 日均线 {slow}（RSI {rsi}）"
            ),
        ),
        Reason::TrendUpButHot => (
            format!("the trend is up, but RSI {rsi} is above 80, too hot to buy into"),
            format!("趋势向上，但 RSI {rsi} 高于 80，过热不追"),
        ),
        Reason::TrendBroken => (
            format!(
                "the trend is broken, because the price {price} is below its average (20 days {fast}, 50 days {slow})"
            ),
            format!("趋势已破，因为价格 {price} 跌破均线（20 日 {fast}，50 日 {slow}）"),
        ),
        Reason::TrendDown => (
            format!(
                "the trend is down, because the price {price} is below the 20-day average {fast}, which is not above the 50-day average {slow} (RSI {rsi})"
            ),
            format!(
                "趋势向下，因为价格 {price} 低于 20 日均线 {fast}，且不高于 50 日均线 {slow}（RSI {rsi}）"
            ),
        ),
        Reason::TrendDownButCold => (
            format!("the trend is down, but RSI {rsi} is below 20, too cold to sell short"),
            format!("趋势向下，但 RSI {rsi} 低于 20，过冷不追空"),
        ),
        Reason::NoTrend => (
            format!(
                "there is no rising trend, with the price {price} against the averages {fast} (20 days) and {slow} (50 days)"
            ),
            format!("没有上升趋势，价格 {price}，20 日均线 {fast}，50 日均线 {slow}"),
        ),
        Reason::Oversold => (
            format!("it is oversold, because RSI {rsi} is below 30"),
            format!("超卖，因为 RSI {rsi} 低于 30"),
        ),
        Reason::Overbought => (
            format!("it is overbought, because RSI {rsi} is above 70"),
            format!("超买，因为 RSI {rsi} 高于 70"),
        ),
        Reason::Neutral => {
            (format!("RSI {rsi} is neither below 30 nor above 70"), format!("RSI {rsi} 介于 30 与 70 之间"))
        }
        Reason::FirstDay => (
            "nothing is held yet, so the cash is spread equally".into(),
            "尚无持仓，所以把现金平均分配".into(),
        ),
        Reason::Holding => ("positions are held once bought".into(), "买入之后一直持有".into()),
    };
    choose(language, english, chinese)
}

/// The day's last text: what was done for each symbol and why.
pub(super) fn account(day: &Transcript<'_>, plan: &Plan, strategy: Strategy, model: &ModelName) -> String {
    let (language, date) = (day.language, day.date.unwrap_or("today"));
    let (english, chinese) = match strategy {
        Strategy::Momentum => ("following the trend", "趋势跟随"),
        Strategy::Contrarian => ("against the crowd", "逆向交易"),
        Strategy::BuyAndHold => ("buying and holding", "买入并持有"),
    };
    let head = format!("My trading day {date}, {english}:");
    let mut lines = vec![choose(language, head, format!("{date} {chinese}的交易小结："))];
    for opinion in &plan.opinions {
        let symbol = &opinion.facts.symbol;
        let orders = day
            .exchanges
            .iter()
            .filter(|exchange| is_order(exchange.tool) && exchange.arguments["symbol"] == symbol.as_str());
        let mut done: Vec<String> = orders.map(|exchange| outcome(language, exchange)).collect();
        if done.is_empty() {
            done.push(untouched(language, opinion, &plan.market));
        }
        let done = done.join(&choose(language, ", then ", "，随后"));
        let why = reason(language, opinion);
        lines.push(choose(
            language,
            format!("- {symbol}: {done}; {why}."),
            format!("- {symbol}：{done}；{why}。"),
        ));
    }
    if let Some(cash) = day.cash_now().map(show) {
        lines.push(choose(language, format!("Cash left: {cash}."), format!("剩余现金：{cash}。")));
    }
    lines.push(ending(language, model));
    lines.join("\n")
}

fn untouched(language: Language, opinion: &SymbolView, market: &Market) -> String {
    let held = opinion.facts.held;
    let holds = held > Decimal::ZERO || (market.is_leveraged() && !held.is_zero());
    let (english, chinese) = match opinion.stance {
        _ if holds => ("I hold my position", "继续持有"),
        Signal::Short => ("I wanted to sell short, but there is not enough cash", "想卖空，但资金不足"),
        Signal::Buy if market.unit == Decimal::ONE => {
            ("I wanted to buy, but there is not enough cash for one share", "想买入，但现金不足一股")
        }
        Signal::Buy => ("I wanted to buy, but there is not enough cash", "想买入，但资金不足"),
        Signal::Hold | Signal::Exit | Signal::Unknown => ("I stay out", "不参与"),
    };
    choose(language, english, chinese)
}

fn outcome(language: Language, exchange: &ToolExchange<'_>) -> String {
    let quantity = |value: &serde_json::Value| number::read(value).map(|n| n.normalize().to_string());
    let size = quantity(&exchange.result["quantity"])
        .or_else(|| quantity(&exchange.arguments["quantity"]))
        .unwrap_or_else(|| "?".to_owned());
    let (did, to_do) = verbs(language, exchange.tool);
    match exchange.result["status"].as_str() {
        Some("filled") => {
            let at =
                number::read(&exchange.result["price"]).map(show_price).map_or_else(String::new, |price| {
                    choose(language, format!(" at {price}"), format!("，价格 {price}"))
                });
            choose(language, format!("I {did} {size}{at}"), format!("{did} {size} 股{at}"))
        }
        Some("pending") => choose(
            language,
            format!("my order to {to_do} {size} is pending"),
            format!("{to_do} {size} 股的订单等待成交"),
        ),
        _ => {
            let why = ["code", "error", "message"].into_iter().find_map(|key| exchange.result[key].as_str());
            let why = why.unwrap_or("no answer");
            choose(
                language,
                format!("I tried to {to_do} {size} and the order was rejected ({why})"),
                format!("尝试{to_do} {size} 股，被拒绝（{why}）"),
            )
        }
    }
}
