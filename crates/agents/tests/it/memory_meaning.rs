//! Lessons chosen by embeddings, with a scripted sentence model.

use crate::memory_pure::{day, lesson};
use crate::stage::{Day, Stage, call, done};
use papertape_agents::config::MemorySettings;
use papertape_agents::day::StartState;
use papertape_agents::memory::EMBEDDINGS;
use papertape_agents::memory::lessons::{Archive, Embedding, Query, rank_by_keyword, rank_hybrid};
use papertape_core::id::Symbol;
use papertape_core::message::{FailureKind, ModelName, ModelReply, ModelRequest};
use papertape_core::ports::{ExternalCall, ExternalReply};
use papertape_core::tape::{StepPath, StepState};
use papertape_embed::vector;
use papertape_testkit::clock::FakeClock;
use papertape_testkit::data::SmallData;
use papertape_testkit::host::{Act, MemoryHost};
use papertape_testkit::kept::StoredSnapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const THESIS: &str = "[Conclusion] cheap\n[Position] opened\n[Risk] stop 90\n[Next] does it hold";
const REFLECTED: &str = r#"{"summary": "Bought too early.", "execution_deviation": "as planned",
 "hypothesis_check": [], "error_tags": ["entry_timing"], "value_assessment": "low", "next_rules": ["wait"]}"#;

fn name(model: &str) -> ModelName {
    model.parse().expect("a model's name")
}

proptest! {
    /// Goal: hybrid ranking too never returns a reflection before its exit is known, never more than K, and
    /// none twice; a lesson without a vector, or with another model's, can still be found.
    #[test]
    fn no_lesson_is_told_before_its_exit_is_known(
        known in prop::collection::vec((0_i64..1000, 0_usize..3, prop::option::of((-1.0_f32..1.0, -1.0_f32..1.0)), any::<bool>()), 0..80),
        instant in 0_i64..1000,
        most in 0_usize..90,
        asked in (-1.0_f32..1.0, -1.0_f32..1.0),
        words in "[a-z ]{0,40}",
    ) {
        let (ours, other) = (name("lab::small"), name("lab::large"));
        let mut archive = Archive::default();
        let symbols = ["AAPL", "IBM", "MSFT"].map(Symbol::new);
        for (at, (day, symbol, numbers, is_ours)) in known.iter().enumerate() {
            let meaning = numbers.map(|(x, y)| Embedding {
                model: if *is_ours { ours.clone() } else { other.clone() },
                vector: vector::to_base64(&[x, y]),
            });
            let plain = lesson(at as u64, &symbols[*symbol], *day, 0);
            archive.push(papertape_agents::memory::lessons::Lesson { meaning, ..plain });
        }
        let query = Query { focus: BTreeSet::from([&symbols[0]]), symbols: symbols.iter().collect(), words };
        let told = rank_hybrid(&archive, &query, (&ours, &[asked.0, asked.1]), day(instant), most);
        prop_assert!(told.iter().all(|lesson| lesson.known_at <= day(instant)));
        let ids: BTreeSet<u64> = told.iter().map(|lesson| lesson.trade_id).collect();
        prop_assert_eq!(ids.len(), told.len());
        let open = known.iter().filter(|(day, ..)| *day <= instant).count();
        prop_assert_eq!(told.len(), most.min(open));
    }
}

/// Goal: a similar lesson ranks before one that is only newer; for a query of a different dimension, only
/// keywords count.
#[test]
fn what_is_near_comes_first() {
    let (aapl, model) = (Symbol::new("AAPL"), name("lab::small"));
    let mut archive = Archive::default();
    for (id, numbers) in [(1, [0.0, 1.0]), (2, [1.0, 0.0]), (3, [0.0, -1.0])] {
        let meaning = Some(Embedding { model: model.clone(), vector: vector::to_base64(&numbers) });
        archive.push(papertape_agents::memory::lessons::Lesson {
            meaning,
            ..lesson(id, &aapl, i64::try_from(id).expect("is small"), 0)
        });
    }
    let query = Query { focus: [&aapl].into(), symbols: [&aapl].into(), words: String::new() };
    let ids = |told: Vec<&papertape_agents::memory::lessons::Lesson>| -> Vec<u64> {
        told.into_iter().map(|lesson| lesson.trade_id).collect()
    };
    // By keywords: 3, 2, 1. By embedding: 2, then 1 and 3. Fused, 2 has 1/62 + 1/61, 3 has 1/61 + 1/62 or
    // less.
    let near = ids(rank_hybrid(&archive, &query, (&model, &[1.0, 0.1]), day(9), 3));
    assert_eq!(near, [2, 3, 1]);
    let strange = ids(rank_hybrid(&archive, &query, (&model, &[1.0]), day(9), 3));
    assert_eq!(strange, ids(rank_by_keyword(&archive, &query, day(9), 3)));
}

fn stage() -> Stage {
    let mut stage =
        Stage::new(SmallData::new("2024-01-02", 4).symbol("AAPL", &[["100", "104", "95", "101"]; 4]));
    stage.memory = MemorySettings::default();
    stage.embedding = Some(name("lab::small"));
    stage
}

