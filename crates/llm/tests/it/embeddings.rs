//! Embeddings from a provider, over real HTTP.

use papertape_core::message::{FailureKind, ModelName};
use papertape_llm::{Gateway, ModelsConfig, ProviderConfig, ProviderKind};
use papertape_testkit::model_server::ModelServer;

fn gateway(server: &ModelServer, key: Option<&'static str>) -> Gateway {
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(server.url()),
        api_key_env: key.map(str::to_owned),
        ..ProviderConfig::default()
    };
    let config = ModelsConfig { providers: [("lab".to_owned(), provider)].into(), ..ModelsConfig::default() };
    Gateway::new(&config, &crate::support::BuiltIn, &|name| {
        (name == "LAB_KEY").then(|| "sk-lab-0123456789".to_owned())
    })
    .expect("the config makes sense")
}

fn model(name: &str) -> ModelName {
    name.parse().expect("a model's name")
}

/// Goal: each text gets its own embedding, whatever order they come back in; the request contains the model,
/// the texts and, if there is one, the key.
#[tokio::test]
async fn texts_come_back_as_vectors_in_their_order() {
    let server = ModelServer::scripted([]).await;
    server.set_embedder(|texts| Ok(texts.iter().map(|text| vec![text.len() as f32, 0.5]).collect()));
    for key in [None, Some("LAB_KEY")] {
        let texts = ["a", "four", "", "股"].map(str::to_owned).to_vec();
        let made = gateway(&server, key).embed(&model("lab::small"), texts.clone()).await;
        assert_eq!(made.expect("answers"), [[1.0, 0.5], [4.0, 0.5], [0.0, 0.5], [3.0, 0.5]]);
        let request = server.requests().pop().expect("it was asked");
        assert_eq!(request.path, "/v1/embeddings");
        assert_eq!(request.body["model"], "small");
        assert_eq!(request.body["input"], serde_json::json!(texts));
        let sent = request.header("authorization").map(str::to_owned);
        assert_eq!(sent, key.map(|_| "Bearer sk-lab-0123456789".to_owned()));
    }
}

/// Goal: an error response, a response to a different request, and a model without embeddings fail with
/// different kinds.
#[tokio::test]
async fn failures_are_told_by_kind() {
    let server = ModelServer::scripted([]).await;
    let gateway = gateway(&server, None);
    let ask = async |name: &str| {
        let failed = gateway.embed(&model(name), vec!["one".to_owned(), "two".to_owned()]).await;
        failed.expect_err("it cannot answer").failure
    };
    for (status, kind) in [(429, FailureKind::RateLimited), (503, FailureKind::Unavailable)] {
        server.set_embedder(move |_| Err(status));
        assert_eq!(ask("lab::small").await.kind, kind);
    }
    server.set_embedder(|_| Ok(vec![vec![1.0]]));
    assert_eq!(ask("lab::small").await.kind, FailureKind::BadAnswer);
    server.set_embedder(|texts| Ok(texts.iter().map(|_| Vec::new()).collect()));
    assert_eq!(ask("lab::small").await.kind, FailureKind::BadAnswer);
    assert_eq!(ask("house::momentum").await.kind, FailureKind::BadRequest);
    assert_eq!(ask("nowhere::small").await.kind, FailureKind::UnknownModel);
}
