//! Responses: every response gives the same result as a stream and whole.

use crate::support::{gateway, request};
use papertape_core::message::{FinishReason, ModelReply, Usage};
use papertape_core::ports::ModelClient as _;
use papertape_core::ports::ModelResponse;
use papertape_testkit::model_server::{Call, ModelServer, Reply, ScriptedAnswer, Tokens};
use serde_json::{Value, json};
use std::sync::Mutex;

/// Sends the response both ways and checks that the results are equal.
async fn both(answer: ScriptedAnswer) -> ModelResponse {
    let server = ModelServer::scripted([answer.clone(), answer]).await;
    let streamed = gateway(&server, true).call(&request("Hello"), None).await.expect("an answer");
    let whole = gateway(&server, false).call(&request("Hello"), None).await.expect("an answer");
    assert_eq!(streamed.reply, whole.reply);
    assert_eq!(streamed.usage, whole.usage);
    whole
}

fn scripted_call(arguments: &str) -> Call {
    Call { id: "c1".to_owned(), name: "buy".to_owned(), arguments: arguments.to_owned() }
}

#[tokio::test]
async fn text_reasoning_and_usage() {
    let answer = both(ScriptedAnswer::reply(Reply {
        text: "Buy nothing today.".to_owned(),
        reasoning: Some("Prices fell.".to_owned()),
        tokens: Some(Tokens { input: 120, cached: 100, output: 9 }),
        ..Reply::default()
    }))
    .await;
    assert_eq!(
        answer.reply,
        ModelReply {
            text: "Buy nothing today.".to_owned(),
            reasoning: Some("Prices fell.".to_owned()),
            tool_calls: Vec::new(),
            finish: FinishReason::Stop,
            provider: None,
        }
    );
    assert_eq!(answer.usage, Some(Usage { input_tokens: 120, cached_tokens: 100, output_tokens: 9 }));
}

#[tokio::test]
async fn a_provider_that_tells_no_usage_has_none() {
    let answer = both(ScriptedAnswer::reply(Reply { text: "Hold.".to_owned(), ..Reply::default() })).await;
    assert_eq!(answer.usage, None);
}

#[tokio::test]
async fn several_calls_keep_their_order() {
    let calls = vec![
        Call { id: "c1".into(), name: "sell".into(), arguments: r#"{"symbol":"IBM","quantity":3}"#.into() },
        Call { id: "c2".into(), name: "get_portfolio".into(), arguments: String::new() },
    ];
    let answer = both(ScriptedAnswer::reply(Reply { calls, ..Reply::default() })).await;
    let got: Vec<(&str, &str, &Value)> = answer
        .reply
        .tool_calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), &call.arguments))
        .collect();
    let (sell, nothing) = (json!({ "symbol": "IBM", "quantity": 3 }), json!({}));
    assert_eq!(got, [("c1", "sell", &sell), ("c2", "get_portfolio", &nothing)]);
    assert_eq!(answer.reply.finish, FinishReason::ToolCalls);
}

/// Arguments that are not a JSON object arrive as their raw text, with everything around them.
#[tokio::test]
async fn malformed_arguments_arrive_raw() {
    for raw in [r#"{"symbol": "AAPL", "quantity": }"#, "buy ten AAPL", "[1,2]", "17"] {
        let answer = both(ScriptedAnswer::reply(Reply {
            text: "I buy.".to_owned(),
            calls: vec![scripted_call(raw)],
            tokens: Some(Tokens { input: 8, cached: 0, output: 4 }),
            ..Reply::default()
        }))
        .await;
        assert_eq!(answer.reply.text, "I buy.");
        assert_eq!(answer.reply.tool_calls[0].arguments, json!(raw));
        assert_eq!(answer.reply.tool_calls[0].name, "buy");
        assert_eq!(answer.reply.finish, FinishReason::ToolCalls);
        assert_eq!(answer.usage, Some(Usage { input_tokens: 8, cached_tokens: 0, output_tokens: 4 }));
    }
}

#[tokio::test]
async fn reasons_for_the_end() {
    for (wire, finish) in [
        ("stop", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        // Some gateways send this finish reason without any call.
        ("tool_calls", FinishReason::Stop),
        ("something_new", FinishReason::Stop),
    ] {
        let reply = Reply { text: "Hm.".to_owned(), finish: Some(wire.to_owned()), ..Reply::default() };
        assert_eq!(both(ScriptedAnswer::reply(reply)).await.reply.finish, finish, "{wire}");
    }
    // Some send "stop" with calls; a response truncated by the limit is still truncated.
    for (wire, finish) in [("stop", FinishReason::ToolCalls), ("length", FinishReason::Length)] {
        let calls = vec![scripted_call("{}")];
        let reply = Reply { calls, finish: Some(wire.to_owned()), ..Reply::default() };
        assert_eq!(both(ScriptedAnswer::reply(reply)).await.reply.finish, finish, "{wire}");
    }
}

/// The sink gets the text, word by word from a stream and at once from a whole response.
#[tokio::test]
async fn deltas_add_up_to_the_text() {
    let server = ModelServer::answering(|_| ScriptedAnswer::text("Sell IBM, because it fell. 卖出。")).await;
    for (stream, pieces) in [(true, 6), (false, 1)] {
        let deltas = Mutex::new(Vec::new());
        let sink = |delta: &str| deltas.lock().unwrap().push(delta.to_owned());
        let answer = gateway(&server, stream).call(&request("Hello"), Some(&sink)).await.unwrap();
        let deltas = deltas.into_inner().unwrap();
        assert_eq!(deltas.concat(), answer.reply.text);
        assert_eq!(deltas.len(), pieces);
    }
}

/// A local server that sends calls without IDs: their index is used.
#[tokio::test]
async fn calls_without_ids_get_some() {
    let body = json!({ "choices": [{ "finish_reason": "tool_calls", "message": { "content": null,
        "tool_calls": [{ "function": { "name": "buy", "arguments": {"symbol": "IBM"} } }] } }] });
    let answer = ScriptedAnswer::raw("application/json", body.to_string());
    let server = ModelServer::scripted([answer]).await;
    let answer = gateway(&server, false).call(&request("Hello"), None).await.unwrap();
    assert_eq!(answer.reply.tool_calls[0].id, "call_0");
    assert_eq!(answer.reply.tool_calls[0].arguments, json!({ "symbol": "IBM" }));
}
