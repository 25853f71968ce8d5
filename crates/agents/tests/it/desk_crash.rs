//! A desk's day that is killed at any point ends as if nothing had happened, and replays on its tape.

use crate::desk_stage::{desk, on, one_symbol, usual};
use crate::stage::{Day, Stage};
use papertape_core::message::{FailureKind, ModelReply, ModelRequest};
use papertape_core::tape::{SessionStop, StepClass, StepPath, Tape};
use papertape_testkit::clock::FakeClock;
use papertape_testkit::host::{Act, MemoryHost};
use papertape_testkit::kept::StoredSnapshot;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A day that covers everything: answers in a different order from the graph's, a node that hangs, one that
/// fails, one whose answer needs a repair.
fn model(path: &StepPath, request: &ModelRequest) -> Act<ModelReply> {
    let late = |secs: u64| usual(path, request).after(Duration::from_secs(secs));
    match path.as_str() {
        "AAPL/Bear Researcher#1/model#1" => Act::Hang,
        "IBM/Market Analyst#1/model#1" => Act::Fail(FailureKind::Unavailable, "down".to_owned()),
        "AAPL/Neutral Analyst#1/model#1" => Act::Fail(FailureKind::RateLimited, "slow down".to_owned()),
        "AAPL/Trader#1/model#1" => Act::text("Well."),
        "AAPL/Market Analyst#1/model#1" => late(9),
        "AAPL/News Analyst#1/model#2" => late(5),
        "IBM/Bull Researcher#1/model#1" => late(12),
        _ => usual(path, request),
    }
}

struct Run {
    clock: FakeClock,
    kept: Arc<Mutex<StoredSnapshot>>,
}

impl Run {
    fn new() -> Self {
        Self { clock: FakeClock::new(), kept: Arc::default() }
    }

    fn host(&self) -> MemoryHost {
        MemoryHost::new(&self.clock, &self.kept, model)
    }

    fn go(&mut self, stage: &Stage, host: MemoryHost) -> Result<Day, SessionStop> {
        on(stage, &self.clock, &self.kept, host, stage.start())
    }

    fn kept(&self) -> StoredSnapshot {
        self.kept.lock().expect("a lock").clone()
    }
}

fn undisturbed(stage: &Stage) -> (StoredSnapshot, usize) {
    let mut run = Run::new();
    let host = run.host();
    let day = run.go(stage, host).expect("a day");
    (run.kept(), day.host.boundaries())
}

/// Runs with crashes at these boundaries, each counted from the resumption, then to the end.
fn crashed(stage: &Stage, crashes: &[usize]) -> Result<Run, TestCaseError> {
    let mut run = Run::new();
    let mut in_flight = 0;
    for boundary in crashes {
        let host = run.host().crashing_at(*boundary);
        match run.go(stage, host) {
            // A session that has ended is not resumed.
            Err(SessionStop::Shutdown) if run.kept().closing.is_some() => return Ok(run),
            Err(SessionStop::Shutdown) => in_flight += run.kept().open().len(),
            Ok(_) => return Ok(run),
            Err(other) => return Err(TestCaseError::fail(format!("crash at {boundary}: {other}"))),
        }
    }
    let host = run.host();
    let day = run.go(stage, host).map_err(|stop| TestCaseError::fail(format!("{crashes:?}: {stop}")))?;
    prop_assert!(day.host.calls().values().all(|count| *count == 1));
    let kept = run.kept();
    prop_assert!(kept.open().is_empty());
    prop_assert!(kept.interrupted() <= in_flight);
    Ok(run)
}

// Goal: after a crash before or after any commit or call, the resumed day leaves the same rows and the same
// end: provenance, state, orders.
#[test]
fn a_desk_killed_anywhere_ends_the_same() {
    let stage = one_symbol();
    let (whole, boundaries) = undisturbed(&stage);
    assert!(boundaries > 100, "the day has its boundaries: {boundaries}");
    let wanted = whole.canonical();
    for boundary in 0..boundaries {
        let run = crashed(&stage, &[boundary]).expect("a run");
        assert_eq!(run.kept().canonical(), wanted, "crash at {boundary}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    // Goal: the same after several crashes in a row.
    #[test]
    fn a_desk_killed_often_ends_the_same(crashes in proptest::collection::vec(0_usize..160, 2..5)) {
        let stage = desk();
        let run = crashed(&stage, &crashes)?;
        prop_assert_eq!(run.kept().canonical(), undisturbed(&stage).0.canonical());
    }
}

// Goal: the day replays on a replay-only tape without a call, verdicts included; the body of a verdict does
// not run again.
#[test]
fn a_desk_replays_on_its_tape() {
    let stage = desk();
    let mut run = Run::new();
    let host = run.host();
    let first = run.go(&stage, host).expect("a day");
    let mut kept = run.kept();
    assert!(kept.steps.iter().any(|step| step.class == StepClass::Guard));
    let tape = Tape::new(kept.rows()).replay_only();
    kept.closing = None;
    let again: Arc<Mutex<StoredSnapshot>> = Arc::new(Mutex::new(kept));
    let host = MemoryHost::new(&run.clock, &again, |path, _| panic!("{path} was called on a replay"));
    let second = stage.run_on(tape, 1, stage.start(), &run.clock, &again, host).expect("a replay");
    assert!(second.host.trace().is_empty());
    assert_eq!(second.result.closing.metadata, first.result.closing.metadata);
    assert_eq!(second.result.closing.state, first.result.closing.state);
}
