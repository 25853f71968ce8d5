//! Requests of the model endpoint: sent in the protocol in which they came, and their answers put together.

use crate::support::{KEY, gateway_of};
use papertape_core::external::{DoorProtocol, ModelDoorRequest, ModelDoorResponse};
use papertape_core::message::{FailureKind, FinishReason, Usage};
use papertape_core::ports::{AttemptFailure, ModelClient as _};
use papertape_llm::{Gateway, ModelsConfig, ProviderConfig, ProviderKind};
use papertape_testkit::model_server::{Broken, ModelServer, ScriptedAnswer};
use serde_json::{Value, json};
use std::sync::Mutex;

const SSE: &str = "text/event-stream";
const JSON: &str = "application/json";

fn request(protocol: DoorProtocol, body: Value) -> ModelDoorRequest {
    let model = "test::some-model".parse().expect("a model name");
    ModelDoorRequest { protocol, model, house_version: None, body, key: None }
}

fn kind_of(protocol: DoorProtocol) -> ProviderKind {
    match protocol {
        DoorProtocol::AnthropicMessages => ProviderKind::Anthropic,
        _ => ProviderKind::Openai,
    }
}

/// The answer to a request, and the words that came early.
async fn forward(
    protocol: DoorProtocol,
    stream: bool,
    answer: ScriptedAnswer,
) -> (Result<ModelDoorResponse, AttemptFailure>, String, Value) {
    let server = ModelServer::scripted([answer]).await;
    let gateway = gateway_of(kind_of(protocol), &server, stream);
    let words = Mutex::new(String::new());
    let sink = |text: &str| words.lock().expect("no thread has failed").push_str(text);
    let sent = request(protocol, json!({ "messages": [], "x_unknown": { "cache_control": 1 }, "user": "u" }));
    let result = gateway.forward(&sent, Some(&sink)).await;
    let body = server.requests().first().map(|request| request.body.clone()).unwrap_or_default();
    (result, words.into_inner().expect("no thread has failed"), body)
}

