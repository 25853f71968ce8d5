//! A session's log: what is handed over, what is waited for, and what a stop or a failure leaves.

use crate::stage::{Stage, agent, fails, secs, usual};
use papertape_core::id::JobId;
use papertape_core::message::{FailureKind, ModelRequest};
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_core::tape::StepState;
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_runtime::session_log::LINGER;
use papertape_runtime::simulate::NoopObserver;
use papertape_testkit::fault::FaultPoints;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// Model calls of the job: three on each of three days.
const CALLS: usize = 9;

fn canonical(stage: &Stage, job: &JobId) -> Vec<Value> {
    stage.record.sessions(job).iter().map(|session| session.kept.canonical()).collect()
}

/// The canonical rows of an undisturbed job.
fn undisturbed() -> Vec<Value> {
    let stage = Stage::new();
    let job = stage.queue("job");
    assert_eq!(stage.run(&job, &stage.models(|_, request| usual(request))).status, JobStatus::Completed);
    canonical(&stage, &job)
}

/// The paths of the stored steps, with whether they are done.
fn stored(stage: &Stage, job: &JobId) -> Vec<(String, bool)> {
    let sessions = stage.record.sessions(job);
    let steps = sessions.iter().flat_map(|session| &session.kept.steps);
    steps.map(|step| (step.path.to_string(), step.state != StepState::Intent)).collect()
}

fn interrupted(stage: &Stage, job: &JobId) -> u64 {
    stage.record.sessions(job).iter().map(|session| session.kept.interrupted() as u64).sum()
}

// Goal: an outcome shares the transaction of the next intent: one per model call, and one for the end of each day.
// Without lingering, each has its own. The rows are the same.
#[test]
fn an_outcome_shares_the_next_intents_transaction() {
    let expected = undisturbed();
    for (linger, commits) in
        [(Duration::MAX, CALLS + 3), (Duration::ZERO, 2 * CALLS + 3), (LINGER, CALLS + 3)]
    {
        let mut stage = Stage::new();
        stage.linger = linger;
        let job = stage.queue("job");
        let models = stage.models(|_, request| usual(request).taking(secs(1)));
        assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
        assert_eq!(stage.points.transactions(), commits, "linger {linger:?}");
        assert_eq!(canonical(&stage, &job), expected);
    }
}

// Goal: what nobody waits for is stored after the linger, while the session goes on waiting for something else:
// here, for a delay that the provider of the sibling's call has requested.
#[test]
fn what_lingers_is_stored_without_a_waiter() {
    let mut stage = Stage::new();
    stage.linger = LINGER;
    stage.places = 1;
    stage.agents = ["a", "b"].map(agent).into();
    let job = stage.queue("job");
    // The second call holds the only slot, so the first agent's next call waits after its intent.
    let models =
        stage.models(|n, request| if n == 2 { usual(request).taking(secs(1 << 40)) } else { usual(request) });
    let worker = stage.worker(&models);
    let stopper = CancelSource::default();
    assert!(stage.clock.run_until_idle(worker.run_job(&job, &stopper.signal(), &NoopObserver)).is_none());
    let done = stored(&stage, &job).iter().filter(|(path, done)| path.contains("/model#") && *done).count();
    assert_eq!(done, 1, "the first answer is stored");
}

// Goal: the first failed transaction ends the session, and nothing behind it is stored, although the disk has room
// again: what is stored is a prefix of the undisturbed run. The job can be resumed, and ends like the undisturbed
// one.
#[test]
fn nothing_behind_a_failed_transaction_is_stored() {
    let expected = undisturbed();
    for linger in [Duration::MAX, LINGER, Duration::ZERO] {
        let whole = {
            let stage = Stage { linger, ..Stage::new() };
            let job = stage.queue("job");
            stage.run(&job, &stage.models(|_, request| usual(request)));
            (stored(&stage, &job), stage.points.transactions())
        };
        for full in 0..whole.1 {
            let mut stage = Stage { linger, points: FaultPoints::full_at(full), ..Stage::new() };
            let job = stage.queue("job");
            let end = stage.run(&job, &stage.models(|_, request| usual(request)));
            assert!(matches!(end.status, JobStatus::Failed | JobStatus::Partial), "{full}: {end:?}");
            assert!(end.error.as_deref().is_some_and(|error| error.contains("the disk is full")), "{end:?}");
            assert_eq!(stage.points.transactions(), full + 1, "nothing is written after the failure");
            let kept = stored(&stage, &job);
            let open = kept.iter().filter(|(_, done)| !done).count();
            assert!(open <= 1, "{full}: {kept:?}");
            let paths =
                |steps: &[(String, bool)]| steps.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
            assert_eq!(paths(&kept), paths(&whole.0[..kept.len()]), "{full}: a prefix");

            stage.points = FaultPoints::counting();
            assert!(stage.clock.run(stage.record.requeue(&job)).expect("the record works"));
            assert_eq!(
                stage.run(&job, &stage.models(|_, request| usual(request))).status,
                JobStatus::Completed
            );
            assert_eq!(canonical(&stage, &job), expected, "{full}");
        }
    }
}

