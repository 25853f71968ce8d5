//! A branch copies its parent's outcomes up to the cut, wherever the requests are equal.

use crate::tape_support::{CALL, Stage, entry, guarded, read, request, secs, tool_call, tool_reply};
use papertape_core::message::FailureKind;
use papertape_core::record::{ReusedSession, TapeRow};
use papertape_core::tape::{Ctx, GuardOutcome, NodeFailure, ScopeKey, SessionStop, StepClass, Tape};
use papertape_testkit::host::{Act, MemoryHost};
use serde_json::json;

const FIRST: &str = "what about AAPL?";

/// Two model calls, a tool, an order and a node that fails.
async fn day(mut ctx: Ctx, second: &str) -> Result<(Vec<String>, GuardOutcome<()>), SessionStop> {
    ctx.record_local(read("cash", "100")).await?;
    let mut said = Vec::new();
    for question in [FIRST, second] {
        let reply = ctx.model(&request(question), CALL).await?;
        said.push(reply.map_or_else(|failure| failure.to_string(), |reply| reply.text));
        ctx.record_local(read("after", question)).await?;
    }
    let looked = ctx.external(&tool_call("look"), true, CALL, None).await?;
    said.push(looked.map_or_else(|failure| failure.to_string(), |reply| reply.text));
    ctx.record_local(entry(StepClass::Order, json!({ "side": "buy" }), json!({ "cash": 90 }))).await?;
    let body = guarded(|mut ctx: Ctx| async move {
        drop(ctx.model(&request("in the guard"), CALL).await?);
        let (kind, message) = ("unparseable".to_owned(), "no JSON".to_owned());
        Ok(Err(NodeFailure { kind, message }))
    });
    let verdict = ctx.guard(ScopeKey::node("Judge"), secs(10), body).await?;
    Ok((said, verdict))
}

fn host(stage: &Stage, mood: &'static str) -> MemoryHost {
    let host = stage.host_with(move |_, request| match crate::tape_support::last(request) {
        "broken" => Act::Fail(FailureKind::Unavailable, "503".to_owned()),
        question => Act::text(format!("{mood}: {question}")),
    });
    host.with_tools(move |_, _| tool_reply(mood))
}

fn parent(second: &str) -> Stage {
    let stage = Stage::new();
    stage.run(host(&stage, "parent"), async |ctx: Ctx| day(ctx, second).await).0.expect("an end");
    stage
}

/// The parent's rows before this path, in their recorded order.
fn before(stage: &Stage, cut: &str) -> Vec<TapeRow> {
    let rows = stage.kept().rows();
    let at = rows.iter().position(|row| row.path.as_str() == cut).unwrap_or(rows.len());
    rows.into_iter().take(at).collect()
}

fn origin() -> ReusedSession {
    let date = papertape_core::time::parse_date("2012-10-01").expect("is a date");
    ReusedSession { job: "job-1".into(), agent: "alpha".into(), date }
}

fn inheriting(rows: Vec<TapeRow>) -> Tape {
    Tape::default().with_parent(origin(), rows)
}

// Goal: outcomes of equal requests are copied with their origin and never performed, failures and verdicts
// included; our own steps are recomputed.
#[test]
fn equal_digests_are_copied() {
    let parent = parent("broken");
    let child = Stage::beside(&parent);
    let tape = inheriting(parent.kept().rows());
    let (result, host) = child.run_on(tape, host(&child, "child"), async |ctx: Ctx| day(ctx, "broken").await);
    let (said, verdict) = result.expect("an end");
    assert_eq!(said, ["parent: what about AAPL?", "unavailable: 503", "parent"]);
    assert!(matches!(verdict, GuardOutcome::Failed(failure) if failure.kind == "unparseable"));
    assert!(host.calls().is_empty());

    let kept = child.kept();
    for path in ["model#1", "model#2", "tool#1", "Judge#1/guard#1", "Judge#1/model#1"] {
        let step = kept.step(path).expect("kept");
        let from = step.reused_from.as_ref().map(ToString::to_string);
        assert_eq!(from, Some(format!("job-1/alpha/2012-10-01/{path}")));
        assert!(step.attempts.is_empty(), "{path} cost nothing here");
        let parents = parent.kept();
        let origin = parents.step(path).expect("kept");
        assert_eq!(kept.outcome(step), parents.outcome(origin));
        assert_eq!(kept.document(step.request_ref), parents.document(origin.request_ref));
    }
    for path in ["read#1", "read#2", "order#1"] {
        assert_eq!(kept.step(path).expect("kept").reused_from, None, "{path} is recomputed");
    }
    // The body does not run again, but stays readable.
    assert_eq!(kept.messages(), parent.kept().messages());

    // Afterwards the branch does not need its parent.
    let again = child.tape().replay_only();
    child.run_on(again, child.host(), async |ctx: Ctx| day(ctx, "broken").await).0.expect("a replay");
}

/// A node that calls a model, records the response, and calls again for longer than its deadline.
async fn slow(mut ctx: Ctx) -> Result<GuardOutcome<()>, SessionStop> {
    ctx.record_local(read("cash", "100")).await?;
    let body = guarded(|mut ctx: Ctx| async move {
        drop(ctx.model(&request("quick"), CALL).await?);
        ctx.push_user_message("so much for that").await?;
        drop(ctx.model(&request("slow"), CALL).await?);
        Ok(Ok(()))
    });
    ctx.guard(ScopeKey::node("News"), secs(10), body).await
}

