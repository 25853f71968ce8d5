//! Hostile providers, over real HTTP: each connection is closed at the first byte too many, with a failure
//! that names the bound.

use crate::support::{gateway_of, request};
use papertape_core::message::FailureKind::{BadAnswer, RateLimited};
use papertape_core::ports::AttemptFailure;
use papertape_core::ports::ModelClient as _;
use papertape_llm::ProviderKind;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::json;
use std::time::Duration;

const KINDS: [ProviderKind; 3] =
    [ProviderKind::OpenaiCompatible, ProviderKind::Anthropic, ProviderKind::Gemini];
const SSE: &str = "text/event-stream";
const JSON: &str = "application/json";

/// The failure of a call in every protocol, streamed or not, and its message; the connection is closed.
async fn all_fail(stream: bool, answer: ScriptedAnswer, says: &str) {
    for kind in KINDS {
        let failed = fails(kind, stream, answer.clone()).await;
        assert_eq!(failed.failure.kind, BadAnswer, "{kind:?} {}", failed.failure);
        assert!(failed.failure.message.contains(says), "{kind:?} {stream}: {}", failed.failure);
        assert!(!failed.failure.message.contains("leak-me-not"), "{}", failed.failure);
    }
}

async fn fails(kind: ProviderKind, stream: bool, answer: ScriptedAnswer) -> AttemptFailure {
    let server = ModelServer::scripted([answer]).await;
    let gateway = gateway_of(kind, &server, stream);
    let failed = gateway.call(&request("Hello"), None).await.expect_err("it is no answer");
    assert_eq!(server.count(), 1);
    failed
}

/// A response without an end is abandoned, and the provider notices.
#[tokio::test]
async fn an_endless_answer_is_left() {
    for stream in [true, false] {
        let kind = if stream { SSE } else { JSON };
        let endless = ScriptedAnswer::endless(kind, "{\"choices\":[", "{\"message\":{}},".repeat(500));
        let server = ModelServer::scripted([endless]).await;
        let gateway = gateway_of(ProviderKind::OpenaiCompatible, &server, stream);
        let failed = gateway.call(&request("Hello"), None).await.expect_err("it has no end").failure;
        assert_eq!(failed.kind, BadAnswer);
        let bound = if stream { "an event of more than 256 KiB" } else { "a body of more than 4 MiB" };
        assert!(failed.message.contains(bound), "{failed}");
        assert!(!server.closed(1).await.answered);
    }
}

#[tokio::test]
async fn endless_streams_of_every_sort() {
    let comments = ScriptedAnswer::endless(SSE, "", ": leak-me-not\n\n".repeat(100));
    all_fail(true, comments, "a body of more than 4 MiB").await;
    let events =
        ScriptedAnswer::endless(SSE, "", "data: {\"type\":\"ping\",\"candidates\":[]}\n\n".repeat(100));
    all_fail(true, events, "more than 20000 events").await;
    let one_line = ScriptedAnswer::endless(SSE, "data: ", "leak-me-not".repeat(100));
    all_fail(true, one_line, "an event of more than 256 KiB").await;
}