/// Runs the job until `stop` is signaled at model call number `at`, then to its end. Returns how many calls
/// arrived in all.
fn stopped_at(stage: &Stage, job: &JobId, at: usize, reason: StopReason) -> usize {
    let stopper = CancelSource::default();
    let signal = stopper.signal();
    let models = stage.models(move |n, request: &ModelRequest| {
        if n == at {
            stopper.stop(reason);
        }
        usual(request).taking(secs(1))
    });
    let worker = stage.worker(&models);
    let end = stage.clock.run(worker.run_job(job, &signal, &NoopObserver)).expect("the record works");
    let status = end.expect("claimed").status;
    if status == JobStatus::Cancelled {
        assert!(stage.clock.run(stage.record.requeue(job)).expect("the record works"));
    }
    let again = stage.models(|_, request| usual(request));
    if status != JobStatus::Completed {
        assert_eq!(stage.run(job, &again).status, JobStatus::Completed);
    }
    models.sent().len() + again.sent().len()
}

// Goal: a cancel or a shutdown during any call loses nothing: no call is interrupted or repeated.
#[test]
fn a_stop_at_any_call_repeats_nothing() {
    let expected = undisturbed();
    for reason in [StopReason::Cancelled, StopReason::Shutdown] {
        for linger in [Duration::MAX, LINGER] {
            for at in 1..=CALLS {
                let stage = Stage { linger, ..Stage::new() };
                let job = stage.queue("job");
                assert_eq!(stopped_at(&stage, &job, at, reason), CALLS, "{reason:?} at {at}");
                assert_eq!(interrupted(&stage, &job), 0, "{reason:?} at {at}");
                assert_eq!(canonical(&stage, &job), expected, "{reason:?} at {at}");
            }
        }
    }
}

// Goal: a stop during a pause before a retry records how the attempt ended; the resume sends the next attempt, and
// nothing counts as interrupted.
#[test]
fn a_stop_before_a_retry_is_no_interruption() {
    let stage = Stage::new();
    let job = stage.queue("job");
    let stopper = CancelSource::default();
    let signal = stopper.signal();
    let models = stage.models(move |_, _: &ModelRequest| {
        stopper.stop(StopReason::Shutdown);
        fails(FailureKind::RateLimited, "429").asking_for(secs(20))
    });
    let worker = stage.worker(&models);
    let end = stage.clock.run(worker.run_job(&job, &signal, &NoopObserver)).expect("the record works");
    assert_eq!(end.expect("claimed").status, JobStatus::Queued);
    assert_eq!(models.sent().len(), 1);

    let again = stage.models(|_, request| usual(request));
    assert_eq!(stage.run(&job, &again).status, JobStatus::Completed);
    assert_eq!(interrupted(&stage, &job), 0);
    let kept = stage.kept(&job, 0);
    let attempts = &kept.step("solo#1/model#1").expect("kept").attempts;
    let errors: Vec<Option<String>> =
        attempts.values().map(|end| end.clone().expect("ended").error).collect();
    assert_eq!(errors, [Some("rate_limited: 429".to_owned()), None]);
}

// Goal: a call that waits for a slot is not sent after a stop, and does not count as interrupted.
#[test]
fn a_stop_in_the_queue_for_a_slot_sends_nothing() {
    let mut stage = Stage::new();
    stage.places = 1;
    stage.agents = ["a", "b", "c"].map(agent).into();
    let job = stage.queue("job");
    let stopper = CancelSource::default();
    let signal = stopper.signal();
    let models = stage.models(move |_, request: &ModelRequest| {
        stopper.stop(StopReason::Shutdown);
        usual(request).taking(secs(5))
    });
    let worker = stage.worker(&models);
    let end = stage.clock.run(worker.run_job(&job, &signal, &NoopObserver)).expect("the record works");
    assert_eq!(end.expect("claimed").status, JobStatus::Queued);
    assert_eq!(models.sent().len(), 1, "the two that wait are not sent");
    let again = stage.models(|_, request| usual(request));
    assert_eq!(stage.run(&job, &again).status, JobStatus::Completed);
    assert_eq!(interrupted(&stage, &job), 0);
    assert_eq!(models.sent().len() + again.sent().len(), 3 * CALLS);
    let agents: BTreeSet<_> =
        stage.record.sessions(&job).iter().map(|session| session.agent.clone()).collect();
    assert_eq!(agents.len(), 3);
}
