//! Calls that fail. The test controls time: nothing waits.

use crate::crash_support::{Desk, agent, completed, day, export, forgetful, queue, run, same, steps};
use papertape_agents::config::{AgentConfig, Limits};
use papertape_core::id::JobId;
use papertape_core::ports::Clock as _;
use papertape_core::record::JobStatus;
use papertape_core::tape::{OutcomeKind, StepState};
use papertape_runtime::services::Services;
use papertape_runtime::simulate::JobOutcome;
use papertape_service::app::App;
use papertape_service::trigger::Request;
use papertape_store::{PageRequest, SessionFilter, StepView};
use papertape_testkit::clock::FakeClock;
use papertape_testkit::model_server::{Broken, ScriptedAnswer};
use std::sync::Arc;
use std::time::Duration;

/// One agent, one day, under these limits.
async fn one_day(limits: Limits) -> (Desk, App, JobId) {
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job =
        queue(&app, Request { agents: vec![AgentConfig { limits, ..agent("alpha") }], ..forgetful(1) }).await;
    (desk, app, job)
}

/// Longer than any clock of these tests runs.
fn patient() -> Limits {
    let never = 31_536_000;
    Limits { call_timeout_secs: never, session_timeout_secs: never, ..Limits::default() }
}

/// Runs the job while time advances until something happens.
async fn while_time_passes(
    app: &App,
    job: &JobId,
    clock: &FakeClock,
    until: impl Future<Output = ()>,
) -> JobOutcome {
    let services = Services { clock: Arc::new(clock.clone()), ..app.services.clone() };
    let job = job.clone();
    let work = tokio::spawn(async move { run(&services, &job).await.expect("claims") });
    let mut until = std::pin::pin!(until);
    loop {
        tokio::select! {
            biased;
            () = &mut until => break,
            () = tokio::task::yield_now() => clock.advance(Duration::from_millis(100)),
        }
    }
    work.await.expect("does not panic")
}

async fn step(app: &App, job: &JobId, path: &str) -> StepView {
    let steps = steps(&app.store, job, "alpha", day(0)).await;
    steps.into_iter().find(|step| step.path.as_str() == path).unwrap_or_else(|| panic!("there is no {path}"))
}

/// Too many requests, a server that is down, a stream that ends early: attempts of one step, with the
/// requested pauses; the database looks as if the first attempt had succeeded.
#[tokio::test]
async fn retries_are_attempts_of_one_step() {
    let (_calm, app, job) = one_day(patient()).await;
    completed(&run(&app.services, &job).await.expect("claims"));
    let expected = export(&app.store, &job).await;

    let (desk, app, job) = one_day(patient()).await;
    desk.server.push(ScriptedAnswer::error(429, "slow_down").header("retry-after", "70"));
    desk.server.push(ScriptedAnswer::error(500, "down"));
    desk.server.push(ScriptedAnswer::text("Half of an").broken(Broken::Cut));
    let clock = FakeClock::new();
    let fourth = async { drop(desk.server.request(4).await) };
    let end = while_time_passes(&app, &job, &clock, fourth).await;
    completed(&end);
    assert!(clock.elapsed() >= Duration::from_secs(70), "what the provider asks for is waited");
    let model = step(&app, &job, "solo#1/model#1").await;
    assert_eq!((model.state, model.attempts, model.interrupted), (StepState::Done(OutcomeKind::Ok), 4, 0));
    assert_eq!(desk.server.count(), 5);
    same(&expected, &export(&app.store, &job).await, "retries");
    let errors: Vec<Option<String>> = {
        let connection = desk.behind();
        let mut errors = connection
            .prepare("SELECT error FROM step_attempts ORDER BY step_id, attempt")
            .expect("prepares");
        let rows = errors.query_map([], |row| row.get(0)).expect("reads");
        rows.collect::<Result<_, _>>().expect("reads")
    };
    let kinds: Vec<&str> = errors.iter().flatten().map(|error| error.split(':').next().unwrap()).collect();
    assert_eq!(kinds, ["rate_limited", "unavailable", "bad_answer"]);
    assert!(!errors.iter().flatten().any(|error| error.contains("leak-me-not")), "{errors:?}");
}

/// A server that never responds: each attempt is cancelled at its deadline, the day fails because of it, and
/// the books continue.
#[tokio::test]
async fn a_hanging_call_times_out() {
    // Long enough for the request to arrive in time, however many scheduler turns it takes.
    let limits = Limits { call_timeout_secs: 1_000, max_attempts: 2, ..patient() };
    let (desk, app, job) = one_day(limits).await;
    desk.hold(2);
    let clock = FakeClock::new();
    let given_up = async {
        desk.server.closed(1).await;
        desk.server.closed(2).await;
    };
    let end = while_time_passes(&app, &job, &clock, given_up).await;
    assert_eq!((end.status, end.error.as_deref()), (JobStatus::Failed, Some("1 model-day(s) failed")));
    let model = step(&app, &job, "solo#1/model#1").await;
    assert_eq!((model.state, model.attempts), (StepState::Done(OutcomeKind::TimedOut), 2));
    assert_eq!(step(&app, &job, "close#1/book#1").await.state, StepState::Done(OutcomeKind::Ok));
    assert!(clock.now() > papertape_core::time::Timestamp::UNIX_EPOCH);
}

/// A permanent rejection by the provider is an outcome: the day fails, and resuming does not send the request
/// again. A denied model (401, 402, 403) is not one: the call can be made once the key is fixed.
#[tokio::test]
async fn a_refusal_for_good_is_an_outcome() {
    for (status, state) in [(401, StepState::Intent), (400, StepState::Done(OutcomeKind::Refused))] {
        let (desk, app, job) = one_day(patient()).await;
        desk.server.push(ScriptedAnswer::error(status, "no"));
        let end = run(&app.services, &job).await.expect("claims");
        assert_eq!(end.status, JobStatus::Failed, "{end:?}");
        let model = step(&app, &job, "solo#1/model#1").await;
        assert_eq!((model.state, model.attempts), (state, 1));
        assert_eq!(desk.server.count(), 1);
    }
}

/// Arguments that are not JSON, and an unknown tool, are reported to the model, and change nothing.
#[tokio::test]
async fn malformed_tool_calls_are_answered_to_the_model() {
    let (desk, app, job) = one_day(patient()).await;
    desk.server.push(ScriptedAnswer::call("c1", "buy", "{\"symbol\": \"AAPL\", quantity: lots"));
    completed(&run(&app.services, &job).await.expect("claims"));
    let filter = SessionFilter { job: Some(job.clone()), ..SessionFilter::default() };
    let sessions = app.store.sessions(&filter, true, &PageRequest::default()).await.expect("reads").items;
    let said = sessions[0].conversation.as_ref().expect("was asked for");
    let told = said.iter().find(|message| message.tool_name.as_deref() == Some("buy")).expect("is answered");
    assert!(told.content.contains("error"), "{}", told.content);
    assert_eq!(sessions[0].positions.iter().filter(|row| row.action_type == "buy").count(), 0);

    let (desk, app, job) = one_day(patient()).await;
    desk.server.push(ScriptedAnswer::call("c1", "divine", "{}"));
    completed(&run(&app.services, &job).await.expect("claims"));
    let second = &desk.server.requests()[1].body["messages"];
    let told = second.as_array().and_then(|messages| messages.last()).expect("has messages");
    assert!(told["content"].as_str().is_some_and(|text| text.contains("unknown tool `divine`")), "{told}");
}
