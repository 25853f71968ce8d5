//! Properties of the books over random days: gaps, splits, dividends, stops, shorts, leverage.

use crate::books_support::{close, dec, money};
use papertape_core::broker::{
    Books, FillModel, LedgerEntry, MarketProfile, Ohlc, Order, Quote, Side, StopChange, Submission,
    SubmitError, approve, approve_stops, bar, change_stops, pre, submit,
};
use papertape_core::id::Symbol;
use papertape_core::ledger::{
    Account, CorporateAction, CorporateActionKind, FillCause, LedgerEvent, OrderId,
};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::Date;
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

const SYMBOLS: [&str; 3] = ["AAA", "BBB", "CCC"];

/// The moves of one instrument on one day, in percent of the previous price.
#[derive(Clone, Debug)]
struct Move {
    has_bar: bool,
    gap: i64,
    body: i64,
    up: i64,
    down: i64,
    split: Option<&'static str>,
    dividend: Option<i64>,
}

#[derive(Clone, Debug)]
struct Wish {
    symbol: usize,
    side: Side,
    amount: i64,
    leverage: Option<i64>,
    stop: Option<i64>,
    target: Option<i64>,
    moves_stop: bool,
}

#[derive(Clone, Debug)]
struct Day {
    moves: Vec<Move>,
    wishes: Vec<Wish>,
}

fn a_move() -> impl Strategy<Value = Move> {
    let split = prop_oneof![
        12 => Just(None),
        1 => prop::sample::select(vec!["2", "3", "1.5", "0.5", "0.1", "1.3", "0.3333333333333333333333333333"])
            .prop_map(Some)
    ];
    let dividend = prop::option::weighted(0.15, 1_i64..400);
    (prop::bool::weighted(0.9), -36_i64..121, -15_i64..15, 0_i64..20, 0_i64..20, split, dividend).prop_map(
        |(has_bar, gap, body, up, down, split, dividend)| {
            // Most opens are near the previous close.
            let gap = if gap % 3 == 0 { gap } else { gap % 5 };
            Move { has_bar, gap, body, up, down, split, dividend }
        },
    )
}

fn a_wish() -> impl Strategy<Value = Wish> {
    let side =
        prop::sample::select(vec![Side::Buy, Side::Buy, Side::Sell, Side::Short, Side::Short, Side::Cover]);
    (
        0..SYMBOLS.len(),
        side,
        // In percent of the maximum purchase, or of the holding.
        prop_oneof![8 => 1_i64..101, 1 => -2_i64..1, 1 => 101_i64..100_000],
        prop_oneof![5 => Just(None), 4 => (1_i64..6).prop_map(Some), 1 => (-1_i64..12).prop_map(Some)],
        // In tenths of a percent, below zero for the wrong side.
        prop::option::weighted(0.7, prop_oneof![5 => 1_i64..30, 1 => -30_i64..130]),
        prop::option::weighted(0.3, -10_i64..200),
        prop::bool::weighted(0.15),
    )
        .prop_map(|(symbol, side, amount, leverage, stop, target, moves_stop)| Wish {
            symbol,
            side,
            amount,
            leverage,
            stop,
            target,
            moves_stop,
        })
}

fn some_days() -> impl Strategy<Value = Vec<Day>> {
    let day = (prop::collection::vec(a_move(), SYMBOLS.len()), prop::collection::vec(a_wish(), 0..5))
        .prop_map(|(moves, wishes)| Day { moves, wishes });
    prop::collection::vec(day, 1..25)
}

fn a_profile() -> impl Strategy<Value = MarketProfile> {
    let presets = vec![MarketProfile::us_equity(), MarketProfile::cn_a_share(), MarketProfile::crypto()];
    let models = vec![FillModel::Open, FillModel::Open, FillModel::NextOpen, FillModel::Close];
    // No costs, flat ones, the preset's, and all together.
    (prop::sample::select(presets), prop::sample::select(models), 0..4).prop_map(
        |(mut profile, fill_model, costs)| {
            profile.fill_model = fill_model;
            if costs < 2 {
                profile = profile.frictionless();
            }
            if costs % 2 == 1 {
                profile.slippage_bps = dec("7.5");
                profile.fees.bps = dec("12");
                profile.fees.minimum = money("1.25");
                profile.annual_financing_bps = dec("900");
                profile.dividend_withholding_pct = dec("30");
            }
            profile
        },
    )
}

