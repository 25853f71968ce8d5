//! Every state of a step, and the order in which things are recorded.

use crate::tape_support::{CALL, Stage, entry, guarded, read, request, secs, tool_call, tool_reply};
use papertape_core::message::{FailureKind, Role};
use papertape_core::record::{DerivedRow, TapeRow};
use papertape_core::tape::{
    Ctx, GuardOutcome, LocalStep, OutcomeKind, ScopeKey, SessionStop, StepClass, StepState, Tape,
    ToolInvocation, TranscriptMessage,
};
use papertape_testkit::host::Act;
use serde_json::json;

// Goal: the outcome of a call determines the state of its step and the result for the session.
#[test]
fn an_answered_step_is_done_with_its_kind() {
    let cases = [
        (None, OutcomeKind::Ok),
        (Some(FailureKind::Unavailable), OutcomeKind::Failed),
        (Some(FailureKind::RateLimited), OutcomeKind::Failed),
        (Some(FailureKind::Unauthorised), OutcomeKind::Failed),
        (Some(FailureKind::TimedOut), OutcomeKind::TimedOut),
        (Some(FailureKind::BadRequest), OutcomeKind::Refused),
    ];
    for (failure, kind) in cases {
        let stage = Stage::new();
        let host = stage.host_with(move |_, _| match failure {
            None => Act::text("fine"),
            Some(failure) => Act::Fail(failure, "no".to_owned()),
        });
        let ask = async |mut ctx: Ctx| ctx.model(&request("?"), CALL).await;
        let (first, _) = stage.run(host, ask);
        assert!(stage.kept().is_done("model#1", kind), "{}", stage.kept().state("model#1"));

        // The same again from the tape, without a call.
        let (again, host) = stage.run(stage.host(), ask);
        assert_eq!(first.expect("an outcome"), again.expect("an outcome"));
        assert!(host.calls().is_empty());
    }
}

// Goal: the intent is durable before the call, the outcome before it is used, and the response is a message
// in the same transaction as its outcome.
#[test]
fn an_intent_comes_before_its_call_and_an_outcome_before_its_use() {
    let stage = Stage::new();
    let (result, host) = stage.run(stage.host(), async |mut ctx: Ctx| {
        ctx.record_local(read("cash", "100")).await?;
        ctx.push_user_message("What now?").await?;
        assert_eq!(stage.kept().commits, 0, "local steps wait for the next transaction");
        let reply = ctx.model(&request("?"), CALL).await?;
        assert_eq!(stage.kept().state("model#1"), "done(ok)");
        Ok(reply.expect("an answer").text)
    });
    assert_eq!(result.expect("an answer"), "re: ?");
    assert_eq!(host.trace(), ["commit 1", "call model#1", "answer model#1", "commit 2"]);

    let kept = stage.kept();
    for rider in ["read#1", "message#1", "model#1"] {
        assert_eq!(kept.step(rider).expect("kept").commit, 1, "{rider} rides in the intent's transaction");
    }
    let model = kept.step("model#1").expect("kept");
    assert_eq!(model.ended_in, Some(2));
    assert!(matches!(&model.implied[..], [DerivedRow::Message(row)] if row.role == Role::Assistant));
    let said = [("user".to_owned(), "What now?".to_owned()), ("assistant".to_owned(), "re: ?".to_owned())];
    assert_eq!(kept.messages(), said);
}

// Goal: pending writes are committed with the session's end, or by a flush.
#[test]
fn the_last_local_rows_ride_in_the_end() {
    let stage = Stage::new();
    let (result, _) = stage.run(stage.host(), async |mut ctx: Ctx| {
        ctx.record_local(read("a", "1")).await?;
        ctx.flush().await?;
        assert_eq!(stage.kept().commits, 1);
        ctx.flush().await?;
        assert_eq!(stage.kept().commits, 1, "nothing waits, nothing is written");
        ctx.record_local(entry(StepClass::Order, json!({}), json!({ "filled": 1 }))).await?;
        Ok(())
    });
    result.expect("an end");
    assert_eq!(stage.kept().step("order#1").expect("kept").commit, 2);
    assert_eq!(stage.kept().state("order#1"), "done(ok)");
}

