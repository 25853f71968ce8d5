//! A dataset's identity is its rows, and impossible rows are rejected.

use crate::market_rows::{Rows, rows};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    BuildError, DailyBar, Dataset, DatasetBuilder, Fundamental, Instrument, InstrumentType, MacroPoint, News,
    TradingDay, TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::Date;
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::collections::BTreeSet;
use std::time::Duration;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Goal: neither the order of the input rows nor trailing zeros change the hash.
    #[test]
    fn the_hash_does_not_depend_on_order_or_form(rows in rows(), turn in 0..100_usize) {
        let mut other = rows.clone();
        turned(&mut other.days, turn);
        turned(&mut other.bars, turn);
        turned(&mut other.actions, turn);
        turned(&mut other.news, turn);
        turned(&mut other.fundamentals, turn);
        turned(&mut other.macros, turn);
        for (_, bar) in &mut other.bars {
            bar.close.0.rescale(bar.close.0.scale() + 3);
        }
        prop_assert_eq!(rows.build().hash(), other.build().hash());
    }

    // Goal: changing any value gives another dataset.
    #[test]
    fn the_hash_changes_with_any_value(rows in rows(), pick in 0..100_usize) {
        let variants = variants(&rows, pick);
        let count = variants.len();
        let hashes: BTreeSet<_> = variants.iter().map(|rows| rows.build().hash()).collect();
        prop_assert_eq!(hashes.len(), count);
    }
}

fn turned<T>(list: &mut [T], turn: usize) {
    list.reverse();
    if !list.is_empty() {
        list.rotate_left(turn % list.len());
    }
}

/// The rows themselves and every way to change one of their values.
fn variants(rows: &Rows, pick: usize) -> Vec<Rows> {
    let mut out = vec![rows.clone()];
    let mut with = |change: &dyn Fn(&mut Rows)| {
        let mut other = rows.clone();
        change(&mut other);
        out.push(other);
    };
    let second = Duration::from_secs(1);
    let day = pick % rows.days.len();
    with(&|rows| rows.days[day].open -= second);
    with(&|rows| rows.days[day].close += second);
    let bar = pick % rows.bars.len();
    with(&|rows| {
        let (symbol, _) = rows.bars.remove(bar);
        let left = rows.bars.iter().any(|(other, _)| *other == symbol);
        rows.actions.retain(|action| left || action.symbol != symbol);
    });
    with(&|rows| rows.bars[bar].1.high.0 *= Decimal::TEN);
    with(&|rows| rows.bars[bar].1.low.0 /= Decimal::TEN);
    with(&|rows| rows.bars[bar].1.volume += Quantity::from(1));
    let fields: [fn(&mut DailyBar, Price); 2] =
        [|bar, price| bar.open = price, |bar, price| bar.close = price];
    for set in fields {
        with(&|rows| {
            let bar = &mut rows.bars[bar].1;
            bar.high.0 *= Decimal::from(20);
            set(bar, bar.high);
        });
    }
    if !rows.actions.is_empty() {
        let action = pick % rows.actions.len();
        with(&|rows| match &mut rows.actions[action].kind {
            CorporateActionKind::Split { ratio } => *ratio += Decimal::TEN,
            CorporateActionKind::Dividend { amount } => *amount += Price::from(1),
            CorporateActionKind::Delisting { pays } => {
                *pays = Some(pays.unwrap_or_default() + Price::from(1))
            }
        });
        with(&|rows| drop(rows.actions.remove(action)));
    }
    if !rows.news.is_empty() {
        let news = pick % rows.news.len();
        with(&|rows| rows.news[news].published_at += second);
        with(&|rows| rows.news[news].item.headline.push('!'));
        with(&|rows| rows.news[news].item.body = Some(String::new()));
        with(&|rows| rows.news[news].item.symbols.push("ZZZ".into()));
    }
    if !rows.fundamentals.is_empty() {
        let at = pick % rows.fundamentals.len();
        with(&|rows| rows.fundamentals[at].item.value += Decimal::ONE_HUNDRED);
        with(&|rows| rows.macros.last_mut().expect("one").item.value += Decimal::ONE_HUNDRED);
    }
    out
}

