//! From opinions to order sizes: within the market's rules, sales first, and limited by the available cash.

use super::day::{Holding, Portfolio, ToolExchange, Transcript, is_opening};
use super::market::Market;
use super::number;
use super::strategy::{IndicatorValues, Reason, Signal, Strategy};
use super::{indicators, phrases};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The lot size, for lots that the tools do not mention.
const LOT: Decimal = Decimal::ONE_HUNDRED;
/// Two percent of the equity stays in cash.
const INVESTED: Decimal = Decimal::from_parts(98, 0, 0, false, 2);
/// One percent of the cash is reserved for fees.
const SPENDABLE: Decimal = Decimal::from_parts(99, 0, 0, false, 2);
/// A position that has reached this fraction of its target is not increased.
const NEAR_ENOUGH: Decimal = Decimal::from_parts(80, 0, 0, false, 2);
/// A position above this multiple of its target is reduced to it.
const TOO_MUCH: Decimal = Decimal::from_parts(125, 0, 0, false, 2);

/// An order to place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Order {
    pub(super) tool: &'static str,
    pub(super) symbol: String,
    pub(super) quantity: Decimal,
}

/// A symbol with its data and its signal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SymbolView {
    pub(super) facts: IndicatorValues,
    pub(super) stance: Signal,
    pub(super) reason: Reason,
}

/// The day's plan. It is computed from the data before the first order, so it is the same in every turn.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) opinions: Vec<SymbolView>,
    /// Sales and covers.
    pub(super) sales: Vec<Order>,
    /// Positions to increase.
    wanted: Vec<Wanted>,
    cash: Decimal,
    pub(super) market: Market,
    positions: BTreeMap<String, Holding>,
}

/// How much to add to a position.
#[derive(Debug)]
struct Wanted {
    symbol: String,
    /// The tool: bought, or sold short.
    tool: &'static str,
    /// The value to add, in money.
    value: Decimal,
    price: Decimal,
}

impl Plan {
    pub(super) fn new(
        strategy: Strategy,
        market: Market,
        day: &Transcript<'_>,
        portfolio: &Portfolio,
    ) -> Self {
        let market = if strategy == Strategy::BuyAndHold { market.without_leverage() } else { market };
        let owns_any = !portfolio.pending.is_empty()
            || portfolio.positions.values().any(|held| !held.quantity.is_zero());
        let opinions: Vec<SymbolView> = day
            .symbols
            .iter()
            .map(|symbol| {
                let facts = facts(day, portfolio, symbol);
                let (stance, reason) = strategy.judge(&facts, owns_any, market.is_leveraged());
                SymbolView { facts, stance, reason }
            })
            .collect();
        let stances: Vec<Signal> = opinions.iter().map(|opinion| opinion.stance).collect();
        let parts = Decimal::from(strategy.parts(&stances).max(1));
        let target = (portfolio.equity * INVESTED / parts).max(Decimal::ZERO) * market.leverage;
        let mut plan = Self {
            opinions: Vec::new(),
            sales: Vec::new(),
            wanted: Vec::new(),
            cash: portfolio.cash,
            market,
            positions: portfolio.positions.clone(),
        };
        for opinion in &opinions {
            let waits = portfolio.pending.contains(&opinion.facts.symbol);
            if let (Some(price), false) = (opinion.facts.price, waits) {
                plan.decide(strategy, opinion, price, target);
            }
        }
        plan.wanted.retain(|wanted| !day.closing_only.contains(&wanted.symbol));
        plan.opinions = opinions;
        plan
    }

    fn decide(&mut self, strategy: Strategy, opinion: &SymbolView, price: Decimal, target: Decimal) {
        let IndicatorValues { symbol, held, .. } = &opinion.facts;
        let is_short = *held < Decimal::ZERO;
        let closing = if is_short { "cover" } else { "sell" };
        let size = held.abs();
        let value = size * price;
        let order = |quantity| Order { tool: closing, symbol: symbol.clone(), quantity };
        let more = |tool, value| Wanted { symbol: symbol.clone(), tool, value, price };
        let is_momentum = strategy == Strategy::Momentum;
        match opinion.stance {
            // The strategy wants no shorts in this market, so an existing one is covered.
            _ if is_short && !self.market.is_leveraged() => self.sales.push(order(size)),
            Signal::Exit if !held.is_zero() => self.sales.extend(self.sellable(symbol, size).map(order)),
            Signal::Buy if is_short => {
                self.sales.push(order(size));
                self.wanted.push(more("buy", target));
            }
            Signal::Short if *held > Decimal::ZERO => {
                self.sales.push(order(size));
                self.wanted.push(more("short", target));
            }
            Signal::Buy | Signal::Hold | Signal::Short if is_momentum && value > target * TOO_MUCH => {
                let excess = self.market.whole((value - target) / price);
                self.sales.extend(self.sellable(symbol, excess).map(order));
            }
            Signal::Buy if value < target * NEAR_ENOUGH => self.wanted.push(more("buy", target - value)),
            Signal::Short if value < target * NEAR_ENOUGH => {
                self.wanted.push(more("short", target - value));
            }
            _ => {}
        }
    }

