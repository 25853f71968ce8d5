//! External agents that are programs: real processes on their standard streams.

use crate::external_support::{Agents, Played, door, program};
use crate::mcp_support::Watch;
use futures::FutureExt as _;
use papertape_core::external::{AgentDoor as _, AgentRequest, ExternalAgents as _, SessionEnding};
use papertape_core::message::FailureKind;
use papertape_service::config::ExternalAgent;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

fn day(number: i8) -> papertape_core::time::Date {
    jiff::civil::date(2025, 3, number)
}

/// Goal: a program reads, places an order, finishes its day with a state, and serves the next day in the same process.
#[tokio::test]
async fn one_process_serves_two_days() {
    let watch = Watch::new().await;
    let agents = Agents::new(program("days", Some(&watch))).await;
    let mut session = agents.start("job", day(3)).await.expect("it starts");
    let mut seen = watch.server().await;
    let read = session.answer(json!({ "cash": 10_000 })).await;
    assert_eq!(read, AgentRequest::Read { tool: "get_portfolio".to_owned(), arguments: json!({}) });
    let AgentRequest::Order { side, arguments } = session.answer(json!({ "filled": 1 })).await else {
        panic!("an order")
    };
    assert_eq!(
        (side.as_str(), Value::Object(arguments)),
        ("buy", json!({ "symbol": "AAPL", "quantity": 1 }))
    );
    let (decision, state) = session.play().await;
    assert_eq!(decision.as_deref(), Some("True True 2"));
    assert_eq!(state, Some(json!({ "days": 1, "was": null })));
    session.end(SessionEnding::Completed).await;
    assert_eq!(seen.says().await.as_deref(), Some("day 2025-03-03"));
    assert_eq!(seen.says().await.as_deref(), Some("end completed"));

    let mut session = agents.start("job", day(4)).await.expect("it starts");
    assert_eq!(session.play().await.1, Some(json!({ "days": 2, "was": null })));
    session.end(SessionEnding::Completed).await;
    assert_eq!(seen.says().await.as_deref(), Some("day 2025-03-04"));
    assert_eq!(seen.says().await.as_deref(), Some("end completed"));
    assert!(watch.is_quiet().await, "no second process has started");
    // The program ends with its input when nothing can start another day.
    drop(agents);
    assert_eq!(seen.says().await.as_deref(), Some("input ended"));
    assert_eq!(seen.says().await, None);
}

/// Goal: jobs do not share a process, and a program that exits after its day is started again for the next one.
#[tokio::test]
async fn processes_are_started_when_they_are_needed() {
    let watch = Watch::new().await;
    let agents = Agents::new(program("one-day", Some(&watch))).await;
    for (job, date) in [("first", day(3)), ("first", day(4)), ("second", day(3))] {
        let mut session = agents.start(job, date).await.expect("it starts");
        let mut seen = watch.server().await;
        assert_eq!(session.play().await.1, Some(json!({ "days": 1, "was": null })));
        session.end(SessionEnding::Completed).await;
        assert_eq!(seen.says().await, Some(format!("day {date}")));
        assert_eq!(seen.says().await.as_deref(), Some("end completed"));
        assert_eq!(seen.says().await.as_deref(), Some("exits"));
    }
}

/// Goal: a program that leaves on its next day is started again, unless it has made a request at another door: a new one
/// would place its orders again.
#[tokio::test]
async fn a_program_that_has_made_a_request_is_not_started_again() {
    for is_used in [false, true] {
        let watch = Watch::new().await;
        let agents = Agents::new(program("leaves", Some(&watch))).await;
        let mut first = agents.start("job", day(3)).await.expect("it starts");
        first.play().await;
        first.end(SessionEnding::Completed).await;
        let mut seen = watch.server().await;
        while seen.says().await.as_deref() != Some("exits") {}
        let open = agents.open("job", day(4));
        if is_used {
            let request = AgentRequest::Read { tool: "get_portfolio".to_owned(), arguments: json!({}) };
            assert!(open.door.ask(request).now_or_never().is_none(), "it waits for its reply");
        }
        let started = agents.agents.start(agents.day(&open, Value::Null), Arc::clone(&open.door) as _).await;
        let mut second = Played { open, running: started.expect("it starts") };
        if is_used {
            let failure = second.running.failed().await;
            assert_eq!(failure.kind, FailureKind::ToolError, "{failure:?}");
        } else {
            assert_eq!(second.play().await.1, Some(json!({ "days": 1, "was": null })));
        }
    }
}

