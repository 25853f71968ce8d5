//! The baselines, under the same rules: the same data, days, symbols,
//! market and money, through the same books.
//!
//! * `buy_and_hold`: on the first day on which a symbol of the run is listed, the starting value is divided into
//!   equal parts, one for each symbol that is listed then; each buys what it can at its symbol's first open, and is
//!   held. It is never divided again: what is listed later is not bought. Dividends stay cash.
//! * `equal_weight`: at the first day of every calendar month on which anything has an open, each symbol that has one
//!   is brought to an equal part of the portfolio value: what is above it is sold, then what is below is bought. So
//!   a symbol is included at the first rebalance after it is listed.
//!
//! Where the run's universe is an index, its members on a day take the place of what is listed then: `buy_and_hold`
//! buys those of the first day, and `equal_weight` rebalances over those of the month's first day and sells what is
//! none.
//!
//! A part P buys `floor((P - m) / (open x (1 + s) x (1 + f)))` units, in whole lots or 8 decimals as the
//! market has it; s is the slippage, f the fee, both as rates, m the minimum fee.

use crate::error::ServiceError;
use papertape_agents::market_data::{conditions, conditions_at_close};
use papertape_core::broker::{
    self, Books, LedgerEntry, MarketProfile, Ohlc, Order, Quote, Side, Submission, affordable,
    approve_largest, submit,
};
use papertape_core::id::{JobId, Symbol};
use papertape_core::ledger::{CorporateAction, LedgerError};
use papertape_core::market::{Dataset, Listed, MarketView};
use papertape_core::metric::{DayValue, PeriodInput, TradedAmount};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::Date;
use papertape_protocol::number::{figure, number};
use papertape_protocol::results::baseline::{BaselineResult, Baselines, ValueAtClose};
use papertape_runtime::config::SimulationConfig;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A baseline with a larger uninvested share is marked as underinvested.
const MAX_UNINVESTED: f64 = 0.05;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    BuyAndHold,
    EqualWeight,
}

/// Computed baselines: agents of a job with the same start and days share them.
#[derive(Default)]
pub(in crate::view) struct BaselineCache(Vec<(Ground, Option<Baselines>)>);

/// The inputs of baselines: the job with its data and rules, the money, the days.
type Ground = (JobId, Money, Vec<Date>);

impl BaselineCache {
    /// The baselines for a job's data and rules over these days, from this value. `None` on a
    /// numeric overflow.
    pub(in crate::view) async fn of(
        &mut self,
        dataset: Arc<Dataset>,
        (job, config): (&JobId, &SimulationConfig),
        initial: Money,
        dates: Vec<Date>,
    ) -> Result<Option<Baselines>, ServiceError> {
        let ground = (job.clone(), initial, dates);
        if let Some((_, known)) = self.0.iter().find(|(known, _)| *known == ground) {
            return Ok(known.clone());
        }
        let found = beside(dataset, config, initial, ground.2.clone()).await?;
        self.0.push((ground, found.clone()));
        Ok(found)
    }
}

async fn beside(
    dataset: Arc<Dataset>,
    config: &SimulationConfig,
    initial: Money,
    dates: Vec<Date>,
) -> Result<Option<Baselines>, ServiceError> {
    let (market, symbols) = (config.market.clone(), config.symbols.clone());
    let universe = config.universe.clone();
    let masking = config.translation().cloned();
    let both = tokio::task::spawn_blocking(move || {
        let traded = (&symbols, universe.as_deref());
        let real = |date: Date| masking.as_ref().map_or(date, |masking| masking.real_date(date));
        let run = |strategy| run(&dataset, traded, &market, initial, (&dates, &real), strategy);
        Ok::<_, LedgerError>(Baselines {
            buy_and_hold: run(Strategy::BuyAndHold)?,
            equal_weight: run(Strategy::EqualWeight)?,
        })
    });
    Ok(both.await.map_err(anyhow::Error::from)?.ok())
}

