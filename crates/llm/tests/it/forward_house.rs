//! The built-in models at the model endpoint, in every protocol.

use crate::support::call;
use papertape_core::external::{DoorProtocol, ModelDoorRequest};
use papertape_core::message::{
    FailureKind, FinishReason, Message, ModelReply, ModelRequest, ToolChoice, Usage,
};
use papertape_core::ports::{BuiltInModels, ModelClient as _, ModelResponse};
use papertape_llm::{Gateway, ModelsConfig};
use serde_json::{Value, json};
use std::sync::Mutex;

/// Answers with a text and a call, and notes the requests.
struct Noting(Mutex<Vec<ModelRequest>>);

impl BuiltInModels for Noting {
    fn check(&self, name: &str) -> Result<(), String> {
        if name == "known" { Ok(()) } else { Err(format!("there is no `{name}`")) }
    }

    fn version(&self) -> u32 {
        7
    }

    fn respond(&self, request: &ModelRequest) -> Result<ModelResponse, String> {
        self.check(&request.model.model)?;
        self.0.lock().expect("no thread has failed").push(request.clone());
        let tool_calls = vec![call("house_2_0", "look", json!({ "symbol": "IBM" }))];
        let reply = ModelReply {
            text: "I look.".to_owned(),
            tool_calls,
            finish: FinishReason::ToolCalls,
            ..ModelReply::default()
        };
        let usage = Usage { input_tokens: 12, cached_tokens: 0, output_tokens: 3 };
        Ok(ModelResponse { reply, usage: Some(usage) })
    }
}

static NOTING: Noting = Noting(Mutex::new(Vec::new()));

fn gateway(built_in: &'static dyn BuiltInModels) -> Gateway {
    Gateway::new(&ModelsConfig::default(), built_in, &|_| None).expect("the config is good")
}

fn request(protocol: DoorProtocol, body: Value) -> ModelDoorRequest {
    let model = "house::known".parse().expect("a model name");
    ModelDoorRequest { protocol, model, house_version: Some(7), body, key: None }
}

/// The same conversation in each protocol: instructions, a question, a call, its result; a tool; a demand.
fn conversation(protocol: DoorProtocol) -> Value {
    let schema = json!({ "type": "object", "properties": { "symbol": { "type": "string" } } });
    match protocol {
        DoorProtocol::ChatCompletions | DoorProtocol::Embeddings => json!({
            "messages": [
                { "role": "system", "content": "You trade." },
                { "role": "user", "content": [{ "type": "text", "text": "How is " }, { "type": "text", "text": "IBM?" }] },
                { "role": "assistant", "content": "Wait.", "tool_calls": [{ "id": "c1", "type": "function",
                    "function": { "name": "look", "arguments": "{\"symbol\":\"IBM\"}" } }] },
                { "role": "tool", "tool_call_id": "c1", "content": "{\"price\":209}" },
            ],
            "tools": [{ "type": "function", "function": { "name": "look", "description": "Looks.", "parameters": schema } }],
            "tool_choice": "required",
        }),
        DoorProtocol::Responses => json!({
            "instructions": "You trade.",
            "input": [
                { "role": "user", "content": [{ "type": "input_text", "text": "How is IBM?" }] },
                { "type": "reasoning", "id": "rs_1", "summary": [] },
                { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Wait." }] },
                { "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"symbol\":\"IBM\"}" },
                { "type": "function_call_output", "call_id": "c1", "output": "{\"price\":209}" },
            ],
            "tools": [{ "type": "function", "name": "look", "description": "Looks.", "parameters": schema }],
            "tool_choice": { "type": "function", "name": "look" },
        }),
        DoorProtocol::AnthropicMessages => json!({
            "system": [{ "type": "text", "text": "You trade.", "cache_control": { "type": "ephemeral" } }],
            "messages": [
                { "role": "user", "content": "How is IBM?" },
                { "role": "assistant", "content": [{ "type": "text", "text": "Wait." },
                    { "type": "tool_use", "id": "c1", "name": "look", "input": { "symbol": "IBM" } }] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": "{\"price\":209}" }] },
            ],
            "tools": [{ "name": "look", "description": "Looks.", "input_schema": schema }],
            "tool_choice": { "type": "any" },
            "max_tokens": 100,
        }),
    }
}

