//! The bundled dataset equals what its source published, and fulfills the market view's guarantees.

use crate::market_answers::{answers, around};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{BarRange, Dataset, TradingDay};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp, parse_date};
use papertape_market::bundled;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// A sample of the published adjusted closes: around every action, plus every fiftieth.
const ADJUSTED: &str = include_str!("../fixtures/adjusted-closes.csv");

/// The published values have 13 significant digits or more.
const TOLERANCE: Decimal = Decimal::from_parts(1, 0, 0, false, 12);

// Goal: raw closes and recovered actions reproduce the adjusted closes that the source published.
#[test]
fn adjusted_closes_follow_from_closes_and_actions() {
    let dataset = bundled();
    let mut checked = 0;
    for (symbol, published) in adjusted() {
        let closes = raw_closes(&dataset, &symbol);
        let actions = actions(&dataset, &symbol);
        let (last, last_adjusted) = published.last_key_value().expect("rows");
        assert_eq!(closes.last_key_value().expect("rows").0, last, "{symbol}");
        for (date, adjusted) in &published {
            let factor: Decimal = (actions.iter())
                .filter(|action| action.ex_date > *date)
                .map(|action| factor(action, closes[&action.ex_date]))
                .product();
            let computed = closes[date] * factor / closes[last] * last_adjusted;
            let error = (computed / adjusted - Decimal::ONE).abs();
            assert!(error < TOLERANCE, "{symbol} {date}: {computed} is not {adjusted}");
            checked += 1;
        }
    }
    assert_eq!(checked, 438);
}

// Goal: the actions are the known ones: three splits, and dividends exact to the cent.
#[test]
fn actions_are_the_known_ones() {
    let dataset = bundled();
    let (mut splits, mut dividends) = (Vec::new(), BTreeMap::new());
    for symbol in dataset.all_symbols() {
        for action in actions(&dataset, symbol) {
            match action.kind {
                CorporateActionKind::Split { ratio } => {
                    splits.push((symbol.as_str(), action.ex_date.to_string(), ratio.to_string()));
                }
                CorporateActionKind::Dividend { amount } => {
                    assert!(amount.0.scale() <= 2, "{action:?}");
                    dividends.insert((symbol.as_str(), action.ex_date.to_string()), amount);
                }
                CorporateActionKind::Delisting { .. } => panic!("{action:?}"),
            }
        }
    }
    let split = |symbol, date: &str| (symbol, date.to_owned(), "2".to_owned());
    let known = [("AAPL", "2000-06-21"), ("AAPL", "2005-02-28"), ("MSFT", "2003-02-18")];
    assert_eq!(splits, known.map(|(symbol, date)| split(symbol, date)));
    assert_eq!(dividends.len(), 92);
    let amount = |symbol, date: &str| dividends[&(symbol, date.to_owned())].to_string();
    assert_eq!(amount("MSFT", "2004-11-15"), "3.08");
    assert_eq!(amount("AAPL", "2012-08-09"), "2.65");
    assert_eq!(amount("IBM", "2000-05-08"), "0.13");
}

// Goal: the rows equal the committed ones, byte for byte.
#[test]
fn the_content_is_pinned() {
    let dataset = bundled();
    assert_eq!(dataset.name(), "us-daily-2000-2013");
    assert_eq!(dataset.bar_count(), 12_154);
    assert_eq!(dataset.hash().to_hex(), "03235734569bfa34ebaeeb61d74cddd27f3b144ab99345fdc5ba191c4f91d46c");
}

// Goal: the calendar is New York's: closed when the exchange was, opening at 09:30 there.
#[test]
fn the_calendar_is_new_yorks() {
    let dataset = bundled();
    let days = |from, to| -> Vec<String> {
        let days = dataset.trading_days(date(from), date(to));
        days.iter().map(|day| day.date.to_string()).collect()
    };
    assert_eq!(dataset.days().len(), 3_270);
    assert_eq!(days("2001-09-10", "2001-09-17"), ["2001-09-10", "2001-09-17"]);
    assert_eq!(days("2012-10-27", "2012-10-31"), ["2012-10-31"]);
    assert_eq!(days("2004-06-11", "2004-06-11"), [""; 0], "President Reagan's funeral");
    assert_eq!(dataset.day(date("2008-12-25")), None);
    assert_eq!(days("2008-12-26", "2008-12-25"), [""; 0], "a range that ends before it begins");
    let winter = day(&dataset, "2012-03-09");
    assert_eq!(winter.open, instant("2012-03-09T14:30:00Z"));
    let summer = day(&dataset, "2012-03-12");
    assert_eq!(
        (summer.open, summer.close),
        (instant("2012-03-12T13:30:00Z"), instant("2012-03-12T20:00:00Z"))
    );
}