fn run(
    dataset: &Dataset,
    (symbols, universe): (&BTreeSet<Symbol>, Option<&str>),
    market: &MarketProfile,
    initial: Money,
    (dates, real): (&[Date], &dyn Fn(Date) -> Date),
    strategy: Strategy,
) -> Result<BaselineResult, LedgerError> {
    let mut books = Books::new("baseline", market.clone(), initial).reducing();
    let mut days = Vec::with_capacity(dates.len());
    let mut entries: Vec<LedgerEntry> = Vec::new();
    let mut month = None;
    // What remains to be bought, each with an equal part of the money; `None` until anything is listed.
    let mut to_buy: Option<(BTreeSet<Symbol>, Money)> = None;
    for day in dates.iter().filter_map(|date| dataset.day(*date)) {
        let at_open = dataset.view_of(day.open, universe, &books.concerned());
        let opens = opens(&at_open, symbols);
        let actions = due(dataset, &books, &at_open, day.date, symbols);
        books.set_conditions(conditions(&books, &at_open));
        let before = broker::pre(&mut books, day.date, &opens, &BTreeMap::new(), &actions)?;
        entries.extend(before.entries);
        match strategy {
            Strategy::BuyAndHold => {
                if to_buy.is_none() {
                    to_buy = divided(initial, &at_open.listed(symbols));
                }
                if let Some((left, part)) = &mut to_buy {
                    for (symbol, open) in opens.iter().filter(|(symbol, _)| left.remove(*symbol)) {
                        let money = Money(part.0.min(books.account().cash().0));
                        let quote = quote(&at_open, market, (symbol, day.date), *open);
                        let quantity = bought(market, (symbol, day.date), money, *open);
                        order(&mut books, &mut entries, quote, Side::Buy, quantity)?;
                    }
                }
            }
            Strategy::EqualWeight => {
                // Of a masked dataset, the months are the real ones.
                let date = real(day.date);
                let this = Some((date.year(), date.month()));
                if month != this && !opens.is_empty() {
                    month = this;
                    entries.extend(rebalance(&mut books, &at_open, day.date, &opens)?);
                }
            }
        }
        let at_close = dataset.view(day.close);
        let bars = bars(&at_close, symbols);
        books.set_conditions(conditions(&books, &at_open));
        entries.extend(broker::bar(&mut books, day.date, &bars)?.entries);
        let closes = bars.into_iter().map(|(symbol, bar)| (symbol, bar.close)).collect();
        let next = dataset.next_trading_day(day.date);
        books.set_conditions(conditions_at_close(&books, (&at_open, &at_close)));
        let end = broker::close(&mut books, day.date, next, &closes)?;
        entries.extend(end.entries);
        let (portfolio_value, gross_exposure) = (end.portfolio_value, end.gross_exposure);
        days.push(DayValue { day: day.date, portfolio_value, gross_exposure });
    }
    let fills: Vec<TradedAmount> = entries.iter().filter_map(amount).collect();
    let closed = entries.iter().filter(|entry| entry.fill().is_some());
    let closed_pnl: Vec<Money> = closed.filter_map(|entry| Some(entry.realized()?.pnl)).collect();
    let input = PeriodInput {
        initial,
        days: &days,
        fills: &fills,
        closed_pnl: &closed_pnl,
        daily_risk_free: 0.0,
        trading_days_per_year: market.trading_days_per_year,
    };
    let value =
        |day: &DayValue| ValueAtClose { date: day.day, portfolio_value: number(day.portfolio_value.0) };
    let period_metrics = super::measure::measured(&input);
    let uninvested = period_metrics.exposure.map(|exposure| figure((1.0 - exposure).max(0.0)));
    Ok(BaselineResult {
        daily_portfolio_values: days.iter().map(value).collect(),
        period_metrics,
        uninvested,
        is_underinvested: uninvested.is_some_and(|share| share > MAX_UNINVESTED),
    })
}

/// Equal parts of the money, one for each listed symbol; `None` if none is.
fn divided(initial: Money, listed: &Listed) -> Option<(BTreeSet<Symbol>, Money)> {
    let part = Money(initial.0.checked_div(Decimal::from(listed.len()))?);
    Some((BTreeSet::clone(listed), part))
}

/// Rebalances every symbol that has an open to its equal part of the portfolio value: sales first.
fn rebalance(
    books: &mut Books,
    at_open: &MarketView<'_>,
    day: Date,
    opens: &BTreeMap<Symbol, Price>,
) -> Result<Vec<LedgerEntry>, LedgerError> {
    let parts = opens.keys().filter(|symbol| at_open.is_in_universe(symbol)).count().max(1);
    let part = Money(books.portfolio_value()?.0 / Decimal::from(parts));
    let mut entries = Vec::new();
    // Symbols that left the universe are sold.
    let target = |(symbol, open): (&Symbol, &Price)| {
        if !at_open.is_in_universe(symbol) {
            return Decimal::ZERO;
        }
        bought(books.profile(), (symbol, day), part, *open).0
    };
    let targets: Vec<(&Symbol, Price, Decimal)> =
        opens.iter().map(|(symbol, open)| (symbol, *open, target((symbol, open)))).collect();
    for (symbol, open, target) in &targets {
        let excess = Quantity(held(books, symbol) - *target);
        let quote = quote(at_open, books.profile(), (symbol, day), *open);
        order(books, &mut entries, quote, Side::Sell, excess)?;
    }
    for (symbol, open, target) in &targets {
        let cash = books.account().cash();
        let wanted =
            (*target - held(books, symbol)).min(bought(books.profile(), (symbol, day), cash, *open).0);
        let quote = quote(at_open, books.profile(), (symbol, day), *open);
        order(books, &mut entries, quote, Side::Buy, Quantity(wanted))?;
    }
    Ok(entries)
}

