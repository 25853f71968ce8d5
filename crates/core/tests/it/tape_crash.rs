//! A session that is killed at any point, any number of times, ends as if nothing had happened.

use crate::tape_support::{
    CALL, Stage, body, echo, entry, guarded, last, read, request, secs, tool_call, tool_reply,
};
use papertape_core::message::{FailureKind, Message};
use papertape_core::record::Write;
use papertape_core::tape::{
    Branch, Ctx, GuardOutcome, NodeFailure, ScopeKey, SessionStop, StepClass, ToolInvocation,
};
use papertape_testkit::host::{Act, MemoryHost};
use proptest::prelude::*;
use serde_json::json;

const SYMBOLS: [&str; 3] = ["AAPL", "GOOG", "IBM"];

/// A day that uses everything: an order before and after, a conversation with tools, concurrent research
/// under guards of which one fails and one hangs, and random numbers.
async fn day(ctx: Ctx) -> Result<String, SessionStop> {
    let mut pre = ctx.child(ScopeKey::node("pre"))?;
    pre.record_local(entry(StepClass::Order, json!({ "split": 2 }), json!({ "shares": 20 }))).await?;

    let mut desk = ctx.child(ScopeKey::node("desk"))?;
    let verdicts = desk.all(SYMBOLS.iter().map(|symbol| research(symbol)).collect()).await?;

    let mut talk = ctx.child(ScopeKey::node("solo"))?;
    talk.set_system_prompt("Trade well.");
    let lot = talk.rng().next_u32() % 9;
    let opening = talk.push_user_message(&format!("{verdicts:?}, lots of {lot}")).await?;
    let mut request = request(&opening);
    for turn in 0..3_u32 {
        let reply = talk.model(&request, CALL).await?.expect("an answer");
        request.messages.push(reply.to_message());
        let note = ToolInvocation { name: "web__look".to_owned(), input: json!({ "turn": turn }) };
        let seen = talk.external(&tool_call("look"), true, CALL, Some(note)).await?;
        let seen = seen.map_or_else(|failure| failure.to_string(), |reply| reply.text);
        talk.record_local(entry(StepClass::Order, json!({ "turn": turn }), json!({ "cash": 100 - turn })))
            .await?;
        request.messages.push(Message::user(seen));
    }
    let mut close = ctx.child(ScopeKey::node("close"))?;
    close.record_local(read("marks", "90")).await?;
    Ok(request.messages.iter().map(Message::content).collect::<Vec<_>>().join("\n"))
}

fn research(symbol: &'static str) -> (ScopeKey, Branch<'static, GuardOutcome<String>>) {
    let branch = body(move |mut ctx: Ctx| async move {
        ctx.record_local(read("symbol", symbol)).await?;
        let work = guarded(move |mut ctx: Ctx| async move {
            ctx.record_local(read("bars", symbol)).await?;
            let bull = ctx.model(&request(&format!("{symbol}: bull?")), CALL).await?.expect("an answer");
            ctx.record_local(read("noted", &bull.text)).await?;
            let (kind, message) = ("unparseable".to_owned(), format!("{symbol}: no JSON"));
            if symbol == "GOOG" {
                return Ok(Err(NodeFailure { kind, message }));
            }
            let bear = ctx.model(&request(&format!("{symbol}: bear?")), CALL).await?.expect("an answer");
            Ok(Ok(bear.text))
        });
        let verdict = ctx.guard(ScopeKey::node("Analyst"), secs(30), work).await?;
        drop(ctx.model(&request(&format!("{symbol}: judge {verdict:?}")), CALL).await?);
        Ok(verdict)
    });
    (ScopeKey::Symbol(symbol.to_owned()), branch)
}

fn host(stage: &Stage) -> MemoryHost {
    let host = stage.host_with(|_, request| match last(request) {
        "IBM: bear?" => Act::Hang,
        "AAPL: bull?" => echo(request).after(secs(3)),
        "GOOG: bull?" => echo(request).after(secs(1)),
        _ => echo(request),
    });
    host.with_tools(|path, _| match path.as_str() {
        "solo#1/tool#2" => Act::Fail(FailureKind::ToolError, "down".to_owned()),
        _ => tool_reply("sunny"),
    })
}