fn sse(events: &[Value]) -> ScriptedAnswer {
    let lines = events.iter().map(|data| match data["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    });
    ScriptedAnswer::raw(SSE, lines.collect::<String>())
}

fn done(answer: &[Value]) -> ScriptedAnswer {
    let text: String = answer.iter().map(|data| format!("data: {data}\n\n")).collect();
    ScriptedAnswer::raw(SSE, text + "data: [DONE]\n\n")
}

/// A whole answer of each protocol with text and a tool call, and the same as a stream.
fn answers(protocol: DoorProtocol) -> (Value, ScriptedAnswer) {
    match protocol {
        DoorProtocol::ChatCompletions | DoorProtocol::Embeddings => {
            let call = json!({ "id": "call_a", "type": "function", "extra_content": { "x": "sig" },
                "function": { "name": "look", "arguments": "{\"symbol\":\"IBM\"}" } });
            let usage = json!({ "prompt_tokens": 110, "completion_tokens": 20, "total_tokens": 130,
                "prompt_tokens_details": { "cached_tokens": 100 } });
            let message = json!({ "role": "assistant", "content": "I look.", "reasoning_content": "Hm, hm.",
                "tool_calls": [call] });
            let whole = json!({ "id": "chatcmpl-1", "object": "chat.completion", "created": 7, "model": "m-2",
                "system_fingerprint": "fp", "choices": [{ "index": 0, "message": message, "logprobs": null,
                    "finish_reason": "tool_calls" }], "usage": usage });
            let chunk = |delta: Value, finish: Value| {
                json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "m-2",
                    "system_fingerprint": "fp", "usage": null,
                    "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
            };
            let null = || Value::Null;
            let mut last = chunk(json!({}), null());
            last["choices"] = json!([]);
            last["usage"] = usage;
            let stream = done(&[
                chunk(json!({ "role": "assistant", "content": "", "reasoning_content": "Hm, " }), null()),
                chunk(json!({ "reasoning_content": "hm." }), null()),
                chunk(json!({ "content": "I lo" }), null()),
                chunk(json!({ "content": "ok." }), null()),
                chunk(
                    json!({ "tool_calls": [{ "index": 0, "id": "call_a", "type": "function",
                        "extra_content": { "x": "sig" }, "function": { "name": "look", "arguments": "" } }] }),
                    null(),
                ),
                chunk(
                    json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{\"symbol\":" } }] }),
                    null(),
                ),
                chunk(
                    json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "\"IBM\"}" } }] }),
                    null(),
                ),
                chunk(json!({}), json!("tool_calls")),
                last,
            ]);
            (whole, stream)
        }
        DoorProtocol::AnthropicMessages => {
            let usage = json!({ "input_tokens": 10, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 100, "output_tokens": 20 });
            let head = |content: Value, stop: Value, usage: Value| {
                json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m-2", "content": content,
                    "stop_reason": stop, "stop_sequence": null, "usage": usage })
            };
            let whole = head(
                json!([
                    { "type": "text", "text": "I look." },
                    { "type": "thinking", "thinking": "Hm, hm.", "signature": "c2ln" },
                    { "type": "tool_use", "id": "toolu_a", "name": "look", "input": { "symbol": "IBM" } },
                ]),
                json!("tool_use"),
                usage.clone(),
            );
            let mut first = usage;
            first["output_tokens"] = json!(1);
            let start = |index: usize, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
            let delta = |index: usize, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
            let stop = |index: usize| json!({ "type": "content_block_stop", "index": index });
            let stream = sse(&[
                json!({ "type": "message_start", "message": head(json!([]), Value::Null, first) }),
                start(0, json!({ "type": "text", "text": "" })),
                json!({ "type": "ping" }),
                delta(0, json!({ "type": "text_delta", "text": "I lo" })),
                delta(0, json!({ "type": "text_delta", "text": "ok." })),
                stop(0),
                start(1, json!({ "type": "thinking", "thinking": "", "signature": "" })),
                delta(1, json!({ "type": "thinking_delta", "thinking": "Hm, " })),
                delta(1, json!({ "type": "thinking_delta", "thinking": "hm." })),
                delta(1, json!({ "type": "signature_delta", "signature": "c2ln" })),
                stop(1),
                start(2, json!({ "type": "tool_use", "id": "toolu_a", "name": "look", "input": {} })),
                delta(2, json!({ "type": "input_json_delta", "partial_json": "{\"symbol\":" })),
                delta(2, json!({ "type": "input_json_delta", "partial_json": "\"IBM\"}" })),
                stop(2),
                json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use", "stop_sequence": null },
                    "usage": { "output_tokens": 20 } }),
                json!({ "type": "message_stop" }),
            ]);
            (whole, stream)
        }
        DoorProtocol::Responses => {
            let items = json!([
                { "id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "c2ln" },
                { "id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
                    "content": [{ "type": "output_text", "text": "I look.", "annotations": [] }] },
                { "id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_a",
                    "name": "look", "arguments": "{\"symbol\":\"IBM\"}" },
            ]);
            let whole = json!({ "id": "resp_1", "object": "response", "status": "completed", "error": null,
                "incomplete_details": null, "model": "m-2", "output": items, "usage": { "input_tokens": 110,
                    "input_tokens_details": { "cached_tokens": 100 }, "output_tokens": 20, "total_tokens": 130 } });
            let mut last = whole.clone();
            last["output"] = json!([]);
            let item = |index: usize| json!({ "type": "response.output_item.done", "output_index": index, "item": items[index] });
            let words = |text: &str| {
                json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1,
                    "content_index": 0, "delta": text })
            };
            let stream = sse(&[
                json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } }),
                item(0),
                words("I lo"),
                words("ok."),
                item(1),
                json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"sym" }),
                item(2),
                json!({ "type": "response.completed", "response": last }),
            ]);
            (whole, stream)
        }
    }
}

const CHATS: [DoorProtocol; 3] =
    [DoorProtocol::ChatCompletions, DoorProtocol::AnthropicMessages, DoorProtocol::Responses];

/// Goal: in every protocol, the body is sent as it came with the provider's model and key; the recorded answer is the
/// provider's whole body, whether it was streamed or not, with its usage, text and reason; the words come early.
#[tokio::test]
async fn an_answer_is_the_same_whole_and_streamed() {
    for protocol in CHATS {
        let (whole, stream) = answers(protocol);
        for (streamed, answer) in [
            (false, ScriptedAnswer::raw(JSON, whole.to_string())),
            (true, stream),
            (true, ScriptedAnswer::raw(JSON, whole.to_string())),
        ] {
            let (result, words, sent) = forward(protocol, streamed, answer.clone()).await;
            let response = result.unwrap_or_else(|failed| panic!("{protocol:?} {streamed}: {failed:?}"));
            assert_eq!(response.reply.body, whole, "{protocol:?} {streamed}");
            assert_eq!(response.reply.text, "I look.");
            assert_eq!(response.reply.finish, Some(FinishReason::ToolCalls));
            assert_eq!(
                response.usage,
                Some(Usage { input_tokens: 110, cached_tokens: 100, output_tokens: 20 })
            );
            assert!(words.is_empty() || words == "I look.", "{words}");
            assert_eq!(sent["model"], "some-model");
            assert_eq!((&sent["user"], &sent["x_unknown"]), (&json!("u"), &json!({ "cache_control": 1 })));
            assert_eq!(sent["stream"], if streamed { json!(true) } else { Value::Null });
        }
        let (_, words, _) = forward(protocol, true, answers(protocol).1).await;
        assert_eq!(words, "I look.", "{protocol:?}");
    }
}