fn held(books: &Books, symbol: &Symbol) -> Decimal {
    books.account().position(symbol).map_or(Decimal::ZERO, |position| position.quantity.0)
}

/// The quantity that this money buys without leverage, costs included.
fn bought(market: &MarketProfile, at: (&Symbol, Date), money: Money, open: Price) -> Quantity {
    affordable(market, (at, Side::Buy, Decimal::ONE), money, open)
}

fn quote(
    at_open: &MarketView<'_>,
    market: &MarketProfile,
    (symbol, day): (&Symbol, Date),
    open: Price,
) -> Quote {
    Quote::at(symbol.clone(), day, open).under(at_open.conditions(market, symbol))
}

/// Places an order like an agent's, reduced to what the participation cap and the holding allow. A rejected order
/// changes nothing.
fn order(
    books: &mut Books,
    entries: &mut Vec<LedgerEntry>,
    quote: Quote,
    side: Side,
    quantity: Quantity,
) -> Result<(), LedgerError> {
    if !quantity.is_positive() {
        return Ok(());
    }
    let (id, symbol) = (books.next_order_id(), quote.symbol.clone());
    let order = Order { id, symbol, side, quantity, stop: None, target: None, leverage: None, reason: None };
    let Ok(approved) = approve_largest(books, &quote, order) else { return Ok(()) };
    match submit(books, approved) {
        Ok(Submission::Filled(entry)) => entries.push(*entry),
        Ok(Submission::Pending(_)) => {}
        Err(broker::SubmitError::Ledger(error)) => return Err(error),
        // It was approved above.
        Err(broker::SubmitError::OtherAccount { .. } | broker::SubmitError::Stale { .. }) => {}
    }
    Ok(())
}

fn amount(entry: &LedgerEntry) -> Option<TradedAmount> {
    let fill = entry.fill()?;
    Some(TradedAmount { notional: fill.price * fill.quantity, fee: fill.fee, slippage: fill.slippage })
}

/// Corporate actions since the books were last moved on.
pub(super) fn due(
    dataset: &Dataset,
    books: &Books,
    view: &MarketView<'_>,
    date: Date,
    symbols: &BTreeSet<Symbol>,
) -> Vec<CorporateAction> {
    let from = books.reached().and_then(|reached| reached.tomorrow().ok()).unwrap_or(date);
    let days = dataset.trading_days(from, date).iter();
    let actions = days.flat_map(|day| view.actions_on(day.date).map(|read| read.value).unwrap_or_default());
    actions.filter(|action| symbols.contains(&action.symbol)).collect()
}

pub(super) fn opens(view: &MarketView<'_>, symbols: &BTreeSet<Symbol>) -> BTreeMap<Symbol, Price> {
    let open = |symbol: &Symbol| Some((symbol.clone(), view.open_price(symbol).ok()?.value.price));
    symbols.iter().filter_map(open).collect()
}

