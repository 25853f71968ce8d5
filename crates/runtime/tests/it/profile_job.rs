//! Jobs of the kind `profile`.

use crate::stage::{Stage, done, secs, usual};
use papertape_core::json::to_value;
use papertape_core::record::JobStatus;
use papertape_runtime::jobs::TOO_LATE;

// Goal: at its overall timeout a profile ends immediately with an error that says so, and work in progress is
// left open rather than degraded; a simulation continues with what it has.
#[test]
fn a_profile_ends_at_its_overall_timeout() {
    let mut stage = Stage::new();
    stage.agents[0].limits.call_timeout_secs = 600;
    stage.agents[0].limits.session_timeout_secs = 90;
    let (config, texts) = stage.config();
    let job = stage.enqueue("job", "profile", to_value(&config), texts);
    let models = stage.models(|_, _| done().taking(secs(500)));
    let end = stage.run(&job, &models);
    assert_eq!(end.status, JobStatus::Failed);
    assert_eq!(end.error, Some(format!("{TOO_LATE}: the run did not end within 90 s")));
    assert_eq!(stage.clock.elapsed(), secs(90));
    let kept = stage.kept(&job, 0);
    assert!(kept.closing.is_none(), "the day is not over");
    assert!(kept.step("solo#1/model#1").is_some_and(|step| step.attempts.values().all(Option::is_none)));
}

// Goal: a profile that finishes in time is a normal run.
#[test]
fn a_profile_in_time_is_completed() {
    let stage = Stage::new();
    let (config, texts) = stage.config();
    let job = stage.enqueue("job", "profile", to_value(&config), texts);
    let end = stage.run(&job, &stage.models(|_, request| usual(request)));
    assert_eq!((end.status, end.error), (JobStatus::Completed, None));
    assert!(stage.kept(&job, 2).closing.is_some());
}
