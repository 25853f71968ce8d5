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
        Some(Ok(portfolio)) => portfolio,
        Some(Err(why)) => return Some(Draft::text(phrases::blind(&day, &request.model, &why))),
        None if offered("get_portfolio") => {
            return Some(Draft {
                text: phrases::portfolio_first(day.language),
                calls: vec![("get_portfolio", json!({}))],
            });
        }
        None => {
            return Some(Draft::text(phrases::blind(&day, &request.model, phrases::no_tool(day.language))));
        }
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
    Some(
        trade(&day, &plan, &offered)
            .unwrap_or_else(|| Draft::text(phrases::account(&day, &plan, strategy, &request.model))),
    )
}

fn request_facts(
    day: &Transcript<'_>,
    strategy: Strategy,
    offered: &dyn Fn(&str) -> bool,
) -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for symbol in &day.symbols {
        if offered("get_price") && day.asked("get_price", symbol).is_none() {
            calls.push(("get_price", json!({ "symbol": symbol })));
        }
        let wanted = strategy.indicators();
        let open = day.asked("get_indicators", symbol).is_none();
        if offered("get_indicators") && open && !wanted.is_empty() {
            calls.push(("get_indicators", json!({ "symbol": symbol, "indicators": wanted })));
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
        day.asked("get_bars", symbol).is_none()
            && strategy.indicators().iter().any(|name| day.indicator(symbol, name).is_none())
    };
    let call = |symbol: &String| ("get_bars", json!({ "symbol": symbol, "limit": BARS }));
    day.symbols.iter().filter(missing).map(call).collect()
}

/// The next orders, if any are left.
fn trade(day: &Transcript<'_>, plan: &Plan, offered: &dyn Fn(&str) -> bool) -> Option<Draft> {
    let has_opened = day.exchanges.iter().any(|exchange| is_opening(exchange.tool));
    let sales: Vec<&Order> = plan
        .sales
        .iter()
        .filter(|order| offered(order.tool) && attempts(day, order.tool, &order.symbol).is_empty())
        .collect();
    if !sales.is_empty() && !has_opened {
        return Some(give(day, plan, phrases::selling(day.language), &sales));
    }
    let again = again(day, plan, &["sell", "cover"], offered);
    if !again.is_empty() && !has_opened {
        return Some(give(day, plan, phrases::smaller(day.language), &again.iter().collect::<Vec<_>>()));
    }
    if !has_opened {
        let purchases = plan.purchases(day.cash_now());
        let purchases: Vec<&Order> = purchases.iter().filter(|order| offered(order.tool)).collect();
        if !purchases.is_empty() {
            return Some(give(day, plan, phrases::buying(day.language, &plan.market), &purchases));
        }
    }
    let again = self::again(day, plan, &["buy", "short"], offered);
    (!again.is_empty())
        .then(|| give(day, plan, phrases::smaller(day.language), &again.iter().collect::<Vec<_>>()))
}

/// Orders that were rejected for their size and have not been retried with a smaller one.
fn again(
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

fn give(day: &Transcript<'_>, plan: &Plan, lead: String, orders: &[&Order]) -> Draft {
    let lines = orders.iter().map(|order| phrases::order(day.language, plan, order));
    let text = std::iter::once(lead).chain(lines).collect::<Vec<_>>().join("\n");
    Draft { text, calls: orders.iter().map(|order| plan.call(order, day)).collect() }
}
