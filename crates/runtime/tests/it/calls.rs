//! A live session's calls: deadlines, retries, slots, and what is recorded of them.

use crate::stage::{SECRET, Stage, agent, done, fails, price, says, secs, turn_of, usual};
use papertape_core::message::FailureKind;
use papertape_core::record::{DayStatus, JobStatus};
use papertape_core::tape::OutcomeKind;
use std::time::Duration;

const FOREVER: Duration = Duration::from_secs(1 << 40);

fn errors(kept: &papertape_testkit::kept::StoredSnapshot, path: &str) -> Vec<String> {
    let step = kept.step(path).expect("kept");
    let error = |end: &Option<papertape_core::record::AttemptEnd>| {
        end.as_ref().map_or("open".to_owned(), |end| end.error.clone().unwrap_or_else(|| "none".to_owned()))
    };
    step.attempts.values().map(error).collect()
}

// Goal: a hung call is canceled at its deadline and retried, as an attempt of the same step.
#[test]
fn a_hung_call_is_cancelled_at_its_deadline() {
    let stage = Stage::new();
    let job = stage.queue("job");
    let models = stage.models(|n, request| match n {
        1 => done().taking(FOREVER),
        _ => usual(request),
    });
    let end = stage.run(&job, &models);
    assert_eq!(end.status, JobStatus::Completed, "{end:?}");
    let sent = models.sent();
    assert_eq!(sent[0], secs(0));
    let second = sent[1] - secs(60);
    assert!((Duration::from_millis(250)..=Duration::from_millis(750)).contains(&second), "{second:?}");
    let kept = stage.kept(&job, 0);
    assert_eq!(errors(&kept, "solo#1/model#1"), ["timed_out: no answer within 60 s", "none"]);
    assert!(kept.is_done("solo#1/model#1", OutcomeKind::Ok));
}

// Goal: attempts are limited, and a permanent failure is an outcome of its kind; the day fails, and the next one
// runs.
#[test]
fn attempts_are_bounded() {
    let mut stage = Stage::new();
    stage.agents[0].limits.max_attempts = 3;
    let job = stage.queue("job");
    let models = stage.models(|n, request| if n <= 3 { done().taking(FOREVER) } else { usual(request) });
    let end = stage.run(&job, &models);
    assert_eq!(end.status, JobStatus::Partial);
    assert_eq!(end.error.as_deref(), Some("1 model-day(s) failed"));
    let kept = stage.kept(&job, 0);
    assert!(kept.is_done("solo#1/model#1", OutcomeKind::TimedOut));
    assert_eq!(errors(&kept, "solo#1/model#1").len(), 3);
    assert_eq!(kept.closing.as_ref().map(|end| end.status), Some(DayStatus::Failed));
    assert_eq!(stage.kept(&job, 1).closing.map(|end| end.status), Some(DayStatus::Completed));
}

// Goal: a delay requested by the provider is honored, and pointless retries are not made.
#[test]
fn retry_after_is_kept_and_hopeless_calls_are_not_repeated() {
    let stage = Stage::new();
    let job = stage.queue("job");
    let models = stage.models(|n, request| match n {
        1 => fails(FailureKind::RateLimited, "429").asking_for(secs(42)),
        2 => fails(FailureKind::BadRequest, "no such parameter"),
        _ => usual(request),
    });
    let end = stage.run(&job, &models);
    assert_eq!(end.status, JobStatus::Partial);
    assert_eq!(models.sent()[..2], [secs(0), secs(42)]);
    let kept = stage.kept(&job, 0);
    assert_eq!(errors(&kept, "solo#1/model#1"), ["rate_limited: 429", "bad_request: no such parameter"]);
    assert!(kept.is_done("solo#1/model#1", OutcomeKind::Refused));
}

// Goal: after its wall-clock limit a session sends nothing more: the current call is canceled at the limit, the
// next one fails immediately, and the day is still booked.
#[test]
fn a_session_has_a_wall_clock_limit() {
    let mut stage = Stage::new();
    stage.agents[0].limits.session_timeout_secs = 90;
    stage.agents[0].limits.max_attempts = 9;
    let job = stage.queue("job");
    let models = stage.models(|n, request| match n {
        1 => price().taking(secs(50)),
        2 => done().taking(secs(59)),
        _ => usual(request),
    });
    stage.run(&job, &models);
    let kept = stage.kept(&job, 0);
    assert!(kept.is_done("solo#1/model#2", OutcomeKind::TimedOut));
    assert_eq!(errors(&kept, "solo#1/model#2"), ["timed_out: no answer within 40 s"], "no attempt after it");
    assert_eq!(models.sent()[2], secs(90), "the next day begins");
    assert!(kept.closing.is_some());

    // Not even calls with immediate responses are sent.
    let mut stage = Stage::new();
    stage.agents[0].limits.session_timeout_secs = 0;
    let job = stage.queue("job");
    let models = stage.models(|_, _| done());
    let end = stage.run(&job, &models);
    assert_eq!((end.status, models.sent().len()), (JobStatus::Failed, 0));
    assert_eq!(errors(&stage.kept(&job, 0), "solo#1/model#1"), ["timed_out: the session's time is up"]);
}

// Goal: waiting for one of the process's slots does not count toward an attempt's timeout.
#[test]
fn waiting_for_a_place_is_no_timeout() {
    let mut stage = Stage::new();
    stage.places = 1;
    stage.agents = ["a", "b", "c"].map(agent).into();
    let job = stage.queue("job");
    let models = stage.models(|_, _| done().taking(secs(50)));
    let end = stage.run(&job, &models);
    assert_eq!(end.status, JobStatus::Completed, "{end:?}");
    assert_eq!(models.sent().len(), 9, "no attempt was lost in the queue");
    assert_eq!(stage.clock.elapsed(), secs(450), "one after the other");
}

// Goal: a provider's error messages are redacted in the row of every attempt.
#[test]
fn attempts_are_redacted() {
    let stage = Stage::new();
    let job = stage.queue("job");
    let words = format!("the key {SECRET} is limited");
    let models = stage.models(move |n, request| match n {
        1 => fails(FailureKind::RateLimited, &words),
        2 => fails(FailureKind::Unauthorised, &words),
        _ => match turn_of(request) {
            1 => says(&format!("I know {SECRET}. <FINISH_SIGNAL>")),
            _ => done(),
        },
    });
    stage.run(&job, &models);
    for session in stage.record.sessions(&job) {
        assert!(!session.kept.dump().contains(SECRET));
    }
    assert_eq!(
        errors(&stage.kept(&job, 0), "solo#1/model#1"),
        [
            "rate_limited: the key [redacted:openai] is limited",
            "unauthorised: the key [redacted:openai] is limited",
        ]
    );
}

// Goal: a tool server's failure is an outcome after one attempt: it may have taken effect.
#[test]
fn an_outside_tool_is_called_once() {
    let mut stage = Stage::new();
    stage.agents[0].tools = vec!["web".to_owned()];
    let job = stage.queue("job");
    let end = stage.run(&job, &stage.models(|_, request| usual(request)));
    assert_eq!(end.status, JobStatus::Completed);
    let kept = stage.kept(&job, 0);
    assert_eq!(errors(&kept, "solo#1/tool#1"), ["tool_error: no tools, [redacted:openai]"]);
}
