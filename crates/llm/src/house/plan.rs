//! From opinions to sizes: whole shares, sales first, and no more than the cash that is there.

use super::day::{Day, Exchange, Portfolio};
use super::number;
use super::strategy::{Facts, Reason, Stance, Strategy};
use super::{indicators, words};
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// Shares are traded by the hundred where there are lots.
const LOT: Decimal = Decimal::ONE_HUNDRED;
/// Of the equity, two hundredths stay in cash.
const INVESTED: Decimal = Decimal::from_parts(98, 0, 0, false, 2);
/// Of the cash, a hundredth is left for fees.
const SPENDABLE: Decimal = Decimal::from_parts(99, 0, 0, false, 2);
/// A position of this much of its target needs no more.
const NEAR_ENOUGH: Decimal = Decimal::from_parts(80, 0, 0, false, 2);
/// A position of more than this much of its target is cut back to it.
const TOO_MUCH: Decimal = Decimal::from_parts(125, 0, 0, false, 2);

/// An order to give.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Order {
    pub(super) tool: &'static str,
    pub(super) symbol: String,
    pub(super) quantity: Decimal,
}

/// One symbol, seen and judged.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Opinion {
    pub(super) facts: Facts,
    pub(super) stance: Stance,
    pub(super) reason: Reason,
}

/// What the day is to bring. Made from what was known before the first order, so it is the same in
/// every turn.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) opinions: Vec<Opinion>,
    /// Sales and covers.
    pub(super) sales: Vec<Order>,
    /// How much more of a symbol is wanted, in money, with its price.
    wanted: Vec<(String, Decimal, Decimal)>,
    cash: Decimal,
}

impl Plan {
    pub(super) fn new(strategy: Strategy, day: &Day<'_>, portfolio: &Portfolio) -> Self {
        let owns_any = !portfolio.pending.is_empty()
            || portfolio.positions.values().any(|(quantity, _)| !quantity.is_zero());
        let opinions: Vec<Opinion> = day
            .symbols
            .iter()
            .map(|symbol| {
                let facts = facts(day, portfolio, symbol);
                let (stance, reason) = strategy.judge(&facts, owns_any);
                Opinion { facts, stance, reason }
            })
            .collect();
        let stances: Vec<Stance> = opinions.iter().map(|opinion| opinion.stance).collect();
        let parts = Decimal::from(strategy.parts(&stances).max(1));
        let target = (portfolio.equity * INVESTED / parts).max(Decimal::ZERO);
        let mut plan =
            Self { opinions: Vec::new(), sales: Vec::new(), wanted: Vec::new(), cash: portfolio.cash };
        for opinion in &opinions {
            let waits = portfolio.pending.contains(&opinion.facts.symbol);
            if let (Some(price), false) = (opinion.facts.price, waits) {
                plan.decide(strategy, opinion, price, target);
            }
        }
        plan.opinions = opinions;
        plan
    }

    fn decide(&mut self, strategy: Strategy, opinion: &Opinion, price: Decimal, target: Decimal) {
        let Facts { symbol, held, .. } = &opinion.facts;
        let order = |tool, quantity| Order { tool, symbol: symbol.clone(), quantity };
        if *held < Decimal::ZERO {
            self.sales.push(order("cover", -*held));
            return;
        }
        let value = *held * price;
        match opinion.stance {
            Stance::Leave if *held > Decimal::ZERO => self.sales.push(order("sell", *held)),
            Stance::Want | Stance::Keep if strategy == Strategy::Momentum && value > target * TOO_MUCH => {
                let excess = ((value - target) / price).floor();
                if excess > Decimal::ZERO {
                    self.sales.push(order("sell", excess));
                }
            }
            Stance::Want if value < target * NEAR_ENOUGH => {
                self.wanted.push((symbol.clone(), target - value, price));
            }
            _ => {}
        }
    }

    /// What to buy with the cash that is there now. Where it does not reach, every symbol gets the
    /// same share of what it wants.
    pub(super) fn purchases(&self, cash_now: Option<Decimal>) -> Vec<Order> {
        let spendable = cash_now.unwrap_or(self.cash) * SPENDABLE;
        let wanted: Decimal = self.wanted.iter().map(|(_, money, _)| *money).sum();
        if spendable <= Decimal::ZERO || wanted <= Decimal::ZERO {
            return Vec::new();
        }
        let share = (spendable / wanted).min(Decimal::ONE);
        let orders = self.wanted.iter().map(|(symbol, money, price)| Order {
            tool: "buy",
            symbol: symbol.clone(),
            quantity: (*money * share / *price).floor(),
        });
        orders.filter(|order| order.quantity > Decimal::ZERO).collect()
    }

    pub(super) fn opinion(&self, symbol: &str) -> Option<&Opinion> {
        self.opinions.iter().find(|opinion| opinion.facts.symbol == symbol)
    }

    /// The order as a tool call, with its reason in words.
    pub(super) fn call(&self, order: &Order, day: &Day<'_>) -> (&'static str, Value) {
        let mut arguments = json!({ "symbol": order.symbol, "quantity": number::write(order.quantity) });
        if let Some(opinion) = self.opinion(&order.symbol) {
            arguments["reason"] = Value::String(words::reason(day.language, opinion));
        }
        (order.tool, arguments)
    }

    /// A smaller order in place of one that was refused for its size; `None` where it was refused for
    /// anything else, was tried smaller before, or would be nothing.
    pub(super) fn smaller(&self, day: &Day<'_>, tool: &'static str, refused: &Exchange<'_>) -> Option<Order> {
        let code = refused.result["code"].as_str()?;
        let symbol = refused.arguments["symbol"].as_str()?;
        let quantity = number::read(&refused.arguments["quantity"])?;
        let half = (quantity / Decimal::TWO).floor();
        let smaller = match code {
            "lot_size" => (quantity / LOT).floor() * LOT,
            "insufficient_shares" => half,
            "insufficient_cash" => {
                let price = self.opinion(symbol)?.facts.price?;
                let affordable = (day.cash_now()? * SPENDABLE * INVESTED / price).floor();
                if affordable < quantity { affordable } else { half }
            }
            _ => return None,
        };
        (smaller > Decimal::ZERO).then(|| Order { tool, symbol: symbol.to_owned(), quantity: smaller })
    }
}

fn facts(day: &Day<'_>, portfolio: &Portfolio, symbol: &str) -> Facts {
    let (held, marked) = portfolio.positions.get(symbol).copied().unwrap_or_default();
    let closes = day.closes(symbol);
    let or_computed = |name: &str, computed: Option<Decimal>| day.indicator(symbol, name).or(computed);
    Facts {
        symbol: symbol.to_owned(),
        price: day.price(symbol).or(marked.filter(|price| *price > Decimal::ZERO)),
        sma_20: or_computed("sma_20", indicators::sma(&closes, 20)),
        sma_50: or_computed("sma_50", indicators::sma(&closes, 50)),
        rsi_14: or_computed("rsi_14", indicators::rsi(&closes, 14)),
        held,
    }
}
