//! The house models' texts, in English and in Chinese.

use super::day::{Language, ToolExchange, Transcript, is_order};
use super::market::Market;
use super::number::{self, show, show_price};
use super::plan::{Order, Plan, SymbolView};
use super::strategy::{Reason, Signal, Strategy};
use Language::{Chinese, English};
use papertape_core::message::ModelName;
use papertape_core::prompt::lines::FINISH_SIGNAL;
use rust_decimal::Decimal;

/// This signal in a text ends the day.

/// The line that identifies the author as a house model.
pub(crate) fn label(language: Language, model: &ModelName) -> String {
    match language {
        English => format!("({model} is a rule-based stand-in, not a language model.)"),
        Chinese => format!("（{model} 是基于规则的替身，不是语言模型。）"),
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
    format!("There is nothing here that my rules cover.\n{}", ending(English, model))
}

/// The reply when the day cannot be traded.
pub(super) fn blind(day: &Transcript<'_>, model: &ModelName, why: &str) -> String {
    let ending = ending(day.language, model);
    match day.language {
        English => format!("I cannot see the portfolio ({why}), so I place no orders today.\n{ending}"),
        Chinese => format!("无法读取持仓（{why}），今天不下单。\n{ending}"),
    }
}

pub(super) fn no_tool(language: Language) -> &'static str {
    match language {
        English => "there is no tool for it",
        Chinese => "没有相应的工具",
    }
}

pub(super) fn portfolio_first(language: Language) -> String {
    match language {
        English => "I start with what the portfolio holds.",
        Chinese => "先看账户里的持仓和现金。",
    }
    .to_owned()
}

pub(super) fn opening_line(language: Language, strategy: Strategy) -> String {
    match (language, strategy) {
        (English, Strategy::BuyAndHold) => "Next I look at today's prices.",
        (English, _) => "Next I look at today's prices and indicators.",
        (Chinese, Strategy::BuyAndHold) => "接着看今天的价格。",
        (Chinese, _) => "接着看今天的价格和指标。",
    }
    .to_owned()
}

pub(super) fn compute(language: Language) -> String {
    match language {
        English => "Some indicators are not there, so I read the bars and compute what they allow.",
        Chinese => "有些指标还没有，我读取行情自己计算。",
    }
    .to_owned()
}

pub(super) fn selling(language: Language) -> String {
    match language {
        English => "I sell first, so that the cash is there for the rest.",
        Chinese => "先卖出，腾出现金。",
    }
    .to_owned()
}

pub(super) fn buying(language: Language, market: &Market) -> String {
    let (leverage, lot) = (market.leverage, market.unit);
    match (language, market.is_leveraged(), market.is_fractional()) {
        (English, true, _) => format!(
            "Now I open positions, each with a leverage of {leverage}, a stop and a target, and keep a little cash for fees."
        ),
        (Chinese, true, _) => {
            format!("现在开仓，每笔 {leverage} 倍杠杆并设置止损和止盈，同时留一点现金付手续费。")
        }
        (English, false, true) => "Now I buy, in fractions and with a little cash kept for fees.".to_owned(),
        (Chinese, false, true) => "现在买入，可买小数数量，并留一点现金付手续费。".to_owned(),
        (English, false, false) if lot == Decimal::ONE => {
            "Now I buy, in whole shares and with a little cash kept for fees.".to_owned()
        }
        (Chinese, false, false) if lot == Decimal::ONE => {
            "现在买入，只买整股，并留一点现金付手续费。".to_owned()
        }
        (English, false, false) => {
            format!("Now I buy, in whole lots of {lot} and with a little cash kept for fees.")
        }
        (Chinese, false, false) => format!("现在买入，每手 {lot} 股，只买整手，并留一点现金付手续费。"),
    }
}

pub(super) fn smaller(language: Language) -> String {
    match language {
        English => "An order was refused for its size; I try a smaller one once.",
        Chinese => "有订单因数量被拒，我减少数量再试一次。",
    }
    .to_owned()
}

/// An order to place, with its reason.
pub(super) fn order(language: Language, plan: &Plan, order: &Order) -> String {
    let (symbol, quantity) = (&order.symbol, order.quantity.normalize());
    let why = plan.opinion(symbol).map(|opinion| reason(language, opinion)).unwrap_or_default();
    match (language, order.tool) {
        (English, tool) => format!("- {tool} {quantity} {symbol}: {why}"),
        (Chinese, "buy") => format!("- 买入 {symbol} {quantity} 股：{why}"),
        (Chinese, "short") => format!("- 卖空 {symbol} {quantity} 股：{why}"),
        (Chinese, "sell") => format!("- 卖出 {symbol} {quantity} 股：{why}"),
        (Chinese, _) => format!("- 平仓 {symbol} {quantity} 股：{why}"),
    }
}

