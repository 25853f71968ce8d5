//! Runs a schedule of weights through the broker: what the random baseline holds, with the same data, days, market, money and
//! costs as the agent.
//!
//! The schedule of an agent has its signed weight of equity in each symbol right after its last fill in the symbol, at the fill's
//! price: what the day's close adds or takes is not known when it is traded. A run trades a symbol only when its weight
//! changes, at the open, to `weight x equity`: reductions first, then what opens or enlarges a position. What could not be
//! traded is tried again on the next day.

use super::baseline::{bars, due, opens};
use papertape_agents::market_data::{conditions, conditions_at_close};
use papertape_core::broker::{
    self, Books, FillModel, MarketProfile, Order, Quote, Side, SubmitError, approve_largest, submit,
};
use papertape_core::id::Symbol;
use papertape_core::ledger::LedgerError;
use papertape_core::market::{Dataset, MarketView};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::Date;
use papertape_store::SessionResult;
use rust_decimal::{Decimal, RoundingStrategy};
use std::collections::{BTreeMap, BTreeSet};

/// What all runs of an agent's schedules share.
pub(in crate::view) struct ScheduleGround {
    pub(in crate::view) symbols: Vec<Symbol>,
    pub(in crate::view) dates: Vec<Date>,
    universe: Option<String>,
    market: MarketProfile,
    initial: Money,
    traded: BTreeSet<Symbol>,
}

impl ScheduleGround {
    pub(in crate::view) fn new(
        market: &MarketProfile,
        (symbols, universe): (&BTreeSet<Symbol>, Option<&str>),
        initial: Money,
        dates: Vec<Date>,
    ) -> Self {
        Self {
            symbols: symbols.iter().cloned().collect(),
            dates,
            universe: universe.map(str::to_owned),
            // Every schedule trades at the open of the day on which it changes, the agent's own included.
            market: MarketProfile { fill_model: FillModel::Open, ..market.clone() },
            initial,
            traded: symbols.clone(),
        }
    }

    /// An agent's own schedule, from its sessions in date order. A day without a change keeps the previous weight.
    pub(in crate::view) fn weights(&self, sessions: &[SessionResult]) -> Vec<Vec<f64>> {
        let mut weights = Vec::with_capacity(self.dates.len());
        let mut held = vec![0.0; self.symbols.len()];
        for date in &self.dates {
            let session = sessions.iter().find(|session| session.date == *date);
            if let Some(session) = session {
                for (symbol, weight) in after_fills(session) {
                    if let Some(at) = self.symbols.iter().position(|other| *other == symbol) {
                        held[at] = weight;
                    }
                }
            }
            weights.push(held.clone());
        }
        weights
    }

    /// By symbol and day: whether it has a complete bar.
    pub(in crate::view) fn bars(&self, dataset: &Dataset) -> Vec<Vec<bool>> {
        let contents = dataset.contents();
        let of = |symbol: &Symbol| {
            let bars = contents.daily_bars(symbol).into_iter();
            let dates: BTreeSet<Date> = bars.filter(|bar| bar.rest.is_some()).map(|bar| bar.date).collect();
            self.dates.iter().map(|date| dates.contains(date)).collect()
        };
        self.symbols.iter().map(of).collect()
    }

    /// By day and symbol: whether it is a member of the universe's index; `None` without an index.
    pub(in crate::view) fn members(&self, dataset: &Dataset) -> Vec<Option<Vec<bool>>> {
        let of_day = |date: &Date| {
            let index = self.universe.as_deref()?;
            let members = dataset.day(*date).and_then(|day| dataset.view(day.open).members(index).ok());
            let members = members.map(|read| read.value).unwrap_or_default();
            Some(self.symbols.iter().map(|symbol| members.contains(symbol)).collect())
        };
        self.dates.iter().map(of_day).collect()
    }

    /// The total return of a schedule; `None` if its numbers do not fit the books.
    pub(in crate::view) fn total_return(&self, dataset: &Dataset, weights: &[Vec<f64>]) -> Option<f64> {
        let last = self.run(dataset, weights).ok()?;
        let initial = self.initial.to_f64();
        (initial > 0.0).then(|| last.to_f64() / initial - 1.0)
    }

    fn run(&self, dataset: &Dataset, weights: &[Vec<f64>]) -> Result<Money, LedgerError> {
        let mut books = Books::new("random", self.market.clone(), self.initial).reducing();
        let mut before = vec![0.0; self.symbols.len()];
        let mut value = self.initial;
        for (date, weights) in self.dates.iter().zip(weights) {
            let Some(day) = dataset.day(*date) else { continue };
            let at_open = dataset.view_of(day.open, self.universe.as_deref(), &books.concerned());
            let opens = opens(&at_open, &self.traded);
            let actions = due(dataset, &books, &at_open, day.date, &self.traded);
            books.set_conditions(conditions(&books, &at_open));
            broker::pre(&mut books, day.date, &opens, &BTreeMap::new(), &actions)?;
            let changed = (0..self.symbols.len()).filter(|at| (weights[*at] - before[*at]).abs() > 0.0);
            let changed: Vec<usize> = changed.collect();
            if !changed.is_empty() {
                let traded = self.trade(&mut books, (&at_open, day.date, &opens), weights, &changed)?;
                for at in traded {
                    before[at] = weights[at];
                }
            }
            let at_close = dataset.view(day.close);
            let bars = bars(&at_close, &self.traded);
            books.set_conditions(conditions(&books, &at_open));
            broker::bar(&mut books, day.date, &bars)?;
            let closes = bars.into_iter().map(|(symbol, bar)| (symbol, bar.close)).collect();
            let next = dataset.next_trading_day(day.date);
            books.set_conditions(conditions_at_close(&books, (&at_open, &at_close)));
            value = broker::close(&mut books, day.date, next, &closes)?.portfolio_value;
        }
        Ok(value)
    }

