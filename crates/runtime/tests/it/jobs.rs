//! Jobs from the queue to their end: completed, canceled, released, lost, resumed, replayed.

use crate::stage::{Stage, agent, done, fails, price, secs, turn_of, usual};
use futures::FutureExt as _;
use papertape_core::message::{FailureKind, ModelRequest};
use papertape_core::ports::{Queue as _, RecordError};
use papertape_core::record::JobStatus;
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_runtime::replay;
use papertape_runtime::simulate::NoopObserver;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

fn canonical(stage: &Stage, job: &papertape_core::id::JobId) -> Vec<serde_json::Value> {
    stage.record.sessions(job).iter().map(|session| session.kept.canonical()).collect()
}

// Goal: a job runs all days of all agents concurrently, and replays without a model.
#[test]
fn a_job_runs_and_replays() {
    let mut stage = Stage::new();
    stage.agents = ["a", "b"].map(agent).into();
    let job = stage.queue("job");
    let models = stage.models(|_, request| usual(request).taking(secs(1)));
    let end = stage.run(&job, &models);
    assert_eq!((end.status, end.error), (JobStatus::Completed, None));
    assert_eq!(stage.status(&job), JobStatus::Completed);
    assert_eq!(models.sent().len(), 18);
    assert_eq!(stage.clock.elapsed(), secs(9), "agents run side by side");
    assert_eq!(stage.record.sessions(&job).len(), 6);

    let mute = stage.models(|_, _| unreachable!("a replay asks nobody"));
    let services = stage.services(&mute);
    let report = stage.clock.run(replay::run(&services, &stage.job(&job))).expect("a report");
    assert_eq!((report.equal, report.unfinished, report.faults), (6, 0, Vec::new()));
    assert!(report.steps > 6 * 6);
}

// Goal: summaries are written once, separately from the sessions.
#[test]
fn summaries_are_written_once() {
    let mut stage = Stage::new();
    stage.summaries = true;
    let job = stage.queue("job");
    let models = stage.models(|_, request| usual(request));
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    let session = &stage.record.sessions(&job)[0];
    // Each of the three replies has text, plus the session itself.
    assert_eq!(session.detached.summaries.len(), 4);
    assert_eq!(models.sent().len(), 3 * 3 + 3 * 4);
    assert!(session.kept.summaries.is_empty());
}

// Goal: a canceled job stops after its current step, keeps its results, and resumes without repeating them.
#[test]
fn a_cancelled_job_stops_after_its_step_and_resumes() {
    let stage = Stage::new();
    let job = stage.queue("job");
    let undisturbed = {
        let other = Stage::new();
        let job = other.queue("job");
        other.run(&job, &other.models(|_, request| usual(request)));
        canonical(&other, &job)
    };
    let (record, id) = (Arc::clone(&stage.record), job.clone());
    let models = stage.models(move |n, request: &ModelRequest| {
        if n == 5 {
            record.cancel(&id).now_or_never().expect("at once").expect("the record works");
        }
        usual(request).taking(secs(5))
    });
    let end = stage.run(&job, &models);
    assert_eq!((end.status, stage.status(&job)), (JobStatus::Cancelled, JobStatus::Cancelled));
    assert_eq!(end.error.as_deref(), Some("the job was cancelled"));
    assert_eq!(models.sent().len(), 5, "the step under way was finished, no other begun");
    assert_eq!(stage.kept(&job, 1).state("solo#1/model#2"), "done(ok)");

    assert!(stage.clock.run(stage.record.requeue(&job)).expect("the record works"));
    let models = stage.models(|_, request| usual(request));
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    assert_eq!(models.sent().len(), 4);
    assert_eq!(canonical(&stage, &job), undisturbed);
}

// Goal: a shutdown returns the job to the queue, and another worker resumes it where it was.
#[test]
fn a_shutdown_gives_the_job_back() {
    let stage = Stage::new();
    let job = stage.queue("job");
    let stopper = CancelSource::default();
    let signal = stopper.signal();
    let models = stage.models(move |n, request: &ModelRequest| {
        if n == 2 {
            stopper.stop(StopReason::Shutdown);
        }
        usual(request).taking(secs(5))
    });
    let worker = stage.worker(&models);
    let end = stage.clock.run(worker.run_job(&job, &signal, &NoopObserver)).expect("the record works");
    assert_eq!(end.expect("claimed").status, JobStatus::Queued);
    assert_eq!(stage.status(&job), JobStatus::Queued);
    assert_eq!(models.sent().len(), 2);
    let again = stage.models(|_, request| usual(request));
    assert_eq!(stage.run(&job, &again).status, JobStatus::Completed);
    assert_eq!(again.sent().len(), 7);
}

// Goal: a worker that has lost its lease stops immediately and writes nothing more, not even the job's end; the
// new worker repeats a call that was in flight, as a marked attempt.
#[test]
fn a_lost_lease_ends_all() {
    let stage = Stage::new();
    let job = stage.queue("job");
    let (record, id) = (Arc::clone(&stage.record), job.clone());
    let models = stage.models(move |n, request: &ModelRequest| {
        if n == 2 {
            record.steal(&id);
        }
        usual(request).taking(Duration::from_millis(20_500))
    });
    let worker = stage.worker(&models);
    let stopper = CancelSource::default();
    let end = stage.clock.run(worker.run_job(&job, &stopper.signal(), &NoopObserver));
    assert!(matches!(end, Err(RecordError::LostLease)), "{end:?}");
    assert_eq!(stage.clock.elapsed(), secs(21), "found at the next renewal, not at the call's end");
    assert_eq!(stage.status(&job), JobStatus::Running);
    let kept = stage.kept(&job, 0);
    assert_eq!(kept.state("solo#1/model#2"), "intent");

    stage.clock.advance(secs(30));
    let again = stage.models(|_, request| usual(request));
    assert_eq!(stage.run(&job, &again).status, JobStatus::Completed);
    let kept = stage.kept(&job, 0);
    assert_eq!(kept.interrupted(), 1);
    assert_eq!(kept.step("solo#1/model#2").expect("kept").attempts.len(), 2);
}