/// Runs the day with crashes at these boundaries, each counted from the resumption, then to its end. Checks
/// the invariants after each crash.
fn run_with_crashes(crashes: &[usize]) -> Result<(Stage, String), TestCaseError> {
    let stage = Stage::new();
    let mut calls = 0;
    let mut in_flight = 0;
    for boundary in crashes {
        let (result, host) = stage.run(host(&stage).crashing_at(*boundary), day);
        calls += host.calls().values().sum::<usize>();
        prop_assert!(host.calls().values().all(|count| *count == 1));
        match result {
            Err(SessionStop::Shutdown) => in_flight += stage.kept().open().len(),
            // After the day's end there is no boundary to crash at.
            Ok(text) => return Ok((stage, text)),
            Err(other) => prop_assert!(false, "crash at {}: {}", boundary, other),
        }
    }
    let (result, host) = stage.run(host(&stage), day);
    calls += host.calls().values().sum::<usize>();
    let kept = stage.kept();
    let external = kept.steps.iter().filter(|step| step.class == StepClass::External).count();
    prop_assert!(calls <= external + in_flight, "{calls} calls for {external} steps, {in_flight} in flight");
    prop_assert!(kept.interrupted() <= in_flight);
    prop_assert!(calls <= external + kept.interrupted(), "each repeated call is marked");
    prop_assert!(kept.open().is_empty());
    match result {
        Ok(text) => Ok((stage, text)),
        Err(stop) => Err(TestCaseError::fail(format!("crashes at {crashes:?}: {stop}"))),
    }
}

fn undisturbed() -> (Stage, String, usize) {
    let stage = Stage::new();
    let (result, host) = stage.run(host(&stage), day);
    (stage, result.expect("an end"), host.boundaries())
}

// Goal: after a crash before or after any commit or call, the resumed day leaves the same rows.
#[test]
fn a_crash_anywhere_leaves_the_same_record() {
    let (whole, text, boundaries) = undisturbed();
    assert!(boundaries > 60, "the day has its boundaries: {boundaries}");
    let wanted = whole.kept().canonical();
    for boundary in 0..boundaries {
        let (stage, said) = run_with_crashes(&[boundary]).expect("a run");
        assert_eq!(said, text, "crash at {boundary}");
        assert_eq!(stage.kept().canonical(), wanted, "crash at {boundary}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // Goal: the same after several crashes in a row.
    #[test]
    fn several_crashes_leave_the_same_record(crashes in proptest::collection::vec(0_usize..90, 2..6)) {
        let (whole, text, _) = undisturbed();
        let (stage, said) = run_with_crashes(&crashes)?;
        prop_assert_eq!(said, text);
        prop_assert_eq!(stage.kept().canonical(), whole.kept().canonical());
    }
}

// Goal: the recorded day replays on a replay-only tape.
#[test]
fn a_crashed_day_replays() {
    let (stage, text) = run_with_crashes(&[17, 23, 5]).expect("a run");
    let (result, host) = stage.run_on(stage.tape().replay_only(), stage.host(), day);
    assert_eq!(result.expect("a replay"), text);
    assert!(host.trace().is_empty());
}

// Goal: a non-repeatable call is made at most once, wherever the crash is, and an unknown outcome is reported
// to the agent.
#[test]
fn a_call_that_cannot_be_repeated_is_made_at_most_once() {
    let program = async |mut ctx: Ctx| {
        drop(ctx.model(&request("before"), CALL).await?);
        let note = ToolInvocation { name: "web__send".to_owned(), input: json!({}) };
        let sent = ctx.external(&tool_call("send"), false, CALL, Some(note)).await?;
        drop(ctx.model(&request(&format!("{sent:?}")), CALL).await?);
        Ok(sent.is_ok())
    };
    let fresh = |stage: &Stage| stage.host().with_tools(|_, _| tool_reply("sent"));
    let boundaries = {
        let stage = Stage::new();
        stage.run(fresh(&stage), program).1.boundaries()
    };
    let mut unknown = 0;
    for boundary in 0..boundaries {
        let stage = Stage::new();
        let (_, first) = stage.run(fresh(&stage).crashing_at(boundary), program);
        let (result, second) = stage.run(fresh(&stage), program);
        let is_known = result.expect("resumed");
        let sent = |host: &MemoryHost| host.calls().iter().filter(|(path, _)| path.kind() == "tool").count();
        assert!(sent(&first) + sent(&second) <= 1, "crash at {boundary}");
        assert_eq!(is_known, stage.kept().state("tool#1") == "done(ok)");
        unknown += usize::from(!is_known);
    }
    assert_eq!(unknown, 4, "after its intent, before and after the call, and before its outcome");
}

// Goal: a session's end is one transaction with the pending writes, and nothing is written after it.
#[test]
fn the_end_is_one_transaction() {
    let stage = Stage::new();
    let host = std::sync::Arc::new(stage.host());
    let session = stage.session(&host, stage.tape());
    stage.clock.run(async {
        let mut root = session.root();
        root.record_local(read("q", "a")).await.expect("no stop");
        let summary = Write::Summary { path: None, summary: Err("none was asked for".to_owned()) };
        session.finish(vec![summary]).await.expect("an end");
    });
    assert_eq!(stage.kept().commits, 1);
    assert_eq!(stage.kept().summaries.len(), 1);
}