/// Goal: requests that a program sends without waiting are answered in their order, each with its ID.
#[tokio::test]
async fn requests_can_be_sent_ahead() {
    let agents = Agents::new(program("pipeline", None)).await;
    let mut session = agents.start("job", day(3)).await.expect("it starts");
    for number in 0..3 {
        let request = session.answer(json!(number)).await;
        assert_eq!(request, AgentRequest::Read { tool: format!("t{number}"), arguments: json!({}) });
    }
    assert_eq!(session.play().await.0.as_deref(), Some("[0, 1, 2]"));
    session.end(SessionEnding::Completed).await;
}

/// Goal: a message that cannot be read reaches the session, is answered with what was expected, and the day continues.
#[tokio::test]
async fn garbage_is_answered() {
    let agents = Agents::new(program("malformed", None)).await;
    let mut session = agents.start("job", day(3)).await.expect("it starts");
    for code in ["bad_json", "unknown_type", "bad_message"] {
        assert_eq!(session.reject().await, code);
    }
    let (decision, _) = session.play().await;
    let replies: Value = serde_json::from_str(&decision.expect("a decision")).expect("JSON");
    let expected = json!([
        [null, "bad_json", []],
        [7, "unknown_type", ["read", "order", "done"]],
        ["x", "bad_message", ["tool"]],
    ]);
    assert_eq!(replies, expected);
    session.end(SessionEnding::Completed).await;
}

/// Goal: a line that is too large is answered once, and ends the program.
#[tokio::test]
async fn a_huge_line_is_a_failure() {
    let watch = Watch::new().await;
    let agents = Agents::new(program("huge", Some(&watch))).await;
    let mut session = agents.start("job", day(3)).await.expect("it starts");
    let mut seen = watch.server().await;
    assert_eq!(session.reject().await, "bad_json");
    let failure = session.next().await.err().expect("it fails");
    assert_eq!(failure.kind, FailureKind::BadAnswer);
    assert_eq!(failure.message, "the external agent `mine` wrote a line of more than 4 MiB");
    // What it said before it was killed, if it was still able to.
    while seen.says().await.is_some() {}
    session.end(SessionEnding::Stopped).await;
}

/// Goal: a program that dies fails its day with its exit status and its last lines, without secrets; the next day
/// starts it again.
#[tokio::test]
async fn a_program_that_dies_is_a_failure() {
    let secret = "zq7x81kfp02mvn55";
    let env = [("AGENT_KEY".to_owned(), secret.to_owned())].into();
    let agents = Agents::with(ExternalAgent { env, ..program("dies", None) }, &[secret]).await;
    for date in [day(3), day(4)] {
        let mut session = agents.start("job", date).await.expect("it starts");
        let failure = session.next().await.err().expect("it fails");
        assert_eq!(failure.kind, FailureKind::ToolError);
        let beginning = "the external agent `mine` ended before its day was over (exit status: 3); the last lines of its \
                         standard error:\nnoise\n";
        assert!(failure.message.starts_with(beginning), "{}", failure.message);
        assert!(
            failure.message.ends_with("\nit ends") && !failure.message.contains(secret),
            "{}",
            failure.message
        );
        assert!(failure.message.len() < 3_000, "{}", failure.message.len());
        session.end(SessionEnding::Stopped).await;
    }
}

/// Goal: a program that hangs is ended with its session, even if it ignores the request to terminate; so is one whose
/// session is abandoned. Its place is free afterwards.
#[tokio::test]
async fn a_program_that_hangs_is_ended() {
    let watch = Watch::new().await;
    let agents = Agents::new(ExternalAgent { max_concurrent: 1, ..program("hangs", Some(&watch)) }).await;
    for abandoned in [false, true] {
        let session = agents.start("job", day(3)).await.expect("it starts");
        let mut seen = watch.server().await;
        assert_eq!(seen.says().await.as_deref(), Some("hangs"));
        if abandoned {
            drop(session);
        } else {
            session.end(SessionEnding::Deadline).await;
        }
        assert_eq!(seen.says().await, None, "it is killed");
    }
}

/// Goal: everything that a program has started ends with its day, even what left its process group.
#[tokio::test]
async fn children_end_with_the_day() {
    let watch = Watch::new().await;
    let agents = Agents::new(program("forks", Some(&watch))).await;
    let mut session = agents.start("job", day(3)).await.expect("it starts");
    let mut all = vec![watch.server().await, watch.server().await, watch.server().await];
    let mut names = BTreeSet::new();
    session.answer(json!({})).await;
    for seen in all.iter_mut().skip(1) {
        names.extend(seen.says().await);
    }
    assert_eq!(names, BTreeSet::from(["child".to_owned(), "left".to_owned()]));
    session.end(SessionEnding::Deadline).await;
    for seen in &mut all {
        assert_eq!(seen.says().await, None, "it is dead");
    }
}