// Goal: an agent sees Apple's split of 2005 from the open of its ex-date.
#[test]
fn a_split_is_in_effect_from_its_open() {
    let dataset = bundled();
    let apple = Symbol::new("AAPL");
    let open = day(&dataset, "2005-02-28").open;
    let before = dataset.view(around(open)[0]).last_close(&apple).expect("close").value;
    assert_eq!(before.price.to_string(), "88.99");
    let view = dataset.view(open);
    assert_eq!(view.last_close(&apple).expect("close").value.price.to_string(), "44.495");
    assert_eq!(view.open_price(&apple).expect("open").value.price.to_string(), "44.68");
    let bars = view.bars(&apple, BarRange::newest(1)).expect("bars").value;
    assert_eq!(bars[0].volume, Quantity::from(32_696_800));
}

// Goal: volumes are in the shares of their day, on a split's ex-date too, and Google's are not in the shares of 2014.
#[test]
fn volumes_are_in_the_shares_of_the_day() {
    let dataset = bundled();
    let volume = |symbol: &str, date: &str| {
        let view = dataset.view(day(&dataset, date).close);
        view.today_bar(&symbol.into()).expect("bar").value.volume.to_string()
    };
    assert_eq!(volume("AAPL", "2005-02-28"), "23271800");
    assert_eq!(volume("AAPL", "2005-03-01"), "16721000");
    assert_eq!(volume("MSFT", "2003-02-18"), "57415500");
    assert_eq!(volume("GOOG", "2004-08-19"), "22351900");
}

// Goal: truncated at an instant, the bundled data gives the same results, throughout the years and on the
// days around splits and first bars.
#[test]
fn a_cut_changes_no_answer() {
    let dataset = bundled();
    let special = ["2000-03-01", "2000-06-21", "2003-02-18", "2004-08-19", "2005-02-28", "2012-05-18"];
    let dates = special.map(date);
    let symbols: Vec<Symbol> = dataset.all_symbols().cloned().collect();
    let special = special.map(|date| *day(&dataset, date));
    for day in dataset.days().iter().step_by(701).chain(&special) {
        for instant in [around(day.open)[0], day.open, around(day.close)[0], day.close] {
            let cut = dataset.truncate_at(instant);
            let (view, cut) = (dataset.view(instant), cut.view(instant));
            assert_eq!(answers(&view, &symbols, &dates), answers(&cut, &symbols, &dates), "at {instant}");
        }
    }
}

fn adjusted() -> BTreeMap<Symbol, BTreeMap<Date, Decimal>> {
    let mut out: BTreeMap<Symbol, BTreeMap<Date, Decimal>> = BTreeMap::new();
    for line in ADJUSTED.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let [symbol, day, adjusted] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("`{line}` has not three fields");
        };
        let adjusted = Decimal::from_str_exact(adjusted).expect("a decimal");
        out.entry(symbol.into()).or_default().insert(date(day), adjusted);
    }
    out
}

/// Closes in the shares of their day, as a view at the day's close returns them.
fn raw_closes(dataset: &Dataset, symbol: &Symbol) -> BTreeMap<Date, Decimal> {
    let close = |day: &TradingDay| {
        let bar = dataset.view(day.close).today_bar(symbol).ok()?.value;
        Some((bar.date, bar.close.0))
    };
    dataset.days().iter().filter_map(close).collect()
}

fn actions(dataset: &Dataset, symbol: &Symbol) -> Vec<CorporateAction> {
    let view = dataset.view(dataset.days().last().expect("days").close);
    let of_day = |day: &TradingDay| view.actions_on(day.date).expect("a past day").value;
    let all = dataset.days().iter().flat_map(of_day);
    all.filter(|action| action.symbol == *symbol).collect()
}

/// The factor by which the source scales a close before the action, given the close of the ex-date.
fn factor(action: &CorporateAction, close: Decimal) -> Decimal {
    match action.kind {
        CorporateActionKind::Split { ratio } => Decimal::ONE / ratio,
        CorporateActionKind::Dividend { amount: Price(amount) } => close / (close + amount),
        CorporateActionKind::Delisting { .. } => Decimal::ONE,
    }
}

fn day<'a>(dataset: &'a Dataset, text: &str) -> &'a TradingDay {
    dataset.day(date(text)).expect("a trading day")
}

fn date(text: &str) -> Date {
    parse_date(text).expect("a date")
}

fn instant(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}
