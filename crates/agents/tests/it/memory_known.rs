//! When a memory becomes known: at the close of the session that wrote it, whenever its position was opened.

use crate::stage::{Day, Stage, buy, call, done};
use papertape_agents::config::MemorySettings;
use papertape_core::broker::FillModel;
use papertape_core::message::{ModelReply, ModelRequest};
use papertape_core::record::{ContextState, DerivedRow};
use papertape_core::time::Timestamp;
use papertape_testkit::data::SmallData;
use papertape_testkit::host::Act;
use serde_json::json;

const ROUND: &str = "[Conclusion] cheap\n[Position] as booked\n[Risk] none\n[Next] the same";

fn stage() -> Stage {
    let bars = vec![["100", "104", "95", "101"]; 5];
    let mut stage = Stage::new(SmallData::new("2024-01-02", 5).symbol("AAPL", &bars));
    stage.memory = MemorySettings::default();
    stage
}

fn model(
    talk: Vec<Act<ModelReply>>,
) -> impl Fn(usize, &ModelRequest) -> Act<ModelReply> + Send + Sync + 'static {
    move |n, request| {
        if request.messages[0].content().starts_with("Write the trader's round memory") {
            return Act::text(ROUND);
        }
        talk.get(n - 1).cloned().unwrap_or_else(done)
    }
}

/// The memories shown to a day's trader: kind, ID, and when each became known.
fn given(day: &Day) -> Vec<(&'static str, String, Timestamp)> {
    day.rows(|row| match row {
        DerivedRow::Given(row) => Some((row.kind.as_str(), row.memory_id.clone(), row.known_at)),
        _ => None,
    })
}

fn contexts(day: &Day) -> Vec<(ContextState, Timestamp, Timestamp)> {
    day.rows(|row| match row {
        DerivedRow::Context(row) => Some((row.state, row.opened_at, row.known_at)),
        _ => None,
    })
}

/// Goal: rounds, theses and reflections become known at the close of their session; the memories in a prompt
/// are recorded with that instant; it is never the instant when the position was opened.
#[test]
fn a_memory_is_known_since_the_close_of_its_session() {
    let stage = stage();
    let days = stage.data.days().to_vec();
    let first = stage.day_with(0, stage.start(), model(vec![buy("AAPL", 10)]));
    assert_eq!(contexts(&first), [(ContextState::Open, days[0].open, days[0].close)]);

    let second = stage.day_with(1, first.result.state, model(Vec::new()));
    let thesis = ("open_position_context", "gpt-1".to_owned(), days[0].close);
    assert_eq!(given(&second), [thesis.clone(), ("trader_round", "1".to_owned(), days[0].close)]);

    let sell = call("sell", json!({ "symbol": "AAPL", "quantity": 10 }));
    let third = stage.day_with(2, second.result.state, model(vec![sell]));
    let rounds = [1, 2].map(|n| ("trader_round", n.to_string(), days[n - 1].close));
    assert_eq!(given(&third), [&[thesis][..], &rounds].concat());
    let fourth = stage.day_with(3, third.result.state, model(Vec::new()));
    let rounds = [2, 3].map(|n| ("trader_round", n.to_string(), days[n - 1].close));
    assert_eq!(given(&fourth), [&rounds[..], &[("trade", "1".to_owned(), days[2].close)]].concat());
}

/// Goal: an order waiting for the next open opens its position after its thesis was written: the thesis is
/// known from the time it was written.
#[test]
fn a_thesis_is_older_than_the_position_of_a_waiting_order() {
    let mut stage = stage();
    stage.profile.fill_model = FillModel::NextOpen;
    let days = stage.data.days().to_vec();
    let first = stage.day_with(0, stage.start(), model(vec![buy("AAPL", 10)]));
    assert_eq!(contexts(&first), []);
    let second = stage.day_with(1, first.result.state, model(Vec::new()));
    assert_eq!(contexts(&second), [(ContextState::Open, days[1].open, days[0].close)]);
    assert_eq!(given(&second)[0], ("open_position_context", "gpt-1".to_owned(), days[0].close));
}