/// A trader that buys on the first day and sells on the second.
fn trader(n: usize) -> impl Fn(&StepPath, &ModelRequest) -> Act<ModelReply> + Send + Sync + 'static {
    move |path, request| {
        let first = request.messages[0].content();
        if first.starts_with("Write the trader's round memory") {
            return Act::text(THESIS);
        }
        if first.starts_with("Reflect on") {
            return Act::text(REFLECTED);
        }
        match (n, path.as_str().ends_with("#1")) {
            (0, true) => call("buy", json!({ "symbol": "AAPL", "quantity": 10, "stop": 90 })),
            (1, true) => call("sell", json!({ "symbol": "AAPL", "quantity": 10 })),
            _ => done(),
        }
    }
}

/// Vectors of 384 arbitrary numbers, derived from the text's length.
fn sentences(_: &StepPath, call: &ExternalCall) -> Act<ExternalReply> {
    assert_eq!((call.server.as_str(), call.tool.as_str()), (EMBEDDINGS, "lab::small"));
    let texts: Vec<String> = serde_json::from_value(call.arguments["texts"].clone()).expect("texts");
    let made = texts.iter().map(|text| {
        let mut numbers: Vec<f32> = (0..384).map(|i| (text.len() as f32 * 0.37 + i as f32).sin()).collect();
        assert!(vector::normalize(&mut numbers));
        numbers
    });
    let text = vector::to_json(&made.collect::<Vec<_>>());
    Act::Answer(ExternalReply { text, is_error: false })
}

fn fails(_: &StepPath, _: &ExternalCall) -> Act<ExternalReply> {
    Act::Fail(FailureKind::Unavailable, "no connection".to_owned())
}

type Sentences = fn(&StepPath, &ExternalCall) -> Act<ExternalReply>;

fn run(
    stage: &Stage,
    n: usize,
    start: StartState,
    sentences: Sentences,
    kept: &Arc<Mutex<StoredSnapshot>>,
) -> Day {
    let clock = FakeClock::new();
    let host = MemoryHost::new(&clock, kept, trader(n)).with_tools(sentences);
    stage.run(n, start, &clock, kept, host).unwrap_or_else(|stop| panic!("day {n} stopped: {stop}"))
}

fn recalled(day: &Day) -> Value {
    let step = day.kept.step("solo#1/memory#1").expect("it was told its past");
    day.kept.outcome(step).expect("it is kept")
}

/// Goal: a reflection is embedded once, in the post phase that wrote it, by a step of the tape whose numbers
/// redaction leaves unchanged; the next day's query is a step of the tape too, and a run on that tape makes
/// no call and reaches the same state.
#[test]
fn meaning_is_on_the_tape() {
    let stage = stage();
    let first = run(&stage, 0, stage.start(), sentences, &Arc::default());
    assert!(first.kept.vectors.is_empty() && first.kept.step("solo#1/tool#1").is_none());
    let second = run(&stage, 1, first.result.state, sentences, &Arc::default());
    let step = second.kept.step("post#1/tool#1").expect("it was embedded");
    assert!(matches!(step.state, StepState::Done(_)));
    let [row] = &second.kept.vectors[..] else { panic!("one vector: {:?}", second.kept.vectors) };
    let kept = vector::from_bytes(&row.vector).expect("is a vector");
    assert_eq!((row.trade_id, row.model.as_str(), kept.len()), (1, "lab::small", 384));
    assert!((vector::dot(&kept, &kept) - 1.0).abs() < 1e-5, "no number was taken out");
    let state = second.result.state;
    let lesson = state.memory.archive().iter().next().expect("there is a lesson");
    assert_eq!(lesson.vector(&name("lab::small")), Some(kept));

    let tape = Arc::default();
    let third = run(&stage, 2, state.clone(), sentences, &tape);
    assert_eq!(recalled(&third)["search"], json!({ "by": "keyword+semantic" }));
    assert!(third.question().contains("Bought too early."), "{}", third.question());
    assert!(third.kept.step("pre#1/tool#1").is_none(), "nothing is embedded twice");
    let asked = |day: &Day| day.host.calls().len();
    assert!(asked(&third) > 0);

    // The same day again, from the same state, on the tape without its end.
    let mut kept = tape.lock().expect("a lock").clone();
    kept.closing = None;
    kept.vectors.clear();
    let again = run(&stage, 2, state, fails, &Arc::new(Mutex::new(kept)));
    assert_eq!(asked(&again), 0);
    assert_eq!(again.result.state, third.result.state);
}

/// Goal: a failing sentence model fails no day: keywords decide, the record states that and the reason, and
/// lessons without a vector get one on a later day.
#[test]
fn a_model_that_fails_leaves_words() {
    let stage = stage();
    let first = run(&stage, 0, stage.start(), fails, &Arc::default());
    let second = run(&stage, 1, first.result.state, fails, &Arc::default());
    assert!(second.kept.vectors.is_empty());
    let state = second.result.state;
    let without = run(&stage, 2, state.clone(), fails, &Arc::default());
    assert!(without.question().contains("Bought too early."), "{}", without.question());
    assert!(recalled(&without).get("search").is_none(), "there is no vector to compare with");

    // Embedded before the session of a day on which the model answers; then the model fails again.
    let flaky: Sentences = |path, call| {
        if path.is_within("pre#1") { sentences(path, call) } else { fails(path, call) }
    };
    let late = run(&stage, 2, state, flaky, &Arc::default());
    assert_eq!(late.kept.vectors.len(), 1);
    let search = recalled(&late)["search"].clone();
    assert_eq!(search["by"], "keyword");
    assert!(search["why"].as_str().is_some_and(|why| why.contains("no connection")), "{search}");
}
