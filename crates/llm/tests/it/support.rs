//! Shared helpers: a gateway whose only provider is a scripted server, and requests.

use papertape_core::message::{Message, ModelReply, ModelRequest, Sampling, ToolCall, ToolChoice, ToolSpec};
use papertape_core::ports::{BuiltInModels, ModelResponse};
use papertape_llm::{Gateway, ModelsConfig, ProviderConfig, ProviderKind};
use papertape_testkit::model_server::ModelServer;
use serde_json::{Value, json};

/// The key that must never appear anywhere.
pub(crate) const KEY: &str = "sk-test-never-show-me-0123456789";

pub(crate) fn env(name: &str) -> Option<String> {
    (name == "TEST_KEY").then(|| format!("  {KEY}\n"))
}

/// Built-in models with the one name `known`.
pub(crate) struct BuiltIn;

impl BuiltInModels for BuiltIn {
    fn check(&self, name: &str) -> Result<(), String> {
        if name == "known" { Ok(()) } else { Err(format!("there is no `{name}`")) }
    }

    fn version(&self) -> u32 {
        7
    }

    fn respond(&self, request: &ModelRequest) -> Result<ModelResponse, String> {
        self.check(&request.model.model)?;
        let reply = ModelReply { text: "I hold.".to_owned(), ..ModelReply::default() };
        Ok(ModelResponse { reply, usage: None })
    }
}

/// A gateway with the provider `test` of this kind, pointing at the server.
pub(crate) fn gateway_of(kind: ProviderKind, server: &ModelServer, stream: bool) -> Gateway {
    gateway_at(kind, &server.url(), stream)
}

pub(crate) fn gateway_at(kind: ProviderKind, url: &str, stream: bool) -> Gateway {
    let provider = ProviderConfig {
        kind: Some(kind),
        base_url: Some(url.to_owned()),
        api_key_env: Some("TEST_KEY".to_owned()),
        stream,
        ..ProviderConfig::default()
    };
    let config =
        ModelsConfig { providers: [("test".to_owned(), provider)].into(), ..ModelsConfig::default() };
    Gateway::new(&config, &BuiltIn, &env).expect("the config is good")
}

pub(crate) fn gateway(server: &ModelServer, stream: bool) -> Gateway {
    gateway_of(ProviderKind::OpenaiCompatible, server, stream)
}

/// An address that refuses every connection: its port is reserved, but nothing listens on it.
pub(crate) fn refusing() -> (tokio::net::TcpSocket, String) {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("loopback can be bound");
    let address = socket.local_addr().expect("a bound socket has an address");
    (socket, format!("http://{address}/v1/"))
}

pub(crate) fn request(text: &str) -> ModelRequest {
    ModelRequest {
        model: "test::some-model".parse().expect("a model name"),
        house_version: None,
        instructions: None,
        messages: vec![Message::user(text)],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        sampling: Sampling::default(),
    }
}

pub(crate) fn price_tool() -> ToolSpec {
    ToolSpec {
        name: "get_price".to_owned(),
        description: "Today's price of a symbol.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "symbol": { "type": "string" } },
            "required": ["symbol"],
        }),
    }
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments }
}

pub(crate) fn answer_to(id: &str, name: &str, content: &str) -> Message {
    Message::Tool { call_id: id.to_owned(), name: name.to_owned(), content: content.to_owned() }
}

/// A request that uses every field.
pub(crate) fn full_request() -> ModelRequest {
    let mut request = request("How is AAPL, and how is IBM?");
    request.instructions = Some("You trade.".to_owned());
    request.messages.extend([
        Message::Assistant {
            content: "I look both up.".to_owned(),
            tool_calls: vec![
                call("c1", "get_price", json!({ "symbol": "AAPL" })),
                call("c2", "get_price", json!("{\"symbol\": IBM")),
            ],
            provider: None,
        },
        answer_to("c1", "get_price", r#"{"price":"542.1"}"#),
        answer_to("c2", "get_price", r#"{"error":"the arguments are no JSON object"}"#),
        Message::user("Go on."),
    ]);
    request.tools = vec![price_tool()];
    request.tool_choice = ToolChoice::Required;
    request.response_schema = Some(papertape_core::message::ResponseSchema {
        name: "decision".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "action": { "type": "string" } },
            "required": ["action"],
            "additionalProperties": false,
        }),
    });
    request.sampling = Sampling {
        temperature: Some(0.5),
        top_p: Some(0.9),
        max_tokens: Some(700),
        seed: Some(7),
        stop: vec!["END".to_owned()],
        reasoning_effort: Some("low".to_owned()),
    };
    request
}
