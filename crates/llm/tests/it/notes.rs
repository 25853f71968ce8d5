//! Provider state is sent back with the next request, unchanged and in the provider's own format.

use crate::support::{answer_to, gateway_of, price_tool, request};
use papertape_core::message::ModelRequest;
use papertape_core::ports::ModelClient as _;
use papertape_llm::ProviderKind;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};

/// Sends a request, answers its one call, and sends a second request, possibly to another model. Returns the
/// second request's body.
async fn second(kind: ProviderKind, stream: bool, first: ScriptedAnswer, other: Option<&str>) -> Value {
    let done = if stream { ScriptedAnswer::error(400, "no") } else { ScriptedAnswer::error(500, "no") };
    let server = ModelServer::scripted([first, done]).await;
    let gateway = gateway_of(kind, &server, stream);
    let mut request = ModelRequest { tools: vec![price_tool()], ..request("How is IBM?") };
    let reply = gateway.call(&request, None).await.expect("an answer").reply;
    let kept = serde_json::to_string(&reply).expect("JSON");
    let reply: papertape_core::message::ModelReply = serde_json::from_str(&kept).expect("as it was kept");
    request.messages.push(reply.to_message());
    request.messages.push(answer_to(&reply.tool_calls[0].id, "get_price", r#"{"price":1}"#));
    if let Some(other) = other {
        request.model = other.parse().expect("a model's name");
    }
    drop(gateway.call(&request, None).await);
    server.requests().last().expect("a second request").body.clone()
}

fn sse(events: &[Value]) -> ScriptedAnswer {
    let lines = events.iter().map(|data| {
        let name = data["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {data}\n\n")
    });
    ScriptedAnswer::raw("text/event-stream", lines.collect::<String>())
}

fn thinking() -> Value {
    json!({ "type": "thinking", "thinking": "Prices fell.", "signature": "c2lnbmVk" })
}

fn hidden() -> Value {
    json!({ "type": "redacted_thinking", "data": "aGlkZGVu" })
}

fn anthropic_whole() -> ScriptedAnswer {
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
        "content": [
            thinking(),
            hidden(),
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "id": "toolu_1", "name": "get_price", "input": { "symbol": "IBM" } },
        ],
        "usage": { "input_tokens": 10, "output_tokens": 20 },
    });
    ScriptedAnswer::raw("application/json", body.to_string())
}

fn anthropic_stream() -> ScriptedAnswer {
    let delta =
        |index: u32, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let start = |index: u32, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let stop = |index: u32| json!({ "type": "content_block_stop", "index": index });
    sse(&[
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 10, "output_tokens": 1 } } }),
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "Prices " })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "fell." })),
        delta(0, json!({ "type": "signature_delta", "signature": "c2lnbmVk" })),
        stop(0),
        start(1, hidden()),
        stop(1),
        start(2, json!({ "type": "text", "text": "" })),
        delta(2, json!({ "type": "text_delta", "text": "I look." })),
        stop(2),
        start(3, json!({ "type": "tool_use", "id": "toolu_1", "name": "get_price", "input": {} })),
        delta(3, json!({ "type": "input_json_delta", "partial_json": "{\"symbol\":\"IBM\"}" })),
        stop(3),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 20 } }),
        json!({ "type": "message_stop" }),
    ])
}

/// Anthropic expects its thinking back before the calls that followed it, signed and in order.
#[tokio::test]
async fn signed_thinking_goes_back() {
    for (stream, answer) in [(false, anthropic_whole()), (true, anthropic_stream())] {
        let body = second(ProviderKind::Anthropic, stream, answer, None).await;
        let turn = &body["messages"][1]["content"];
        assert_eq!([&turn[0], &turn[1]], [&thinking(), &hidden()], "stream: {stream}: {body}");
        assert_eq!((&turn[2]["type"], &turn[3]["type"]), (&json!("text"), &json!("tool_use")), "{body}");
    }
}

/// Another model, as after a branch, would reject thinking that it has not signed: it gets only the
/// conversation.
#[tokio::test]
async fn another_model_gets_no_note() {
    let body = second(ProviderKind::Anthropic, false, anthropic_whole(), Some("test::another")).await;
    let turn = body["messages"][1]["content"].as_array().expect("parts").clone();
    let kinds: Vec<&str> = turn.iter().filter_map(|part| part["type"].as_str()).collect();
    assert_eq!(kinds, ["text", "tool_use"], "{body}");
}

/// Gemini signs calls, and expects each signature back on its call.
#[tokio::test]
async fn a_calls_signature_goes_back_with_the_call() {
    let call = json!({ "functionCall": { "name": "get_price", "args": { "symbol": "IBM" } },
        "thoughtSignature": "c2lnbmVk" });
    let body = json!({
        "candidates": [{ "content": { "role": "model", "parts": [call] }, "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 6, "totalTokenCount": 11 },
    });
    let whole = ScriptedAnswer::raw("application/json", body.to_string());
    let stream = ScriptedAnswer::raw("text/event-stream", format!("data: {body}\n\n"));
    for (is_stream, answer) in [(false, whole), (true, stream)] {
        let body = second(ProviderKind::Gemini, is_stream, answer, None).await;
        let parts = body["contents"][1]["parts"].as_array().expect("parts").clone();
        let signed: Vec<&Value> = parts.iter().filter(|part| part["functionCall"].is_object()).collect();
        assert_eq!(signed.len(), 1, "{body}");
        assert_eq!(signed[0]["thoughtSignature"], "c2lnbmVk", "stream: {is_stream}: {body}");
    }
}

/// DeepSeek expects its reasoning back within a turn of calls; a plain compatible server gets none.
#[tokio::test]
async fn reasoning_goes_back_to_those_who_want_it() {
    let answer = || {
        let message = json!({ "role": "assistant", "content": "", "reasoning_content": "Prices fell.",
            "tool_calls": [{ "id": "c1", "type": "function",
                "function": { "name": "get_price", "arguments": "{\"symbol\":\"IBM\"}" } }] });
        let body = json!({ "id": "1", "object": "chat.completion", "model": "m",
            "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": message }],
            "usage": { "prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11 } });
        ScriptedAnswer::raw("application/json", body.to_string())
    };
    let wanted = [
        (ProviderKind::Deepseek, json!("Prices fell.")),
        (ProviderKind::Moonshot, json!("Prices fell.")),
        (ProviderKind::OpenaiCompatible, Value::Null),
    ];
    for (kind, expected) in wanted {
        let body = second(kind, false, answer(), None).await;
        assert_eq!(body["messages"][1]["reasoning_content"], expected, "{kind:?}: {body}");
    }
}
