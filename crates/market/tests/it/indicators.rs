//! Indicators compared with results computed with pandas (scripts/indicator_answers.py).

use papertape_core::market::{Indicator, IndicatorTable};
use papertape_core::time::{Date, parse_date};
use papertape_market::bundled;

const ANSWERS: &str = include_str!("../fixtures/indicator-answers.csv");

// Goal: every indicator, over years of real bars and across splits, equals what pandas computes.
#[test]
fn indicators_are_what_pandas_computes() {
    let mut lines = ANSWERS.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(';').skip(3).collect();
    let mut checked = 0;
    let mut table: Option<(String, IndicatorTable)> = None;
    for line in lines {
        let fields: Vec<&str> = line.split(';').collect();
        let [day, symbol, until] = [fields[0], fields[1], fields[2]];
        if table.as_ref().is_none_or(|(of, _)| of != symbol) {
            table = Some((symbol.to_owned(), computed(symbol, date(until))));
        }
        let (_, table) = table.as_ref().expect("a table");
        let row = table.dates.binary_search(&date(day)).expect("a day of the series");
        for (name, expected) in names.iter().zip(&fields[3..]) {
            let column = table.columns.iter().find(|column| column.name == *name).expect(name);
            match (column.values[row], expected.parse::<f64>().ok()) {
                (None, None) => {}
                (Some(value), Some(expected)) => {
                    let error = (value - expected).abs() / expected.abs().max(1.0);
                    assert!(error < 1e-9, "{symbol} {day} {name}: {value} is not {expected}");
                    checked += 1;
                }
                other => panic!("{symbol} {day} {name}: {other:?}"),
            }
        }
    }
    assert!(checked > 1_000, "{checked}");
}

// Goal: an indicator's text is parsed with and without parameters and written in one canonical form; invalid
// ones are rejected.
#[test]
fn indicator_names_are_read_and_written() {
    let check = |text: &str, expected: &str| {
        let indicator: Indicator = text.parse().expect(text);
        assert_eq!(indicator.to_string(), expected);
    };
    check("sma", "sma(20)");
    check(" SMA ( 50 ) ", "sma(50)");
    check("macd()", "macd(12,26,9)");
    check("macd(5,35)", "macd(5,35,9)");
    check("bollinger(10, 2.50)", "bollinger(10,2.5)");
    for text in ["", "sma(0)", "sma(1001)", "sma(1,2)", "sma(5", "macd(26,12)", "bollinger(20,0)", "alpha"] {
        text.parse::<Indicator>().expect_err(text);
    }
}

fn computed(symbol: &str, until: Date) -> IndicatorTable {
    let dataset = bundled();
    let day = dataset.day(until).expect("a trading day");
    let names = ["sma(50)", "ema(10)", "macd", "rsi", "bollinger", "atr", "vwma", "mfi"];
    let indicators = names.map(|name| name.parse().expect(name));
    let view = dataset.view(day.close);
    view.indicators(&symbol.into(), &indicators, usize::MAX).expect("indicators").value
}

fn date(text: &str) -> Date {
    parse_date(text).expect("a date")
}
