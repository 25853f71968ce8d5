//! Jobs in the action log.

use crate::stage::{Stage, done, secs, usual};
use papertape_core::action::ActionStatus;
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::ports::{ActionLog as _, Queue as _, RecordError};
use papertape_core::record::JobStatus;
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_runtime::simulate::NoopObserver;
use std::time::Duration;

fn log(stage: &Stage, job: &JobId) -> Vec<(String, ActionStatus, Option<String>)> {
    let rows = stage.record.actions(job).into_iter();
    rows.map(|row| (format!("{}/{}", row.row.kind, row.row.name), row.row.status, row.row.message)).collect()
}

fn row(name: &str, status: ActionStatus, message: Option<&str>) -> (String, ActionStatus, Option<String>) {
    (name.to_owned(), status, message.map(str::to_owned))
}

// Goal: a simulation has a row when it starts and one that says how it ended; stopped by a shutdown it waits, and
// the same log continues afterwards.
#[test]
fn a_simulation_says_that_it_began_and_how_it_ended() {
    const NAME: &str = "tool_operation/run_simulation";
    let stage = Stage::new();
    let job = stage.queue("job");
    let stopper = CancelSource::default();
    let stop = stopper.clone();
    let models = stage.models(move |n, request| {
        if n == 2 {
            stop.stop(StopReason::Shutdown);
        }
        usual(request).taking(secs(5))
    });
    let worker = stage.worker(&models);
    stage.clock.run(worker.run_job(&job, &stopper.signal(), &NoopObserver)).expect("the record works");
    let mut told = vec![
        row(NAME, ActionStatus::Running, None),
        row(NAME, ActionStatus::Queued, Some("queued: the process is shutting down")),
    ];
    assert_eq!(log(&stage, &job), told);
    assert_eq!(stage.run(&job, &stage.models(|_, request| usual(request))).status, JobStatus::Completed);
    told.extend([
        row(NAME, ActionStatus::Running, None),
        row(NAME, ActionStatus::Completed, Some("completed")),
    ]);
    assert_eq!(log(&stage, &job), told);
}

// Goal: a failed job logs the reason, and so does one of an unknown kind.
#[test]
fn a_failed_job_says_why() {
    let mut stage = Stage::new();
    stage.agents[0].limits.call_timeout_secs = 600;
    stage.agents[0].limits.session_timeout_secs = 90;
    let (config, texts) = stage.config();
    let job = stage.enqueue("late", "profile", to_value(&config), texts.clone());
    stage.run(&job, &stage.models(|_, _| done().taking(secs(500))));
    let unknown = stage.enqueue("unknown", "dance", to_value(&config), texts);
    stage.run(&unknown, &stage.models(|_, request| usual(request)));
    for (job, name, why) in [
        (&job, "system_operation/profile", "overall timeout"),
        (&unknown, "system_operation/dance", "`dance`"),
    ] {
        let told = log(&stage, job);
        assert_eq!(told[0], row(name, ActionStatus::Running, None));
        let (said, status, message) = &told[1];
        assert_eq!((said.as_str(), *status), (name, ActionStatus::Failed));
        assert!(message.as_ref().is_some_and(|message| message.contains(why)), "{message:?}");
    }
}

// Goal: a job whose row cannot be written does not run.
#[test]
fn a_job_without_its_row_does_not_run() {
    let stage = Stage::new();
    let job = stage.queue("job");
    let models = stage.models(|_, _| unreachable!("nobody is asked"));
    let claim = stage.record.claim("worker", Duration::from_secs(60), Some(&job));
    let (lease, _) = stage.clock.run(claim).expect("claims").expect("is free");
    stage.record.steal(&job);
    let draft = papertape_core::action::ActionDraft::of(
        papertape_core::action::ActionKind::SystemOperation,
        "help",
        ActionStatus::Running,
        "a",
    );
    let services = stage.services(&models);
    let append = papertape_runtime::actions::append_action_log(&services, &lease, draft);
    let lost = stage.clock.run(append);
    assert!(matches!(lost, Err(RecordError::LostLease)), "{lost:?}");
    let all = stage.clock.run(stage.record.action_log(&job)).expect("reads");
    assert_eq!(all, []);
}
