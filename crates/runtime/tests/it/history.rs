//! What a day writes does not depend on how much came before it.

use crate::stage::{Stage, usual};
use papertape_agents::config::MemorySettings;
use papertape_agents::day::StartState;
use papertape_agents::memory::Origin;
use papertape_agents::memory::lessons::{Archive, Lesson};
use papertape_core::id::Symbol;
use papertape_core::json::to_value;
use papertape_core::ledger::Direction;
use papertape_core::money::Money;
use papertape_core::record::{Assessment, JobStatus};
use papertape_core::time::{Timestamp, from_micros};
use rust_decimal::Decimal;
use serde_json::json;

fn lesson(trade_id: u64, at: Timestamp) -> Lesson {
    Lesson {
        trade_id,
        origin: Origin::default(),
        symbol: Symbol::new("AAPL"),
        side: Direction::Long,
        entry_time: at,
        exit_time: at,
        cause: "sell".to_owned(),
        pnl: Money(Decimal::ONE),
        return_pct: None,
        summary: format!("sold number {trade_id} too early"),
        error_tags: Vec::new(),
        value_assessment: Assessment::Medium,
        next_rules: Vec::new(),
        is_template: false,
        known_at: at,
        meaning: None,
    }
}

/// The number and the bytes of the texts of each day of a job whose trader starts with this many lessons.
fn texts_of_days(lessons: u64) -> Vec<(usize, usize)> {
    let stage = Stage::new();
    let at = from_micros(1_600_000_000_000_000).expect("is in range");
    let mut archive = Archive::default();
    (0..lessons).for_each(|id| archive.push(lesson(id, at)));
    let (mut config, mut texts) = stage.config();
    config.memory = MemorySettings::default();
    let agent = &stage.agents[0];
    let mut start = to_value(&StartState::new(agent, config.market.clone(), config.initial_cash, 7));
    start["memory"] = json!({ "archive": archive });
    let start: StartState = serde_json::from_value(start).expect("a state");
    let doc = start.to_doc();
    config.starts.insert(agent.name.clone(), doc.hash);
    texts.extend(doc.texts);
    let job = stage.enqueue("job", "simulate", to_value(&config), texts);
    let models = stage.models(|_, request| usual(request));
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    let sessions = stage.record.sessions(&job);
    let texts = sessions.iter().map(|session| session.kept.texts.values());
    texts.map(|texts| (texts.len(), texts.map(String::len).sum())).collect()
}

// Goal: after the first day of a run, a day writes its own texts, with sixty lessons as with three thousand; only the
// state's document has a line for each block of lessons.
#[test]
fn a_day_writes_the_same_after_many_lessons() {
    let (few, many) = (texts_of_days(60), texts_of_days(3_000));
    assert!(many[0].0 > few[0].0 + 80, "the first day has the blocks: {few:?} {many:?}");
    for ((texts, bytes), (more_texts, more_bytes)) in few.iter().zip(&many).skip(1) {
        assert_eq!(texts, more_texts);
        let references = (3_000 - 60) / 32 * 100;
        assert!(more_bytes - bytes < references, "{few:?} {many:?}");
    }
}
