//! The results of the reading tools.

use crate::stage::{Stage, calls, data, done};
use papertape_agents::tools::{market, portfolio};
use papertape_core::broker::{Books, MarketProfile, Order, Quote, Side, approve, submit};
use papertape_core::market::Interval;
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::record::DerivedRow;
use papertape_testkit::data::SmallData;
use serde_json::{Value, json};

// Goal: the documented result of each tool, at the open of the third day.
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
        // IBM no longer trades: its last close is the latest price.
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

// Goal: missing data is reported as missing, and no error is silently ignored.
#[test]
fn what_is_missing_or_wrong_is_told() {
    let stage = Stage::new(data());
    let cases = [
        (2, "get_news", json!({}), "DATA_UNAVAILABLE: no data in news"),
        (0, "get_bars", json!({ "symbol": "AAPL" }), "DATA_UNAVAILABLE: no data in AAPL/bars"),
        (0, "get_indicators", json!({ "symbol": "AAPL" }), "DATA_UNAVAILABLE"),
        (2, "get_price", json!({ "symbol": "TSLA" }), "unknown symbol `TSLA`"),
        (2, "get_price", json!({}), "`symbol` is missing"),
        (2, "get_price", json!({ "symbol": 3 }), "`symbol` must be a string, not 3"),
        (2, "get_bars", json!({ "symbol": "AAPL", "limit": 0 }), "`limit` must be a whole number from 1 to"),
        (2, "get_bars", json!({ "symbol": "AAPL", "limit": 1.5 }), "`limit` must be a whole number"),
        (2, "get_bars", json!({ "symbol": "AAPL", "limit": "many" }), "`limit` must be a finite number"),
        (2, "get_indicators", json!({ "symbol": "AAPL", "indicators": ["magic"] }), "magic"),
        (2, "get_indicators", json!({ "symbol": "AAPL", "indicators": [1] }), "must be a list of strings"),
        (
            2,
            "get_bars",
            json!({ "symbol": "AAPL", "start": "2012-09-01", "end": "2012-09-30" }),
            "`get_bars` has no argument `end`, `start`; allowed: symbol, limit",
        ),
        (
            2,
            "get_price",
            json!({ "symbol": "AAPL", "date": "2024-01-02" }),
            "`get_price` has no argument `date`",
        ),
        (
            2,
            "get_portfolio",
            json!({ "symbol": "AAPL" }),
            "`get_portfolio` has no argument `symbol`; allowed: none",
        ),
        (
            2,
            "buy",
            json!({ "symbol": "AAPL", "quantity": 1, "when": "close" }),
            "`buy` has no argument `when`",
        ),
        (
            2,
            "calculate",
            json!({ "expression": "1 + 1", "digits": 2 }),
            "`calculate` has no argument `digits`",
        ),
        (2, "calculate", json!({ "expression": "1 / 0" }), "division by zero"),
        (2, "calculate", json!({}), "`expression` is missing"),
        (2, "get_price", json!("{\"symbol\": \"AAP"), "the arguments are not a JSON object: {\"symbol\""),
        (2, "get_price", json!([1]), "the arguments are not a JSON object"),
        (2, "get_weather", json!({}), "unknown tool `get_weather`; expected one of get_portfolio, buy"),
    ];
    for (day, tool, arguments, wanted) in cases {
        let told = stage.told(day, tool, arguments);
        let error = told["error"].as_str().unwrap_or_else(|| panic!("{tool}: {told}"));
        assert!(error.contains(wanted), "{tool}: {error}");
    }
}

// Goal: each call of a turn gets a result, in order, under its ID, recorded with its input.
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
        assert_eq!(answer["content"], day.told_fenced()[at]);
    }
    let inputs = day.rows(|row| match row {
        DerivedRow::Message(message) => message.tool_input.clone(),
        _ => None,
    });
    assert_eq!(inputs[2], json!("{broken"));
}

