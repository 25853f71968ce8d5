//! A solo agent's trading day as seen in the conversation: the question, the calls made since, and the tools'
//! results.

use super::language::Language;
use super::number;
use papertape_core::message::{Message, ModelRequest};
use papertape_core::prompt::lines;
use papertape_core::time::parse_date;
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::BTreeMap;

/// A tool call and its result.
#[derive(Debug)]
pub(super) struct ToolExchange<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Value,
    /// The result's JSON; null if it is invalid or missing.
    pub(super) result: Value,
}

impl ToolExchange<'_> {
    fn is_about(&self, tool: &str, symbol: &str) -> bool {
        self.tool == tool && self.arguments["symbol"] == symbol
    }

    /// The tool's error, if it returned one.
    pub(super) fn error(&self) -> Option<&str> {
        self.result["error"].as_str()
    }
}

/// One position.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Holding {
    /// Negative is short.
    pub(super) quantity: Decimal,
    pub(super) price: Option<Decimal>,
    /// The sellable quantity today, if less than the whole.
    pub(super) sellable: Option<Decimal>,
    pub(super) stop: Option<Decimal>,
    pub(super) leverage: Option<Decimal>,
}

/// The account at the start of the day.
#[derive(Debug, Default)]
pub(super) struct Portfolio {
    /// The amount available for new positions.
    pub(super) cash: Decimal,
    pub(super) equity: Decimal,
    pub(super) positions: BTreeMap<String, Holding>,
    /// Symbols with a pending order.
    pub(super) pending: Vec<String>,
}

/// The day so far.
#[derive(Debug)]
pub(super) struct Transcript<'a> {
    pub(super) language: Language,
    pub(super) date: Option<&'a str>,
    pub(super) symbols: Vec<String>,
    /// Those of them in which no position may be opened or enlarged.
    pub(super) closing_only: Vec<String>,
    pub(super) exchanges: Vec<ToolExchange<'a>>,
}

impl<'a> Transcript<'a> {
    /// Reads the last question that lists symbols, and everything after it; `None` when there is no such
    /// question.
    pub(super) fn read(request: &'a ModelRequest) -> Option<Self> {
        let is_question = |message: &&'a Message| match message {
            Message::User { content } => symbols(content).is_some(),
            _ => false,
        };
        let at = request.messages.iter().rposition(|message| is_question(&message))?;
        let question = request.messages[at].content();
        let later = &request.messages[at + 1..];
        let answer = |id: &str| {
            later.iter().find_map(|message| match message {
                Message::Tool { call_id, content, .. } if call_id == id => Some(content.as_str()),
                _ => None,
            })
        };
        let calls = later.iter().flat_map(|message| match message {
            Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
            _ => &[],
        });
        let exchanges = calls.map(|call| ToolExchange {
            tool: &call.name,
            arguments: &call.arguments,
            result: answer(&call.id).and_then(super::data).unwrap_or_default(),
        });
        Some(Self {
            language: Language::detect(question),
            date: date(question),
            symbols: symbols(question)?,
            closing_only: closing_only(question),
            exchanges: exchanges.collect(),
        })
    }

    /// The first call of the tool for the symbol.
    pub(super) fn first_call(&self, tool: &str, symbol: &str) -> Option<&ToolExchange<'a>> {
        self.exchanges.iter().find(|exchange| exchange.is_about(tool, symbol))
    }

    /// The first result of `get_portfolio`: the account before today's orders.
    pub(super) fn portfolio(&self) -> Option<Result<Portfolio, String>> {
        let exchange = self.exchanges.iter().find(|exchange| exchange.tool == "get_portfolio")?;
        let answer = &exchange.result;
        let Some(cash) = available(answer) else {
            return Some(Err(exchange.error().unwrap_or("the answer cannot be read").to_owned()));
        };
        let list = |key: &str| answer[key].as_array().cloned().unwrap_or_default();
        let mut positions = BTreeMap::new();
        for position in list("positions") {
            if let (Some(symbol), Some(quantity)) =
                (position["symbol"].as_str(), number::read(&position["quantity"]))
            {
                let number = |key: &str| number::read(&position[key]);
                let (price, sellable) = (number("price"), number("sellable"));
                let (stop, leverage) = (number("stop"), number("leverage"));
                let holding = Holding { quantity, price, sellable, stop, leverage };
                positions.insert(symbol.to_owned(), holding);
            }
        }
        let worth = |held: &Holding| held.quantity * held.price.unwrap_or_default();
        let equity = number::read(&answer["equity"])
            .unwrap_or_else(|| cash + positions.values().map(worth).sum::<Decimal>());
        let pending = list("pending_orders")
            .iter()
            .filter_map(|order| order["symbol"].as_str().map(str::to_owned))
            .collect();
        Some(Ok(Portfolio { cash, equity, positions, pending }))
    }

    /// Today's price from `get_price`.
    pub(super) fn price(&self, symbol: &str) -> Option<Decimal> {
        let price = number::read(&self.first_call("get_price", symbol)?.result["price"])?;
        (price > Decimal::ZERO).then_some(price)
    }

    /// An indicator from `get_indicators`.
    pub(super) fn indicator(&self, symbol: &str, name: &str) -> Option<Decimal> {
        number::read(&self.first_call("get_indicators", symbol)?.result["indicators"][name])
    }

    /// The closes from `get_bars`, oldest first.
    pub(super) fn closes(&self, symbol: &str) -> Vec<Decimal> {
        let bars =
            self.first_call("get_bars", symbol).and_then(|exchange| exchange.result["bars"].as_array());
        bars.into_iter().flatten().filter_map(|bar| number::read(&bar["close"])).collect()
    }

    /// The amount available for new positions after the latest order that reported it.
    pub(super) fn cash_now(&self) -> Option<Decimal> {
        let orders = self.exchanges.iter().rev().filter(|exchange| is_order(exchange.tool));
        orders.filter_map(|exchange| available(&exchange.result)).next()
    }
}