/// Goal: when the runtime shuts down in the middle of a day, nothing that a program has started survives.
#[test]
fn a_shutdown_ends_programs() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("starts")
    };
    let (watching, working) = (runtime(), runtime());
    let watch = watching.block_on(Watch::new());
    let agents = working.block_on(Agents::new(program("forks", Some(&watch))));
    let mut session = working.block_on(agents.start("job", day(3))).expect("it starts");
    working.block_on(session.answer(json!({})));
    let mut all =
        watching.block_on(async { vec![watch.server().await, watch.server().await, watch.server().await] });
    drop(working);
    for seen in &mut all {
        watching.block_on(async { while seen.says().await.is_some() {} });
    }
    drop((session, agents));
}

/// Goal: a program whose next day does not come is ended, and started again when it does.
#[tokio::test]
async fn an_idle_program_is_ended() {
    let watch = Watch::new().await;
    let mut agents = Agents::new(program("days", Some(&watch))).await;
    agents.agents = agents.agents.with_max_idle(Duration::ZERO);
    for date in [day(3), day(4)] {
        let mut session = agents.start("job", date).await.expect("it starts");
        let mut seen = watch.server().await;
        session.play().await;
        session.end(SessionEnding::Completed).await;
        assert_eq!(seen.says().await, Some(format!("day {date}")));
        assert_eq!(seen.says().await.as_deref(), Some("end completed"));
        assert_eq!(seen.says().await.as_deref(), Some("input ended"));
        assert_eq!(seen.says().await, None);
    }
}

/// Goal: no more sessions run at once than the config allows; further ones wait and then start.
#[tokio::test]
async fn sessions_wait_for_a_place() {
    let agents = Agents::new(ExternalAgent { max_concurrent: 1, ..program("days", None) }).await;
    let mut first = agents.start("first", day(3)).await.expect("it starts");
    let open = agents.open("second", day(3));
    let mut second = agents.agents.start(agents.day(&open, Value::Null), door(&open));
    assert!(second.as_mut().now_or_never().is_none(), "it waits");
    first.play().await;
    first.end(SessionEnding::Completed).await;
    let second = second.await.expect("it starts");
    drop(second);
}

/// Goal: a program gets the variables of its config and a few harmless ones, and nothing else of our environment.
#[tokio::test]
async fn the_environment_is_kept_from_programs() {
    let env = [("MODEL".to_owned(), "small".to_owned())].into();
    let pass_env = vec!["CARGO_PKG_NAME".to_owned()];
    let agents = Agents::new(ExternalAgent { env, pass_env, ..program("environment", None) }).await;
    let mut session = agents.start("job", day(3)).await.expect("it starts");
    let (decision, _) = session.play().await;
    session.end(SessionEnding::Completed).await;
    let seen: serde_json::Map<String, Value> = serde_json::from_str(&decision.expect("one")).expect("JSON");
    assert!(std::env::var_os("CARGO_PKG_VERSION").is_some(), "there is something to keep");
    assert_eq!((&seen["MODEL"], &seen["CARGO_PKG_NAME"]), (&json!("small"), &json!("papertape")));
    let is_allowed = |name: &str| {
        let named =
            ["MODEL", "CARGO_PKG_NAME", "PAPERTAPE_AGENT_PROCESS", "PATH", "HOME", "LANG", "LANGUAGE"];
        named.contains(&name)
            || ["TMPDIR", "TZ", "VIRTUAL_ENV"].contains(&name)
            || ["LC_", "PYTHON"].iter().any(|prefix| name.starts_with(prefix))
    };
    assert!(seen.keys().all(|name| is_allowed(name)), "{:?}", seen.keys());
}

/// Goal: an agent that cannot be started says why, before a job is queued for it and when its day is to start.
#[tokio::test]
async fn programs_that_do_not_start() {
    let missing =
        ExternalAgent { command: vec!["papertape-no-such-program".to_owned()], ..ExternalAgent::default() };
    let agents = Agents::new(missing).await;
    let expected =
        "the external agent `mine` cannot be started: command not found: `papertape-no-such-program`";
    assert_eq!(agents.agents.facts("mine").err().as_deref(), Some(expected));
    let failure = agents.start("job", day(3)).await.err().expect("it fails");
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Unavailable, expected));
    let unknown = agents.agents.facts("nobody").expect_err("there is none");
    assert!(unknown.contains("add [external_agents.nobody] to the config"), "{unknown}");
    let cwd = Some("/papertape-no-such-folder".into());
    let agents = Agents::new(ExternalAgent { cwd, ..program("days", None) }).await;
    let error = agents.agents.facts("mine").expect_err("there is no folder");
    assert!(error.ends_with("its `cwd` is not a directory: /papertape-no-such-folder"), "{error}");
}
