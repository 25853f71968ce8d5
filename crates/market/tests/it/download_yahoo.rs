//! Yahoo's charts: as-traded prices from split-adjusted ones, nulls, incomplete days, errors.

use crate::download_support::{Stage, bars, json, plain, read, rows};
use papertape_core::ledger::CorporateActionKind;
use papertape_core::market::InstrumentType;
use papertape_market::download::{Ended, SourceName, State};
use papertape_market::import::{BarRow, BarTime, Basis, ImportedRow, Source};
use serde_json::{Value, json as value};

const NOW: &str = "2024-06-14T15:00:00Z";

fn second(instant: &str) -> i64 {
    instant.parse::<jiff::Timestamp>().expect("is an instant").as_second()
}

/// A chart of bars on these days, opening at 09:30 in New York in summer; a price of `null` is an empty day.
fn chart(days: &[(&str, Value)], events: Value, last_trade: &str) -> Value {
    let times: Vec<i64> = days.iter().map(|(day, _)| second(&format!("{day}T13:30:00Z"))).collect();
    let prices: Vec<Value> = days.iter().map(|(_, price)| price.clone()).collect();
    let volumes: Vec<Value> =
        prices.iter().map(|price| if price.is_null() { Value::Null } else { value!(56_000_000) }).collect();
    value!({ "chart": { "error": null, "result": [{
        "meta": {
            "symbol": "AAPL", "currency": "USD", "exchangeTimezoneName": "America/New_York",
            "dataGranularity": "1d", "regularMarketTime": second(last_trade),
            "currentTradingPeriod": { "regular": {
                "start": second(&format!("{}T13:30:00Z", &last_trade[..10])),
                "end": second(&format!("{}T20:00:00Z", &last_trade[..10])),
            } },
        },
        "timestamp": times,
        "events": events,
        "indicators": {
            "quote": [{ "open": prices, "high": prices, "low": prices, "close": prices, "volume": volumes }],
            "adjclose": [{ "adjclose": vec![1.0; days.len()] }],
        },
    }] } })
}

fn splits() -> Value {
    value!({
        "splits": {
            "1402320600": { "date": second("2014-06-09T13:30:00Z"), "numerator": 7.0, "denominator": 1.0,
                "splitRatio": "7:1" },
            "1598880600": { "date": second("2020-08-31T13:30:00Z"), "numerator": 4.0, "denominator": 1.0,
                "splitRatio": "4:1" },
        },
        "dividends": { "1351171800": { "amount": 0.094643, "date": second("2012-08-09T13:30:00Z") } },
    })
}

fn bars_of(rows: &[Result<ImportedRow, String>]) -> Vec<&BarRow> {
    rows.iter()
        .filter_map(|row| match row {
            Ok(ImportedRow::Bar(bar)) => Some(bar),
            _ => None,
        })
        .collect()
}