/// The amount available for new positions: cash minus margins in use.
fn available(answer: &Value) -> Option<Decimal> {
    number::read(&answer["available"]).or_else(|| number::read(&answer["cash"]))
}

/// Whether the tool opens or adds to a position.
pub(super) fn is_opening(tool: &str) -> bool {
    matches!(tool, "buy" | "short")
}

/// Whether the tool trades.
pub(super) fn is_order(tool: &str) -> bool {
    matches!(tool, "buy" | "sell" | "short" | "cover")
}

/// The symbols of the line `Symbols: AAPL, GOOG`; `None` when there is no such line or it lists none.
fn symbols(question: &str) -> Option<Vec<String>> {
    let listed = question.lines().map(str::trim).find_map(|line| {
        lines::SYMBOLS
            .strip(line)
            .or_else(|| line.strip_prefix("symbols:"))
            .or_else(|| line.strip_prefix("标的:"))
    })?;
    // A day with no listed symbols yet is still a day.
    if lines::NO_SYMBOLS.strip(listed.trim()) == Some("") {
        return Some(Vec::new());
    }
    let symbols = names(listed);
    (!symbols.is_empty()).then_some(symbols)
}

/// The symbols of the line `Closing only: AAPL (not in SP500 today)`.
fn closing_only(question: &str) -> Vec<String> {
    let line = question.lines().map(str::trim).find_map(|line| lines::CLOSING_ONLY.strip(line));
    names(line.and_then(|line| line.split(['(', '（']).next()).unwrap_or_default())
}

fn names(listed: &str) -> Vec<String> {
    let mut symbols: Vec<String> = Vec::new();
    for symbol in listed.split([',', '，', '、', ' ']).map(str::trim).filter(|symbol| !symbol.is_empty()) {
        if !symbols.iter().any(|known| known == symbol) {
            symbols.push(symbol.to_owned());
        }
    }
    symbols
}

/// The first date in the text.
fn date(text: &str) -> Option<&str> {
    (0..text.len()).filter_map(|at| text.get(at..at + 10)).find(|ten| parse_date(ten).is_ok())
}
