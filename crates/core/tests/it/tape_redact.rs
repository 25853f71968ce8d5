//! Redaction precedes use: the session continues with the recorded, redacted values.

use crate::tape_support::{CALL, Stage, body, entry, last, read, request, tool_call, tool_reply};
use papertape_core::message::{FailureKind, Message, ModelReply, ModelRequest, ProviderNote, ToolCall};
use papertape_core::tape::{
    Ctx, LocalStep, ScopeKey, SessionStop, StepClass, ToolInvocation, TranscriptMessage,
};
use papertape_core::{message::Role, tape::OutcomeKind};
use papertape_testkit::host::{Act, MemoryHost};
use serde_json::json;

const SECRET: &str = "orchard-lamp-99-violet";

fn stage() -> Stage {
    Stage { secrets: vec![("openai".to_owned(), SECRET.to_owned())], ..Stage::new() }
}

/// A host that returns the secret wherever it can.
fn teller(stage: &Stage) -> MemoryHost {
    let host = stage.host_with(|path, request| match path.as_str() {
        "model#2" => Act::Fail(FailureKind::Unauthorised, format!("the key {SECRET} is wrong")),
        _ => Act::Answer(ModelReply {
            text: format!("I found {SECRET}, you said: {}", last(request)),
            reasoning: Some(format!("{SECRET}?")),
            tool_calls: vec![ToolCall {
                id: "call_1".to_owned(),
                name: "web__look".to_owned(),
                arguments: json!({ "q": SECRET, "nested": { "deep": [format!("x{SECRET}")] } }),
            }],
            ..ModelReply::default()
        }),
    });
    host.with_tools(|_, _| tool_reply(&format!("body: {SECRET}")))
}

async fn program(mut ctx: Ctx) -> Result<(ModelRequest, String), SessionStop> {
    let instructions = ctx.set_system_prompt(&format!("Use the key {SECRET}."));
    let opening = ctx.push_user_message(&format!("The key is {SECRET}.")).await?;
    let mut request = ModelRequest { instructions: Some(instructions), ..request(&opening) };
    let reply = ctx.model(&request, CALL).await?.expect("an answer");
    request.messages.push(reply.to_message());
    let call = &reply.tool_calls[0];
    let note = ToolInvocation { name: call.name.clone(), input: call.arguments.clone() };
    let outside =
        papertape_core::ports::ExternalCall { arguments: call.arguments.clone(), ..tool_call("look") };
    let looked = ctx.external(&outside, true, CALL, Some(note)).await?.expect("an answer").text;
    request.messages.push(Message::Tool {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: looked,
    });
    let failure = ctx.model(&request, CALL).await?.expect_err("a failure");
    let shown = TranscriptMessage { role: Role::Tool, content: format!("seen {SECRET}"), tool: None };
    let outcome = json!({ "seen": format!("seen {SECRET}") });
    let local = LocalStep { message: Some(shown), ..entry(StepClass::Local, json!({ "q": 1 }), outcome) };
    let kept = ctx.record_local(local).await?;
    Ok((request, format!("{reply:?} {failure} {kept}")))
}

// Goal: a planted secret is neither returned, nor stored in any row, nor part of any hash.
#[test]
fn a_configured_secret_is_neither_returned_nor_kept_nor_hashed() {
    let stage = stage();
    let (result, _) = stage.run(teller(&stage), program);
    let (request, returned) = result.expect("an end");
    assert!(!returned.contains(SECRET), "{returned}");
    assert!(returned.contains("[redacted:openai]"), "{returned}");
    assert!(!request.to_json().to_string().contains(SECRET));
    let dump = stage.kept().dump();
    assert!(!dump.contains(SECRET), "{dump}");

    // The hash covers the returned, redacted value: the tape is found again, and another secret gives the
    // same tape.
    let (again, host) = stage.run(teller(&stage), program);
    assert_eq!(again.expect("an end").1, returned);
    assert!(host.calls().is_empty());
    assert_eq!(
        stage.kept().step("model#2").expect("kept").digest,
        request.digest(),
        "the digest is that of the redacted conversation"
    );
    let clean = Stage::new();
    let host = clean.host_with(|path, request| {
        let said = format!("I found [redacted:openai], you said: {}", last(request));
        match path.as_str() {
            "model#1" => Act::text(said),
            _ => Act::Fail(FailureKind::Unauthorised, String::new()),
        }
    });
    let (result, _) = clean.run(host, async |mut ctx: Ctx| {
        let text = ctx.model(&crate::tape_support::request("The key is [redacted:openai]."), CALL).await?;
        Ok(text.expect("an answer").text)
    });
    assert_eq!(result.expect("an end"), "I found [redacted:openai], you said: The key is [redacted:openai].");
}

