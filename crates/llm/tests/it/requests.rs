//! Requests as they are sent.

use crate::support::{KEY, full_request, gateway, gateway_of, price_tool, request};
use papertape_core::message::{ModelRequest, ToolChoice};
use papertape_core::ports::ModelClient as _;
use papertape_llm::{ModelsConfig, ProviderConfig, ProviderKind};
use papertape_testkit::model_server::{ModelServer, Recorded, ScriptedAnswer};

async fn sent(kind: ProviderKind, stream: bool, request: &ModelRequest) -> Recorded {
    let server = ModelServer::answering(|_| ScriptedAnswer::text("ok")).await;
    // Other protocols cannot read the response; only the request matters here.
    let _ = gateway_of(kind, &server, stream).call(request, None).await;
    server.request(1).await
}

/// Everything that a request can contain reaches a chat-completions server, malformed calls wrapped.
#[tokio::test]
async fn a_full_request_to_chat_completions() {
    let sent = sent(ProviderKind::OpenaiCompatible, false, &full_request()).await;
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(sent.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    insta::with_settings!({ sort_maps => true }, { insta::assert_json_snapshot!(sent.body) });
}

/// A stream requests its usage; nothing that was not set is sent.
#[tokio::test]
async fn a_bare_request_as_a_stream() {
    let sent = sent(ProviderKind::OpenaiCompatible, true, &request("Hello")).await;
    insta::with_settings!({ sort_maps => true }, { insta::assert_json_snapshot!(sent.body) });
}

#[tokio::test]
async fn a_full_request_to_anthropic() {
    let sent = sent(ProviderKind::Anthropic, false, &full_request()).await;
    assert_eq!(sent.path, "/v1/messages");
    assert_eq!(sent.header("x-api-key"), Some(KEY));
    insta::with_settings!({ sort_maps => true }, { insta::assert_json_snapshot!(sent.body) });
}

#[tokio::test]
async fn a_full_request_to_gemini() {
    let sent = sent(ProviderKind::Gemini, false, &full_request()).await;
    assert_eq!(sent.path, "/v1/models/some-model:generateContent");
    assert_eq!(sent.header("x-goog-api-key"), Some(KEY));
    insta::with_settings!({ sort_maps => true }, { insta::assert_json_snapshot!(sent.body) });
}

/// Tool choice is sent only when there are tools and it differs from the default.
#[tokio::test]
async fn tool_choice_is_sent_where_it_means_something() {
    let server = ModelServer::answering(|_| ScriptedAnswer::text("ok")).await;
    let gateway = gateway(&server, false);
    let mut request = request("Hello");
    request.tool_choice = ToolChoice::Required;
    gateway.call(&request, None).await.unwrap();
    request.tools = vec![price_tool()];
    gateway.call(&request, None).await.unwrap();
    request.tool_choice = ToolChoice::None;
    gateway.call(&request, None).await.unwrap();
    request.tool_choice = ToolChoice::Auto;
    gateway.call(&request, None).await.unwrap();
    let choices: Vec<_> =
        server.requests().iter().map(|sent| sent.body.get("tool_choice").cloned()).collect();
    assert_eq!(choices, [None, Some("required".into()), Some("none".into()), None]);
}

/// Model names with an ambiguous ending arrive unchanged.
#[tokio::test]
async fn model_names_arrive_whole() {
    let server = ModelServer::answering(|_| ScriptedAnswer::text("ok")).await;
    let gateway = gateway(&server, false);
    let names = ["qwen-max", "gpt-oss-high", "a::b", "vendor/model:free", "plain"];
    for name in names {
        let mut request = request("Hello");
        request.model.model = name.to_owned();
        gateway.call(&request, None).await.unwrap();
    }
    for (sent, name) in server.requests().iter().zip(names) {
        assert_eq!(sent.body["model"], name);
        assert_eq!(sent.body.get("reasoning_effort"), None, "{name}");
    }
}

/// A tool whose name would enable a provider's own search is rejected before it is sent.
#[tokio::test]
async fn a_tool_cannot_turn_into_the_providers_search() {
    for (kind, name) in [(ProviderKind::Anthropic, "web_search"), (ProviderKind::Gemini, "googleSearch")] {
        let server = ModelServer::answering(|_| ScriptedAnswer::text("ok")).await;
        let mut request = request("Hello");
        request.tools = vec![papertape_core::message::ToolSpec { name: name.to_owned(), ..price_tool() }];
        let failure = gateway_of(kind, &server, false).call(&request, None).await.unwrap_err().failure;
        assert_eq!(failure.kind.as_str(), "bad_request");
        assert!(failure.message.contains(name), "{failure}");
        assert_eq!(server.count(), 0);
    }
}

/// A server that needs no key gets none, and its base URL needs no final slash.
#[tokio::test]
async fn a_server_without_a_key_gets_none() {
    let server = ModelServer::answering(|_| ScriptedAnswer::text("ok")).await;
    let provider = ProviderConfig {
        kind: Some(ProviderKind::Ollama),
        base_url: Some(server.url().trim_end_matches('/').to_owned()),
        ..ProviderConfig::default()
    };
    let config =
        ModelsConfig { providers: [("test".to_owned(), provider)].into(), ..ModelsConfig::default() };
    let gateway = papertape_llm::Gateway::new(&config, &crate::support::BuiltIn, &|_| None).unwrap();
    for _ in 0..2 {
        gateway.call(&request("Hello"), None).await.unwrap();
    }
    let sent = server.request(2).await;
    assert_eq!((sent.path.as_str(), sent.occurrence), ("/v1/chat/completions", 2));
    assert_eq!(sent.header("authorization"), None);
    assert_eq!(server.repeats(), 1);
}

/// A query in the base URL stays after the path, with a key and without one.
#[tokio::test]
async fn a_query_in_the_base_url_is_kept() {
    let server = ModelServer::answering(|_| ScriptedAnswer::text("ok")).await;
    let url = format!("{}?version=2", server.url().trim_end_matches('/'));
    crate::support::gateway_at(ProviderKind::OpenaiCompatible, &url, false)
        .call(&request("Hello"), None)
        .await
        .unwrap();
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(url),
        ..ProviderConfig::default()
    };
    let config =
        ModelsConfig { providers: [("test".to_owned(), provider)].into(), ..ModelsConfig::default() };
    papertape_llm::Gateway::new(&config, &crate::support::BuiltIn, &|_| None)
        .unwrap()
        .call(&request("Hello"), None)
        .await
        .unwrap();
    for sent in server.requests() {
        assert_eq!(sent.path, "/v1/chat/completions?version=2");
    }
}

/// An unknown reasoning effort is the caller's error, and nothing is sent.
#[tokio::test]
async fn an_unknown_reasoning_effort_is_refused() {
    let server = ModelServer::answering(|_| ScriptedAnswer::text("ok")).await;
    let mut request = request("Hello");
    request.sampling.reasoning_effort = Some("enormous".to_owned());
    let failure = gateway(&server, true).call(&request, None).await.unwrap_err().failure;
    assert_eq!(failure.kind.as_str(), "bad_request");
    assert_eq!(server.count(), 0);
}