/// The reason for a symbol's signal, without a period.
pub(super) fn reason(language: Language, opinion: &SymbolView) -> String {
    let facts = &opinion.facts;
    let number = |value: Option<Decimal>| value.map_or_else(|| "n/a".to_owned(), show);
    let at = |value: Option<Decimal>| value.map_or_else(|| "n/a".to_owned(), show_price);
    let (price, rsi) = (at(facts.price), number(facts.rsi_14));
    let (fast, slow) = (at(facts.sma_20), at(facts.sma_50));
    match (language, opinion.reason) {
        (English, Reason::NoPrice) => "there is no price today".to_owned(),
        (Chinese, Reason::NoPrice) => "今天没有价格".to_owned(),
        (English, Reason::TooLittleHistory) => "there is too little history to judge it".to_owned(),
        (Chinese, Reason::TooLittleHistory) => "历史数据太少，无法判断".to_owned(),
        (English, Reason::TrendUp) => format!(
            "the trend is up, because the price {price} is above the 20-day average {fast} and that is not below the 50-day average {slow} (RSI {rsi})"
        ),
        (Chinese, Reason::TrendUp) => {
            format!(
                "趋势向上，因为价格 {price} 高于 20 日均线 {fast}，且不低于 50 日均线 {slow}（RSI {rsi}）"
            )
        }
        (English, Reason::TrendUpButHot) => {
            format!("the trend is up, but RSI {rsi} is above 80, too hot to buy into")
        }
        (Chinese, Reason::TrendUpButHot) => format!("趋势向上，但 RSI {rsi} 高于 80，过热不追"),
        (English, Reason::TrendBroken) => format!(
            "the trend is broken, because the price {price} is below its average (20 days {fast}, 50 days {slow})"
        ),
        (Chinese, Reason::TrendBroken) => {
            format!("趋势已破，因为价格 {price} 跌破均线（20 日 {fast}，50 日 {slow}）")
        }
        (English, Reason::TrendDown) => format!(
            "the trend is down, because the price {price} is below the 20-day average {fast} and that is not above the 50-day average {slow} (RSI {rsi})"
        ),
        (Chinese, Reason::TrendDown) => {
            format!(
                "趋势向下，因为价格 {price} 低于 20 日均线 {fast}，且不高于 50 日均线 {slow}（RSI {rsi}）"
            )
        }
        (English, Reason::TrendDownButCold) => {
            format!("the trend is down, but RSI {rsi} is below 20, too cold to sell short")
        }
        (Chinese, Reason::TrendDownButCold) => format!("趋势向下，但 RSI {rsi} 低于 20，过冷不追空"),
        (English, Reason::NoTrend) => format!(
            "there is no rising trend, with the price {price} against the averages {fast} (20 days) and {slow} (50 days)"
        ),
        (Chinese, Reason::NoTrend) => {
            format!("没有上升趋势，价格 {price}，20 日均线 {fast}，50 日均线 {slow}")
        }
        (English, Reason::Oversold) => format!("it is oversold, because RSI {rsi} is below 30"),
        (Chinese, Reason::Oversold) => format!("超卖，因为 RSI {rsi} 低于 30"),
        (English, Reason::Overbought) => format!("it is overbought, because RSI {rsi} is above 70"),
        (Chinese, Reason::Overbought) => format!("超买，因为 RSI {rsi} 高于 70"),
        (English, Reason::Neutral) => format!("RSI {rsi} is neither below 30 nor above 70"),
        (Chinese, Reason::Neutral) => format!("RSI {rsi} 介于 30 与 70 之间"),
        (English, Reason::FirstDay) => "nothing is held yet, so the cash is spread equally".to_owned(),
        (Chinese, Reason::FirstDay) => "尚无持仓，所以把现金平均分配".to_owned(),
        (English, Reason::Holding) => "what was bought once is held".to_owned(),
        (Chinese, Reason::Holding) => "买入之后一直持有".to_owned(),
    }
}