// Goal: an external tool's result or failure is returned to the session and recorded as the tool's message
// with its input.
#[test]
fn an_outside_tool_speaks_in_the_conversation() {
    for (act, said) in [
        (tool_reply("sunny"), "sunny"),
        (Act::Fail(FailureKind::ToolError, "down".to_owned()), "tool_error: down"),
    ] {
        let stage = Stage::new();
        let host = stage.host().with_tools(move |_, _| act.clone());
        let (result, _) = stage.run(host, async |mut ctx: Ctx| {
            let note = ToolInvocation { name: "web__look".to_owned(), input: json!({ "q": "AAPL" }) };
            ctx.external(&tool_call("look"), true, CALL, Some(note)).await
        });
        drop(result.expect("an outcome"));
        let kept = stage.kept();
        assert_eq!(kept.messages(), [("tool".to_owned(), said.to_owned())]);
        let DerivedRow::Message(row) = kept.implied()[0] else { panic!("a message") };
        assert_eq!(row.tool_name.as_deref(), Some("web__look"));
        assert_eq!(row.tool_input, Some(json!({ "q": "AAPL" })));
    }
}

// Goal: a repeatable open intent is sent again as the next attempt, and the lost attempt is recorded as such.
#[test]
fn an_open_intent_is_the_next_attempt() {
    for tool in [false, true] {
        let stage = Stage::new();
        let ask = async |mut ctx: Ctx| {
            if tool {
                let reply = ctx.external(&tool_call("look"), true, CALL, None).await?;
                return Ok(reply.map(|reply| reply.text));
            }
            Ok(ctx.model(&request("?"), CALL).await?.map(|reply| reply.text))
        };
        let path = if tool { "tool#1" } else { "model#1" };
        for crash in 1..=2 {
            let host = stage.host().with_tools(|_, _| tool_reply("re: ?")).crashing_at(3);
            drop(stage.run(host, ask).0.expect_err("it crashes after the call"));
            assert_eq!(stage.kept().state(path), "intent");
            assert_eq!(stage.kept().rows()[0].attempts, crash);
        }
        let (result, _) = stage.run(stage.host().with_tools(|_, _| tool_reply("re: ?")), ask);
        assert_eq!(result.expect("an outcome").expect("an answer"), "re: ?");
        let kept = stage.kept();
        let attempts = &kept.step(path).expect("kept").attempts;
        let errors: Vec<_> = attempts.values().flatten().map(|end| end.error.as_deref()).collect();
        assert_eq!(errors, [Some("interrupted"), Some("interrupted"), None]);
    }
}

// Goal: a call that may have taken effect is never sent twice; the agent learns that its outcome is unknown.
#[test]
fn an_open_intent_that_cannot_be_repeated_is_unknown() {
    let stage = Stage::new();
    let note = || Some(ToolInvocation { name: "web__send".to_owned(), input: json!({}) });
    let send = async |mut ctx: Ctx| ctx.external(&tool_call("send"), false, CALL, note()).await;
    let host = stage.host().with_tools(|_, _| tool_reply("sent")).crashing_at(3);
    let (result, host) = stage.run(host, send);
    assert!(matches!(result, Err(SessionStop::Shutdown)));
    assert_eq!(host.calls().values().sum::<usize>(), 1);

    for _ in 0..2 {
        let (result, host) = stage.run(stage.host(), send);
        let failure = result.expect("an outcome").expect_err("nobody knows");
        assert!(failure.message.contains("unknown"), "{failure}");
        assert!(host.calls().is_empty());
        assert!(stage.kept().is_done("tool#1", OutcomeKind::Unknown));
        assert!(stage.kept().messages()[0].1.contains("unknown"));
    }
    assert_eq!(stage.kept().interrupted(), 1, "the lost attempt is marked");
}

// Goal: the value returned by a local step is the recorded one, and its message is recorded with it.
#[test]
fn a_local_step_is_done_at_once() {
    let stage = Stage::new();
    let (result, _) = stage.run(stage.host(), async |mut ctx: Ctx| {
        let said = TranscriptMessage { role: Role::Tool, content: "{}".to_owned(), tool: None };
        let entry = LocalStep { outcome_kind: OutcomeKind::Refused, message: Some(said), ..read("q", "a") };
        ctx.record_local(entry).await
    });
    assert_eq!(result.expect("the outcome"), json!("a"));
    let kept = stage.kept();
    let step = kept.step("read#1").expect("kept");
    assert_eq!(step.state, StepState::Done(OutcomeKind::Refused));
    assert_eq!(kept.outcome(step), Some(json!("a")));
    assert_eq!(kept.document(step.request_ref), Some(json!({ "q": "q" })));
    assert_eq!(kept.messages(), [("tool".to_owned(), "{}".to_owned())]);
}

