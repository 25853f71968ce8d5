//! Lookups on the tape: an equal step, a different one, none, or unused steps.

use crate::tape_support::{CALL, Stage, entry, last, read, request};
use papertape_core::json::Difference;
use papertape_core::message::{Message, ModelRequest};
use papertape_core::tape::{Ctx, Divergence, SessionStop, StepClass, StepPath};
use papertape_testkit::host::Act;
use serde_json::json;

async fn day(mut ctx: Ctx) -> Result<String, SessionStop> {
    ctx.record_local(read("cash", "100")).await?;
    let reply = ctx.model(&request("buy or sell?"), CALL).await?.expect("an answer");
    ctx.record_local(entry(StepClass::Order, json!({ "side": "buy" }), json!({ "cash": 90 }))).await?;
    Ok(reply.text)
}

fn recorded() -> Stage {
    let stage = Stage::new();
    stage.run(stage.host(), day).0.expect("an end");
    stage
}

fn diverged<T: std::fmt::Debug>(result: Result<T, SessionStop>) -> Divergence {
    match result {
        Err(SessionStop::Diverged(divergence)) => *divergence,
        other => panic!("it should have diverged: {other:?}"),
    }
}

fn difference(divergence: &Divergence) -> &Difference {
    divergence.difference.as_ref().expect("the tape's side can be read")
}

// Goal: the same program on the same tape gives the same result and performs nothing, live or replay-only.
#[test]
fn an_equal_digest_is_returned() {
    let stage = recorded();
    let before = stage.kept();
    for tape in [stage.tape(), stage.tape().replay_only()] {
        assert_eq!(tape.len(), 3);
        let host = stage.host_with(|_, _| Act::text("another mood"));
        let (result, host) = stage.run_on(tape, host, day);
        assert_eq!(result.expect("an end"), "re: buy or sell?");
        assert!(host.trace().is_empty(), "{:?}", host.trace());
    }
    assert_eq!(stage.kept().canonical(), before.canonical());
}

