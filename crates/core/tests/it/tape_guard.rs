//! Guards: verdicts, what they replace, and what is never a verdict.

use crate::tape_support::{
    CALL, Stage, body, echo, entry, guarded, read, request, secs, tool_call, tool_reply,
};
use papertape_core::message::FailureKind;
use papertape_core::tape::{Ctx, GuardOutcome, NodeFailure, OutcomeKind, ScopeKey, SessionStop, StepClass};
use papertape_testkit::host::{Act, MemoryHost};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

fn failure(message: &str) -> NodeFailure {
    NodeFailure { kind: "unparseable".to_owned(), message: message.to_owned() }
}

/// A node that sends `questions` and then fails, if given a reason.
async fn node(
    ctx: &mut Ctx,
    name: &str,
    questions: &[&str],
    fails: Option<&str>,
) -> Result<GuardOutcome<usize>, SessionStop> {
    let questions: Vec<String> = questions.iter().map(|text| (*text).to_owned()).collect();
    let fails = fails.map(failure);
    let body = guarded(move |mut ctx: Ctx| async move {
        for question in &questions {
            ctx.record_local(read("before", question)).await?;
            if let Err(failure) = ctx.model(&request(question), CALL).await? {
                return Ok(Err(NodeFailure {
                    kind: failure.kind.as_str().to_owned(),
                    message: failure.message,
                }));
            }
        }
        ctx.record_local(read("after", "all")).await?;
        Ok(fails.map_or(Ok(questions.len()), Err))
    });
    ctx.guard(ScopeKey::node(name), secs(10), body).await
}

/// Hangs on questions that say so.
fn host(stage: &Stage) -> MemoryHost {
    stage.host_with(|_, request| match crate::tape_support::last(request) {
        "hang" => Act::Hang,
        "down" => Act::Fail(FailureKind::Unavailable, "503".to_owned()),
        "slow" => echo(request).after(secs(9)),
        _ => echo(request),
    })
}

// Goal: a success leaves no verdict; a failure and a timeout do, immediately and with the deadline's
// duration.
#[test]
fn only_failures_and_timeouts_are_verdicts() {
    let stage = Stage::new();
    let (result, _) = stage.run(host(&stage), async |mut ctx: Ctx| {
        let fine = node(&mut ctx, "Fine", &["a", "slow"], None).await?;
        assert_eq!(stage.clock.elapsed(), secs(9));
        let unread = node(&mut ctx, "Unparseable", &["b"], Some("no JSON")).await?;
        let down = node(&mut ctx, "Down", &["c", "down", "never"], None).await?;
        let late = node(&mut ctx, "Late", &["d", "hang", "never"], None).await?;
        assert_eq!(stage.clock.elapsed(), secs(19));
        Ok([fine, unread, down, late])
    });
    let down = NodeFailure { kind: "unavailable".to_owned(), message: "503".to_owned() };
    let wanted = [
        GuardOutcome::Ok(2),
        GuardOutcome::Failed(failure("no JSON")),
        GuardOutcome::Failed(down),
        GuardOutcome::TimedOut,
    ];
    assert_eq!(result.expect("an end"), wanted);
    let kept = stage.kept();
    assert_eq!(kept.state("Fine#1/guard#1"), "absent");
    assert_eq!(kept.state("Unparseable#1/guard#1"), "done(failed)");
    assert_eq!(kept.state("Down#1/guard#1"), "done(failed)");
    assert_eq!(kept.state("Late#1/guard#1"), "done(timed_out)");
    assert!(kept.open().is_empty());
}

// Goal: on a run on the tape a recorded verdict replaces its body, which does not run; the steps recorded
// below it count as used.
#[test]
fn a_recorded_verdict_is_returned_without_its_body() {
    let stage = Stage::new();
    let runs = AtomicUsize::new(0);
    let program = async |mut ctx: Ctx| {
        let body = guarded(|mut ctx: Ctx| {
            runs.fetch_add(1, Ordering::Relaxed);
            async move {
                drop(ctx.model(&request("a"), CALL).await?);
                let inner = body(|mut ctx: Ctx| async move { ctx.model(&request("deep"), CALL).await });
                drop(ctx.all(vec![(ScopeKey::node("Inner"), inner)]).await?);
                drop(ctx.model(&request("hang"), CALL).await?);
                Ok(Ok(()))
            }
        });
        let verdict = ctx.guard(ScopeKey::node("Late"), secs(10), body).await?;
        drop(ctx.model(&request("next"), CALL).await?);
        Ok(verdict)
    };
    let (result, _) = stage.run(host(&stage), program);
    assert_eq!(result.expect("an end"), GuardOutcome::TimedOut);
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    let waited = stage.clock.elapsed();
    for tape in [stage.tape(), stage.tape().replay_only()] {
        let (result, host) = stage.run_on(tape, host(&stage), program);
        assert_eq!(result.expect("an end"), GuardOutcome::TimedOut);
        assert!(host.trace().is_empty());
    }
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    assert_eq!(stage.clock.elapsed(), waited, "nobody waited again");
}