/// A second set of books, kept with the simplest arithmetic from the entries only.
struct Shadow {
    cash: Decimal,
    held: BTreeMap<Symbol, Decimal>,
    marks: BTreeMap<Symbol, Price>,
    realized: Decimal,
    events: Vec<LedgerEvent>,
}

impl Shadow {
    fn value(&self) -> Decimal {
        self.cash + self.held.iter().map(|(symbol, held)| held * self.marks[symbol].0).sum::<Decimal>()
    }

    fn take(&mut self, entry: &LedgerEntry) -> Result<(), TestCaseError> {
        let value = self.value();
        match &entry.event {
            Some(LedgerEvent::Fill(fill)) => {
                let signed = if fill.side.takes_shares() { fill.quantity.0 } else { -fill.quantity.0 };
                self.cash -= signed * fill.price.0 + fill.fee.0;
                *self.held.entry(fill.symbol.clone()).or_default() += signed;
            }
            Some(LedgerEvent::Split { symbol, ratio, price, whole_shares, .. }) => {
                let held = self.held.entry(symbol.clone()).or_default();
                let new = (*held * *ratio).round_dp(8);
                *held = if *whole_shares { new.trunc() } else { new };
                self.cash += (new - *held) * price.0;
                self.marks.insert(symbol.clone(), *price);
                let change = (self.value() - value).abs();
                prop_assert!(change < dec("0.001"), "a split changed the value by {change}");
            }
            Some(LedgerEvent::Dividend { symbol, amount, .. }) => self.cash += self.held[symbol] * amount.0,
            Some(LedgerEvent::Financing { amount, .. }) => self.cash -= amount.0,
            Some(LedgerEvent::Insolvency { loss, owed, .. }) => {
                prop_assert!(self.value() <= Decimal::ZERO, "insolvent with {}", self.value());
                prop_assert_eq!(owed.0, -self.value());
                prop_assert!(loss.0 >= owed.0, "what is owed was lost");
            }
            Some(LedgerEvent::MarginCall { .. } | LedgerEvent::StopChange { .. }) | None => {}
        }
        self.realized += entry.realized().map_or(Decimal::ZERO, |realized| realized.pnl.0);
        self.events.extend(entry.event.clone());
        prop_assert_eq!(entry.cash.0, self.cash, "cash after {:?}", entry);
        prop_assert_eq!(entry.portfolio_value.0, self.value(), "value after {:?}", entry);
        Ok(())
    }
}

struct World {
    books: Books,
    shadow: Shadow,
    prices: Vec<Decimal>,
    fills: usize,
}

impl World {
    fn new(profile: MarketProfile) -> Self {
        let cash = dec("10000");
        let shadow = Shadow {
            cash,
            held: BTreeMap::new(),
            marks: BTreeMap::new(),
            realized: Decimal::ZERO,
            events: Vec::new(),
        };
        let prices = vec![dec("100"), dec("31.37"), dec("7.77")];
        Self { books: Books::new("ada", profile, Money(cash)), shadow, prices, fills: 0 }
    }

    fn take(&mut self, entries: &[LedgerEntry]) -> Result<(), TestCaseError> {
        for entry in entries {
            self.fills += usize::from(entry.fill().is_some());
            self.shadow.take(entry)?;
        }
        let account = self.books.account();
        if account.available().expect("fits").is_negative() {
            prop_assert!(account.margin_call().is_some(), "less than nothing without a call: {account:?}");
        }
        if account.cash().is_negative() && !self.books.profile().lends {
            prop_assert!(
                account.margin_call().is_some(),
                "cash below zero where nothing is lent: {account:?}"
            );
        }
        for position in account.positions().values() {
            prop_assert!(position.leverage <= Decimal::ONE || position.stop.is_some(), "{position:?}");
        }
        Ok(())
    }

