//! Jobs whose process crashes: how often they are resumed, and what is sent then.

use crate::stage::{Stage, agent, done, fails, secs, usual};
use papertape_core::id::JobId;
use papertape_core::message::{FailureKind, ModelRequest};
use papertape_core::ports::Queue as _;
use papertape_core::record::{Estimate, JobStatus};
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::simulate::NoopObserver;
use rust_decimal::Decimal;

/// Runs the job until call number `at` of this process, which never returns, and drops everything, like a
/// crashing process. Returns the number of calls sent.
fn die_at(stage: &Stage, job: &JobId, at: usize) -> usize {
    let models = stage.models(move |n, request: &ModelRequest| {
        usual(request).taking(if n >= at { secs(1 << 30) } else { secs(0) })
    });
    {
        let worker = stage.worker(&models);
        let stopper = CancelSource::default();
        let signal = stopper.signal();
        let run = worker.run_job(job, &signal, &NoopObserver);
        assert!(stage.clock.run_until_idle(run).is_none(), "it hangs in a call");
    }
    stage.clock.advance(secs(30));
    models.sent().len()
}

// Goal: a job that keeps crashing its process at the same step fails the fifth time with that reason, and nothing
// more is sent; a resume resets the count.
#[test]
fn the_fifth_death_without_progress_ends_the_job() {
    let stage = Stage::new();
    let job = stage.queue("job");
    for _ in 0..5 {
        assert_eq!(die_at(&stage, &job, 1), 1);
    }
    let models = stage.models(|_, request| usual(request));
    let end = stage.run(&job, &models);
    assert_eq!(end.status, JobStatus::Failed);
    let error = end.error.expect("a reason");
    assert!(error.contains("died 5 times in a row"), "{error}");
    assert!(error.contains("worker.max_crashes_per_step"), "{error}");
    assert!(models.sent().is_empty());

    assert!(stage.clock.run(stage.record.requeue(&job)).expect("it is queued again"));
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    let kept = stage.kept(&job, 0);
    assert_eq!(kept.interrupted(), 5);
    let attempts = &kept.step("solo#1/model#1").expect("kept").attempts;
    let lost = attempts[&1].as_ref().expect("it has ended");
    assert_eq!(lost.usage, None);
    assert_eq!(lost.estimate.map(|estimate| estimate.usage.output_tokens), Some(2_048), "what was reserved");
}

// Goal: crashes with progress between them are not added up.
#[test]
fn deaths_with_progress_between_them_do_not_end_a_job() {
    let stage = Stage::new();
    let job = stage.queue("job");
    for _ in 0..7 {
        die_at(&stage, &job, 2);
    }
    let models = stage.models(|_, request| usual(request));
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
}

// Goal: a step interrupted by two crashes is not sent concurrently with another such step of the process: if it
// kills the process, the others are not interrupted again.
#[test]
fn a_step_cut_off_twice_is_sent_alone() {
    let mut stage = Stage::new();
    stage.agents = ["a", "b", "c"].map(agent).into();
    let job = stage.queue("job");
    assert_eq!(die_at(&stage, &job, 1), 3);
    assert_eq!(die_at(&stage, &job, 1), 3, "cut off once, they are sent together");
    assert_eq!(die_at(&stage, &job, 1), 1, "cut off twice, one at a time");
    let models = stage.models(|_, request| usual(request));
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
}

// Goal: if a delay requested by a provider exceeds the call's or the session's time, it is not waited for: the
// call fails immediately with its original error.
#[test]
fn a_pause_outside_of_the_time_is_not_waited() {
    for (pause, session) in [(secs(61), 1_800), (secs(u64::MAX), 1_800), (secs(40), 30)] {
        let mut stage = Stage::new();
        stage.agents[0].limits.session_timeout_secs = session;
        let job = stage.queue("job");
        let models = stage.models(move |n, request| match n {
            1 => fails(FailureKind::RateLimited, "429").asking_for(pause),
            _ => usual(request),
        });
        stage.run(&job, &models);
        assert_eq!(models.sent()[1], secs(0), "the next day begins at once");
        let kept = stage.kept(&job, 0);
        assert_eq!(kept.step("solo#1/model#1").expect("kept").attempts.len(), 1);
        assert!(kept.is_done("solo#1/model#1", papertape_core::tape::OutcomeKind::Failed));
    }
}

// Goal: unreported usage is recorded as unknown, and estimated for budgets.
#[test]
fn unknown_usage_is_estimated() {
    let stage = Stage::new();
    let job = stage.queue("job");
    let models = stage.models(|_, _| done().unmetered());
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    let kept = stage.kept(&job, 0);
    let attempt = kept.step("solo#1/model#1").expect("kept").attempts[&1].clone().expect("it has ended");
    assert_eq!((attempt.usage, attempt.cost_usd), (None, None));
    let Estimate { usage, cost_usd } = attempt.estimate.expect("an estimate");
    assert!(usage.input_tokens > 50, "{usage:?}");
    assert_eq!(usage.output_tokens, 6, "a token for every four characters");
    let tokens = usage.input_tokens + usage.output_tokens;
    assert_eq!(cost_usd, Some(Decimal::from(tokens) / Decimal::from(1_000)));
    let spent = stage
        .clock
        .run(papertape_core::ports::RecordStore::load_usage(&*stage.record, &job))
        .expect("it is known");
    assert_eq!(spent[0].usage, usage, "budgets are rebuilt with it");
}