// Goal: a resumed, unfinished body gets the full deadline again, and its recorded steps are not repeated.
#[test]
fn a_resumed_body_has_a_fresh_deadline() {
    let stage = Stage::new();
    let program = async |mut ctx: Ctx| node(&mut ctx, "Slow", &["slow"], None).await;
    // Boundaries: around the commit of the intent 0 and 1, around the call 2 and 3.
    let (result, _) = stage.run(host(&stage).crashing_at(3), program);
    assert!(matches!(result, Err(SessionStop::Shutdown)));
    assert_eq!(stage.clock.elapsed(), secs(9));
    let (result, _) = stage.run(host(&stage), program);
    assert_eq!(result.expect("an end"), GuardOutcome::Ok(1));
    assert_eq!(stage.clock.elapsed(), secs(18), "nine seconds again, though only one was left");
}

// Goal: a stop is passed up and is not a verdict, whatever raises it.
#[test]
fn a_stop_is_never_a_verdict() {
    let stops = [
        SessionStop::Cancelled,
        SessionStop::Shutdown,
        SessionStop::LostLease,
        SessionStop::Budget("used up".to_owned()),
    ];
    for stop in stops {
        let stage = Stage::new();
        let said = stop.clone();
        let host = stage.host_with(move |_, _| Act::Stop(said.clone()));
        let (result, _) = stage.run(host, async |mut ctx: Ctx| node(&mut ctx, "A", &["a"], None).await);
        assert_eq!(result.expect_err("a stop").to_string(), stop.to_string());
        assert_eq!(stage.kept().state("A#1/guard#1"), "absent");
        assert_eq!(stage.kept().state("A#1/model#1"), "intent");
        // And it can be resumed.
        let (result, _) =
            stage.run(stage.host(), async |mut ctx: Ctx| node(&mut ctx, "A", &["a"], None).await);
        assert_eq!(result.expect("an end"), GuardOutcome::Ok(1));
    }
}

// Goal: no order is placed inside a guard, at any depth; outside it, orders are allowed.
#[test]
fn an_order_inside_of_a_guard_is_misuse() {
    let order = || entry(StepClass::Order, json!({}), json!({}));
    let stage = Stage::new();
    let (result, _) = stage.run(stage.host(), async |mut ctx: Ctx| {
        let body = guarded(move |mut ctx: Ctx| async move {
            let mut child = ctx.child(ScopeKey::node("Deep"))?;
            let inner = body(move |mut ctx: Ctx| async move { ctx.record_local(order()).await });
            drop(child.all(vec![(ScopeKey::Symbol("AAPL".to_owned()), inner)]).await?);
            ctx.record_local(read("q", "a")).await?;
            Ok(Ok(()))
        });
        ctx.guard(ScopeKey::node("A"), secs(10), body).await
    });
    assert!(
        matches!(&result, Err(SessionStop::ContractViolation(why)) if why.contains("A#1/Deep#1/AAPL")),
        "{result:?}"
    );
    assert_eq!(stage.kept().commits, 0);
    let (result, _) = stage.run(stage.host(), async |mut ctx: Ctx| {
        drop(node(&mut ctx, "A", &["a"], None).await?);
        ctx.record_local(order()).await
    });
    result.expect("beside a guard there are orders");
}

// Goal: guards nest. The inner verdict is the outer body's business; the outer verdict replaces everything.
#[test]
fn guards_nest() {
    let program = |outer: u64| {
        async move |mut ctx: Ctx| {
            let body = guarded(|mut ctx: Ctx| async move {
                let inner = node(&mut ctx, "Inner", &["hang"], None).await?;
                drop(ctx.model(&request("fallback"), CALL).await?);
                Ok(Ok(inner))
            });
            ctx.guard(ScopeKey::node("Outer"), secs(outer), body).await
        }
    };
    // The inner deadline of ten seconds passes first.
    let stage = Stage::new();
    let (result, _) = stage.run(host(&stage), program(60));
    assert_eq!(result.expect("an end"), GuardOutcome::Ok(GuardOutcome::TimedOut));
    assert_eq!(stage.kept().state("Outer#1/Inner#1/guard#1"), "done(timed_out)");
    assert_eq!(stage.kept().state("Outer#1/guard#1"), "absent");
    assert_eq!(
        stage.run(host(&stage), program(60)).0.expect("again"),
        GuardOutcome::Ok(GuardOutcome::TimedOut)
    );

    // The outer deadline passes first: the inner guard has no verdict of its own.
    let stage = Stage::new();
    let (result, _) = stage.run(host(&stage), program(5));
    assert_eq!(result.expect("an end"), GuardOutcome::TimedOut);
    assert_eq!(stage.kept().state("Outer#1/Inner#1/guard#1"), "absent");
    assert_eq!(stage.kept().state("Outer#1/Inner#1/model#1"), "abandoned");
    assert_eq!(stage.run(host(&stage), program(5)).0.expect("again"), GuardOutcome::TimedOut);
}