// Goal: every impossible row is rejected, and the error names symbol, date and reason.
#[test]
fn impossible_bars_are_refused() {
    let check = |[open, high, low, close]: [&str; 4], volume: i64, reason: &str| {
        let mut builder = builder();
        let refused = builder.bar(&symbol(), bar(4, [open, high, low, close], volume));
        let message = refused.expect_err(reason).to_string();
        assert_eq!(message, format!("AAA 2024-03-04: bar rejected: {reason}"));
    };
    check(["10", "9", "11", "10"], 1, "the high 9 is below the low 11");
    check(["12", "11", "9", "10"], 1, "the open 12 is outside of 9 to 11");
    check(["10", "11", "9", "8.5"], 1, "the close 8.5 is outside of 9 to 11");
    check(["0", "11", "0", "10"], 1, "a price of 0");
    check(["10", "11", "-1", "10"], 1, "a price of -1");
    check(["10", "11", "9", "10"], -5, "a volume of -5");
}

// Goal: rows that contradict others are rejected.
#[test]
fn rows_that_do_not_fit_are_refused() {
    let good = ["10", "11", "9", "10"];
    let check = |fill: &dyn Fn(&mut DatasetBuilder), message: &str| {
        let mut builder = builder();
        fill(&mut builder);
        assert_eq!(built(builder).expect_err(message).to_string(), message);
    };
    let put = |builder: &mut DatasetBuilder, bar| builder.bar(&symbol(), bar).expect("bar");
    check(
        &|builder| [1, 2].iter().for_each(|_| put(builder, bar(4, good, 1))),
        "AAA 2024-03-04: bar rejected: a second bar of the day",
    );
    check(&|builder| put(builder, bar(9, good, 1)), "AAA 2024-03-09: bar rejected: no trading day");
    check(
        &|builder| builder.bar(&"BBB".into(), bar(4, good, 1)).expect("bar"),
        "BBB: instrument rejected: it has bars but was not given",
    );
    check(
        &|builder| {
            put(builder, bar(4, good, 1));
            builder.action(split(9, "2")).expect("action");
        },
        "AAA 2024-03-09: corporate action rejected: its ex-date is not a trading day",
    );
    check(
        &|builder| {
            put(builder, bar(4, good, 1));
            builder.action(split(5, "2")).expect("action");
            builder.action(split(5, "3")).expect("action");
        },
        "AAA 2024-03-05: corporate action rejected: duplicate",
    );
    check(
        &|builder| {
            put(builder, bar(4, good, 1));
            builder.action(delisting(4, None)).expect("action");
        },
        "AAA 2024-03-04: corporate action rejected: there are bars until 2024-03-04",
    );
    check(
        &|builder| {
            put(builder, bar(4, good, 1));
            builder.action(delisting(4, Some("0"))).expect("action");
            builder.action(split(5, "2")).expect("action");
        },
        "AAA 2024-03-05: corporate action rejected: it comes after the delisting on 2024-03-04",
    );
    check(
        &|builder| {
            put(builder, bar(4, good, 1));
            builder.action(delisting(5, None)).expect("action");
            builder.action(delisting(5, Some("1"))).expect("action");
        },
        "AAA 2024-03-05: corporate action rejected: it comes after the delisting on 2024-03-05",
    );
    check(
        &|builder| {
            put(builder, bar(4, good, 1));
            builder.action(split(4, "10000")).expect("action");
            builder.action(split(5, "1000")).expect("action");
        },
        "AAA 2024-03-05: corporate action rejected: splits multiply to more than a million",
    );
    check(
        &|builder| builder.action(split(4, "2")).expect("action"),
        "AAA 2024-03-04: corporate action rejected: the symbol has no bars",
    );
    check(
        &|builder| builder.day(day(4)).expect("day"),
        "calendar 2024-03-04: trading day rejected: duplicate",
    );
    let twice = |builder: &mut DatasetBuilder| {
        let at = Some(day(4).open);
        [1, 2].iter().for_each(|_| builder.news(at, news()).expect("news"));
    };
    check(&twice, "news `n1`: rejected: duplicate");
}