    fn day(&mut self, on: Date, today: &Day) -> Result<(), TestCaseError> {
        let mut before = BTreeMap::new();
        let mut bars = BTreeMap::new();
        let mut actions = Vec::new();
        for ((name, moves), last) in SYMBOLS.iter().zip(&today.moves).zip(&mut self.prices) {
            let symbol = Symbol::new(name);
            before.insert(symbol.clone(), Price(*last));
            let act = |kind| CorporateAction { symbol: symbol.clone(), ex_date: on, kind };
            if let Some(cents) = moves.dividend {
                actions.push(act(CorporateActionKind::Dividend { amount: Price(Decimal::new(cents, 2)) }));
            }
            if let Some(ratio) = moves.split {
                let ratio = dec(ratio);
                actions.push(act(CorporateActionKind::Split { ratio }));
                *last = (*last / ratio).round_dp(2).max(dec("0.5"));
            }
            if moves.has_bar {
                let by = |from: Decimal, percent: i64| {
                    (from * Decimal::new(100 + percent, 2)).round_dp(2).clamp(dec("0.5"), dec("5000"))
                };
                let open = by(*last, moves.gap);
                let end = by(open, moves.body);
                let high = by(open.max(end), moves.up);
                let low = by(open.min(end), -moves.down);
                let bar = Ohlc { open: Price(open), high: Price(high), low: Price(low), close: Price(end) };
                bars.insert(symbol, bar);
                *last = end;
            }
        }
        let opens: BTreeMap<_, _> = bars.iter().map(|(s, b): (&Symbol, &Ohlc)| (s.clone(), b.open)).collect();
        let closes: BTreeMap<_, _> = bars.iter().map(|(s, b)| (s.clone(), b.close)).collect();

        // Splits are valued at the previous closes, everything after them at the opens.
        let out = pre(&mut self.books, on, &opens, &before, &actions).expect("a day");
        let splits =
            out.entries.iter().take_while(|e| matches!(e.event, Some(LedgerEvent::Split { .. }))).count();
        let owed = before.into_iter().filter(|(symbol, _)| self.shadow.held.contains_key(symbol));
        self.shadow.marks.extend(owed);
        for entry in &out.entries[..splits] {
            self.shadow.take(entry)?;
        }
        self.shadow.marks.extend(opens.clone());
        self.take(&out.entries[splits..])?;

        for wish in &today.wishes {
            self.wish(on, &opens, wish)?;
        }
        let out = bar(&mut self.books, on, &bars).expect("a bar");
        for fill in out.entries.iter().filter_map(LedgerEntry::fill) {
            let bar = bars[&fill.symbol];
            let reference = fill.slippage.0.is_zero().then_some(fill.price);
            prop_assert!(
                reference.is_none_or(|at| bar.low <= at && at <= bar.high),
                "{fill:?} outside {bar:?}"
            );
        }
        self.take(&out.entries)?;
        self.end(on, &closes)
    }

    fn end(&mut self, on: Date, closes: &BTreeMap<Symbol, Price>) -> Result<(), TestCaseError> {
        let before = self.books.last_value();
        let out = close(&mut self.books, on, closes).expect("a close");
        self.shadow.marks.extend(closes.clone());
        self.take(&out.entries)?;
        prop_assert_eq!(out.portfolio_value.0, self.shadow.value());
        prop_assert_eq!(out.daily_profit, out.portfolio_value - before);
        // All earnings are realized or part of an open position.
        let open: Decimal = out.snapshots.iter().map(|snapshot| snapshot.unrealised_pnl.0).sum();
        let carried: Decimal =
            self.books.account().positions().values().map(|p| p.income.0 - p.opening_fees.0).sum();
        prop_assert_eq!(out.portfolio_value.0 - dec("10000"), self.shadow.realized + open + carried);
        // The state survives a JSON round trip, and the events reproduce it.
        let text = serde_json::to_string(&self.books).expect("JSON");
        let read: Books = serde_json::from_str(&text).expect("the same books");
        prop_assert_eq!(&read, &self.books);
        self.books = read;
        let (account, _) =
            Account::fold(Account::new("ada", money("10000")), &self.shadow.events).expect("a fold");
        prop_assert_eq!(&account, self.books.account());
        Ok(())
    }

