//! A view's volume and price limits: only what was known at the open.

use papertape_core::broker::{Board, MarketProfile};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    DailyBar, Dataset, DatasetBuilder, Fundamental, Instrument, InstrumentType, PriceKind, ST_METRIC,
    TradingDay, TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::Date;
use rust_decimal::Decimal;

fn days(count: usize) -> Vec<TradingDay> {
    let hours = TradingHours::us_equity();
    let mut date = Date::constant(2024, 1, 2);
    let mut days = Vec::new();
    for _ in 0..count {
        days.push(hours.day(date).expect("a day"));
        date = date.tomorrow().expect("a date");
    }
    days
}

/// A symbol with these volumes at a close of 10, from the nth day on.
fn add(builder: &mut DatasetBuilder, days: &[TradingDay], symbol: &str, first: usize, volumes: &[i64]) {
    let symbol = Symbol::new(symbol);
    builder.instrument(Instrument {
        symbol: symbol.clone(),
        name: symbol.to_string(),
        currency: "CNY".to_owned(),
        instrument_type: InstrumentType::Stock,
    });
    for (day, volume) in days[first..].iter().zip(volumes) {
        let price = Price::from(10);
        let bar = DailyBar {
            date: day.date,
            open: price,
            high: price,
            low: price,
            close: price,
            volume: Quantity::from(*volume),
        };
        builder.bar(&symbol, bar).expect("a bar");
    }
}

fn built(count: usize, fill: impl FnOnce(&mut DatasetBuilder, &[TradingDay])) -> Dataset {
    let days = days(count);
    let mut builder = DatasetBuilder::new("small", TradingHours::US_ZONE);
    for day in &days {
        builder.day(*day).expect("a new day");
    }
    fill(&mut builder, &days);
    builder.build().expect("a dataset")
}

fn mean(dataset: &Dataset, day: usize, symbol: &str) -> Option<(Decimal, u16)> {
    let view = dataset.view(dataset.days()[day].open);
    let volume = view.conditions(&MarketProfile::us_equity(), &Symbol::new(symbol)).volume?;
    Some((volume.mean.0, volume.bars))
}

/// Goal: the mean covers at most 20 bars before today, in today's share units; today's volume is not
/// included, neither at the open nor at the close.
#[test]
fn the_mean_volume_is_that_of_known_bars() {
    let dataset = built(25, |builder, days| {
        let volumes: Vec<i64> = (1..=25).map(|day| day * 100).collect();
        add(builder, days, "X", 0, &volumes);
        let ex_date = days[22].date;
        let split = CorporateActionKind::Split { ratio: Decimal::TWO };
        builder.action(CorporateAction { symbol: Symbol::new("X"), ex_date, kind: split }).expect("a split");
    });
    assert_eq!(mean(&dataset, 0, "X"), None, "no bar before");
    assert_eq!(mean(&dataset, 1, "X"), Some((100.into(), 1)));
    assert_eq!(mean(&dataset, 3, "X"), Some((200.into(), 3)));
    // Days 1 to 20: a mean of 1,050. Days 3 to 22, doubled by the split: 2,500.
    assert_eq!(mean(&dataset, 20, "X"), Some((1050.into(), 20)));
    assert_eq!(mean(&dataset, 22, "X"), Some((2500.into(), 20)));
    let at_close = dataset.view(dataset.days()[3].close);
    let known = at_close.known_volume(&Symbol::new("X"), 20).expect("volume");
    assert_eq!((known.mean.0, known.bars), (200.into(), 3));
    assert_eq!(at_close.volume_of_today(&Symbol::new("X")).map(|own| own.mean.0), Some(400.into()));
    assert!(MarketProfile::us_equity().frictionless().participation.is_none());
}

/// Goal: a bar without volume has no open if the instrument had volume before; if it never had volume, and at
/// the close, the bars are used as they are.
#[test]
fn a_bar_without_volume_is_no_bar_today() {
    let dataset = built(4, |builder, days| {
        add(builder, days, "IDLE", 0, &[100, 100, 0, 100]);
        add(builder, days, "INDEX", 0, &[0, 0, 0, 0]);
    });
    let price = |day: usize, symbol: &str| {
        let view = dataset.view(dataset.days()[day].open);
        let kind = view.price(&Symbol::new(symbol)).expect("a price").value.kind;
        (view.open_price(&Symbol::new(symbol)).is_ok(), kind == PriceKind::TodayOpen)
    };
    for (day, symbol, expected) in
        [(1, "IDLE", true), (2, "IDLE", false), (3, "IDLE", true), (2, "INDEX", true)]
    {
        assert_eq!(price(day, symbol), (expected, expected), "{symbol} {day}");
    }
    let at_close = dataset.view(dataset.days()[2].close);
    assert!(at_close.is_idle_today(&Symbol::new("IDLE")) && !at_close.is_idle_today(&Symbol::new("INDEX")));
    assert!(at_close.today_bar(&Symbol::new("IDLE")).is_ok());
    assert_eq!(mean(&dataset, 3, "INDEX"), None, "a cap cannot be judged");
    let cut = dataset.truncate_at(dataset.days()[2].open);
    assert!(cut.view(dataset.days()[2].open).open_price(&Symbol::new("IDLE")).is_err());
}

/// Goal: limits are around the previous close minus the day's dividend; a share listed within the data has
/// none on its first days, and a dated series determines which shares are ST.
#[test]
fn limits_follow_from_what_is_known() {
    let dataset = built(4, |builder, days| {
        add(builder, days, "600000", 0, &[100; 4]);
        add(builder, days, "688001", 1, &[100; 3]);
        let dividend = CorporateActionKind::Dividend { amount: Price(Decimal::ONE) };
        let (symbol, ex_date) = (Symbol::new("600000"), days[2].date);
        builder
            .action(CorporateAction { symbol: symbol.clone(), ex_date, kind: dividend })
            .expect("a dividend");
        let mark = Fundamental {
            symbol,
            metric: ST_METRIC.to_owned(),
            period_end: days[3].date,
            value: Decimal::ONE,
            unit: "flag".to_owned(),
        };
        builder.fundamental(Some(days[3].open), mark).expect("a figure");
    });
    let band = |day: usize, symbol: &str| {
        let view = dataset.view(dataset.days()[day].open);
        let band = view.conditions(&MarketProfile::cn_a_share(), &Symbol::new(symbol)).band?;
        Some((band.up.0.to_string(), band.down.0.to_string()))
    };
    let pair = |up: &str, down: &str| Some((up.to_owned(), down.to_owned()));
    assert_eq!(band(0, "600000"), None, "nothing to measure from");
    assert_eq!(band(1, "600000"), pair("11", "9"));
    assert_eq!(band(2, "600000"), pair("9.9", "8.1"), "less the dividend");
    assert_eq!(band(3, "600000"), pair("10.5", "9.5"), "ST");
    assert_eq!(band(3, "688001"), None, "its third day");
    assert_eq!(Board::of(&Symbol::new("688001")), Some(Board::Star));
}