pub(super) fn bars(view: &MarketView<'_>, symbols: &BTreeSet<Symbol>) -> BTreeMap<Symbol, Ohlc> {
    let bar = |symbol: &Symbol| {
        let read = view.today_bar(symbol).ok().filter(|_| !view.is_idle_today(symbol))?;
        Some((symbol.clone(), Ohlc::from(&read.value)))
    };
    symbols.iter().filter_map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use papertape_market::Catalogue;

    fn dates(dataset: &Dataset, from: Date, to: Date) -> Vec<Date> {
        dataset.trading_days(from, to).iter().map(|day| day.date).collect()
    }

    #[test]
    fn what_is_bought_is_paid_with_what_there_is() {
        let mut market = MarketProfile::us_equity().frictionless();
        let (symbol, day) = (Symbol::new("BTC"), jiff::civil::date(2024, 1, 2));
        let check = |market: &MarketProfile, money: i64, open: i64, expected: &str| {
            let units = bought(market, (&symbol, day), Money::from(money), Price::from(open));
            assert_eq!(units.to_string(), expected, "{money} at {open} in {}", market.name);
        };
        check(&market, 1000, 300, "3");
        check(&market, 299, 300, "0");
        market.fractional = true;
        check(&market, 1000, 300, "3.33333333");
        check(&MarketProfile::cn_a_share(), 10_000, 9, "1100");
        check(&MarketProfile::cn_a_share(), 10_000, 10, "900");
        check(&MarketProfile::crypto(), 0, 10, "0");
    }

    /// The oracle is arithmetic on the day's open and close: whole shares at the one, marked at the other.
    #[test]
    fn buy_and_hold_of_one_day_is_arithmetic() {
        let dataset = Catalogue::bundled().open("us-daily-2000-2013").expect("bundled");
        let day = jiff::civil::date(2012, 12, 31);
        let symbols = BTreeSet::from([Symbol::new("MSFT")]);
        let view = dataset.view(dataset.day(day).expect("a trading day").close);
        let bar = view.today_bar(&Symbol::new("MSFT")).expect("a bar").value;
        let units = (Decimal::from(100_000) / bar.open.0).trunc();
        let expected = Decimal::from(100_000) + units * (bar.close.0 - bar.open.0);
        let cash = Money::from(100_000);
        for strategy in [Strategy::BuyAndHold, Strategy::EqualWeight] {
            let result = run(
                &dataset,
                (&symbols, None),
                &MarketProfile::us_equity().frictionless(),
                cash,
                (&[day], &|date| date),
                strategy,
            )
            .expect("runs");
            let [close] = &result.daily_portfolio_values[..] else { panic!("one day") };
            assert_eq!(close.portfolio_value.to_string(), number(expected).to_string());
        }
    }

    /// Goal: the known answer of a calendar year with a symbol in the universe that is listed seven years later. It
    /// has no part of the money: today's rules give the +53.48 % that the other four made.
    #[test]
    fn what_is_listed_later_has_no_part_of_the_money() {
        let dataset = Catalogue::bundled().open("us-daily-2000-2013").expect("bundled");
        let dates = dates(&dataset, jiff::civil::date(2005, 1, 1), jiff::civil::date(2005, 12, 31));
        let market = MarketProfile::us_equity().frictionless();
        let cash = Money::from(100_000);
        let all: BTreeSet<Symbol> = dataset.all_symbols().cloned().collect();
        assert!(all.contains(&Symbol::new("FB")));
        let listed: BTreeSet<Symbol> =
            ["AAPL", "GOOG", "IBM", "MSFT"].into_iter().map(Symbol::from).collect();
        for strategy in [Strategy::BuyAndHold, Strategy::EqualWeight] {
            let result =
                run(&dataset, (&all, None), &market, cash, (&dates, &|date| date), strategy).expect("runs");
            assert_eq!(
                result,
                run(&dataset, (&listed, None), &market, cash, (&dates, &|date| date), strategy)
                    .expect("runs")
            );
            assert!(!result.is_underinvested, "{:?}", result.uninvested);
            if strategy == Strategy::BuyAndHold {
                let gain = result.period_metrics.total_return.expect("a return") * 100.0;
                assert_eq!(format!("{gain:.2}"), "53.48");
            }
        }
    }

    /// Goal: the money is divided once, on the first day on which anything is listed: what is listed later is
    /// not bought and held; equal weights take it in at their next rebalance.
    #[test]
    fn a_listing_divides_nothing_again() {
        let dataset = Catalogue::bundled().open("us-daily-2000-2013").expect("bundled");
        // FB's first day is 2012-05-18.
        let run = |from: i8, symbols: &[&str], strategy| {
            let dates = dates(&dataset, jiff::civil::date(2012, 5, from), jiff::civil::date(2012, 6, 15));
            let symbols = symbols.iter().copied().map(Symbol::from).collect();
            let cash = Money::from(100_000);
            let result = run(
                &dataset,
                (&symbols, None),
                &MarketProfile::us_equity().frictionless(),
                cash,
                (&dates, &|date| date),
                strategy,
            );
            let values = result.expect("runs").daily_portfolio_values;
            values.iter().map(|day| (day.date, day.portfolio_value.to_f64())).collect::<Vec<_>>()
        };
        for strategy in [Strategy::BuyAndHold, Strategy::EqualWeight] {
            let (early, late) = (run(16, &["FB"], strategy), run(18, &["FB"], strategy));
            assert!(
                early[..2].iter().all(|day| (day.1 - 100_000.0).abs() < 1e-9),
                "nothing is listed yet: {early:?}"
            );
            assert_eq!(early[2..], late, "{strategy:?}");
            assert!(late[late.len() - 1].1 < 80_000.0, "{late:?}");
        }
        let alone = run(16, &["AAPL"], Strategy::BuyAndHold);
        assert_eq!(run(16, &["AAPL", "FB"], Strategy::BuyAndHold), alone);
        let both = run(18, &["AAPL", "FB"], Strategy::BuyAndHold);
        assert!(
            both.iter().zip(&alone[2..]).any(|(both, alone)| (both.1 - alone.1).abs() > 1_000.0),
            "both are listed"
        );
        let (both, alone) =
            (run(16, &["AAPL", "FB"], Strategy::EqualWeight), run(16, &["AAPL"], Strategy::EqualWeight));
        let june = both.iter().position(|(date, _)| date.month() == 6).expect("June");
        assert_eq!(both[..june], alone[..june], "until the next rebalance");
        assert!(both[june..].iter().zip(&alone[june..]).all(|(both, alone)| both != alone), "from then on");
    }

    /// Buy and hold of AAPL from the first day to the last, without costs.
    fn aapl_held(first: Date, last: Date, cash: i64) -> (BaselineResult, usize) {
        let dataset = Catalogue::bundled().open("us-daily-2000-2013").expect("bundled");
        let dates = dates(&dataset, first, last);
        let (symbols, market) =
            (BTreeSet::from([Symbol::new("AAPL")]), MarketProfile::us_equity().frictionless());
        let result = run(
            &dataset,
            (&symbols, None),
            &market,
            Money::from(cash),
            (&dates, &|date| date),
            Strategy::BuyAndHold,
        );
        (result.expect("runs"), dates.len())
    }

    /// Goal: a baseline that could not invest its money says how much of it: of 1,000, one share at some 660.
    #[test]
    fn money_that_was_not_invested_is_told() {
        let run = |cash| aapl_held(jiff::civil::date(2012, 10, 1), jiff::civil::date(2012, 10, 5), cash).0;
        let poor = run(1_000);
        let share = poor.uninvested.expect("a share");
        assert!((0.3..0.4).contains(&share) && poor.is_underinvested, "{share}");
        assert!((share + poor.period_metrics.exposure.expect("a share") - 1.0).abs() < 1e-12);
        let rich = run(100_000);
        assert!(rich.uninvested.is_some_and(|share| share < 0.01) && !rich.is_underinvested);
    }

    /// AAPL was split 2 for 1 on 2005-02-28: a holding across it keeps its value, and nothing is traded.
    #[test]
    fn a_split_changes_no_value() {
        let (held, days) = aapl_held(jiff::civil::date(2005, 2, 1), jiff::civil::date(2005, 3, 31), 100_000);
        let values: Vec<f64> =
            held.daily_portfolio_values.iter().map(|day| day.portfolio_value.to_f64()).collect();
        assert_eq!(values.len(), days);
        assert!(values.windows(2).all(|pair| (pair[1] / pair[0] - 1.0).abs() < 0.15), "{values:?}");
    }

    /// Equal weights are restored each month: trades are only on first days of months, and cost fees.
    #[test]
    fn equal_weight_trades_at_the_first_open_of_a_month() {
        let dataset = Catalogue::bundled().open("us-daily-2000-2013").expect("bundled");
        let dates = dates(&dataset, jiff::civil::date(2012, 10, 15), jiff::civil::date(2012, 12, 31));
        let symbols: BTreeSet<Symbol> = ["AAPL", "IBM", "MSFT"].into_iter().map(Symbol::from).collect();
        let market = MarketProfile { fractional: true, ..MarketProfile::cn_a_share() };
        let run = |strategy| {
            run(&dataset, (&symbols, None), &market, Money::from(100_000), (&dates, &|date| date), strategy)
                .expect("runs")
        };
        let (held, restored) = (run(Strategy::BuyAndHold), run(Strategy::EqualWeight));
        assert_eq!(held.period_metrics.days, dates.len());
        assert!(restored.period_metrics.costs > held.period_metrics.costs);
        assert!(restored.period_metrics.win_rate.is_some() && held.period_metrics.win_rate.is_none());
        let until_november = dates.iter().filter(|date| date.month() == 10).count();
        assert_eq!(
            held.daily_portfolio_values[..until_november],
            restored.daily_portfolio_values[..until_november]
        );
    }
}