/// Goal: paths and headers are those of the protocol, and a provider takes no others unless its config says so.
#[tokio::test]
async fn each_provider_gets_its_own_protocols() {
    for (kind, protocol, path, header, value) in [
        (
            ProviderKind::Openai,
            DoorProtocol::Responses,
            "/v1/responses",
            "authorization",
            format!("Bearer {KEY}"),
        ),
        (
            ProviderKind::Anthropic,
            DoorProtocol::AnthropicMessages,
            "/v1/messages",
            "x-api-key",
            KEY.to_owned(),
        ),
        (
            ProviderKind::Gemini,
            DoorProtocol::ChatCompletions,
            "/v1/openai/chat/completions",
            "authorization",
            format!("Bearer {KEY}"),
        ),
    ] {
        let server =
            ModelServer::scripted([ScriptedAnswer::raw(JSON, answers(protocol).0.to_string())]).await;
        let gateway = gateway_of(kind, &server, false);
        gateway.forward(&request(protocol, json!({})), None).await.expect("an answer");
        let seen = server.request(1).await;
        assert_eq!((seen.path.as_str(), seen.header(header)), (path, Some(value.as_str())));
        assert_eq!(seen.header("accept-encoding"), None);
    }
    let server = ModelServer::scripted([]).await;
    let gateway = gateway_of(ProviderKind::Anthropic, &server, false);
    let failed = gateway
        .forward(&request(DoorProtocol::ChatCompletions, json!({})), None)
        .await
        .expect_err("not spoken");
    assert_eq!(failed.failure.kind, FailureKind::BadRequest);
    assert!(failed.failure.message.contains("it speaks anthropic_messages"), "{}", failed.failure);
    assert_eq!(server.count(), 0);

    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(server.url()),
        api_key_env: Some("TEST_KEY".to_owned()),
        protocols: Some(vec![DoorProtocol::AnthropicMessages]),
        ..ProviderConfig::default()
    };
    let config =
        ModelsConfig { providers: [("test".to_owned(), provider)].into(), ..ModelsConfig::default() };
    let gateway =
        Gateway::new(&config, &crate::support::BuiltIn, &crate::support::env).expect("the config is good");
    let model = "test::some-model".parse().expect("a model name");
    assert_eq!(gateway.protocols(&model), [DoorProtocol::AnthropicMessages]);
    server.push(answers(DoorProtocol::AnthropicMessages).1);
    gateway.forward(&request(DoorProtocol::AnthropicMessages, json!({})), None).await.expect("an answer");
    let seen = server.request(1).await;
    assert_eq!(seen.header("x-api-key"), Some(KEY));
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

/// Goal: failures are mapped as those of our own calls, and no text of the provider's is passed on.
#[tokio::test]
async fn failures_have_their_kinds() {
    for protocol in CHATS {
        for (status, code, kind) in [
            (429, "rate_limit_exceeded", FailureKind::RateLimited),
            (400, "context_length_exceeded", FailureKind::ContextLength),
            (503, "overloaded", FailureKind::Unavailable),
        ] {
            let (result, _, _) = forward(protocol, true, ScriptedAnswer::error(status, code)).await;
            let failure = result.expect_err("it failed").failure;
            assert_eq!(failure.kind, kind, "{protocol:?}");
            assert!(!failure.message.contains("leak-me-not"), "{failure}");
        }
        let cut = answers(protocol).1.broken(Broken::Cut);
        let failure = forward(protocol, true, cut).await.0.expect_err("it broke off").failure;
        assert_eq!(failure.kind, FailureKind::BadAnswer, "{protocol:?}");
    }
    let overloaded =
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "leak-me-not" } });
    let failed = json!({ "type": "response.failed",
        "response": { "status": "failed", "error": { "code": "rate_limit_exceeded", "message": "leak-me-not" } } });
    for (protocol, event, kind) in [
        (DoorProtocol::AnthropicMessages, overloaded, FailureKind::Unavailable),
        (DoorProtocol::Responses, failed, FailureKind::RateLimited),
        (
            DoorProtocol::ChatCompletions,
            json!({ "error": { "code": 503, "message": "leak-me-not" } }),
            FailureKind::Unavailable,
        ),
    ] {
        let failure = forward(protocol, true, sse(&[event])).await.0.expect_err("it failed").failure;
        assert_eq!(failure.kind, kind, "{protocol:?} {failure}");
        assert!(!failure.message.contains("leak-me-not"), "{failure}");
    }
}