// Goal: a verdict is copied with the steps of its body: those that ended, their messages, and those that the
// deadline cut off, each with its origin and none with a cost; the branch can be replayed.
#[test]
fn a_verdicts_body_is_copied_with_it() {
    let parent = Stage::new();
    let hang = |stage: &Stage| {
        stage.host_with(|_, request| match crate::tape_support::last(request) {
            "slow" => Act::Hang,
            question => Act::text(format!("re: {question}")),
        })
    };
    let (verdict, _) = parent.run(hang(&parent), slow);
    assert_eq!(verdict.expect("an end"), GuardOutcome::TimedOut);
    let body = ["News#1/model#1", "News#1/message#1", "News#1/model#2"];
    let states = |stage: &Stage| body.map(|path| stage.kept().state(path));
    assert_eq!(states(&parent)[2], "abandoned");

    let child = Stage::beside(&parent);
    let (verdict, host) = child.run_on(inheriting(parent.kept().rows()), child.host(), slow);
    assert_eq!(verdict.expect("an end"), GuardOutcome::TimedOut);
    assert!(host.calls().is_empty());
    assert_eq!(states(&child), states(&parent));
    assert_eq!(child.kept().messages(), parent.kept().messages());
    for path in body {
        let kept = child.kept();
        let step = kept.step(path).expect("copied");
        let from = step.reused_from.as_ref().map(ToString::to_string);
        assert_eq!(from, Some(format!("job-1/alpha/2012-10-01/{path}")));
        assert!(step.attempts.is_empty(), "{path} cost nothing here");
    }
    child.run_on(child.tape().replay_only(), child.host(), slow).0.expect("a replay");

    // With a cut before the verdict, the body runs.
    let later = Stage::beside(&parent);
    let tape = inheriting(before(&parent, "News#1/guard#1"));
    let (verdict, host) = later.run_on(tape, later.host(), slow);
    assert_eq!(verdict.expect("an end"), GuardOutcome::Ok(()));
    assert_eq!(host.calls().len(), 1, "what was answered is copied, what was cut off is asked");
}

// Goal: a different request is sent, and equal requests after it are still copied.
#[test]
fn another_digest_is_performed() {
    let parent = parent("and IBM?");
    let child = Stage::beside(&parent);
    let tape = inheriting(parent.kept().rows());
    let (result, host) =
        child.run_on(tape, host(&child, "child"), async |ctx: Ctx| day(ctx, "and GOOG?").await);
    let (said, _) = result.expect("an end");
    assert_eq!(said, ["parent: what about AAPL?", "child: and GOOG?", "parent"]);
    assert_eq!(host.calls().len(), 1);
    assert_eq!(child.kept().step("model#2").expect("kept").reused_from, None);
}

// Goal: nothing from the cut on is copied, even under an equal digest.
#[test]
fn nothing_is_copied_from_the_cut_on() {
    let parent = parent("and IBM?");
    let child = Stage::beside(&parent);
    let tape = inheriting(before(&parent, "model#2"));
    let (result, host) =
        child.run_on(tape, host(&child, "child"), async |ctx: Ctx| day(ctx, "and IBM?").await);
    let (said, _) = result.expect("an end");
    assert_eq!(said, ["parent: what about AAPL?", "child: and IBM?", "child"]);
    assert_eq!(host.calls().len(), 3, "the second question, the tool, the node");
}

// Goal: an open or abandoned step of the parent has no outcome to copy.
#[test]
fn only_outcomes_are_copied() {
    let parent = Stage::new();
    let (result, _) =
        parent.run(host(&parent, "parent").crashing_at(2), async |ctx: Ctx| day(ctx, "and IBM?").await);
    assert!(matches!(result, Err(SessionStop::Shutdown)));
    assert_eq!(parent.kept().state("model#1"), "intent");
    let child = Stage::beside(&parent);
    let tape = inheriting(parent.kept().rows());
    let (result, _) = child.run_on(tape, child.host(), async |mut ctx: Ctx| {
        ctx.record_local(read("cash", "100")).await?;
        ctx.model(&request(FIRST), CALL).await
    });
    assert_eq!(result.expect("an end").expect("an answer").text, format!("re: {FIRST}"));
    assert_eq!(child.kept().step("model#1").expect("kept").reused_from, None);
}

// Goal: a branch that was killed resumes: copied and performed steps stay, the rest is still copied.
#[test]
fn a_branch_resumes() {
    let parent = parent("and IBM?");
    let whole = Stage::beside(&parent);
    let run = |stage: &Stage, host: MemoryHost| {
        let tape = stage.tape().with_parent(origin(), before(&parent, "tool#1"));
        stage.run_on(tape, host, async |ctx: Ctx| day(ctx, "and IBM?").await)
    };
    let (result, undisturbed) = run(&whole, host(&whole, "child"));
    result.expect("an end");
    for boundary in 0..undisturbed.boundaries() {
        let child = Stage::beside(&parent);
        let (result, _) = run(&child, host(&child, "child").crashing_at(boundary));
        assert!(matches!(result, Err(SessionStop::Shutdown)), "{boundary}: {result:?}");
        // The last boundary is after the last commit: the session has ended.
        run(&child, host(&child, "child")).0.expect("resumed");
        assert_eq!(child.kept().canonical(), whole.kept().canonical(), "crash at {boundary}");
    }
}
