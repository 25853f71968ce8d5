//! No view sees the future, and every view sees today in today's share units.

use crate::market_answers::{answers, around};
use crate::market_rows::{Rows, rows};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    Bar, BarRange, DailyBar, Dataset, Indicator, MarketView, PriceKind, ReadError, TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp};
use proptest::prelude::*;
use rust_decimal::Decimal;
use serde_json::Value;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // Goal: no result contains a fact that became known after the view's instant.
    #[test]
    fn no_answer_holds_a_later_fact(rows in rows()) {
        let dataset = rows.build();
        for instant in all_instants(&rows, &dataset) {
            let view = dataset.view(instant);
            let today = view.today().ok().map(|today| today.value.date);
            check_instants(&all_answers(&view, &dataset), instant, today)?;
        }
    }

    // Goal: a view over data truncated at its instant gives the same results for everything.
    #[test]
    fn a_cut_at_the_instant_changes_no_answer(rows in rows()) {
        let dataset = rows.build();
        for instant in all_instants(&rows, &dataset) {
            let cut = dataset.truncate_at(instant);
            let (whole, cut) =
                (all_answers(&dataset.view(instant), &dataset), all_answers(&cut.view(instant), &dataset));
            prop_assert_eq!(whole, cut, "at {}", instant);
        }
    }

    // Goal: whatever the future data, the results are the same, including the running day's bar.
    #[test]
    fn another_future_changes_no_answer(rows in rows()) {
        let dataset = rows.build();
        for instant in all_instants(&rows, &dataset) {
            let mut other = rows.clone();
            other.garble_unknown(instant);
            let other = other.build();
            let (one, two) =
                (all_answers(&dataset.view(instant), &dataset), all_answers(&other.view(instant), &dataset));
            prop_assert_eq!(one, two, "at {}", instant);
        }
    }

    // Goal: a dataset truncated at a close equals, byte for byte, the dataset built from the rows known then.
    #[test]
    fn a_cut_at_a_close_is_the_dataset_of_the_rows_known_then(rows in rows()) {
        let dataset = rows.build();
        for day in dataset.days() {
            let mut known = rows.clone();
            known.keep_known(day.close);
            prop_assert_eq!(known.build().hash(), dataset.truncate_at(day.close).hash());
        }
    }

    // Goal: bars and indicators across splits are those of a series that was adjusted beforehand.
    #[test]
    fn splits_convert_bars_and_indicators(mut rows in rows()) {
        rows.make_splits_even();
        let dataset = rows.build();
        for day in dataset.days() {
            let mut converted = rows.clone();
            converted.keep_known(day.close);
            let splits = std::mem::take(&mut converted.actions);
            for (symbol, bar) in &mut converted.bars {
                let ratio = ratio_after(&splits, symbol, bar.date);
                *bar = divided(bar, ratio);
            }
            let converted = converted.build();
            let (one, two) = (dataset.view(day.close), converted.view(day.close));
            for symbol in converted.all_symbols() {
                let (one_bars, two_bars) = (
                    one.bars(symbol, BarRange::default()).expect("bars").value,
                    two.bars(symbol, BarRange::default()).expect("bars").value,
                );
                for (bar, other) in one_bars.iter().zip(&two_bars) {
                    prop_assert!(about_equal(bar, other), "{:?} {:?}", bar, other);
                }
                prop_assert_eq!(one_bars.len(), two_bars.len());
                let list = ["sma(3)", "ema(3)", "rsi(3)", "bollinger(3,2)", "atr(3)", "vwma(2)"];
                let list: Vec<Indicator> = list.iter().map(|i| i.parse().expect("one")).collect();
                let one = one.indicators(symbol, &list, 100).expect("table").value;
                let two = two.indicators(symbol, &list, 100).expect("table").value;
                prop_assert_eq!(&one.dates, &two.dates);
                for (column, other) in one.columns.iter().zip(&two.columns) {
                    for (a, b) in column.values.iter().zip(&other.values) {
                        prop_assert!(close(*a, *b), "{}: {:?} {:?}", column.name, a, b);
                    }
                }
            }
        }
    }
}