    /// Returns what has been traded, in whole or in part, or needs no trade.
    fn trade(
        &self,
        books: &mut Books,
        (at_open, day, opens): (&MarketView<'_>, Date, &BTreeMap<Symbol, Price>),
        weights: &[f64],
        changed: &[usize],
    ) -> Result<Vec<usize>, LedgerError> {
        let equity = books.portfolio_value()?;
        if !equity.is_positive() {
            return Ok(Vec::new());
        }
        let mut missed = BTreeSet::new();
        let gross = weights.iter().fold(0.0, |sum, weight| sum + weight.abs());
        let leverage = Decimal::from_f64_retain(gross).filter(|gross| *gross > Decimal::ONE);
        let leverage = leverage.map(|gross| gross.ceil().min(self.market.max_leverage));
        for is_reduction in [true, false] {
            for at in changed {
                let symbol = &self.symbols[*at];
                let Some(open) = opens.get(symbol) else {
                    missed.insert(*at);
                    continue;
                };
                let target = self.target(equity, weights[*at], *open);
                let held = books.account().position(symbol).map_or(Decimal::ZERO, |found| found.quantity.0);
                let crosses = held.is_sign_positive() != target.is_sign_positive();
                let nearer = if crosses { Decimal::ZERO } else { target };
                let change = match is_reduction {
                    // A position is never enlarged here: what crosses zero is closed first.
                    true if !held.is_zero() && (crosses || target.abs() < held.abs()) => nearer - held,
                    false if target.abs() > held.abs() && (held.is_zero() || !crosses) => target - held,
                    _ => continue,
                };
                let side = match (is_reduction, change.is_sign_positive()) {
                    (true, true) => Side::Cover,
                    (true, false) => Side::Sell,
                    (false, true) => Side::Buy,
                    (false, false) => Side::Short,
                };
                let quote =
                    Quote::at(symbol.clone(), day, *open).under(at_open.conditions(&self.market, symbol));
                let order = Order {
                    id: books.next_order_id(),
                    symbol: symbol.clone(),
                    side,
                    quantity: Quantity(change.abs()),
                    stop: None,
                    target: None,
                    leverage: leverage.filter(|_| side.opens()),
                    reason: None,
                };
                if !place(books, &quote, order)? {
                    missed.insert(*at);
                }
            }
        }
        Ok(changed.iter().copied().filter(|at| !missed.contains(at)).collect())
    }

    /// The units of a weight: whole lots, or 8 decimals, toward zero.
    fn target(&self, equity: Money, weight: f64, open: Price) -> Decimal {
        let units = Decimal::from_f64_retain(weight)
            .and_then(|weight| weight.checked_mul(equity.0)?.checked_div(open.0))
            .unwrap_or_default();
        if self.market.fractional {
            return units.round_dp_with_strategy(8, RoundingStrategy::ToZero);
        }
        let lot = if self.market.lot.is_positive() { self.market.lot.0 } else { Decimal::ONE };
        units.checked_div(lot).map(|lots| lots.trunc() * lot).unwrap_or_default()
    }
}

/// By symbol: the signed weight of equity right after the day's last fill, at its price.
fn after_fills(session: &SessionResult) -> BTreeMap<Symbol, f64> {
    let mut units: BTreeMap<Symbol, Decimal> = BTreeMap::new();
    if let Some(starting) = &session.starting {
        units.extend(starting.holdings.iter().map(|(symbol, held)| (symbol.clone(), held.0)));
    }
    let mut weights = BTreeMap::new();
    for row in &session.positions {
        let Some(symbol) = &row.symbol else { continue };
        let held = units.entry(symbol.clone()).or_default();
        let amount = row.amount.0.abs();
        match row.action_type.as_str() {
            "buy" | "cover" => *held += amount,
            "sell" | "short" => *held -= amount,
            // Units held after it.
            "split" => {
                *held = row.amount.0;
                continue;
            }
            action if crate::view::fills::is_forced(action) => {
                *held -= if held.is_sign_negative() { -amount } else { amount };
            }
            _ => continue,
        }
        let equity = row.portfolio_value.to_f64();
        let value = row.price.map_or(0.0, |price| (price * Quantity(*held)).to_f64());
        weights.insert(symbol.clone(), if equity > 0.0 { value / equity } else { 0.0 });
    }
    weights
}

/// Places an order, reduced to what cash, holdings and the participation cap allow. A rejected order changes nothing. Returns
/// whether it was filled.
fn place(books: &mut Books, quote: &Quote, order: Order) -> Result<bool, LedgerError> {
    let Ok(approved) = approve_largest(books, quote, order) else { return Ok(false) };
    match submit(books, approved) {
        Err(SubmitError::Ledger(error)) => Err(error),
        Ok(_) => Ok(true),
        Err(SubmitError::OtherAccount { .. } | SubmitError::Stale { .. }) => Ok(false),
    }
}