// Goal: a different request at a path is an error that names the path, the pointer and both values.
#[test]
fn another_request_diverges() {
    let stage = recorded();
    for tape in [stage.tape(), stage.tape().replay_only()] {
        let (result, host) = stage.run_on(tape, stage.host(), async |mut ctx: Ctx| {
            ctx.record_local(read("cash", "100")).await?;
            ctx.model(&request("hold?"), CALL).await
        });
        let divergence = diverged(result);
        assert_eq!(divergence.path.as_str(), "model#1");
        assert_eq!(divergence.part, "request");
        let found = difference(&divergence);
        assert_eq!(found.pointer, "/messages/0/content");
        assert_eq!((&found.left, &found.right), (&Some(json!("buy or sell?")), &Some(json!("hold?"))));
        let text = divergence.to_string();
        for part in ["model#1", "request", "/messages/0/content", "buy or sell?", "hold?"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(host.calls().is_empty());
    }
}

// Goal: local and order steps are recomputed and compared: both request and outcome.
#[test]
fn local_steps_are_compared() {
    let stage = recorded();
    let (result, _) =
        stage.run(stage.host(), async |mut ctx: Ctx| ctx.record_local(read("cash?", "100")).await);
    let divergence = diverged(result);
    assert_eq!((divergence.path.as_str(), divergence.part), ("read#1", "request"));
    assert_eq!(difference(&divergence).pointer, "/q");

    let (result, _) =
        stage.run(stage.host(), async |mut ctx: Ctx| ctx.record_local(read("cash", "99")).await);
    let divergence = diverged(result);
    assert_eq!((divergence.path.as_str(), divergence.part), ("read#1", "outcome"));
    assert_eq!(difference(&divergence).left, Some(json!("100")));

    let (result, _) = stage.run(stage.host(), async |mut ctx: Ctx| {
        ctx.record_local(entry(StepClass::Order, json!({ "side": "buy" }), json!({ "cash": 91 }))).await
    });
    let divergence = diverged(result);
    assert_eq!((divergence.path.as_str(), divergence.part), ("order#1", "outcome"));
    assert_eq!(difference(&divergence).pointer, "/cash");
}

// Goal: at the end of the tape a live run continues and a replay names the missing step.
#[test]
fn what_is_absent_is_performed_or_missing() {
    let stage = recorded();
    let longer = async |mut ctx: Ctx| {
        ctx.record_local(read("cash", "100")).await?;
        drop(ctx.model(&request("buy or sell?"), CALL).await?);
        ctx.record_local(entry(StepClass::Order, json!({ "side": "buy" }), json!({ "cash": 90 }))).await?;
        ctx.model(&request("more?"), CALL).await
    };
    let (result, host) = stage.run_on(stage.tape().replay_only(), stage.host(), longer);
    assert!(matches!(&result, Err(SessionStop::Missing(path)) if path.as_str() == "model#2"), "{result:?}");
    assert!(host.trace().is_empty());
    let (result, _) = stage.run_on(stage.tape().replay_only(), stage.host(), async |mut ctx: Ctx| {
        ctx.record_local(read("cash", "100")).await?;
        ctx.record_local(read("shares", "1")).await
    });
    assert!(matches!(result, Err(SessionStop::Missing(path)) if path.as_str() == "read#2"));

    let (result, host) = stage.run(stage.host(), longer);
    assert_eq!(result.expect("an end").expect("an answer").text, "re: more?");
    assert_eq!(host.calls().len(), 1, "only what the tape did not have");
}

// Goal: an open intent is not an outcome for a replay.
#[test]
fn an_open_intent_is_missing_on_a_replay() {
    let stage = Stage::new();
    let (result, _) = stage.run(stage.host().crashing_at(2), day);
    assert!(matches!(result, Err(SessionStop::Shutdown)));
    assert_eq!(stage.kept().state("model#1"), "intent");
    let (result, _) = stage.run_on(stage.tape().replay_only(), stage.host(), day);
    assert!(matches!(result, Err(SessionStop::Missing(path)) if path.as_str() == "model#1"));
}

// Goal: a session that ends early leaves steps of its tape unused, and does not write its end.
#[test]
fn what_is_left_unread_is_an_error() {
    let stage = recorded();
    let commits = stage.kept().commits;
    for tape in [stage.tape(), stage.tape().replay_only()] {
        let (result, _) = stage
            .run_on(tape, stage.host(), async |mut ctx: Ctx| ctx.record_local(read("cash", "100")).await);
        let Err(SessionStop::UnconsumedSteps(paths)) = result else { panic!("unread steps: {result:?}") };
        assert_eq!(paths, [StepPath::new("model#1"), StepPath::new("order#1")]);
        assert!(SessionStop::UnconsumedSteps(paths).to_string().contains("model#1"));
    }
    assert_eq!(stage.kept().commits, commits);
}

// Goal: for two long texts the message shows where they differ, not how they begin.
#[test]
fn a_divergence_shows_the_first_difference() {
    let long = |n: usize| format!("{}{n}{}", "a long beginning. ".repeat(50), " and its end".repeat(50));
    let ask = |question: String| async move |mut ctx: Ctx| ctx.model(&request(&question), CALL).await;
    let stage = Stage::new();
    stage.run(stage.host(), ask(long(41))).0.expect("an end").expect("an answer");
    let divergence = diverged(stage.run(stage.host(), ask(long(52))).0);
    let text = divergence.to_string();
    assert!(text.contains("41 and its end") && text.contains("52 and its end"), "{text}");
    assert!(text.contains("from character 840 on"), "{text}");
    assert!(text.len() < 800, "{text}");
    let whole = difference(&divergence).left.as_ref().and_then(|left| left.as_str().map(str::len));
    assert_eq!(whole, Some(long(41).len()), "the whole stands in the value");

    // One is a prefix of the other; multi-byte characters.
    let stage = Stage::new();
    stage.run(stage.host(), ask("价".repeat(300))).0.expect("an end").expect("an answer");
    let text = diverged(stage.run(stage.host(), ask("价".repeat(299))).0).to_string();
    assert!(text.contains("价"), "{text}");

    // A value that is not a text, and a missing value.
    let stage = Stage::new();
    stage.run(stage.host(), ask("?".to_owned())).0.expect("an end").expect("an answer");
    let other = async |mut ctx: Ctx| {
        let messages = vec![Message::user("?"), Message::user("again")];
        ctx.model(&ModelRequest { messages, ..request("?") }, CALL).await
    };
    let text = diverged(stage.run(stage.host(), other).0).to_string();
    assert!(text.contains("/messages/1") && text.contains("the tape has nothing"), "{text}");
}

// Goal: a resumed conversation continues with the recorded responses, and its full request can be read back.
#[test]
fn a_conversation_goes_on_from_the_tape() {
    let stage = Stage::new();
    let turns = |turns: usize| {
        async move |mut ctx: Ctx| {
            let mut request = request("turn 0");
            for turn in 1..=turns {
                let reply = ctx.model(&request, CALL).await?.expect("an answer");
                request.messages.push(reply.to_message());
                request.messages.push(Message::user(format!("turn {turn}")));
            }
            Ok(request)
        }
    };
    let moody = |word: &'static str| {
        stage.host_with(move |_, request| Act::text(format!("{word} {}", last(request))))
    };
    stage.run(moody("first"), turns(3)).0.expect("an end");
    let (result, host) = stage.run(moody("second"), turns(5));
    let request = result.expect("an end");
    assert_eq!(request.messages[5].content(), "first turn 2");
    assert_eq!(request.messages[7].content(), "second turn 3");
    assert_eq!(host.calls().len(), 2);

    let kept = stage.kept();
    let last = kept.step("model#5").expect("kept");
    let asked = ModelRequest { messages: request.messages[..9].to_vec(), ..request };
    assert_eq!(kept.document(last.request_ref), Some(asked.to_json()));
}
