//! The same orders filled again at the next open, from the ledger: no model is called.
//!
//! Each order of an agent that was filled waits for the next open of its instrument and fills there with the slippage
//! of such a fill, through the same books, with the same fees, splits, dividends, financing, stops and targets. An
//! order that cash, holdings or the participation cap do not cover there is reduced to the largest quantity that they
//! do, and counted; one that nothing is left of is named with its reason, and so is one without a next bar.

use crate::app::App;
use crate::error::ServiceError;
use papertape_agents::market_data::{conditions, conditions_at_close};
use papertape_core::broker::{self, Books, FillModel, MarketProfile, Ohlc, Order, Rejection, Side};
use papertape_core::id::Symbol;
use papertape_core::ledger::LedgerError;
use papertape_core::market::Dataset;
use papertape_core::money::Money;
use papertape_core::record::PositionRow;
use papertape_core::time::Date;
use papertape_protocol::number::{figure, number};
use papertape_protocol::results::refill::{RefillResponse, UnfilledOrder};
use papertape_runtime::config::SimulationConfig;
use papertape_store::ClosedDay;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of listed orders.
const MAX_NAMED: usize = 50;

/// The same orders at the next open, with the value at each close; none if it is unavailable.
pub(in crate::view) struct Refilled {
    pub(in crate::view) response: RefillResponse,
    pub(in crate::view) values: Vec<(Date, Money)>,
}

impl Refilled {
    fn unavailable(why: &str) -> Self {
        Self { response: unavailable(why), values: Vec::new() }
    }
}

fn unavailable(why: &str) -> RefillResponse {
    RefillResponse {
        fill: "next_open".to_owned(),
        ending_portfolio_value: None,
        total_return: None,
        costs: None,
        orders: 0,
        filled: 0,
        reduced: 0,
        rejected: 0,
        without_next_bar: 0,
        unfilled: Vec::new(),
        unavailable: Some(why.to_owned()),
    }
}

/// For a job's days. `None` if its orders filled at the next open anyway.
pub(super) async fn refill(
    app: &App,
    config: &SimulationConfig,
    dataset: Option<Arc<Dataset>>,
    days: &[&ClosedDay],
) -> Result<Option<Refilled>, ServiceError> {
    if config.market.fill_model == FillModel::NextOpen {
        return Ok(None);
    }
    let Some(first) = days.first() else { return Ok(None) };
    let Some(dataset) = dataset else {
        return Ok(Some(Refilled::unavailable("the dataset is not available")));
    };
    let starting = app.store.result(first.id).await?.and_then(|session| session.starting);
    if starting.is_none_or(|starting| starting.holdings.iter().any(|(_, held)| !held.is_zero())) {
        let why = "the days begin with holdings, whose orders lie before them";
        return Ok(Some(Refilled::unavailable(why)));
    }
    let is_reported = |row: &&PositionRow| row.terms.order_id.is_some() || row.terms.fee.is_none();
    let mut orders: Vec<(Date, Order)> = Vec::new();
    for day in days {
        let ordered = day.fills.iter().filter(|row| side(&row.action_type).is_some()).filter(is_reported);
        for row in ordered {
            let (Some(side), Some(symbol)) = (side(&row.action_type), row.symbol.clone()) else {
                continue;
            };
            let id = papertape_core::ledger::OrderId(orders.len() as u64 + 1);
            let opens = side.opens();
            orders.push((
                day.date,
                Order {
                    id,
                    symbol,
                    side,
                    quantity: row.amount,
                    stop: row.terms.stop.filter(|_| opens),
                    target: row.terms.target.filter(|_| opens),
                    leverage: row.terms.leverage.filter(|_| opens),
                    reason: None,
                },
            ));
        }
    }
    let (market, symbols) = (config.market.clone(), config.symbols.clone());
    let universe = config.universe.clone();
    let initial = first.starting_value;
    let dates: Vec<Date> = days.iter().map(|day| day.date).collect();
    let refilled = tokio::task::spawn_blocking(move || {
        let traded = (&symbols, universe.as_deref());
        run(&dataset, (market, traded), initial, &dates, &orders)
    });
    let refilled = refilled.await.map_err(anyhow::Error::from)?;
    Ok(Some(refilled.unwrap_or_else(|_| Refilled::unavailable("its numbers do not fit the books"))))
}

fn side(action: &str) -> Option<Side> {
    [Side::Buy, Side::Sell, Side::Short, Side::Cover].into_iter().find(|side| side.as_str() == action)
}