/// Fifty megabytes, with and without a declared size.
#[tokio::test]
async fn a_large_answer_is_not_read() {
    let content = "a".repeat(50_000_000);
    let body = format!(r#"{{"choices":[{{"message":{{"content":"{content}"}}}}]}}"#);
    let told = ScriptedAnswer::bytes(JSON, body.clone().into_bytes())
        .header("content-length", &body.len().to_string());
    all_fail(false, told, "a body of more than 4 MiB").await;
    all_fail(false, ScriptedAnswer::bytes(JSON, body.into_bytes()), "a body of more than 4 MiB").await;
}

/// A false declared size reserves no memory, and the response counts as broken off.
#[tokio::test]
async fn a_size_that_is_claimed_reserves_nothing() {
    let claims =
        |bytes: u64| ScriptedAnswer::endless(JSON, "{}", "").header("content-length", &bytes.to_string());
    all_fail(false, claims(u64::MAX / 4), "a body of more than 4 MiB").await;
}

#[tokio::test]
async fn an_index_sizes_nothing() {
    for index in [64_i64, 4_000_000_000, -1] {
        let call = json!({ "choices": [{ "delta": { "tool_calls": [
            { "index": index, "id": "c", "function": { "name": "buy", "arguments": "{}" } }] } }] });
        let events = format!("data: {call}\n\ndata: [DONE]\n\n");
        let failed = fails(ProviderKind::OpenaiCompatible, true, ScriptedAnswer::raw(SSE, events)).await;
        assert_eq!(failed.failure.kind, BadAnswer);
        assert!(failed.failure.message.contains("index above 63"), "{}", failed.failure);
    }
}

#[tokio::test]
async fn ten_thousand_calls_are_not_read() {
    let call = json!({ "id": "c", "function": { "name": "buy", "arguments": "{}" } });
    let calls: Vec<_> = vec![call; 10_000];
    let body = json!({ "choices": [{ "message": { "tool_calls": calls } }] }).to_string();
    let failed = fails(ProviderKind::OpenaiCompatible, false, ScriptedAnswer::raw(JSON, body)).await;
    assert!(failed.failure.message.contains("more than 64 tool calls"), "{}", failed.failure);
    let part = json!({ "functionCall": { "name": "buy", "args": {} } });
    let body = json!({ "candidates": [{ "content": { "parts": vec![part; 4_000] } }] }).to_string();
    let failed = fails(ProviderKind::Gemini, false, ScriptedAnswer::raw(JSON, body)).await;
    assert!(failed.failure.message.contains("more than 64 tool calls"), "{}", failed.failure);
    let block = json!({ "type": "tool_use", "id": "t", "name": "buy", "input": {} });
    let body = json!({ "content": vec![block; 4_000] }).to_string();
    let failed = fails(ProviderKind::Anthropic, false, ScriptedAnswer::raw(JSON, body)).await;
    assert!(failed.failure.message.contains("more than 64 tool calls"), "{}", failed.failure);
}

#[tokio::test]
async fn deep_json_is_not_parsed() {
    let deep = |open: &str| open.repeat(200_000);
    for open in ["[", "{\"a\":"] {
        all_fail(false, ScriptedAnswer::raw(JSON, deep(open)), "nested deeper than 64 levels").await;
    }
    let event = format!("data: {}\n\n", "[".repeat(100_000));
    all_fail(true, ScriptedAnswer::raw(SSE, event), "nested deeper than 64 levels").await;
    // Hidden in the text of a call's arguments.
    let arguments = format!("{{\"a\":{}", "[".repeat(100_000));
    let body = json!({ "choices": [{ "message": { "tool_calls": [
        { "id": "c", "function": { "name": "buy", "arguments": arguments } }] } }] });
    let failed =
        fails(ProviderKind::OpenaiCompatible, false, ScriptedAnswer::raw(JSON, body.to_string())).await;
    assert!(failed.failure.message.contains("nested deeper"), "{}", failed.failure);
}

/// Nothing is decompressed, and no compression is requested.
#[tokio::test]
async fn a_compressed_answer_stays_compressed() {
    for encoding in ["gzip", "br", "deflate", "zstd"] {
        let bomb = ScriptedAnswer::bytes(JSON, vec![0x1f; 2_000_000]).header("content-encoding", encoding);
        for stream in [true, false] {
            all_fail(stream, bomb.clone(), "compressed").await;
        }
    }
    let server = ModelServer::answering(|_| ScriptedAnswer::text("ok")).await;
    gateway_of(ProviderKind::OpenaiCompatible, &server, true)
        .call(&request("Hello"), None)
        .await
        .expect("ok");
    assert_eq!(server.request(1).await.header("accept-encoding"), None);
}

/// An error's body is read up to 64 KiB; the delay that it requests counts nevertheless.
#[tokio::test]
async fn an_endless_error_is_left() {
    for status in [400, 401, 429, 500] {
        let answer = ScriptedAnswer::endless("text/plain", "", "leak-me-not ".repeat(100))
            .status(status)
            .header("retry-after", "7");
        for stream in [true, false] {
            all_fail(stream, answer.clone(), "an error of more than 64 KiB").await;
            let failed = fails(ProviderKind::OpenaiCompatible, stream, answer.clone()).await;
            assert_eq!(failed.retry_after, Some(Duration::from_secs(7)));
            assert!(failed.failure.message.contains(&status.to_string()), "{}", failed.failure);
        }
    }
}

/// A delay too long for any clock is passed on as a number; the caller decides. It does not make parsing
/// fail.
#[tokio::test]
async fn a_huge_pause_is_a_number() {
    for value in ["99999999999", "1e300", "18446744073709551616"] {
        let answer = ScriptedAnswer::error(429, "rate_limit_exceeded").header("retry-after", value);
        let failed = fails(ProviderKind::OpenaiCompatible, true, answer).await;
        assert_eq!(failed.failure.kind, RateLimited, "{value}");
    }
}

/// Endless header fields close the connection as well.
#[tokio::test]
async fn endless_headers_are_left() {
    let mut answer = ScriptedAnswer::text("ok");
    for at in 0..300 {
        answer = answer.header(&format!("x-{at}"), &"leak-me-not".repeat(200));
    }
    let failed = fails(ProviderKind::OpenaiCompatible, true, answer).await.failure;
    assert!(failed.kind.is_transient() && !failed.message.contains("leak-me-not"), "{failed}");
}

/// Implausible usage is recorded as unknown.
#[tokio::test]
async fn impossible_usage_is_unknown() {
    for usage in [
        json!({ "prompt_tokens": -5, "completion_tokens": 3 }),
        json!({ "prompt_tokens": 5, "completion_tokens": 1e18 }),
        json!({ "prompt_tokens": 5, "completion_tokens": 2.5 }),
        json!({ "prompt_tokens": "5", "completion_tokens": 2 }),
        json!({ "prompt_tokens": 5, "prompt_tokens_details": { "cached_tokens": 6 }, "completion_tokens": 2 }),
        json!({ "prompt_tokens": 0, "completion_tokens": 0 }),
        json!({ "completion_tokens": 2 }),
        json!({}),
        json!(null),
    ] {
        let message = json!({ "content": "Hold." });
        let body = json!({ "choices": [{ "message": message }], "usage": usage }).to_string();
        let chunk = json!({ "choices": [{ "delta": message }], "usage": usage });
        let events = format!("data: {chunk}\n\ndata: [DONE]\n\n");
        for (stream, answer) in
            [(false, ScriptedAnswer::raw(JSON, body)), (true, ScriptedAnswer::raw(SSE, events))]
        {
            let server = ModelServer::scripted([answer]).await;
            let gateway = gateway_of(ProviderKind::OpenaiCompatible, &server, stream);
            let answer = gateway.call(&request("Hello"), None).await.expect("the answer is good");
            assert_eq!(answer.usage, None, "{usage} {stream}");
        }
    }
}