// Goal: at the open of a split's ex-date its open is known, the last close is in new shares, and nothing else
// of the day is known; at the close its bar is complete.
#[test]
fn a_day_with_a_split_unfolds_in_two_facts() {
    let rows = split_rows();
    let dataset = rows.build();
    let symbol = Symbol::new("AAA");
    let day = rows.day(Date::constant(2024, 3, 5));

    let before = dataset.view(around(day.open)[0]);
    let last = before.price(&symbol).expect("price").value;
    assert_eq!((last.kind, last.price), (PriceKind::LastClose, price("100")));
    assert!(matches!(before.actions_on(day.date), Err(ReadError::NotYet { .. })));

    let open = dataset.view(day.open);
    let found = open.price(&symbol).expect("price").value;
    assert_eq!((found.kind, found.price, found.known_at), (PriceKind::TodayOpen, price("34"), day.open));
    let last = open.last_close(&symbol).expect("close");
    assert_eq!(last.value.price, price("33.3333333333"));
    assert_eq!(last.value.date, Date::constant(2024, 3, 4));
    assert_eq!(last.exposure.latest_known_at, Some(day.open), "the split is a fact of the open");
    let bars = open.bars(&symbol, BarRange::default()).expect("bars").value;
    assert_eq!(bars.len(), 1);
    assert_eq!(bars[0].volume, Quantity::from(3_000));
    assert_eq!(open.actions_on(day.date).expect("actions").value, rows.actions);
    assert!(matches!(open.today_bar(&symbol), Err(ReadError::NoData { .. })));

    let close = dataset.view(day.close);
    let bar = close.today_bar(&symbol).expect("bar").value;
    assert_eq!((bar.open, bar.close, bar.volume), (price("34"), price("35"), Quantity::from(900)));
    let found = close.price(&symbol).expect("price").value;
    assert_eq!((found.kind, found.price), (PriceKind::LastClose, price("35")));
    assert_eq!(close.open_price(&symbol).expect("open").value.price, price("34"));
}

// Goal: an exposure lists the rows that were read.
#[test]
fn an_exposure_tells_what_was_read() {
    let rows = split_rows();
    let dataset = rows.build();
    let day = rows.day(Date::constant(2024, 3, 5));
    let view = dataset.view(day.close);
    let read = view.bars(&Symbol::new("AAA"), BarRange::newest(5)).expect("bars");
    assert_eq!(read.exposure.dataset, dataset.hash());
    assert_eq!(read.exposure.series, "AAA/bars");
    assert_eq!(read.exposure.first, Some(Date::constant(2024, 3, 4)));
    assert_eq!(read.exposure.last, Some(day.date));
    assert_eq!(read.exposure.rows, 2);
    assert_eq!(read.exposure.latest_known_at, Some(day.close));
}

// Goal: a symbol that has not started trading is as unknown as one that never will.
#[test]
fn a_symbol_is_unknown_before_its_first_bar() {
    let mut rows = split_rows();
    let late = Symbol::new("LATE");
    let bar = rows.bars[1].1;
    rows.bars.push((late.clone(), bar));
    let dataset = rows.build();
    let view = dataset.view(rows.days[0].close);
    assert_eq!(view.symbols().value, ["AAA".into()]);
    let unknown = view.price(&late).expect_err("unknown");
    assert_eq!(unknown, ReadError::UnknownSymbol { symbol: late });
    assert_eq!(unknown.code(), "unknown_symbol");
}

// Goal: ranges limit bars by days and by number, and an impossible range is rejected.
#[test]
fn a_range_bounds_bars() {
    let rows = split_rows();
    let dataset = rows.build();
    let (first, second) = (rows.days[0].date, rows.days[1].date);
    let view = dataset.view(rows.days[1].close);
    let symbol = Symbol::new("AAA");
    let dates = |range| -> Result<Vec<Date>, ReadError> {
        Ok(view.bars(&symbol, range)?.value.iter().map(|bar| bar.date).collect())
    };
    assert_eq!(dates(BarRange::between(first, first)), Ok(vec![first]));
    assert_eq!(dates(BarRange::between(first, Date::constant(2030, 1, 1))), Ok(vec![first, second]));
    assert_eq!(dates(BarRange::newest(1)), Ok(vec![second]));
    let both = BarRange { to: Some(first), limit: Some(1), from: None };
    assert_eq!(dates(both), Ok(vec![first]));
    assert!(matches!(dates(BarRange::newest(0)), Err(ReadError::NoData { .. })));
    assert!(matches!(dates(BarRange::between(second, first)), Err(ReadError::Range { .. })));
}