// Goal: undated items are rejected, each kind by its name.
#[test]
fn undated_items_are_refused() {
    let mut builder = builder();
    let error = builder.news(None, news()).expect_err("undated");
    assert_eq!(error.to_string(), "news `n1`: rejected: it is undated");
    let (period_end, value) = (Date::constant(2023, 12, 31), Decimal::ONE);
    let (metric, unit) = ("revenue".to_owned(), "USD".to_owned());
    let item = Fundamental { symbol: symbol(), metric, period_end, value, unit: unit.clone() };
    let error = builder.fundamental(None, item).expect_err("undated");
    assert_eq!(error.to_string(), "AAA/fundamentals `revenue`: rejected: it is undated");
    let item = MacroPoint { series: "CPI".into(), period: period_end, value, unit };
    let error = builder.macro_point(None, item).expect_err("undated");
    assert_eq!(error.to_string(), "macro/CPI `2023-12-31`: rejected: it is undated");
}

fn delisting(d: i8, pays: Option<&str>) -> CorporateAction {
    let pays = pays.map(|pays| Price(pays.parse().expect("a price")));
    CorporateAction { kind: CorporateActionKind::Delisting { pays }, ..split(d, "2") }
}

// Goal: impossible actions and days are rejected when they are added.
#[test]
fn impossible_actions_and_days_are_refused() {
    let mut builder = builder();
    for ratio in ["0", "-2", "1"] {
        assert!(matches!(builder.action(split(4, ratio)), Err(BuildError::Action { .. })));
    }
    let kind = CorporateActionKind::Dividend { amount: Price::ZERO };
    let dividend = CorporateAction { kind, ..split(4, "2") };
    assert!(matches!(builder.action(dividend), Err(BuildError::Action { .. })));
    assert!(matches!(builder.action(delisting(4, Some("-1"))), Err(BuildError::Action { .. })));
    let TradingDay { date, open, close } = day(6);
    let backwards = TradingDay { date, open: close, close: open };
    assert!(matches!(builder.day(backwards), Err(BuildError::Day { .. })));
}

// Goal: values of any size found in a market are stored exactly.
#[test]
fn values_are_kept_exactly() {
    let mut builder = builder();
    let prices = ["123456.12345678", "123456789.5", "0.00000001", "1"];
    let volume: Decimal = "98765432100.25".parse().expect("a decimal");
    let one = DailyBar { volume: Quantity(volume), ..bar(4, prices, 0) };
    builder.bar(&symbol(), one).expect("bar");
    let dataset = built(builder).expect("dataset");
    let read = dataset.view(day(4).close).today_bar(&symbol()).expect("bar").value;
    assert_eq!([read.open, read.high, read.low, read.close].map(|p| p.to_string()), prices);
    assert_eq!(read.volume, Quantity(volume));
}

fn builder() -> DatasetBuilder {
    let mut builder = DatasetBuilder::new("small", TradingHours::US_ZONE);
    for date in [4, 5] {
        builder.day(day(date)).expect("day");
    }
    let (name, currency) = ("Aaa".to_owned(), "USD".to_owned());
    builder.instrument(Instrument {
        symbol: symbol(),
        name,
        currency,
        instrument_type: InstrumentType::Stock,
    });
    builder
}

fn built(builder: DatasetBuilder) -> Result<Dataset, BuildError> {
    builder.build()
}

fn day(date: i8) -> TradingDay {
    TradingHours::us_equity().day(Date::constant(2024, 3, date)).expect("day")
}

fn symbol() -> Symbol {
    "AAA".into()
}

fn bar(date: i8, prices: [&str; 4], volume: i64) -> DailyBar {
    let [open, high, low, close] = prices.map(|text| Price(text.parse().expect("a decimal")));
    let date = Date::constant(2024, 3, date);
    DailyBar { date, open, high, low, close, volume: volume.into() }
}

fn split(date: i8, ratio: &str) -> CorporateAction {
    CorporateAction {
        symbol: symbol(),
        ex_date: Date::constant(2024, 3, date),
        kind: CorporateActionKind::Split { ratio: ratio.parse().expect("a decimal") },
    }
}

fn news() -> News {
    News {
        id: "n1".into(),
        symbols: vec![symbol()],
        source: "wire".into(),
        headline: "Something happened".into(),
        body: None,
        url: None,
    }
}
