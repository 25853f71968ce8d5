//! Anthropic's and Gemini's wire formats, with responses written by hand from their references.

use crate::support::{gateway_of, request};
use papertape_core::message::{FailureKind, FinishReason, Usage};
use papertape_core::ports::ModelClient as _;
use papertape_core::ports::{AttemptFailure, ModelResponse};
use papertape_llm::ProviderKind;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::json;
use std::time::Duration;

async fn ask(
    kind: ProviderKind,
    stream: bool,
    answer: ScriptedAnswer,
) -> Result<ModelResponse, AttemptFailure> {
    let server = ModelServer::scripted([answer]).await;
    gateway_of(kind, &server, stream).call(&request("Hello"), None).await
}

fn sse(events: &[(&str, serde_json::Value)]) -> ScriptedAnswer {
    let lines = events.iter().map(|(name, data)| {
        let name = if name.is_empty() { String::new() } else { format!("event: {name}\n") };
        format!("{name}data: {data}\n\n")
    });
    ScriptedAnswer::raw("text/event-stream", lines.collect::<String>())
}

fn check_anthropic(answer: &ModelResponse) {
    assert_eq!(answer.reply.text, "I sell.");
    assert_eq!(answer.reply.tool_calls[0].id, "toolu_1");
    assert_eq!(answer.reply.tool_calls[0].arguments, json!({ "symbol": "IBM", "quantity": 3 }));
    assert_eq!(answer.reply.finish, FinishReason::ToolCalls);
    // Anthropic counts cache reads separately.
    assert_eq!(answer.usage, Some(Usage { input_tokens: 110, cached_tokens: 100, output_tokens: 20 }));
}

#[tokio::test]
async fn an_anthropic_answer() {
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
        "content": [
            { "type": "text", "text": "I sell." },
            { "type": "tool_use", "id": "toolu_1", "name": "sell",
              "input": { "symbol": "IBM", "quantity": 3 } },
        ],
        "usage": { "input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 20 },
    });
    let answer = ScriptedAnswer::raw("application/json", body.to_string());
    check_anthropic(&ask(ProviderKind::Anthropic, false, answer).await.unwrap());
}

fn anthropic_events() -> Vec<(&'static str, serde_json::Value)> {
    vec![
        (
            "message_start",
            json!({ "type": "message_start", "message": { "usage":
            { "input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 1 } } }),
        ),
        (
            "content_block_start",
            json!({ "type": "content_block_start", "index": 0,
            "content_block": { "type": "text", "text": "" } }),
        ),
        (
            "content_block_delta",
            json!({ "type": "content_block_delta", "index": 0,
            "delta": { "type": "text_delta", "text": "I sell." } }),
        ),
        ("content_block_stop", json!({ "type": "content_block_stop", "index": 0 })),
        (
            "content_block_start",
            json!({ "type": "content_block_start", "index": 1,
            "content_block": { "type": "tool_use", "id": "toolu_1", "name": "sell", "input": {} } }),
        ),
        (
            "content_block_delta",
            json!({ "type": "content_block_delta", "index": 1,
            "delta": { "type": "input_json_delta", "partial_json": "{\"symbol\":\"IBM\"," } }),
        ),
        (
            "content_block_delta",
            json!({ "type": "content_block_delta", "index": 1,
            "delta": { "type": "input_json_delta", "partial_json": "\"quantity\":3}" } }),
        ),
        ("content_block_stop", json!({ "type": "content_block_stop", "index": 1 })),
        (
            "message_delta",
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" },
            "usage": { "output_tokens": 20 } }),
        ),
        ("message_stop", json!({ "type": "message_stop" })),
    ]
}

#[tokio::test]
async fn an_anthropic_stream() {
    let answer = sse(&anthropic_events());
    check_anthropic(&ask(ProviderKind::Anthropic, true, answer).await.unwrap());
}

#[tokio::test]
async fn anthropic_streams_that_fail() {
    let mut cut = anthropic_events();
    cut.truncate(6);
    let failure = ask(ProviderKind::Anthropic, true, sse(&cut)).await.unwrap_err().failure;
    assert_eq!(failure.kind, FailureKind::BadAnswer);

    let mut overloaded = anthropic_events();
    overloaded.truncate(3);
    overloaded.push((
        "error",
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "leak-me-not" } }),
    ));
    let failure = ask(ProviderKind::Anthropic, true, sse(&overloaded)).await.unwrap_err().failure;
    assert_eq!(failure.kind, FailureKind::Unavailable);
    assert!(!failure.message.contains("leak-me-not"), "{failure}");
}

fn gemini_chunk(text: &str, finish: Option<&str>) -> serde_json::Value {
    let mut chunk = json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] } }],
        "usageMetadata": { "promptTokenCount": 50, "cachedContentTokenCount": 30,
            "candidatesTokenCount": 6, "thoughtsTokenCount": 4, "totalTokenCount": 60 } });
    if let Some(finish) = finish {
        chunk["candidates"][0]["finishReason"] = json!(finish);
    }
    chunk
}

/// Gemini sends STOP with a call, counts thoughts separately, and sends calls without IDs.
#[tokio::test]
async fn a_gemini_answer() {
    let mut body = gemini_chunk("I sell.", Some("STOP"));
    body["candidates"][0]["content"]["parts"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "functionCall": { "name": "sell", "args": { "symbol": "IBM" } } }));
    let whole = ScriptedAnswer::raw("application/json", body.to_string());
    for (stream, answer) in [(false, whole), (true, sse(&[("", body)]))] {
        let answer = ask(ProviderKind::Gemini, stream, answer).await.unwrap();
        assert_eq!(answer.reply.text, "I sell.");
        assert_eq!(answer.reply.tool_calls[0].name, "sell");
        assert_eq!(answer.reply.tool_calls[0].arguments, json!({ "symbol": "IBM" }));
        assert!(!answer.reply.tool_calls[0].id.is_empty());
        assert_eq!(answer.reply.finish, FinishReason::ToolCalls);
        assert_eq!(answer.usage, Some(Usage { input_tokens: 50, cached_tokens: 30, output_tokens: 10 }));
    }
}

/// Gemini's only end mark is the finish reason.
#[tokio::test]
async fn a_gemini_stream_without_a_reason_for_its_end_has_broken_off() {
    let answer = sse(&[("", gemini_chunk("I sell", None))]);
    let failure = ask(ProviderKind::Gemini, true, answer).await.unwrap_err().failure;
    assert_eq!(failure.kind, FailureKind::BadAnswer);
}

#[tokio::test]
async fn gemini_errors() {
    let limited = json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "leak-me-not",
        "details": [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s" }] } });
    let invalid = json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": "leak-me-not",
        "details": [{ "reason": "API_KEY_INVALID" }] } });
    for stream in [true, false] {
        let answer = ScriptedAnswer::raw("application/json", limited.to_string()).status(429);
        let failure = ask(ProviderKind::Gemini, stream, answer).await.unwrap_err();
        assert_eq!(failure.failure.kind, FailureKind::RateLimited);
        assert_eq!(failure.retry_after, Some(Duration::from_secs(37)));
        let answer = ScriptedAnswer::raw("application/json", invalid.to_string()).status(400);
        let failure = ask(ProviderKind::Gemini, stream, answer).await.unwrap_err().failure;
        assert_eq!(failure.kind, FailureKind::Unauthorised);
        assert!(!failure.message.contains("leak-me-not"), "{failure}");
    }
}