fn run(
    dataset: &Dataset,
    (market, (symbols, universe)): (MarketProfile, (&BTreeSet<Symbol>, Option<&str>)),
    initial: Money,
    dates: &[Date],
    orders: &[(Date, Order)],
) -> Result<Refilled, LedgerError> {
    let market = MarketProfile { fill_model: FillModel::NextOpen, ..market };
    let mut books = Books::new("refill", market, initial).reducing();
    let mut answer = RefillResponse { unavailable: None, ..unavailable("") };
    answer.orders = orders.len();
    let (mut costs, mut values) = (Money::ZERO, Vec::with_capacity(dates.len()));
    let mut waiting = orders.iter().peekable();
    for day in dates.iter().filter_map(|date| dataset.day(*date)) {
        let at_open = dataset.view_of(day.open, universe, &books.concerned());
        let at_close = dataset.view(day.close);
        let actions = super::baseline::due(dataset, &books, &at_open, day.date, symbols);
        books.set_conditions(conditions(&books, &at_open));
        let before = broker::pre(
            &mut books,
            day.date,
            &super::baseline::opens(&at_open, symbols),
            &BTreeMap::new(),
            &actions,
        )?;
        for rejection in &before.rejections {
            reject(&mut answer, orders, rejection);
        }
        while let Some((placed_on, order)) = waiting.next_if(|(date, _)| *date <= day.date) {
            books.enqueue(order.clone(), *placed_on);
        }
        let bars = super::baseline::bars(&at_close, symbols);
        books.set_conditions(conditions(&books, &at_open));
        let inside = broker::bar(&mut books, day.date, &bars)?;
        let closes = bars.iter().map(|(symbol, bar): (&Symbol, &Ohlc)| (symbol.clone(), bar.close)).collect();
        books.set_conditions(conditions_at_close(&books, (&at_open, &at_close)));
        let next = dataset.next_trading_day(day.date);
        let end = broker::close(&mut books, day.date, next, &closes)?;
        for entry in before.entries.iter().chain(&inside.entries).chain(&end.entries) {
            if let Some(fill) = entry.fill() {
                costs = costs + fill.fee + fill.slippage;
                answer.filled += usize::from(fill.order.is_some());
            }
        }
        values.push((day.date, end.portfolio_value));
    }
    for rejection in broker::expire(&mut books) {
        answer.without_next_bar += 1;
        name(&mut answer, orders, &rejection, "no_next_bar");
    }
    let value = values.last().map_or(initial, |(_, value)| *value);
    answer.reduced = books.reduced();
    answer.ending_portfolio_value = Some(number(value.0));
    answer.costs = Some(number(costs.0));
    let total = value.0.checked_div(initial.0).map(|ratio| ratio - rust_decimal::Decimal::ONE);
    answer.total_return = total.map(|total| figure(number(total).to_f64()));
    Ok(Refilled { response: answer, values })
}

fn reject(answer: &mut RefillResponse, orders: &[(Date, Order)], rejection: &Rejection) {
    answer.rejected += 1;
    name(answer, orders, rejection, rejection.code.as_str());
}

fn name(answer: &mut RefillResponse, orders: &[(Date, Order)], rejection: &Rejection, code: &str) {
    let Some(order) = rejection.order().filter(|_| answer.unfilled.len() < MAX_NAMED) else { return };
    let placed = orders.iter().find(|(_, placed)| placed.id == order.id);
    let Some((date, placed)) = placed else { return };
    answer.unfilled.push(UnfilledOrder {
        date: *date,
        symbol: placed.symbol.to_string(),
        side: placed.side.to_string(),
        quantity: number(placed.quantity.0),
        code: code.to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use papertape_core::ledger::OrderId;
    use papertape_core::money::Quantity;
    use papertape_market::Catalogue;
    use rust_decimal::Decimal;

    fn order(id: u64, side: Side, quantity: i64) -> Order {
        Order {
            id: OrderId(id),
            symbol: Symbol::new("IBM"),
            side,
            quantity: Quantity::from(quantity),
            stop: None,
            target: None,
            leverage: None,
            reason: None,
        }
    }

    /// Goal: 100 IBM bought on Oct 1 and sold on Oct 3, 2012, fill at the opens of Oct 2 and Oct 4: by arithmetic; an
    /// order of the last day has no next bar, and one that cash does not cover is reduced and counted.
    #[test]
    fn orders_fill_at_the_next_open() {
        let dataset = Catalogue::bundled().open("us-daily-2000-2013").expect("bundled");
        let date = |day: i8| jiff::civil::date(2012, 10, day);
        let dates: Vec<Date> = (1..=5).map(date).collect();
        let symbols = BTreeSet::from([Symbol::new("IBM")]);
        let open = |day: i8| {
            let view = dataset.view(dataset.day(date(day)).expect("a trading day").open);
            view.open_price(&Symbol::new("IBM")).expect("an open").value.price.0
        };
        let market = MarketProfile::us_equity().frictionless();
        let run = |orders: &[(Date, Order)]| {
            run(&dataset, (market.clone(), (&symbols, None)), Money::from(100_000), &dates, orders)
                .expect("fits")
                .response
        };
        let both = [(date(1), order(1, Side::Buy, 100)), (date(3), order(2, Side::Sell, 100))];
        let answer = run(&both);
        let expected = Decimal::from(100_000) + Decimal::from(100) * (open(4) - open(2));
        assert_eq!(answer.ending_portfolio_value, Some(number(expected)));
        assert_eq!((answer.orders, answer.filled, answer.reduced, answer.without_next_bar), (2, 2, 0, 0));
        let late = [both[0].clone(), (date(5), order(2, Side::Sell, 100))];
        let answer = run(&late);
        assert_eq!((answer.filled, answer.without_next_bar, answer.rejected), (1, 1, 0));
        assert_eq!(answer.unfilled[0].code, "no_next_bar");
        assert_eq!((answer.unfilled[0].date, answer.unfilled[0].side.as_str()), (date(5), "sell"));
        let too_much = run(&[(date(1), order(1, Side::Buy, 1_000_000))]);
        assert_eq!((too_much.filled, too_much.reduced, too_much.rejected), (1, 1, 0));
        let nothing_held = run(&[(date(1), order(1, Side::Sell, 10))]);
        assert_eq!((nothing_held.filled, nothing_held.rejected), (0, 1));
        assert_eq!(nothing_held.unfilled[0].code, "insufficient_shares");
        // With costs it ends lower by exactly what they are.
        let costly = super::run(
            &dataset,
            (MarketProfile::us_equity(), (&symbols, None)),
            Money::from(100_000),
            &dates,
            &both,
        );
        let costly = costly.expect("fits").response;
        let lower = number(expected).to_f64() - costly.costs.expect("a figure").to_f64();
        assert!((costly.ending_portfolio_value.expect("a value").to_f64() - lower).abs() < 1e-6);
    }
}