// Goal: a job that cannot run says why; one that cannot be claimed is not run.
#[test]
fn what_cannot_be_run_says_why() {
    let stage = Stage::new();
    let models = stage.models(|_, _| done());
    let odd = stage.enqueue("odd", "tea", json!({}), Vec::new());
    let end = stage.run(&odd, &models);
    assert_eq!(end.status, JobStatus::Failed);
    assert!(end.error.as_deref().is_some_and(|error| error.contains("`tea`")), "{end:?}");
    let torn = stage.enqueue("torn", "simulate", json!({ "seed": 1 }), Vec::new());
    assert!(stage.run(&torn, &models).error.is_some_and(|error| error.contains("config cannot be read")));
    let lost =
        stage.queue_with("lost", |config| config.dataset.hash = papertape_core::id::ContentHash::of(b"x"));
    assert_eq!(stage.run(&lost, &models).error.as_deref(), Some("no such dataset"));
    let homeless = stage.queue_with("homeless", |config| config.starts.clear());
    assert!(
        stage.run(&homeless, &models).error.is_some_and(|error| error.contains("gpt has no start state"))
    );
    assert!(models.sent().is_empty());

    let worker = stage.worker(&models);
    let stopper = CancelSource::default();
    for job in ["odd", "nobody"] {
        let end = stage.clock.run(worker.run_job(&job.into(), &stopper.signal(), &NoopObserver));
        assert!(end.expect("the record works").is_none(), "{job}");
    }
}

// Goal: a killed worker's job is claimed by another one when its lease expires, and ends as if nothing had
// happened.
#[test]
fn a_killed_workers_job_is_taken_up() {
    let whole = Stage::new();
    let whole_job = whole.queue("job");
    whole.run(&whole_job, &whole.models(|_, request| usual(request)));
    for killed_at in 1..=9 {
        let stage = Stage::new();
        let job = stage.queue("job");
        let models = stage.models(move |n, request: &ModelRequest| {
            let hangs = if n == killed_at { secs(1 << 30) } else { secs(0) };
            usual(request).taking(hangs)
        });
        {
            // Dropped in the middle of its call, like a killed process.
            let worker = stage.worker(&models);
            let stopper = CancelSource::default();
            let signal = stopper.signal();
            let run = worker.run_job(&job, &signal, &NoopObserver);
            assert!(stage.clock.run_until_idle(run).is_none());
        }
        assert_eq!(stage.status(&job), JobStatus::Running);
        let again = stage.models(|_, request| usual(request));
        let worker = stage.worker(&again);
        let stopper = CancelSource::default();
        let early = stage.clock.run(worker.run_job(&job, &stopper.signal(), &NoopObserver));
        assert!(early.expect("the record works").is_none(), "the lease still runs");
        stage.clock.advance(secs(30));
        assert_eq!(stage.run(&job, &again).status, JobStatus::Completed);
        assert_eq!(models.sent().len() + again.sent().len(), 10, "one call was in flight at the kill");
        assert_eq!(canonical(&stage, &job), canonical(&whole, &whole_job), "killed at call {killed_at}");
    }
}

// Goal: a replay detects a tape that was tampered with, and names the day and the step.
#[test]
fn a_replay_finds_another_program() {
    let stage = Stage::new();
    let job = stage.queue("job");
    stage.run(&job, &stage.models(|_, request| usual(request)));
    let mut row = stage.job(&job);
    row.config["agents"][0]["instructions"] = json!("Be bold.");
    let services = stage.services(&stage.models(|_, request| match turn_of(request) {
        1 => price(),
        _ => done(),
    }));
    let report = stage.clock.run(replay::run(&services, &row)).expect("a report");
    assert_eq!(report.equal, 0);
    let fault = &report.faults[0];
    assert_eq!((fault.agent.as_str(), fault.date), ("gpt", stage.data.days()[0].date));
    assert!(
        fault.reason.contains("solo#1/model#1") && fault.reason.contains("/instructions"),
        "{}",
        fault.reason
    );
}

// Goal: a day that failed before a stop is still failed after the job is resumed: the job ends partial, as it
// would have without the stop.
#[test]
fn a_failed_day_is_not_forgotten_by_a_resume() {
    let stage = Stage::new();
    let job = stage.queue("job");
    let stopper = CancelSource::default();
    let signal = stopper.signal();
    let models = stage.models(move |n, request: &ModelRequest| match n {
        1 => fails(FailureKind::BadRequest, "no"),
        _ => {
            stopper.stop(StopReason::Shutdown);
            usual(request).taking(secs(5))
        }
    });
    let worker = stage.worker(&models);
    let end = stage.clock.run(worker.run_job(&job, &signal, &NoopObserver)).expect("the record works");
    assert_eq!(end.expect("claimed").status, JobStatus::Queued);
    let again = stage.models(|_, request| usual(request));
    let end = stage.run(&job, &again);
    assert_eq!(end.status, JobStatus::Partial);
    assert_eq!(end.error.as_deref(), Some("1 model-day(s) failed"));
}
