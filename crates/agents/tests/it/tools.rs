//! What the reading tools answer.

use crate::stage::{Stage, calls, data, done};
use papertape_agents::tools::market;
use papertape_core::market::Interval;
use papertape_core::record::Implied;
use serde_json::{Value, json};

// Goal: the documented answer of each tool, at the open of the third day.
#[test]
fn tools_answer_in_their_documented_form() {
    let published = data().day(1).close;
    let stage = Stage::new(data().news("AAPL", published, "Apple opens a store"));
    let cases = [
        (
            "get_price",
            json!({ "symbol": "AAPL" }),
            json!({ "symbol": "AAPL", "price": 111, "kind": "open", "date": "2024-01-04" }),
        ),
        // IBM does not trade any more: its last close is the newest price.
        (
            "get_price",
            json!({ "symbol": " IBM " }),
            json!({ "symbol": "IBM", "price": 10, "kind": "close", "date": "2024-01-03" }),
        ),
        (
            "get_bars",
            json!({ "symbol": "AAPL", "limit": "1" }),
            json!({ "symbol": "AAPL", "bars": [{
                "date": "2024-01-03", "open": 106, "high": 112, "low": 104, "close": 110, "volume": 1_000,
            }] }),
        ),
        (
            "get_indicators",
            json!({ "symbol": "AAPL", "indicators": ["sma_2", "sma_3"] }),
            json!({
                "symbol": "AAPL",
                "as_of": "2024-01-03",
                "indicators": { "sma_2": 107.5, "sma_3": null },
            }),
        ),
        (
            "get_news",
            json!({ "symbol": "AAPL" }),
            json!({ "items": [{
                "published_at": published,
                "source": "wire",
                "title": "Apple opens a store",
                "text": null,
                "symbols": ["AAPL"],
            }] }),
        ),
        ("get_news", json!({ "symbol": "IBM" }), json!({ "items": [] })),
        (
            "get_portfolio",
            json!({}),
            json!({
                "date": "2024-01-04", "cash": 10_000, "equity": 10_000, "positions": [], "pending_orders": [],
            }),
        ),
        (
            "calculate",
            json!({ "expression": "(1024.5 - 3.2) / 187.3" }),
            json!({ "result": 5.452_749_599_6 }),
        ),
    ];
    for (tool, arguments, wanted) in cases {
        assert_eq!(stage.told(2, tool, arguments), wanted, "{tool}");
    }
    let bars = stage.told(2, "get_bars", json!({ "symbol": "AAPL" }));
    assert_eq!(bars["bars"].as_array().map(Vec::len), Some(2), "today's bar is not known at the open");
    let usual = stage.told(2, "get_indicators", json!({ "symbol": "AAPL" }));
    assert_eq!(usual["indicators"].as_object().map(|all| all.values().all(Value::is_null)), Some(true));
}

// Goal: what is not there is told as such, and nothing wrong is passed over in silence.
#[test]
fn what_is_missing_or_wrong_is_told() {
    let stage = Stage::new(data());
    let cases = [
        (2, "get_news", json!({}), "DATA_UNAVAILABLE: no data in news"),
        (0, "get_bars", json!({ "symbol": "AAPL" }), "DATA_UNAVAILABLE: no data in AAPL/bars"),
        (0, "get_indicators", json!({ "symbol": "AAPL" }), "DATA_UNAVAILABLE"),
        (2, "get_price", json!({ "symbol": "TSLA" }), "no symbol `TSLA` is known"),
        (2, "get_price", json!({}), "`symbol` is missing"),
        (2, "get_price", json!({ "symbol": 3 }), "`symbol` must be a text, not 3"),
        (2, "get_bars", json!({ "symbol": "AAPL", "limit": 0 }), "`limit` must be a whole number from 1 to"),
        (2, "get_bars", json!({ "symbol": "AAPL", "limit": 1.5 }), "`limit` must be a whole number"),
        (2, "get_bars", json!({ "symbol": "AAPL", "limit": "many" }), "`limit` must be a finite number"),
        (2, "get_indicators", json!({ "symbol": "AAPL", "indicators": ["magic"] }), "magic"),
        (2, "get_indicators", json!({ "symbol": "AAPL", "indicators": [1] }), "must be a list of texts"),
        (2, "calculate", json!({ "expression": "1 / 0" }), "division by zero"),
        (2, "calculate", json!({}), "`expression` is missing"),
        (2, "get_price", json!("{\"symbol\": \"AAP"), "the arguments are not a JSON object: {\"symbol\""),
        (2, "get_price", json!([1]), "the arguments are not a JSON object"),
        (2, "get_weather", json!({}), "there is no tool `get_weather`; there are: get_portfolio, buy"),
    ];
    for (day, tool, arguments, wanted) in cases {
        let told = stage.told(day, tool, arguments);
        let error = told["error"].as_str().unwrap_or_else(|| panic!("{tool}: {told}"));
        assert!(error.contains(wanted), "{tool}: {error}");
    }
}