// Goal: errors of attempts, which may contain provider text, are redacted too.
#[test]
fn an_attempts_error_is_redacted() {
    let stage = stage();
    drop(stage.run(teller(&stage), program).0.expect("an end"));
    let kept = stage.kept();
    assert!(kept.is_done("model#2", OutcomeKind::Failed));
    let attempt = kept.step("model#2").expect("kept").attempts[&1].clone().expect("ended");
    assert_eq!(attempt.error.as_deref(), Some("unauthorised: the key [redacted:openai] is wrong"));
}

// Goal: a response that redaction makes unreadable is a recorded failure, not a stop that would repeat the
// paid call.
#[test]
fn an_answer_that_cannot_be_redacted_is_a_failure() {
    let deep = (0..400).fold(json!("x"), |inner, _| json!({ "a": inner }));
    let stage = stage();
    let host = stage.host_with(move |_, _| {
        let call = ToolCall { id: "1".to_owned(), name: "t".to_owned(), arguments: deep.clone() };
        Act::Answer(ModelReply { tool_calls: vec![call], ..ModelReply::default() })
    });
    let (result, _) = stage.run(host, async |mut ctx: Ctx| ctx.model(&request("?"), CALL).await);
    let failure = result.expect("an outcome").expect_err("a failure");
    assert_eq!(failure.kind, FailureKind::BadAnswer);
    assert!(stage.kept().is_done("model#1", OutcomeKind::Failed));
}

// Goal: concurrent branches are redacted too.
#[test]
fn a_branch_of_all_is_redacted() {
    let stage = stage();
    let (result, _) = stage.run(teller(&stage), async |mut ctx: Ctx| {
        let one = body(|mut ctx: Ctx| async move {
            ctx.record_local(read(SECRET, "asked")).await?;
            Ok(ctx.model(&request("?"), CALL).await?.expect("an answer").text)
        });
        ctx.all(vec![(ScopeKey::node("A"), one)]).await
    });
    assert_eq!(result.expect("an end"), ["I found [redacted:openai], you said: ?"]);
}

// Goal: provider state is returned unchanged, even if its signature looks like a secret, but without
// configured credentials in a value or a key.
#[test]
fn a_providers_note_keeps_its_signature_and_no_credential() {
    let signature = "AKIAIOSFODNN7EXAMPLE-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlc2lnbmF0dXJl";
    let stage = stage();
    let told = json!({ "parts": [{ "token": signature }], "heard": format!("the key {SECRET}"), SECRET: 1 });
    let host = stage.host_with(move |_, asked| {
        let provider = Some(ProviderNote { model: asked.model.clone(), content: told.clone() });
        Act::Answer(ModelReply { text: signature.to_owned(), provider, ..ModelReply::default() })
    });
    let (result, _) = stage.run(host, async |mut ctx: Ctx| ctx.model(&request("?"), CALL).await);
    let reply = result.expect("an outcome").expect("an answer");
    assert!(!reply.text.contains("AKIAIOSFODNN7EXAMPLE"), "elsewhere it would be taken out: {}", reply.text);
    let note = reply.provider.expect("a note");
    let expected = json!({
        "parts": [{ "token": signature }], "heard": "the key [redacted:openai]", "[redacted:openai]": 1,
    });
    assert_eq!(note.content, expected);
    assert!(!stage.kept().dump().contains(SECRET));
}