// Goal: a stop at admission leaves nothing behind, not even an intent, and can be resumed.
#[test]
fn a_stop_records_nothing() {
    let stage = Stage::new();
    let program = async |mut ctx: Ctx| {
        ctx.record_local(read("q", "a")).await?;
        ctx.model(&request("?"), CALL).await
    };
    for stop in [
        SessionStop::Budget("job: 1 of 1".to_owned()),
        SessionStop::Cancelled,
        SessionStop::Shutdown,
        SessionStop::LostLease,
    ] {
        let host = stage.host();
        host.refuse(stop.clone());
        let (result, host) = stage.run(host, program);
        assert_eq!(result.expect_err("a stop").to_string(), stop.to_string());
        assert!(host.calls().is_empty());
        assert_eq!(stage.kept().commits, 0);
    }
    // During a call: the intent stays open, and there is no outcome.
    let host = stage.host_with(|_, _| Act::Stop(SessionStop::Cancelled));
    assert!(matches!(stage.run(host, program).0, Err(SessionStop::Cancelled)));
    assert_eq!(stage.kept().state("model#1"), "intent");

    let (result, _) = stage.run(stage.host(), program);
    assert_eq!(result.expect("resumed").expect("an answer").text, "re: ?");
}

// Goal: a guard that closes abandons only the open steps below it.
#[test]
fn a_closed_guard_abandons_open_intents() {
    let stage = Stage::new();
    let host = stage.host_with(|path, request| match path.as_str() {
        "Slow#1/model#2" => Act::Hang,
        _ => crate::tape_support::echo(request),
    });
    let (result, _) = stage.run(host, async |mut ctx: Ctx| {
        let body = guarded(|mut ctx: Ctx| async move {
            drop(ctx.model(&request("one"), CALL).await?);
            drop(ctx.model(&request("two"), CALL).await?);
            Ok(Ok(()))
        });
        ctx.guard(ScopeKey::node("Slow"), secs(30), body).await
    });
    assert_eq!(result.expect("a verdict"), GuardOutcome::TimedOut);
    let kept = stage.kept();
    assert_eq!(kept.state("Slow#1/model#1"), "done(ok)");
    assert_eq!(kept.state("Slow#1/model#2"), "abandoned");
    assert!(kept.is_done("Slow#1/guard#1", OutcomeKind::TimedOut));
    let closing = kept.step("Slow#1/guard#1").expect("kept").commit;
    assert_eq!(closing, kept.commits, "verdict and abandonment are one transaction");
    assert!(kept.open().is_empty());
}

// Goal: an open local step, or an abandoned one without its guard, is rejected: this program cannot have
// written it.
#[test]
fn rows_that_cannot_be_are_refused() {
    let stage = Stage::new();
    stage
        .run(stage.host(), async |mut ctx: Ctx| {
            drop(ctx.model(&request("?"), CALL).await?);
            ctx.record_local(read("q", "a")).await
        })
        .0
        .expect("an end");
    let with = |path: &str, state: StepState| -> Tape {
        let rows = stage.kept().rows().into_iter();
        let change = |row: TapeRow| if row.path.as_str() == path { TapeRow { state, ..row } } else { row };
        Tape::new(rows.map(change).collect())
    };
    let (result, _) =
        stage.run_on(with("model#1", StepState::Abandoned), stage.host(), async |mut ctx: Ctx| {
            ctx.model(&request("?"), CALL).await
        });
    assert!(matches!(result, Err(SessionStop::Diverged(_))));
    let (result, _) = stage.run_on(with("read#1", StepState::Intent), stage.host(), async |mut ctx: Ctx| {
        ctx.record_local(read("q", "a")).await
    });
    assert!(matches!(result, Err(SessionStop::ContractViolation(_))));
}