// Goal: prices, volumes and dividends are restored to those of their day, using the splits in the response
// itself, including those after the requested days; the adjusted close is ignored.
#[tokio::test]
async fn prices_are_turned_back_into_those_that_were_traded() {
    let days = [
        ("2012-08-09", value!(22.167142868041992)),
        ("2014-06-06", value!(23.05607032775879)),
        ("2014-06-09", value!(23.424999237060547)),
        ("2020-08-28", value!(124.80750274658203)),
        ("2020-08-31", value!(129.0399932861328)),
    ];
    let stage =
        Stage::new(SourceName::Yahoo, NOW, [json(chart(&days, splits(), "2024-06-13T20:00:01Z"))]).await;
    let report = stage.run(&bars(&["AAPL"], "2012-08-01", "2012-08-31", "1d")).await;
    assert!(report.is_complete(), "{report:?}");
    // Until now, not until the end of the requested days: later splits must be among the events.
    let (from, until) = (second("2012-07-31T00:00:00Z"), second(NOW));
    let asked =
        format!("/v8/finance/chart/AAPL?period1={from}&period2={until}&interval=1d&events=div%2Csplit");
    assert_eq!(stage.asked(), [asked]);
    let rows = rows("yahoo-chart", &report.symbols[0].files[0]);
    let bars = bars_of(&rows);
    let shown: Vec<String> = bars.iter().map(|bar| bar.rest.expect("is over").close.to_string()).collect();
    assert_eq!(shown, ["620.68", "645.57", "93.7", "499.23", "129.04"]);
    let volumes: Vec<String> = bars.iter().map(|bar| bar.rest.expect("is over").volume.to_string()).collect();
    assert_eq!(volumes, ["2000000", "2000000", "14000000", "14000000", "56000000"]);
    assert!(bars.iter().all(|bar| bar.basis == Basis::AsTraded && bar.adjusted_close.is_none()));
    let actions: Vec<String> = rows
        .iter()
        .filter_map(|row| match row {
            Ok(ImportedRow::Action(action)) => Some(match action.kind {
                CorporateActionKind::Split { ratio } => {
                    format!("{} split {}", action.ex_date, ratio.normalize())
                }
                CorporateActionKind::Dividend { amount } => format!("{} dividend {amount}", action.ex_date),
                CorporateActionKind::Delisting { .. } => format!("{} delisting", action.ex_date),
            }),
            _ => None,
        })
        .collect();
    assert_eq!(actions, ["2014-06-09 split 7", "2020-08-31 split 4", "2012-08-09 dividend 2.65"]);
}

// Goal: a stored response that ends before its symbol's last trade cannot know later splits, and does not
// claim that its prices are as traded.
#[test]
fn an_answer_that_ends_early_does_not_claim_to_know_every_split() {
    let days = [("2012-08-09", value!(22.167142868041992))];
    let text = chart(&days, value!({}), "2024-06-13T20:00:01Z").to_string();
    let rows = read("yahoo-chart", &Source::bytes("AAPL.json", text)).expect("is of use");
    assert_eq!(bars_of(&rows)[0].basis, Basis::SplitAdjusted);
}

// Goal: empty days are left out and reported, and a row with a missing value and a second bar of a day are
// rejected with their locations.
#[tokio::test]
async fn nulls_are_left_out() {
    let days = [("2024-06-11", value!(207.1)), ("2024-06-12", Value::Null), ("2024-06-13", value!(214.2))];
    let mut body = chart(&days, value!({}), "2024-06-13T20:00:01Z");
    body["chart"]["result"][0]["indicators"]["quote"][0]["low"][2] = Value::Null;
    let stage = Stage::new(SourceName::Yahoo, NOW, [json(&body)]).await;
    let report = stage.run(&bars(&["AAPL"], "2024-06-01", "2024-06-13", "1d")).await;
    assert!(report.symbols[0].notes[0].starts_with("1 of its rows are empty"), "{report:?}");
    let rows = rows("yahoo-chart", &report.symbols[0].files[0]);
    assert_eq!(bars_of(&rows).len(), 1);
    let refused: Vec<&String> = rows.iter().filter_map(|row| row.as_ref().err()).collect();
    assert_eq!(refused, ["$.chart.result[0].timestamp[2]: `low` is null"]);
}

// Goal: the bar of a day that was not over has only its open and is requested again; one of a completed day is not.
#[tokio::test]
async fn a_day_that_is_not_over_gives_its_open_alone() {
    let days = [("2024-06-13", value!(214.2)), ("2024-06-14", value!(213.8))];
    let answers = [
        json(chart(&days, value!({}), "2024-06-14T14:59:58Z")),
        json(chart(&days, value!({}), "2024-06-14T20:00:01Z")),
    ];
    let stage = Stage::new(SourceName::Yahoo, NOW, answers).await;
    let order = bars(&["AAPL"], "2024-06-13", "2024-06-14", "1d");
    let report = stage.run(&order).await;
    assert!(report.symbols[0].notes[0].contains("only its open"), "{report:?}");
    let path = &report.symbols[0].files[0];
    let is_open_alone = || -> Vec<bool> {
        bars_of(&rows("yahoo-chart", path)).iter().map(|bar| bar.rest.is_none()).collect()
    };
    assert_eq!(is_open_alone(), [false, true]);
    stage.clock.pass(std::time::Duration::from_secs(6 * 3600));
    assert_eq!(stage.run(&order).await.requests, 1);
    assert_eq!(is_open_alone(), [false, false]);
    assert_eq!(stage.run(&order).await.requests, 0);
}