    fn wish(&mut self, on: Date, opens: &BTreeMap<Symbol, Price>, wish: &Wish) -> Result<(), TestCaseError> {
        let symbol = Symbol::new(SYMBOLS[wish.symbol]);
        let quote = match opens.get(&symbol) {
            Some(open) => Quote::at(symbol.clone(), on, *open),
            None => Quote::no_bar(symbol.clone(), on),
        };
        let open = opens.get(&symbol).map_or(Decimal::TEN, |open| open.0);
        let held = self.books.account().position(&symbol).map(|position| position.quantity);
        let long = if wish.moves_stop { held.is_none_or(Quantity::is_positive) } else { wish.side.is_long() };
        let away = |tenths: i64| Price((open * Decimal::new(1000 + tenths, 3)).round_dp(4));
        let stop = wish.stop.map(|tenths| away(if long { -tenths } else { tenths }));
        let target = wish.target.map(|tenths| away(if long { tenths } else { -tenths }));
        let id = self.books.next_order_id();
        let before = self.books.clone();
        if wish.moves_stop {
            let change = StopChange { id, symbol, stop, target, reason: None };
            match approve_stops(self.books.account(), &quote, change) {
                Ok(approved) => {
                    let entry = change_stops(&mut self.books, approved).expect("fresh");
                    return self.take(&[entry]);
                }
                Err(_) => prop_assert_eq!(&before, &self.books),
            }
            return Ok(());
        }
        let leverage = wish.leverage.map(Decimal::from);
        let account = self.books.account();
        let most = if wish.side.opens() {
            account.available().expect("fits").0 * leverage.unwrap_or(Decimal::ONE) / open
        } else {
            held.map_or(Decimal::TEN, |held| held.0.abs())
        };
        let lot = if self.books.profile().t_plus_one { Decimal::ONE_HUNDRED } else { Decimal::ONE };
        let lots = (most * Decimal::new(wish.amount, 2) / lot).trunc();
        let order = Order {
            id,
            symbol: symbol.clone(),
            side: wish.side,
            quantity: Quantity(lots * lot),
            stop,
            target,
            leverage,
            reason: None,
        };
        let Ok(approved) = approve(self.books.account(), self.books.profile(), &quote, order.clone()) else {
            prop_assert_eq!(&before, &self.books, "a refused order changes nothing");
            return Ok(());
        };
        let second =
            approve(self.books.account(), self.books.profile(), &quote, order).expect("still allowed");
        let value = self.books.portfolio_value().expect("fits");
        match submit(&mut self.books, approved).expect("fresh") {
            Submission::Pending(_) => prop_assert_eq!(before.account(), self.books.account()),
            Submission::Filled(entry) => {
                // Opening at the current price costs exactly the stated costs; with isolated margin, closing
                // may cost less.
                let fill = entry.fill().expect("a fill");
                let is_exact = fill.side.opens() || !self.books.profile().has_isolated_margin();
                let after = value - fill.fee - fill.slippage;
                prop_assert!(
                    !is_exact || entry.portfolio_value == after,
                    "trading at the price made {entry:?}"
                );
                self.take(&[*entry])?;
                let after = self.books.clone();
                let stale = submit(&mut self.books, second);
                prop_assert!(matches!(stale, Err(SubmitError::Stale { .. })), "an approval was used twice");
                prop_assert_eq!(&after, &self.books);
            }
        }
        Ok(())
    }
}