/// Goal: an answer over a bound is not read to its end, and the failure names the bound.
#[tokio::test]
async fn answers_over_a_bound_are_left() {
    let long = "x".repeat(200 << 10);
    let arguments = |index: u64| {
        json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [
            { "index": index, "function": { "name": "f", "arguments": long } }] } }] })
    };
    let block = json!({ "type": "content_block_start", "index": 0,
        "content_block": { "type": "tool_use", "id": "a", "name": "f", "input": {} } });
    let input = json!({ "type": "content_block_delta", "index": 0,
        "delta": { "type": "input_json_delta", "partial_json": long } });
    let begun = json!({ "type": "message_start", "message": { "content": [] } });
    let written =
        json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "delta": long });
    let deep = format!("data: {}{}\n\n", "[".repeat(70), "]".repeat(70));
    let many = format!("data: {{\"choices\":[],\"a\":[{}0]}}\n\n", "0,".repeat(100_000)).repeat(5);
    let cases = [
        (DoorProtocol::ChatCompletions, sse(&[arguments(0), arguments(0)]), "256 KiB of arguments"),
        (DoorProtocol::ChatCompletions, sse(&[arguments(64)]), "an index above 63"),
        (DoorProtocol::AnthropicMessages, sse(&[begun, block, input.clone(), input]), "256 KiB of arguments"),
        (DoorProtocol::Responses, sse(&[written.clone(), written]), "256 KiB of arguments"),
        (DoorProtocol::ChatCompletions, ScriptedAnswer::raw(SSE, deep), "64 levels"),
        (DoorProtocol::ChatCompletions, ScriptedAnswer::raw(SSE, many), "more than 400000 JSON values"),
    ];
    for (protocol, answer, says) in cases {
        let failure = forward(protocol, true, answer).await.0.expect_err("over a bound").failure;
        assert_eq!(failure.kind, FailureKind::BadAnswer);
        assert!(failure.message.contains(says), "{protocol:?}: {failure}");
    }
    for protocol in CHATS {
        let endless = ScriptedAnswer::endless(SSE, "", ": leak-me-not\n\n".repeat(100));
        let failure = forward(protocol, true, endless).await.0.expect_err("it has no end").failure;
        assert!(failure.message.contains("a body of more than 4 MiB"), "{failure}");
        let endless = ScriptedAnswer::endless(JSON, "{\"choices\":[", "{\"message\":{}},".repeat(500));
        let failure = forward(protocol, false, endless).await.0.expect_err("it has no end").failure;
        assert!(failure.message.contains("a body of more than 4 MiB"), "{failure}");
    }
    let calls: Vec<Value> = (0..65)
        .map(|n| json!({ "type": "function_call", "call_id": n.to_string(), "name": "f", "arguments": "{}" }))
        .collect();
    let body = json!({ "status": "completed", "output": calls });
    let failure =
        forward(DoorProtocol::Responses, false, ScriptedAnswer::raw(JSON, body.to_string())).await.0;
    assert!(failure.expect_err("too many").failure.message.contains("more than 64 tool calls"));
}

/// Goal: an answer that says nothing is passed on, with the reason: the client's protocol says what it means.
#[tokio::test]
async fn an_answer_without_text_is_an_answer() {
    let body = json!({ "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" }, "output": [
        { "type": "reasoning", "id": "rs_1", "summary": [] }], "usage": { "input_tokens": 5, "output_tokens": 9 } });
    let answer = ScriptedAnswer::raw(JSON, body.to_string());
    let response = forward(DoorProtocol::Responses, false, answer).await.0.expect("an answer");
    assert_eq!((response.reply.finish, response.reply.text.as_str()), (Some(FinishReason::Length), ""));
    assert_eq!(response.reply.body, body);
}

/// Goal: embeddings are passed on unread, with their usage.
#[tokio::test]
async fn embeddings_are_passed_on() {
    for stream in [true, false] {
        let server = ModelServer::scripted([]).await;
        server.set_embedder(|texts| Ok(texts.iter().map(|_| vec![1.0, 2.0]).collect()));
        let gateway = gateway_of(ProviderKind::Openai, &server, stream);
        let sent = request(DoorProtocol::Embeddings, json!({ "input": ["a", "b"] }));
        let response = gateway.forward(&sent, None).await.expect("an answer");
        assert_eq!(response.usage, Some(Usage { input_tokens: 1, cached_tokens: 0, output_tokens: 0 }));
        assert_eq!(response.reply.body["data"].as_array().map(Vec::len), Some(2));
        assert_eq!((response.reply.finish, response.reply.text.as_str()), (None, ""));
    }
}