// Goal: each call of a turn is answered, in order, under its id, and kept with its input.
#[test]
fn every_call_of_a_turn_is_answered() {
    let stage = Stage::new(data());
    let turn = calls(&[
        ("get_price", json!({ "symbol": "AAPL" })),
        ("nonsense", json!({})),
        ("calculate", json!("{broken")),
        ("get_price", json!({ "symbol": "AAPL" })),
    ]);
    let day = stage.day(2, stage.start(), vec![turn, done()]);
    assert_eq!(day.told().len(), 4);
    let messages = &day.request(2)["messages"];
    for at in 0..4 {
        let answer = &messages[at + 2];
        assert_eq!(answer["call_id"], format!("call_{at}"));
        assert_eq!(answer["content"], day.told()[at]);
    }
    let inputs = day.rows(|row| match row {
        Implied::Message(message) => message.tool_input.clone(),
        _ => None,
    });
    assert_eq!(inputs[2], json!("{broken"));
}

// Goal: what of the market was shown is on record, the opens of the day's question first.
#[test]
fn what_was_read_is_on_record() {
    let stage = Stage::new(data());
    let turn = calls(&[("get_bars", json!({ "symbol": "AAPL", "limit": 1 })), ("calculate", json!({}))]);
    let day = stage.day(2, stage.start(), vec![turn, done()]);
    let reads = day.rows(|row| match row {
        Implied::Exposure(read) => Some((read.series.clone(), read.rows, read.latest_known_at)),
        _ => None,
    });
    let third = stage.data.days()[2];
    let second = stage.data.days()[1];
    assert_eq!(
        reads,
        [("AAPL/open".to_owned(), 1, Some(third.open)), ("AAPL/bars".to_owned(), 1, Some(second.close))]
    );
    let dataset = stage.data.hash();
    assert!(
        day.rows(|row| match row {
            Implied::Exposure(read) => Some(read.dataset == dataset),
            _ => None,
        })
        .into_iter()
        .all(|is_ours| is_ours)
    );
}

// Goal: a local step is another one over other data, or at another instant.
#[test]
fn a_local_step_names_its_data_and_instant() {
    let read = |stage: &Stage, n: usize| {
        let day = stage.day(n, stage.start(), vec![calls(&[("calculate", json!({ "expression": "1" }))])]);
        day.kept.step("solo#1/read#1").expect("kept").digest
    };
    let stage = Stage::new(data());
    assert_eq!(read(&stage, 2), read(&stage, 2));
    assert_ne!(read(&stage, 2), read(&stage, 1));
    assert_ne!(read(&stage, 2), read(&Stage::new(data().dividend("AAPL", 1, "1")), 2));
}

// Goal: bars within the day are offered where there are any, given as they were known, and nothing changes
// for a dataset of days.
#[test]
fn bars_within_the_day_are_offered_where_they_are() {
    let hours = [["106", "108", "104", "107"], ["107", "112", "107", "110"]];
    let stage = Stage::new(data().hours("AAPL", 1, &hours).hours("AAPL", 2, &hours));
    assert_eq!(
        stage.told(2, "get_bars", json!({ "symbol": "AAPL", "interval": "1h", "limit": 1 })),
        json!({ "symbol": "AAPL", "interval": "1h", "bars": [{
            "opens_at": "2024-01-03T15:30:00Z", "open": 107, "high": 112, "low": 107, "close": 110, "volume": 100,
        }] }),
        "today's are not known at the open"
    );
    let daily = stage.told(2, "get_bars", json!({ "symbol": "AAPL", "interval": "1d", "limit": 1 }));
    assert_eq!(daily["bars"][0]["date"], "2024-01-03");
    let none = stage.told(2, "get_bars", json!({ "symbol": "AAPL", "interval": "5m" }));
    assert!(none["error"].as_str().is_some_and(|error| error.starts_with("DATA_UNAVAILABLE")), "{none}");
    let wrong = stage.told(2, "get_bars", json!({ "symbol": "AAPL", "interval": "7m" }));
    assert!(wrong["error"].as_str().is_some_and(|error| error.contains("no interval")), "{wrong}");
    let bars = |intervals: &[Interval]| {
        let tools = market::tools(intervals);
        tools.into_iter().find(|tool| tool.name == "get_bars").expect("is there").parameters
    };
    assert_eq!(bars(&[])["properties"].as_object().map(serde_json::Map::len), Some(2));
    let hour = "1h".parse().expect("an interval");
    assert_eq!(bars(&[hour])["properties"]["interval"]["enum"], json!(["1d", "1h"]));
}