// Goal: its errors are told apart: an unknown symbol, too many requests in plain text, days before a symbol's
// first, and a response in an unknown format.
#[tokio::test]
async fn refusals_are_told_apart() {
    let error = |status: u16, code: &str, said: &str| {
        json(value!({ "chart": { "result": null, "error": { "code": code, "description": said } } }))
            .status(status)
    };
    let answers = [
        error(404, "Not Found", "No data found, symbol may be delisted"),
        plain("Too Many Requests\r\n").status(429).header("retry-after", "30"),
        error(400, "Bad Request", "Data doesn't exist for startDate = 1, endDate = 2"),
        error(422, "Unprocessable Entity", "1m data not available for startTime=1"),
        json(value!({ "chart": { "error": null, "result": [{ "meta": { "symbol": "E" } }] } })),
    ];
    let stage = Stage::new(SourceName::Yahoo, NOW, answers).await;
    let report = stage.run(&bars(&["A", "B", "C", "E"], "2024-06-01", "2024-06-13", "1d")).await;
    let states: Vec<(State, u64)> = report.symbols.iter().map(|one| (one.state, one.rows)).collect();
    let expected = [(State::Unknown, 0), (State::Complete, 0), (State::Rejected, 0), (State::Complete, 0)];
    assert_eq!(states, expected, "{report:?}");
    assert_eq!(stage.clock.pauses(), [30.0]);
    assert!(report.symbols[0].reason.as_ref().expect("says why").contains("symbol may be delisted"));

    let five = std::iter::repeat_with(|| plain("Too Many Requests").status(429)).take(5);
    let stage = Stage::new(SourceName::Yahoo, NOW, five).await;
    let report = stage.run(&bars(&["A", "B"], "2024-06-01", "2024-06-13", "1d")).await;
    assert!(matches!(report.ended, Some(Ended::Busy { .. })), "{report:?}");
    assert_eq!(stage.server.count(), 5);
}

// Goal: prices in pence are prices in pounds.
#[test]
fn pence_become_pounds() {
    let mut body = chart(&[("2024-06-13", value!(712.6))], value!({}), "2024-06-13T20:00:01Z");
    body["chart"]["result"][0]["meta"]["currency"] = value!("GBp");
    let rows = read("yahoo-chart", &Source::bytes("VOD.L.json", body.to_string())).expect("is of use");
    assert!(matches!(&rows[0], Ok(ImportedRow::Instrument(one)) if one.currency.as_deref() == Some("GBP")));
    assert_eq!(bars_of(&rows)[0].open.to_string(), "7.126");
    assert!(matches!(bars_of(&rows)[0].at, BarTime::Day(_)));
}

// Goal: what the source calls an index is one; nothing else is.
#[test]
fn an_index_is_told_by_its_chart() {
    let mut body = chart(&[("2024-06-13", value!(5433.74))], value!({}), "2024-06-13T20:00:01Z");
    let mut type_of = |kind: &str| {
        body["chart"]["result"][0]["meta"]["instrumentType"] = kind.into();
        let rows = read("yahoo-chart", &Source::bytes("x.json", body.to_string())).expect("is of use");
        let Ok(ImportedRow::Instrument(one)) = &rows[0] else { panic!("{rows:?}") };
        one.instrument_type
    };
    assert_eq!((type_of("INDEX"), type_of("EQUITY")), (Some(InstrumentType::Index), None));
}
