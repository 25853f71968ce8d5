//! Shared helpers: requests, results of tools, and a gateway with the house models.

use papertape_core::message::{Message, ModelRequest, Sampling, ToolChoice};
use papertape_house::HouseModels;
use papertape_llm::{Gateway, ModelsConfig, ProviderConfig, ProviderKind};
use papertape_testkit::model_server::ModelServer;

/// A gateway with the provider `test`, pointing at the server.
pub(crate) fn gateway(server: &ModelServer, stream: bool) -> Gateway {
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(server.url()),
        stream,
        ..ProviderConfig::default()
    };
    let config =
        ModelsConfig { providers: [("test".to_owned(), provider)].into(), ..ModelsConfig::default() };
    Gateway::new(&config, &HouseModels, &|_| None).expect("the config is good")
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

pub(crate) fn answer_to(id: &str, name: &str, content: &str) -> Message {
    Message::Tool { call_id: id.to_owned(), name: name.to_owned(), content: content.to_owned() }
}