/// Goal: one conversation is the same request in every protocol, and its answer has the same parts with IDs that follow
/// from the request.
#[tokio::test]
async fn every_protocol_says_the_same() {
    let gateway = gateway(&NOTING);
    let protocols = [DoorProtocol::ChatCompletions, DoorProtocol::Responses, DoorProtocol::AnthropicMessages];
    for protocol in protocols {
        let sent = request(protocol, conversation(protocol));
        let one = gateway.forward(&sent, None).await.expect("an answer");
        let again = gateway.forward(&sent, None).await.expect("an answer");
        assert_eq!(one.reply, again.reply, "{protocol:?}");
        assert_eq!((one.reply.text.as_str(), one.reply.finish), ("I look.", Some(FinishReason::ToolCalls)));
        assert_eq!(one.usage, Some(Usage { input_tokens: 12, cached_tokens: 0, output_tokens: 3 }));
        let body = one.reply.body;
        let (text, id, tokens) = match protocol {
            DoorProtocol::ChatCompletions | DoorProtocol::Embeddings => {
                assert_eq!(body["choices"][0]["finish_reason"], "tool_calls");
                ("/choices/0/message/content", "/choices/0/message/tool_calls/0/id", "/usage/prompt_tokens")
            }
            DoorProtocol::Responses => {
                ("/output/0/content/0/text", "/output/1/call_id", "/usage/input_tokens")
            }
            DoorProtocol::AnthropicMessages => {
                assert_eq!(body["stop_reason"], "tool_use");
                ("/content/0/text", "/content/1/id", "/usage/input_tokens")
            }
        };
        let at = |pointer: &str| body.pointer(pointer).cloned().unwrap_or_default();
        assert_eq!(
            (at(text), at(id), at(tokens)),
            (json!("I look."), json!("house_2_0"), json!(12)),
            "{body}"
        );
    }
    let seen = NOTING.0.lock().expect("no thread has failed").clone();
    assert_eq!(seen.len(), 6);
    let first = &seen[0];
    assert!(seen.iter().all(|request| request == first), "{seen:#?}");
    assert_eq!(first.instructions.as_deref(), Some("You trade."));
    assert_eq!((first.house_version, &first.tool_choice), (Some(7), &ToolChoice::Required));
    let expected = [
        Message::user("How is IBM?"),
        Message::Assistant {
            content: "Wait.".to_owned(),
            tool_calls: vec![call("c1", "look", json!({ "symbol": "IBM" }))],
            provider: None,
        },
        crate::support::answer_to("c1", "look", "{\"price\":209}"),
    ];
    assert_eq!(first.messages, expected);
    assert_eq!((first.tools.len(), first.tools[0].name.as_str()), (1, "look"));
}

/// Goal: what a house model cannot do is said in a sentence.
#[tokio::test]
async fn what_it_cannot_do_is_rejected() {
    let gateway = gateway(&crate::support::BuiltIn);
    let image = json!({ "messages": [{ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:" } }] }] });
    let custom = json!({ "messages": [], "tools": [{ "type": "custom", "custom": { "name": "x" } }] });
    for (protocol, body, says) in [
        (DoorProtocol::ChatCompletions, image, "reads texts only"),
        (DoorProtocol::ChatCompletions, custom, "`function` only"),
        (DoorProtocol::ChatCompletions, json!({}), "`messages` is not a list"),
        (DoorProtocol::Responses, json!({ "input": [{ "type": "x" }] }), "items of the type `x`"),
        (
            DoorProtocol::AnthropicMessages,
            json!({ "messages": [{ "role": "system" }] }),
            "unknown role `system`",
        ),
        (DoorProtocol::Embeddings, json!({ "input": "a" }), "is not an embedding model"),
    ] {
        let failure = gateway.forward(&request(protocol, body), None).await.expect_err("rejected").failure;
        assert_eq!(failure.kind, FailureKind::BadRequest);
        assert!(failure.message.contains(says), "{failure}");
    }
    assert_eq!(gateway.protocols(&"house::known".parse().expect("a name")).len(), 3);
    assert!(gateway.protocols(&"house::unknown".parse().expect("a name")).is_empty());
}