/// The day's last text: what was done for each symbol and why.
pub(super) fn account(day: &Transcript<'_>, plan: &Plan, strategy: Strategy, model: &ModelName) -> String {
    let language = day.language;
    let date = day.date.unwrap_or("today");
    let mut lines = vec![match (language, strategy) {
        (English, Strategy::Momentum) => format!("My trading day {date}, following the trend:"),
        (English, Strategy::Contrarian) => format!("My trading day {date}, against the crowd:"),
        (English, Strategy::BuyAndHold) => format!("My trading day {date}, buying and holding:"),
        (Chinese, Strategy::Momentum) => format!("{date} 趋势跟随的交易小结："),
        (Chinese, Strategy::Contrarian) => format!("{date} 逆向交易的交易小结："),
        (Chinese, Strategy::BuyAndHold) => format!("{date} 买入并持有的交易小结："),
    }];
    for opinion in &plan.opinions {
        let symbol = &opinion.facts.symbol;
        let orders: Vec<&ToolExchange<'_>> = day
            .exchanges
            .iter()
            .filter(|exchange| is_order(exchange.tool) && exchange.arguments["symbol"] == symbol.as_str())
            .collect();
        let done = if orders.is_empty() {
            untouched(language, opinion, &plan.market).to_owned()
        } else {
            let comma = if language == English { ", then " } else { "，随后" };
            orders.iter().map(|exchange| outcome(language, exchange)).collect::<Vec<_>>().join(comma)
        };
        let why = reason(language, opinion);
        lines.push(match language {
            English => format!("- {symbol}: {done}; {why}."),
            Chinese => format!("- {symbol}：{done}；{why}。"),
        });
    }
    if let Some(cash) = day.cash_now() {
        lines.push(match language {
            English => format!("Cash left: {}.", show(cash)),
            Chinese => format!("剩余现金：{}。", show(cash)),
        });
    }
    lines.push(ending(language, model));
    lines.join("\n")
}

fn untouched(language: Language, opinion: &SymbolView, market: &Market) -> &'static str {
    let held = opinion.facts.held;
    let holds = held > Decimal::ZERO || (market.is_leveraged() && !held.is_zero());
    let plain = market.unit == Decimal::ONE;
    match (language, holds, opinion.stance) {
        (English, false, Signal::Short) => "I wanted to sell short, but the cash does not reach",
        (Chinese, false, Signal::Short) => "想卖空，但资金不足",
        (English, false, Signal::Buy) if !plain => "I wanted to buy, but the cash does not reach",
        (Chinese, false, Signal::Buy) if !plain => "想买入，但资金不足",
        (English, true, _) => "I hold my position",
        (Chinese, true, _) => "继续持有",
        (English, false, Signal::Buy) => "I wanted to buy, but the cash does not reach for a share",
        (Chinese, false, Signal::Buy) => "想买入，但现金不足一股",
        (English, false, _) => "I stay out",
        (Chinese, false, _) => "不参与",
    }
}

fn outcome(language: Language, exchange: &ToolExchange<'_>) -> String {
    let quantity = |value: &serde_json::Value| number::read(value).map(|n| n.normalize().to_string());
    let size = quantity(&exchange.result["quantity"])
        .or_else(|| quantity(&exchange.arguments["quantity"]))
        .unwrap_or_else(|| "?".to_owned());
    let price = number::read(&exchange.result["price"]).map(show_price);
    let (did, to_do) = match (language, exchange.tool) {
        (English, "buy") => ("bought", "buy"),
        (English, "sell") => ("sold", "sell"),
        (English, "short") => ("sold short", "sell short"),
        (English, _) => ("covered", "cover"),
        (Chinese, "buy") => ("买入", "买入"),
        (Chinese, "sell") => ("卖出", "卖出"),
        (Chinese, "short") => ("卖空", "卖空"),
        (Chinese, _) => ("平仓", "平仓"),
    };
    match (language, exchange.result["status"].as_str()) {
        (English, Some("filled")) => {
            format!("I {did} {size}{}", price.map(|price| format!(" at {price}")).unwrap_or_default())
        }
        (Chinese, Some("filled")) => {
            format!("{did} {size} 股{}", price.map(|price| format!("，价格 {price}")).unwrap_or_default())
        }
        (English, Some("pending")) => format!("my order to {to_do} {size} waits to be filled"),
        (Chinese, Some("pending")) => format!("{to_do} {size} 股的订单等待成交"),
        (_, _) => {
            let why = ["code", "error", "message"].into_iter().find_map(|key| exchange.result[key].as_str());
            let why = why.unwrap_or("no answer");
            match language {
                English => format!("I tried to {to_do} {size} and was refused ({why})"),
                Chinese => format!("尝试{to_do} {size} 股，被拒绝（{why}）"),
            }
        }
    }
}