fn run(profile: MarketProfile, days: &[Day]) -> Result<World, TestCaseError> {
    let mut world = World::new(profile);
    let mut on: Date = "2020-01-01".parse().expect("a date");
    for today in days {
        on = on.tomorrow().expect("a date");
        world.day(on, today)?;
    }
    Ok(world)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_books_agree_with_plain_arithmetic(profile in a_profile(), days in some_days()) {
        run(profile, &days)?;
    }

    /// Numbers of any size and sign are rejected or traded; nothing panics, and an error in a phase leaves
    /// the books unchanged.
    #[test]
    fn hostile_numbers_do_no_harm(
        profile in a_profile(),
        numbers in prop::collection::vec(any_decimal(), 12),
        side in prop::sample::select(vec![Side::Buy, Side::Sell, Side::Short, Side::Cover]),
    ) {
        let on: Date = "2020-01-02".parse().expect("a date");
        let symbol = Symbol::new("AAA");
        let mut books = Books::new("ada", profile, Money(numbers[0].abs()));
        let order = Order {
            id: OrderId(1),
            symbol: symbol.clone(),
            side,
            quantity: Quantity(numbers[1]),
            stop: Some(Price(numbers[2])).filter(|_| numbers[2].scale() % 2 == 0),
            target: Some(Price(numbers[3])).filter(|_| numbers[3].scale() % 2 == 0),
            leverage: Some(numbers[4]).filter(|_| numbers[4].scale() % 2 == 0),
            reason: None,
        };
        let quote = Quote::at(symbol.clone(), on, Price(numbers[5]));
        if let Ok(approved) = approve(books.account(), books.profile(), &quote, order) {
            let before = books.clone();
            if submit(&mut books, approved).is_err() {
                prop_assert_eq!(&before, &books);
            }
        }
        let of = |price: Decimal| BTreeMap::from([(symbol.clone(), Price(price))]);
        let actions = [
            CorporateActionKind::Split { ratio: numbers[6] },
            CorporateActionKind::Dividend { amount: Price(numbers[7]) },
        ];
        let actions = actions.map(|kind| CorporateAction { symbol: symbol.clone(), ex_date: on, kind });
        let before = books.clone();
        if pre(&mut books, on, &of(numbers[8]), &of(numbers[9]), &actions).is_err() {
            prop_assert_eq!(&before, &books);
        }
        let ohlc = Ohlc {
            open: Price(numbers[8]), high: Price(numbers[9]), low: Price(numbers[10]), close: Price(numbers[11]),
        };
        let before = books.clone();
        if bar(&mut books, on, &BTreeMap::from([(symbol.clone(), ohlc)])).is_err() {
            prop_assert_eq!(&before, &books);
        }
        let before = books.clone();
        if close(&mut books, on, &of(numbers[11])).is_err() {
            prop_assert_eq!(&before, &books);
        }
    }
}

/// Any decimal; half of them near a market's numbers, so that some orders pass.
fn any_decimal() -> impl Strategy<Value = Decimal> {
    prop_oneof![
        (any::<u32>(), any::<u32>(), any::<u32>(), any::<bool>(), 0_u32..=28)
            .prop_map(|(lo, mid, hi, negative, scale)| Decimal::from_parts(lo, mid, hi, negative, scale)),
        (1_i64..100_000, 0_u32..4).prop_map(|(number, scale)| Decimal::new(number, scale)),
        prop::sample::select(vec![Decimal::ZERO, Decimal::ONE, Decimal::MAX, Decimal::MIN, Decimal::TEN]),
    ]
}

/// The random days reach the cases they are meant for: every kind of fill on every kind of market.
#[test]
fn the_random_days_reach_everything() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..1000 {
        let input = (a_profile(), some_days()).new_tree(&mut runner).expect("a case").current();
        let world = run(input.0, &input.1).expect("the properties hold");
        for event in &world.shadow.events {
            let name = match event {
                LedgerEvent::Fill(fill) if fill.cause == FillCause::Order => fill.side.to_string(),
                LedgerEvent::Fill(fill) => format!("by {:?}", fill.cause),
                other => format!("{other:?}").split_whitespace().next().unwrap_or_default().to_owned(),
            };
            *seen.entry(name).or_default() += 1;
        }
        *seen.entry("leveraged".to_owned()).or_default() += usize::from(
            world
                .shadow
                .events
                .iter()
                .any(|e| matches!(e, LedgerEvent::Fill(f) if f.leverage > Decimal::ONE)),
        );
        assert_eq!(
            world.fills,
            world.shadow.events.iter().filter(|e| matches!(e, LedgerEvent::Fill(_))).count()
        );
    }
    let wanted = [
        "buy",
        "sell",
        "short",
        "cover",
        "by Stop",
        "by Target",
        "by Liquidation",
        "by MarginCall",
        "MarginCall",
        "Split",
        "Dividend",
        "Financing",
        "StopChange",
        "leveraged",
    ];
    for name in wanted {
        assert!(seen.get(name).is_some_and(|times| *times >= 5), "{name} is too rare: {seen:?}");
    }
}