// Goal: the market data shown is recorded, the opens of the day's question first.
#[test]
fn what_was_read_is_on_record() {
    let stage = Stage::new(data());
    let turn = calls(&[("get_bars", json!({ "symbol": "AAPL", "limit": 1 })), ("calculate", json!({}))]);
    let day = stage.day(2, stage.start(), vec![turn, done()]);
    let reads = day.rows(|row| match row {
        DerivedRow::Exposure(read) => Some((read.series.clone(), read.rows, read.latest_known_at)),
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
            DerivedRow::Exposure(read) => Some(read.dataset == dataset),
            _ => None,
        })
        .into_iter()
        .all(|is_ours| is_ours)
    );
}

// Goal: a local step over other data, or at another instant, is a different step.
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

// Goal: a price far below 1 is shown with its digits, by bars and by indicators, and not as zero.
#[test]
fn small_prices_keep_their_digits() {
    let bar = ["0.00001234567", "0.0000129", "0.0000119", "0.00001234567"];
    let data = SmallData::new("2024-01-02", 25).symbol("SHIB", &[bar; 25]);
    let open = data.day(24).open;
    let dataset = data.build();
    let view = dataset.view(open);
    let told = |tool: &str| {
        let reading = market::run(&view, tool, &json!({ "symbol": "SHIB", "indicators": ["sma_20"] }));
        reading.expect("a tool").value
    };
    let bars = told("get_bars");
    assert_eq!(bars["bars"][0]["close"].to_string(), json!(0.0000123457).to_string());
    let sma = told("get_indicators")["indicators"]["sma_20"].as_f64().expect("a figure");
    assert!((sma / 0.000_012_345_67 - 1.0).abs() < 1e-5, "{sma}");
}

// Goal: a position shows the figures that the market's rules depend on: what T+1 allows to sell; in markets
// that lend, the available amount, the margin and the liquidation price; under US rules neither.
#[test]
fn a_portfolio_shows_what_the_rules_turn_on() {
    let data = SmallData::new("2024-01-02", 3).symbol("X", &[["100", "101", "99", "100"]; 3]);
    let day = data.day(1);
    let dataset = data.build();
    let view = dataset.view(day.open);
    let shown = |profile: MarketProfile, leverage: Option<i64>| {
        let mut books = Books::new("ada", profile, Money::from(10_000));
        let id = books.next_order_id();
        let order = Order {
            id,
            symbol: "X".into(),
            side: Side::Buy,
            quantity: Quantity::from(100),
            stop: leverage.map(|_| Price::from(89)),
            target: None,
            leverage: leverage.map(Into::into),
            reason: None,
        };
        let quote = Quote::at("X".into(), day.date, Price::from(90));
        let approved = approve(books.account(), books.profile(), &quote, order);
        submit(&mut books, approved.expect("approved")).expect("fills");
        portfolio::read(&books, &view, day.date).value
    };
    let us = shown(MarketProfile::us_equity().frictionless(), None);
    let keys = |value: &Value| value.as_object().expect("an object").len();
    assert_eq!((keys(&us), keys(&us["positions"][0])), (5, 9), "as ever: {us}");
    let cn = shown(MarketProfile::cn_a_share().frictionless(), None);
    assert_eq!(cn["positions"][0]["sellable"], 0, "bought today");
    let mut costly = MarketProfile::crypto().frictionless();
    costly.fees.bps = 10.into();
    costly.slippage_bps = 2.into();
    let crypto = shown(costly, Some(5));
    // 90.018 with slippage, a fifth of it margin, a fee of 10 basis points: 10,000 - 1,800.36 - 9.0018.
    assert_eq!(crypto["available"], 8190.6382);
    assert_eq!(crypto["positions"][0]["margin"], 1800.36);
    assert_eq!(crypto["positions"][0]["liquidation_price"], 72.0144);
}

// Goal: intraday bars are offered when there are any, as they were known, and nothing changes for a dataset
// with daily bars only.
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
    assert!(wrong["error"].as_str().is_some_and(|error| error.contains("unknown interval")), "{wrong}");
    let bars = |intervals: &[Interval]| {
        let tools = market::tools(intervals);
        tools.into_iter().find(|tool| tool.name == "get_bars").expect("is there").parameters
    };
    assert_eq!(bars(&[])["properties"].as_object().map(serde_json::Map::len), Some(2));
    let hour = "1h".parse().expect("an interval");
    assert_eq!(bars(&[hour])["properties"]["interval"]["enum"], json!(["1d", "1h"]));
}
