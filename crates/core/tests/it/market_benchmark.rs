//! Benchmarks: what 1 in one symbol or index comes to. All expected values are worked out by hand.

use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    BenchmarkSeries, DailyBar, Dataset, DatasetBuilder, Instrument, InstrumentType, NoBenchmark, TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::Date;
use papertape_testkit::data::SmallData;
use rust_decimal::Decimal;

fn date(day: i8) -> Date {
    Date::constant(2024, 3, day)
}

fn price(text: &str) -> Price {
    Price(text.parse().expect("a decimal"))
}

/// March 4 to 8, 2024, with these bars (day, open, close) and actions of `AAA`; `ALL` trades on every day.
fn data(bars: &[(i8, &str, &str)], actions: &[(i8, CorporateActionKind)]) -> Dataset {
    let mut builder = DatasetBuilder::new("small", TradingHours::US_ZONE);
    for symbol in ["AAA", "ALL"] {
        builder.instrument(Instrument {
            symbol: symbol.into(),
            name: symbol.to_owned(),
            currency: "USD".to_owned(),
            instrument_type: InstrumentType::Stock,
        });
    }
    let mut bar = |symbol: &str, day: i8, open: &str, close: &str| {
        let (open, close) = (price(open), price(close));
        let (high, low) = (open.max(close), open.min(close));
        let bar = DailyBar { date: date(day), open, high, low, close, volume: Quantity(Decimal::from(9)) };
        builder.bar(&symbol.into(), bar).expect("a possible bar");
    };
    (4..9).for_each(|day| bar("ALL", day, "1", "1"));
    bars.iter().for_each(|(day, open, close)| bar("AAA", *day, open, close));
    for day in 4..9 {
        builder.day(TradingHours::us_equity().day(date(day)).expect("a day")).expect("a day");
    }
    for (day, kind) in actions {
        let action = CorporateAction { symbol: "AAA".into(), ex_date: date(*day), kind: *kind };
        builder.action(action).expect("a possible action");
    }
    builder.build().expect("possible rows")
}

fn dividend(amount: &str) -> CorporateActionKind {
    CorporateActionKind::Dividend { amount: price(amount) }
}

fn split(ratio: i64) -> CorporateActionKind {
    CorporateActionKind::Split { ratio: Decimal::from(ratio) }
}

fn over(dataset: &Dataset, days: std::ops::Range<i8>) -> BenchmarkSeries {
    let days: Vec<Date> = days.map(date).collect();
    dataset.benchmark(&"AAA".into(), &days, false).expect("a benchmark")
}

fn assert_values(series: &BenchmarkSeries, expected: &[f64]) {
    assert_eq!(series.values.len(), expected.len(), "{series:?}");
    let close = |(ours, theirs): (&f64, &f64)| (ours - theirs).abs() < 1e-12;
    assert!(series.values.iter().zip(expected).all(close), "{series:?}, not {expected:?}");
}

const DAYS: [(i8, &str, &str); 5] =
    [(4, "9", "10"), (5, "10", "11"), (6, "11", "10"), (7, "5", "6"), (8, "6", "7")];

// Goal: from close to close with `ratio x (C + D) / C before - 1`, from the last close before the first day on: a dividend
// reinvested at its day's close, a split, and both on one day, where the dividend is one of the new shares.
#[test]
fn total_return_from_close_to_close() {
    let plain = over(&data(&DAYS, &[(7, split(2))]), 5..9);
    assert_eq!(
        (plain.start.date, plain.start.price, plain.start.is_first_open),
        (date(4), price("10"), false)
    );
    assert_values(&plain, &[1.1, 1.0, 1.2, 1.4]);
    let paid = over(&data(&DAYS, &[(5, dividend("0.55")), (7, split(2)), (7, dividend("0.3"))]), 5..9);
    let first = (11.0 + 0.55) / 10.0;
    let second = first * 10.0 / 11.0;
    let third = second * 2.0 * (6.0 + 0.3) / 10.0;
    assert_values(&paid, &[first, second, third, third * 7.0 / 6.0]);
    assert!(paid.missing.is_empty());
    // What was paid up to the close at which it begins is not of these days.
    let before = data(&DAYS, &[(4, dividend("1")), (7, split(2))]);
    assert_values(&over(&before, 5..9), &[1.1, 1.0, 1.2, 1.4]);
    assert_values(&over(&before, 6..8), &[10.0 / 11.0, 12.0 / 11.0]);
}

