//! Before a symbol's first bar, no tool reveals anything about it.

use crate::stage::{Stage, call, done};
use papertape_core::id::Symbol;
use papertape_testkit::data::SmallData;
use serde_json::{Value, json};
use std::time::Duration;

const BARS: [[&str; 4]; 3] = [["10", "11", "9", "10"]; 3];

/// AAPL on three days, and NEWCO from the third on, with earlier news.
fn stage() -> Stage {
    let data = SmallData::new("2024-01-02", 3).symbol("AAPL", &BARS).symbol_from("NEWCO", 2, &BARS);
    let before = data.day(0).open - Duration::from_secs(60);
    let data = data.news("NEWCO", before, "a company goes public").news("AAPL", before, "a phone");
    let mut stage = Stage::new(data);
    stage.symbols = ["AAPL", "NEWCO"].map(Symbol::new).into();
    stage
}

/// Goal: every tool treats a symbol that is not listed yet exactly like one that never existed: prices, bars,
/// indicators, news, orders.
#[test]
fn a_symbol_of_the_future_is_as_unknown_as_none() {
    let stage = stage();
    let orders = ["buy", "sell"].map(|tool| (tool, json!({ "quantity": 1 })));
    let reads = ["get_price", "get_bars", "get_indicators", "get_news"].map(|tool| (tool, json!({})));
    for (tool, arguments) in reads.into_iter().chain(orders) {
        let told = |symbol: &str, n: usize| {
            let mut arguments = arguments.clone();
            arguments["symbol"] = json!(symbol);
            let answer = stage.told(n, tool, arguments).to_string();
            assert!(answer.contains(symbol) || answer.contains("items"), "{tool}: {answer}");
            answer.replace(symbol, "?")
        };
        assert_eq!(told("NEWCO", 1), told("NOTHING", 1), "{tool}");
        assert_ne!(told("NEWCO", 2), told("NOTHING", 2), "{tool}: it is listed now");
    }
}

/// Goal: published news is shown, but tags include a symbol only once it is listed; the same for prompts.
#[test]
fn tags_and_prompts_name_what_is_listed() {
    let stage = stage();
    for n in 0..3 {
        let news = stage.told(n, "get_news", json!({}));
        let of = |title: &str| {
            let items = news["items"].as_array().expect("a list");
            items.iter().find(|item| item["title"] == title).expect("it was out")["symbols"].clone()
        };
        let tags: Value = if n < 2 { json!([]) } else { json!(["NEWCO"]) };
        assert_eq!((of("a company goes public"), of("a phone")), (tags, json!(["AAPL"])), "day {n}");
        let day = stage.day(n, stage.start(), vec![done()]);
        assert_eq!(day.request(1).to_string().contains("NEWCO"), n >= 2, "day {n}");
        assert_eq!(day.question().contains("NEWCO"), n >= 2, "day {n}");
    }
}

/// Goal: a day before anything is listed runs normally, in both languages.
#[test]
fn a_day_before_anything_is_listed() {
    let mut stage = stage();
    stage.symbols = ["NEWCO"].map(Symbol::new).into();
    for (language, none) in [("en", "Symbols: (none)"), ("zh", "标的：（无）")] {
        stage.agent.language = serde_json::from_value(json!(language)).expect("a language");
        let day = stage.day(0, stage.start(), vec![call("get_portfolio", json!({})), done()]);
        assert!(day.question().contains(none), "{}", day.question());
        assert_eq!(day.conversation()["end"], "finish_signal");
        assert!(stage.day(2, stage.start(), vec![done()]).question().contains("NEWCO"));
    }
}