// Goal: the deadline runs from the start of the guard: what the body does before it first waits counts.
#[test]
fn the_deadline_runs_from_the_start() {
    let stage = Stage::new();
    let clock = stage.clock.clone();
    let (result, _) = stage.run(stage.host(), async |mut ctx: Ctx| {
        let body = guarded(|_| {
            clock.advance(secs(10));
            futures::future::pending::<Result<Result<(), NodeFailure>, SessionStop>>()
        });
        ctx.guard(ScopeKey::node("Late"), secs(10), body).await
    });
    assert_eq!(result.expect("an end"), GuardOutcome::TimedOut);
    assert_eq!(stage.clock.elapsed(), secs(10));
}

// Goal: deferred writes of a dropped body are committed with the verdict.
#[test]
fn riders_of_a_dropped_body_are_kept_with_the_verdict() {
    let stage = Stage::new();
    let program = async |mut ctx: Ctx| {
        let body = guarded(|mut ctx: Ctx| async move {
            drop(ctx.model(&request("a"), CALL).await?);
            ctx.record_local(read("waiting", "row")).await?;
            futures::future::pending::<()>().await;
            Ok(Ok(()))
        });
        ctx.guard(ScopeKey::node("Late"), secs(10), body).await
    };
    let (result, _) = stage.run(stage.host(), program);
    assert_eq!(result.expect("an end"), GuardOutcome::TimedOut);
    let kept = stage.kept();
    let verdict = kept.step("Late#1/guard#1").expect("kept");
    assert_eq!(kept.step("Late#1/read#1").expect("kept").commit, verdict.commit);
    stage.run_on(stage.tape().replay_only(), stage.host(), program).0.expect("nothing is unread");
}

// Goal: a verdict is redacted like everything recorded.
#[test]
fn a_verdict_is_redacted() {
    let mut stage = Stage::new();
    stage.secrets = vec![("openai".to_owned(), "orchard-lamp-99-violet".to_owned())];
    let program = async |mut ctx: Ctx| {
        node(&mut ctx, "A", &[], Some("the key orchard-lamp-99-violet was refused")).await
    };
    let (first, _) = stage.run(stage.host(), program);
    let first = first.expect("an end");
    assert!(!format!("{first:?}").contains("orchard-lamp"), "{first:?}");
    assert!(!stage.kept().dump().contains("orchard-lamp"));
    assert_eq!(stage.run(stage.host(), program).0.expect("again"), first);
}

// Goal: on a replay, a body that fails without a recorded verdict is a missing step.
#[test]
fn a_new_verdict_is_missing_on_a_replay() {
    let stage = Stage::new();
    stage.run(stage.host(), async |mut ctx: Ctx| node(&mut ctx, "A", &["a"], None).await).0.expect("an end");
    let fails = async |mut ctx: Ctx| node(&mut ctx, "A", &["a"], Some("now it fails")).await;
    let (result, _) = stage.run_on(stage.tape().replay_only(), stage.host(), fails);
    assert!(
        matches!(&result, Err(SessionStop::Missing(path)) if path.as_str() == "A#1/guard#1"),
        "{result:?}"
    );
}

// Goal: the same node in another round has another scope; in the same round it is misuse.
#[test]
fn a_node_runs_once_a_round() {
    let stage = Stage::new();
    let (result, _) = stage.run(stage.host(), async |mut ctx: Ctx| {
        for round in 1..=2 {
            let body = guarded(|mut ctx: Ctx| async move {
                drop(ctx.model(&request("a"), CALL).await?);
                Ok(Ok(()))
            });
            drop(ctx.guard(ScopeKey::Node("Bull Researcher".to_owned(), round), secs(10), body).await?);
        }
        node(&mut ctx, "Bull Researcher", &["a"], None).await
    });
    assert!(matches!(result, Err(SessionStop::ContractViolation(_))));
    assert_eq!(stage.kept().state("Bull Researcher#2/model#1"), "done(ok)");
}

// Goal: an external call in flight at the deadline is abandoned, repeatable or not, and never sent again.
#[test]
fn an_outside_call_is_abandoned_too() {
    let stage = Stage::new();
    let program = async |mut ctx: Ctx| {
        let body = guarded(|mut ctx: Ctx| async move {
            drop(ctx.external(&tool_call("send"), false, CALL, None).await?);
            Ok(Ok(()))
        });
        ctx.guard(ScopeKey::node("Web"), secs(10), body).await
    };
    let host = || stage.host().with_tools(|_, _| tool_reply("late").after(secs(11)));
    let (result, _) = stage.run(host(), program);
    assert_eq!(result.expect("an end"), GuardOutcome::TimedOut);
    assert_eq!(stage.kept().state("Web#1/tool#1"), "abandoned");
    let (result, host) = stage.run(host(), program);
    assert_eq!(result.expect("an end"), GuardOutcome::TimedOut);
    assert!(host.calls().is_empty());
    assert!(!stage.kept().is_done("Web#1/tool#1", OutcomeKind::Unknown));
}
