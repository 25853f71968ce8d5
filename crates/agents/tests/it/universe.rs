//! A universe, pending orders and prompts.

use crate::desk_stage;
use crate::stage::{AAPL, Stage, buy, call, done};
use papertape_agents::config::AgentKind;
use papertape_core::broker::FillModel;
use papertape_core::language::Language;
use papertape_core::record::DerivedRow;
use papertape_testkit::clock::FakeClock;
use papertape_testkit::data::SmallData;
use papertape_testkit::host::MemoryHost;
use papertape_testkit::kept::StoredSnapshot;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// AAPL leaves on the third day, IBM joins then.
fn data() -> SmallData {
    SmallData::new("2024-01-02", 5)
        .symbol("AAPL", &AAPL)
        .symbol("IBM", &[["10", "11", "9", "10"]; 5])
        .member("IDX", "AAPL", 0, Some(2))
        .member("IDX", "IBM", 2, None)
}

fn stage() -> Stage {
    let mut stage = Stage::new(data());
    stage.universe = Some("IDX".to_owned());
    stage
}

/// Goal: an order that waits for the next open is checked there again: a purchase of what has left is rejected and the
/// trader told so, a sale fills.
#[test]
fn an_order_that_waits_is_checked_where_it_fills() {
    let mut stage = stage();
    stage.profile.fill_model = FillModel::NextOpen;
    let held = stage.day(0, stage.start(), vec![buy("AAPL", 5), done()]).result.state;
    let sell = call("sell", json!({ "symbol": "AAPL", "quantity": 2 }));
    let waiting = stage.day(1, held, vec![buy("AAPL", 3), sell, done()]);
    assert_eq!(waiting.orders()[0].status, "filled", "of the day before");
    let day = stage.day(2, waiting.result.state, vec![done()]);
    let rows = day.orders();
    let of = |side: &str| rows.iter().find(|row| row.side == side).expect("an order");
    assert_eq!((&*of("buy").status, of("buy").code.as_deref()), ("rejected", Some("not_in_universe")));
    assert_eq!(of("sell").status, "filled");
    let question = day.question();
    assert!(question.contains("AAPL is not in the universe of this run on 2024-01-04"), "{question}");
    assert!(question.contains("Symbols: AAPL, IBM\n"), "{question}");

    // One that was placed for the close fills on the day itself, as a member.
    stage.profile.fill_model = FillModel::Close;
    let day = stage.day(1, stage.start(), vec![buy("AAPL", 3), done()]);
    assert_eq!(day.orders().iter().map(|row| &*row.status).collect::<Vec<_>>(), ["pending", "filled"]);
}

/// Goal: the prompts of a solo trader and a desk state the rule and what can only be closed, in their language, and the
/// read of the index is recorded; without a universe, the prompts state nothing.
#[test]
fn the_rule_is_told_in_both_languages() {
    for (language, rule, closing) in [
        (Language::En, "The universe is IDX: only today's members", "Closing only: AAPL (not in IDX today)"),
        (Language::Zh, "交易范围为 IDX 的成分股", "只可减仓或平仓：AAPL（今日不在 IDX 中）"),
    ] {
        let mut stage = stage();
        stage.agent.language = language;
        let held = stage.day(1, stage.start(), vec![buy("AAPL", 5), done()]).result.state;
        let day = stage.day(2, held.clone(), vec![done()]);
        let request = day.request(1).to_string();
        assert!(request.contains(rule), "{request}");
        assert!(day.question().contains(closing), "{}", day.question());
        let read = day.rows(|row| match row {
            DerivedRow::Exposure(read) if read.series == "index/IDX" => Some(read.rows),
            _ => None,
        });
        assert_eq!(read, [3], "two joined, and one has left");

        let mut desk = desk_stage::desk();
        desk.data = data().build();
        desk.universe = Some("IDX".to_owned());
        desk.agent.language = language;
        assert_eq!(desk.agent.kind, AgentKind::Desk);
        let told: Mutex<Vec<String>> = Mutex::default();
        let told = Arc::new(told);
        let noted = Arc::clone(&told);
        let kept: Arc<Mutex<StoredSnapshot>> = Arc::default();
        let clock = FakeClock::new();
        let host = MemoryHost::new(&clock, &kept, move |path, request| {
            if ["Trader#1", "Portfolio Manager#1"].contains(&path.node()) {
                noted.lock().expect("a lock").push(request.messages[0].content().to_owned());
            }
            desk_stage::usual(path, request)
        });
        desk.run(2, held, &clock, &kept, host).expect("the day ends");
        let told = told.lock().expect("a lock").clone();
        assert_eq!(told.len(), 4, "Trader and Portfolio Manager of two symbols");
        assert!(told.iter().all(|text| text.contains(rule) && text.contains(closing)), "{told:?}");

        let mut plain = Stage::new(data());
        plain.agent.language = language;
        let day = plain.day(2, plain.start(), vec![done()]);
        assert!(!day.request(1).to_string().contains("IDX"));
        assert!(!day.question().contains("IDX"), "{}", day.question());
    }
}
