//! A solo agent's day in a few turns: portfolio, prices and indicators, bars when indicators are missing,
//! sales, purchases, and a summary. Progress is read from the conversation, so every turn is a pure function
//! of it.

use super::Draft;
use super::day::{ToolExchange, Transcript, is_opening};
use super::market::Market;
use super::phrases;
use super::plan::{Order, Plan};
use super::strategy::Strategy;
use papertape_core::message::{ModelRequest, ToolChoice};
use serde_json::{Value, json};

/// Bars to request when indicators are missing: enough for 50 days and for the RSI to settle.
const BARS: u32 = 120;

/// The day's next turn; `None` when the conversation is not a trading day.
pub(super) fn draft(request: &ModelRequest, strategy: Strategy) -> Option<Draft> {
    let day = Transcript::read(request)?;
    let may_call = request.tool_choice != ToolChoice::None;
    let offered = |tool: &str| may_call && request.tools.iter().any(|spec| spec.name == tool);
    let portfolio = match day.portfolio() {
        None if offered("get_portfolio") => {
            let text = phrases::portfolio_first(day.language);
            return Some(Draft { text, calls: vec![("get_portfolio", json!({}))] });
        }
        found => found.unwrap_or_else(|| Err(phrases::no_tool(day.language))),
    };
    let portfolio = match portfolio {
        Ok(portfolio) => portfolio,
        Err(why) => return Some(Draft::text(phrases::blind(&day, &request.model, &why))),
    };
    let facts = request_facts(&day, strategy, &offered);
    if !facts.is_empty() {
        return Some(Draft { text: phrases::opening_line(day.language, strategy), calls: facts });
    }
    let bars = request_bars(&day, strategy, &offered);
    if !bars.is_empty() {
        return Some(Draft { text: phrases::compute(day.language), calls: bars });
    }
    let plan = Plan::new(strategy, Market::read(&request.tools), &day, &portfolio);
    let summary = || Draft::text(phrases::account(&day, &plan, strategy, &request.model));
    Some(trade(&day, &plan, &offered).unwrap_or_else(summary))
}

fn request_facts(
    day: &Transcript<'_>,
    strategy: Strategy,
    offered: &dyn Fn(&str) -> bool,
) -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for symbol in &day.symbols {
        if offered("get_price") && day.first_call("get_price", symbol).is_none() {
            calls.push(("get_price", json!({ "symbol": symbol })));
        }
        let indicators = strategy.indicators();
        let open = day.first_call("get_indicators", symbol).is_none();
        if offered("get_indicators") && open && !indicators.is_empty() {
            calls.push(("get_indicators", json!({ "symbol": symbol, "indicators": indicators })));
        }
    }
    calls
}

fn request_bars(
    day: &Transcript<'_>,
    strategy: Strategy,
    offered: &dyn Fn(&str) -> bool,
) -> Vec<(&'static str, Value)> {
    if !offered("get_bars") {
        return Vec::new();
    }
    let missing = |symbol: &&String| {
        day.first_call("get_bars", symbol).is_none()
            && strategy.indicators().iter().any(|name| day.indicator(symbol, name).is_none())
    };
    let call = |symbol: &String| ("get_bars", json!({ "symbol": symbol, "limit": BARS }));
    day.symbols.iter().filter(missing).map(call).collect()
}

/// The next orders, if any are left.
fn trade(day: &Transcript<'_>, plan: &Plan, offered: &dyn Fn(&str) -> bool) -> Option<Draft> {
    let is_new = |order: &Order| attempts(day, order.tool, &order.symbol).is_empty();
    if !day.exchanges.iter().any(|exchange| is_opening(exchange.tool)) {
        let sales = plan.sales.iter().filter(|order| offered(order.tool) && is_new(order)).cloned();
        let smaller_sales = || retries(day, plan, &["sell", "cover"], offered);
        let purchases = || plan.purchases(day.cash_now()).into_iter().filter(|order| offered(order.tool));
        let next = place(day, plan, phrases::selling(day.language), sales.collect())
            .or_else(|| place(day, plan, phrases::smaller(day.language), smaller_sales()))
            .or_else(|| place(day, plan, phrases::buying(day.language, &plan.market), purchases().collect()));
        if next.is_some() {
            return next;
        }
    }
    place(day, plan, phrases::smaller(day.language), retries(day, plan, &["buy", "short"], offered))
}

/// Orders that were rejected for their size and have not been retried with a smaller one.
fn retries(
    day: &Transcript<'_>,
    plan: &Plan,
    tools: &[&'static str],
    offered: &dyn Fn(&str) -> bool,
) -> Vec<Order> {
    let mut orders = Vec::new();
    for &tool in tools.iter().filter(|tool| offered(tool)) {
        for symbol in &day.symbols {
            if let [only] = attempts(day, tool, symbol).as_slice()
                && only.result["status"] == "rejected"
            {
                orders.extend(plan.smaller(day, tool, only));
            }
        }
    }
    orders
}

fn attempts<'d, 'a>(day: &'d Transcript<'a>, tool: &str, symbol: &str) -> Vec<&'d ToolExchange<'a>> {
    day.exchanges
        .iter()
        .filter(|exchange| exchange.tool == tool && exchange.arguments["symbol"] == symbol)
        .collect()
}

/// The orders as calls, each with its reason; `None` when there are none.
fn place(day: &Transcript<'_>, plan: &Plan, lead: String, orders: Vec<Order>) -> Option<Draft> {
    let mut draft = Draft { text: lead, calls: Vec::new() };
    for order in orders {
        let reason = plan.opinion(&order.symbol).map(|opinion| phrases::reason(day.language, opinion));
        let reason = reason.unwrap_or_default();
        draft.text.push('\n');
        draft.text += &phrases::order(day.language, order.tool, order.quantity, &order.symbol, &reason);
        draft.calls.push(plan.call(&order, &reason));
    }
    (!draft.calls.is_empty()).then_some(draft)
}