    /// The part of this quantity that can be sold today: all of it, or the whole lots that T+1 allows.
    fn sellable(&self, symbol: &str, quantity: Decimal) -> Option<Decimal> {
        let limit = self.positions.get(symbol).and_then(|held| held.sellable);
        let quantity = match limit.filter(|limit| *limit < quantity) {
            Some(limit) => self.market.whole(limit),
            None => quantity,
        };
        (quantity > Decimal::ZERO).then_some(quantity)
    }

    /// What to open with the cash available now. If it does not suffice, every symbol gets the same fraction
    /// of its target.
    pub(super) fn purchases(&self, cash_now: Option<Decimal>) -> Vec<Order> {
        let spendable = cash_now.unwrap_or(self.cash) * SPENDABLE * self.market.leverage;
        let wanted: Decimal = self.wanted.iter().map(|wanted| wanted.value).sum();
        if spendable <= Decimal::ZERO || wanted <= Decimal::ZERO {
            return Vec::new();
        }
        let share = (spendable / wanted).min(Decimal::ONE);
        let orders = self.wanted.iter().map(|wanted| Order {
            tool: wanted.tool,
            symbol: wanted.symbol.clone(),
            quantity: self.market.whole(wanted.value * share / wanted.price),
        });
        orders.filter(|order| order.quantity > Decimal::ZERO).collect()
    }

    pub(super) fn opinion(&self, symbol: &str) -> Option<&SymbolView> {
        self.opinions.iter().find(|opinion| opinion.facts.symbol == symbol)
    }

    /// The order as a tool call, with its reason in words.
    pub(super) fn call(&self, order: &Order, day: &Transcript<'_>) -> (&'static str, Value) {
        let mut arguments = json!({ "symbol": order.symbol, "quantity": number::write(order.quantity) });
        self.bind(order, &mut arguments);
        if let Some(opinion) = self.opinion(&order.symbol) {
            arguments["reason"] = Value::String(phrases::reason(day.language, opinion));
        }
        (order.tool, arguments)
    }

    /// Adds leverage and a stop to a leveraged order, and a target when it opens the position. An addition
    /// uses the position's leverage, and never loosens its stop.
    fn bind(&self, order: &Order, arguments: &mut Value) {
        let price = self.opinion(&order.symbol).and_then(|opinion| opinion.facts.price);
        let Some(price) = price.filter(|_| is_opening(order.tool) && self.market.is_leveraged()) else {
            return;
        };
        let is_short = order.tool == "short";
        let bounds = self.market.bounds(price, is_short);
        let same_way =
            |held: &&Holding| (held.quantity < Decimal::ZERO) == is_short && !held.quantity.is_zero();
        let (stop, leverage) = match self.positions.get(&order.symbol).filter(same_way) {
            Some(held) => {
                let tighter =
                    |old: Decimal| if is_short { old.min(bounds.stop) } else { old.max(bounds.stop) };
                let leverage = held.leverage.unwrap_or(self.market.leverage);
                (held.stop.map_or(bounds.stop, tighter), leverage)
            }
            None => {
                arguments["target"] = number::write(bounds.target);
                (bounds.stop, self.market.leverage)
            }
        };
        arguments["stop"] = number::write(stop);
        arguments["leverage"] = number::write(leverage);
    }

    /// A smaller order after a rejection for size; `None` when the reason was different, a smaller order was
    /// tried before, or the smaller order would be empty.
    pub(super) fn smaller(
        &self,
        day: &Transcript<'_>,
        tool: &'static str,
        refused: &ToolExchange<'_>,
    ) -> Option<Order> {
        let code = refused.result["code"].as_str()?;
        let symbol = refused.arguments["symbol"].as_str()?;
        let quantity = number::read(&refused.arguments["quantity"])?;
        let half = self.market.whole(quantity / Decimal::TWO);
        let lot = if self.market.unit == Decimal::ONE { LOT } else { self.market.unit };
        let smaller = match code {
            "lot_size" => (quantity / lot).floor() * lot,
            "insufficient_shares" => half,
            "participation_cap" => number::read(&refused.result["numbers"]["largest"])?,
            "insufficient_cash" => {
                let price = self.opinion(symbol)?.facts.price?;
                let money = day.cash_now()? * SPENDABLE * INVESTED * self.market.leverage;
                let affordable = self.market.whole(money / price);
                if affordable < quantity { affordable } else { half }
            }
            _ => return None,
        };
        (smaller > Decimal::ZERO).then(|| Order { tool, symbol: symbol.to_owned(), quantity: smaller })
    }
}

fn facts(day: &Transcript<'_>, portfolio: &Portfolio, symbol: &str) -> IndicatorValues {
    let holding = portfolio.positions.get(symbol).cloned().unwrap_or_default();
    let (held, marked) = (holding.quantity, holding.price);
    let closes = day.closes(symbol);
    let or_computed = |name: &str, computed: Option<Decimal>| day.indicator(symbol, name).or(computed);
    IndicatorValues {
        symbol: symbol.to_owned(),
        price: day.price(symbol).or(marked.filter(|price| *price > Decimal::ZERO)),
        sma_20: or_computed("sma_20", indicators::sma(&closes, 20)),
        sma_50: or_computed("sma_50", indicators::sma(&closes, 50)),
        rsi_14: or_computed("rsi_14", indicators::rsi(&closes, 14)),
        held,
    }
}