/// AAA closes at 100, then splits three for one.
fn split_rows() -> Rows {
    let hours = TradingHours::us_equity();
    let bar = |day, [open, high, low, close]: [&str; 4], volume: i64| DailyBar {
        date: Date::constant(2024, 3, day),
        open: price(open),
        high: price(high),
        low: price(low),
        close: price(close),
        volume: volume.into(),
    };
    let symbol = Symbol::new("AAA");
    let ex_date = Date::constant(2024, 3, 5);
    let kind = CorporateActionKind::Split { ratio: 3.into() };
    Rows {
        days: (4..=5).map(|day| hours.day(Date::constant(2024, 3, day)).expect("day")).collect(),
        bars: vec![
            (symbol.clone(), bar(4, ["99", "101", "98", "100"], 1_000)),
            (symbol.clone(), bar(5, ["34", "36", "33", "35"], 900)),
        ],
        actions: vec![CorporateAction { symbol, ex_date, kind }],
        news: Vec::new(),
        fundamentals: Vec::new(),
        macros: Vec::new(),
        memberships: Vec::new(),
    }
}

fn price(text: &str) -> Price {
    Price(text.parse().expect("a decimal"))
}

/// The view's results for all of the dataset's symbols and days.
fn all_answers(view: &MarketView<'_>, dataset: &Dataset) -> Value {
    let symbols: Vec<Symbol> = dataset.all_symbols().cloned().collect();
    let dates: Vec<Date> = dataset.days().iter().map(|day| day.date).collect();
    answers(view, &symbols, &dates)
}

/// Instants around every open, close and publication.
fn all_instants(rows: &Rows, dataset: &Dataset) -> Vec<Timestamp> {
    let news = rows.news.iter().map(|one| one.published_at);
    let figures = rows.fundamentals.iter().map(|one| one.published_at);
    let edges = dataset.days().iter().flat_map(|day| [day.open, day.close]);
    let mut all: Vec<Timestamp> = edges.flat_map(around).collect();
    all.extend(news.chain(figures).flat_map(around));
    all
}

/// No instant under a key for a known-at time is after the view's, and no date is after its day.
fn check_instants(value: &Value, instant: Timestamp, today: Option<Date>) -> Result<(), TestCaseError> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| check_instants(item, instant, today)),
        Value::Object(map) => map.iter().try_for_each(|(key, value)| {
            match (key.as_str(), value.as_str()) {
                (
                    "latest_known_at" | "known_at" | "closes_at" | "opens_at" | "published_at" | "open",
                    Some(text),
                ) => {
                    if let Ok(at) = text.parse::<Timestamp>() {
                        prop_assert!(at <= instant, "{key} {at} after {instant}");
                    }
                }
                ("date" | "ex_date", Some(text)) => {
                    let date: Date = text.parse().expect("a date");
                    prop_assert!(today.is_some_and(|today| date <= today), "{key} {date}");
                }
                _ => check_instants(value, instant, today)?,
            }
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// Today's shares per share of that day.
fn ratio_after(actions: &[CorporateAction], symbol: &Symbol, date: Date) -> Decimal {
    (actions.iter())
        .filter(|action| action.symbol == *symbol && action.ex_date > date)
        .map(|action| match action.kind {
            CorporateActionKind::Split { ratio } => ratio,
            CorporateActionKind::Dividend { .. } | CorporateActionKind::Delisting { .. } => Decimal::ONE,
        })
        .product()
}

fn divided(bar: &DailyBar, ratio: Decimal) -> DailyBar {
    let by = |price: Price| Price(price.0 / ratio);
    DailyBar {
        date: bar.date,
        open: by(bar.open),
        high: by(bar.high),
        low: by(bar.low),
        close: by(bar.close),
        volume: Quantity(bar.volume.0 * ratio),
    }
}

fn about_equal(bar: &Bar, other: &Bar) -> bool {
    let near = |a: Price, b: Price| (a.0 - b.0).abs() <= Decimal::new(1, 8);
    bar.date == other.date
        && near(bar.open, other.open)
        && near(bar.high, other.high)
        && near(bar.low, other.low)
        && near(bar.close, other.close)
        && bar.volume == other.volume
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(1.0),
        (None, None) => true,
        _ => false,
    }
}