// Goal: an account that opens on the first day is compared from that day's open, although there is a close before: no claim to
// the day's dividend, and the share units of after its split.
#[test]
fn an_account_that_opens_starts_at_the_open() {
    let dataset = data(&DAYS, &[(5, dividend("1")), (7, split(2))]);
    let days: Vec<Date> = (5..9).map(date).collect();
    let series = dataset.benchmark(&"AAA".into(), &days, true).expect("a benchmark");
    assert_eq!(
        (series.start.date, series.start.price, series.start.is_first_open),
        (date(5), price("10"), true)
    );
    assert_values(&series, &[1.1, 1.0, 1.2, 1.4]);
    let split_first = dataset.benchmark(&"AAA".into(), &[date(7), date(8)], true).expect("a benchmark");
    assert_values(&split_first, &[6.0 / 5.0, 7.0 / 5.0]);
}

// Goal: without a close before the first day it begins at that day's open, as whoever buys then: with no claim to the
// dividend of the day, and with the shares of after its split.
#[test]
fn the_first_open_where_there_is_no_close_before() {
    let series = over(&data(&DAYS, &[(4, dividend("1")), (7, split(2))]), 4..6);
    assert_eq!(
        (series.start.date, series.start.price, series.start.is_first_open),
        (date(4), price("9"), true)
    );
    assert_values(&series, &[10.0 / 9.0, 11.0 / 9.0]);
}

// Goal: a day without a bar keeps the value and is named; a split or a dividend on such a day changes no value out of turn,
// and what was paid is invested at the next close.
#[test]
fn days_without_a_bar_keep_the_value() {
    let bars = [DAYS[0], DAYS[1], DAYS[3]];
    let series = over(&data(&bars, &[(6, split(2))]), 5..9);
    assert_eq!(series.missing, [date(6), date(8)]);
    assert_values(&series, &[1.1, 1.1, 1.2, 1.2]);
    let series = over(&data(&bars, &[(6, dividend("0.44")), (7, split(2))]), 5..9);
    // 0.1 shares of 11 and 0.044 in cash; then 0.2 shares of 6, and the cash buys 0.044 / 6 more.
    assert_values(&series, &[1.1, 1.144, 1.244, 1.244]);
}

// Goal: a delisting pays what it pays, and nothing happens after it.
#[test]
fn a_delisting_ends_it() {
    let pays = |pays: Option<&str>| CorporateActionKind::Delisting { pays: pays.map(price) };
    for (amount, left) in [(Some("8"), 0.8), (Some("0"), 0.0), (None, 1.1)] {
        let dataset = data(&DAYS[..2], &[(6, pays(amount))]);
        let series = over(&dataset, 5..9);
        assert_values(&series, &[1.1, left, left, left]);
        assert_eq!(series.missing, [date(6), date(7), date(8)]);
        let gone = dataset.benchmark(&"AAA".into(), &[date(7), date(8)], false);
        assert_eq!(gone, Err(NoBenchmark::Delisted { symbol: "AAA".into(), on: date(6), first: date(7) }));
    }
}

// Goal: what has no price to begin with is no benchmark, and the error says from when on it is one.
#[test]
fn what_has_no_price_yet_is_none() {
    let dataset = data(&DAYS[2..3], &[]);
    let benchmark = |symbol: &str, first| dataset.benchmark(&symbol.into(), &[date(first)], true);
    let symbol = || Symbol::new("AAA");
    let early = NoBenchmark::NotYet { symbol: symbol(), from: Some(date(6)), first: date(5) };
    assert_eq!(early.to_string(), "AAA has no bar until 2024-03-06, and the first day is 2024-03-05");
    assert_eq!(benchmark("AAA", 5), Err(early));
    assert!(benchmark("AAA", 6).is_ok() && benchmark("AAA", 7).is_ok());
    assert_eq!(benchmark("BBB", 6), Err(NoBenchmark::Unknown("BBB".into())));
}

// Goal: an index goes from level to level.
#[test]
fn an_index_goes_from_level_to_level() {
    let stock = [["10", "11", "9", "10"]; 3];
    let levels = [(0, ["1", "1400", "1", "1400"]), (2, ["1400", "1470", "1400", "1470"])];
    let data = SmallData::new("2024-03-04", 3).symbol("AAA", &stock).index("SPX", &levels).build();
    let series = data.benchmark(&"SPX".into(), &[date(5), date(6)], false).expect("a benchmark");
    assert_values(&series, &[1.0, 1.05]);
    assert_eq!(series.missing, [date(5)]);
}
