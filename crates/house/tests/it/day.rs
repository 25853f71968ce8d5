//! A hand-made market with an account and the solo agent's tools, and days run against them.

use crate::support::answer_to;
use papertape_core::message::{Message, ModelReply, ModelRequest, Sampling, ToolChoice, ToolSpec};
use papertape_house as house;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A minimal market and account behind the solo agent's tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desk {
    pub(crate) cash: Decimal,
    pub(crate) prices: BTreeMap<&'static str, Decimal>,
    pub(crate) closes: BTreeMap<&'static str, Vec<Decimal>>,
    /// The result of `get_indicators`; null where a symbol or a name is absent.
    pub(crate) indicators: BTreeMap<&'static str, Value>,
    pub(crate) held: BTreeMap<String, Decimal>,
    /// Orders pending from an earlier day.
    pub(crate) waiting: Vec<&'static str>,
    /// The next orders of a symbol are rejected with this code.
    pub(crate) refusals: BTreeMap<&'static str, Vec<&'static str>>,
    /// Orders stay pending and are not filled at once.
    pub(crate) waits: bool,
    /// Numbers as exact strings, not JSON numbers.
    pub(crate) exact_texts: bool,
}

impl Desk {
    fn number(&self, amount: Decimal) -> Value {
        let text = amount.normalize().to_string();
        if self.exact_texts { json!(text) } else { serde_json::from_str(&text).unwrap() }
    }

    fn tool(&mut self, name: &str, arguments: &Value) -> Value {
        let symbol = arguments["symbol"].as_str().unwrap_or_default();
        let unknown = || json!({ "error": format!("UNKNOWN_SYMBOL: {symbol}") });
        match name {
            "get_portfolio" => self.portfolio(),
            "get_price" => match self.prices.get(symbol) {
                Some(price) => json!({ "symbol": symbol, "price": self.number(*price), "kind": "open" }),
                None => unknown(),
            },
            "get_indicators" => json!({ "symbol": symbol, "as_of": "2013-01-02",
                "indicators": self.indicators.get(symbol).cloned().unwrap_or_else(|| json!({})) }),
            "get_bars" => {
                let closes = self.closes.get(symbol).cloned().unwrap_or_default();
                let bars: Vec<Value> =
                    closes.iter().map(|close| json!({ "close": self.number(*close) })).collect();
                json!({ "symbol": symbol, "bars": bars })
            }
            "buy" | "sell" => self.order(name, symbol, &arguments["quantity"]),
            _ => json!({ "error": format!("there is no tool {name}") }),
        }
    }

    fn portfolio(&self) -> Value {
        let price = |symbol: &str| self.prices.get(symbol).copied().unwrap_or_default();
        let value: Decimal = self.held.iter().map(|(symbol, held)| price(symbol) * held).sum();
        let positions: Vec<Value> = self
            .held
            .iter()
            .map(|(symbol, held)| {
                json!({ "symbol": symbol, "quantity": self.number(*held),
                "avg_price": 1, "price": self.number(price(symbol)) })
            })
            .collect();
        let pending: Vec<Value> = self.waiting.iter().map(|symbol| json!({ "symbol": symbol })).collect();
        json!({ "date": "2013-01-03", "cash": self.number(self.cash),
            "equity": self.number(self.cash + value), "positions": positions, "pending_orders": pending })
    }

    fn order(&mut self, side: &str, symbol: &str, quantity: &Value) -> Value {
        let whole: Decimal = quantity.to_string().parse().expect("orders are numbers");
        assert!(whole > Decimal::ZERO && whole.fract().is_zero(), "whole shares: {quantity}");
        let mut answer = json!({ "status": "filled", "order_id": "o", "symbol": symbol, "side": side,
            "quantity": self.number(whole), "fee": "0" });
        let cost = self.prices[symbol] * whole;
        let held = self.held.get(symbol).copied().unwrap_or_default();
        let refusal =
            self.refusals.get_mut(symbol).filter(|codes| !codes.is_empty()).map(|codes| codes.remove(0));
        let refusal = refusal
            .or((side == "buy" && cost > self.cash).then_some("insufficient_cash"))
            .or((side == "sell" && whole > held).then_some("insufficient_shares"));
        if let Some(code) = refusal {
            answer["status"] = json!("rejected");
            answer["code"] = json!(code);
        } else if self.waits {
            answer["status"] = json!("pending");
        } else {
            let (cash, change) = if side == "buy" { (-cost, whole) } else { (cost, -whole) };
            self.cash += cash;
            self.held.insert(symbol.to_owned(), held + change);
            self.held.retain(|_, held| !held.is_zero());
            answer["price"] = self.number(self.prices[symbol]);
        }
        answer["cash"] = self.number(self.cash);
        answer
    }
}

pub(crate) fn d(text: &str) -> Decimal {
    text.parse().unwrap()
}

pub(crate) fn tools() -> Vec<ToolSpec> {
    ["get_portfolio", "get_price", "get_bars", "get_indicators", "get_news", "calculate", "buy", "sell"]
        .map(|name| ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
        })
        .to_vec()
}

pub(crate) fn question(symbols: &str) -> String {
    format!("Please analyze and update today's (2013-01-03) positions.\nSymbols: {symbols}\nCash: 10000")
}

pub(crate) fn day_request(model: &str, question: &str) -> ModelRequest {
    ModelRequest {
        model: format!("house::{model}").parse().unwrap(),
        house_version: Some(house::VERSION),
        instructions: Some("You are a trader.".to_owned()),
        messages: vec![Message::user(question)],
        tools: tools(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        sampling: Sampling::default(),
    }
}

/// Runs a whole day; each turn is requested twice, and both responses must be equal.
pub(crate) fn run(model: &str, question: &str, desk: &mut Desk) -> Vec<ModelReply> {
    let mut request = day_request(model, question);
    let mut turns = Vec::new();
    while turns.len() < 10 {
        let answer = house::answer(&request).expect("a house model answers");
        let again = house::answer(&request.clone()).expect("a house model answers");
        assert_eq!((&answer.reply, answer.usage), (&again.reply, again.usage));
        request.messages.push(answer.reply.to_message());
        for call in &answer.reply.tool_calls {
            let result = desk.tool(&call.name, &call.arguments);
            request.messages.push(answer_to(&call.id, &call.name, &result.to_string()));
        }
        let over = answer.reply.tool_calls.is_empty();
        turns.push(answer.reply);
        if over {
            return turns;
        }
    }
    panic!("the day does not end: {turns:#?}");
}

/// The day's texts, joined.
pub(crate) fn told(turns: &[ModelReply]) -> String {
    let mut text = String::new();
    for turn in turns {
        writeln!(text, "{}", turn.text).unwrap();
        for call in &turn.tool_calls {
            writeln!(text, "    {} {} {}", call.id, call.name, call.arguments).unwrap();
        }
        writeln!(text, "----").unwrap();
    }
    text
}

pub(crate) fn orders(turns: &[ModelReply]) -> Vec<(String, String, String)> {
    let calls = turns.iter().flat_map(|turn| &turn.tool_calls);
    calls
        .filter(|call| matches!(call.name.as_str(), "buy" | "sell"))
        .map(|call| {
            let symbol = call.arguments["symbol"].as_str().unwrap_or_default().to_owned();
            (call.name.clone(), symbol, call.arguments["quantity"].to_string())
        })
        .collect()
}

pub(crate) fn order(side: &str, symbol: &str, quantity: &str) -> (String, String, String) {
    (side.to_owned(), symbol.to_owned(), quantity.to_owned())
}
