//! Who may ask, what answers tell a browser, and that pages need nothing from outside.

use crate::api_support::{World, week};
use axum::body::Body;
use axum::http::{Method, Request};
use papertape::trigger::trigger;
use papertape_agents::config::AgentConfig;
use papertape_core::id::AgentName;

/// Goal: a page whose name was made to resolve to this machine gets nothing, and a page of another origin
/// cannot start anything.
#[tokio::test]
async fn strangers_are_refused() {
    let world = World::empty().await;
    let request = |method: Method, host: Option<&str>, origin: Option<&str>| {
        let mut request = Request::builder().method(method).uri("/simulate/none/cancel");
        for (name, value) in [("host", host), ("origin", origin)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request.body(Body::empty()).expect("a request")
    };
    let own = Some("http://localhost:8080");
    let checks = [
        (Some("localhost:8080"), None, 404),
        (Some("localhost:8080"), own, 404),
        (Some("127.0.0.1:8080"), None, 404),
        (Some("localhost:8080"), Some("http://evil.example"), 403),
        (Some("localhost:8080"), Some("null"), 403),
        (Some("evil.example"), Some("http://evil.example"), 403),
        (Some("evil.example:8080"), None, 403),
        (None, None, 403),
    ];
    for (host, origin, status) in checks {
        let answer = world.send(request(Method::POST, host, origin)).await;
        assert_eq!(answer.status, status, "{host:?} {origin:?}: {}", answer.text);
        if status == 403 {
            assert_eq!(answer.json().as_object().map(serde_json::Map::len), Some(2));
        }
    }
}

/// Goal: every answer, good or bad, carries the headers; no other origin is let in by CORS.
#[tokio::test]
async fn answers_carry_their_headers() {
    let world = World::empty().await;
    for uri in ["/", "/docs/", "/health", "/nowhere", "/landing.css", "/openapi.json"] {
        let answer = world.get(uri).await;
        let policy = answer.headers["content-security-policy"].to_str().expect("text");
        assert!(policy.starts_with("default-src 'self'"), "{uri}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{uri}");
        assert!(!answer.headers.contains_key("access-control-allow-origin"), "{uri}");
    }
}

/// Goal: the docs page works without a network: what it loads, it loads from here.
#[tokio::test]
async fn the_docs_page_is_all_here() {
    let world = World::empty().await;
    assert_eq!(world.get("/docs").await.headers["location"], "/docs/");
    let page = world.get("/docs/").await;
    assert_eq!(page.status, 200);
    assert!(!page.text.contains("<script>") && !page.text.contains("http"), "{}", page.text);
    let loaded: Vec<&str> = page
        .text
        .split(['"', '\''])
        .filter(|part| [".js", ".css", ".png"].iter().any(|end| part.ends_with(end)))
        .collect();
    assert!(loaded.len() >= 5, "{loaded:?}");
    for file in loaded {
        let answer = world.get(&format!("/docs/{}", file.trim_start_matches("./"))).await;
        assert_eq!(answer.status, 200, "{file}");
    }
    let start = world.get("/docs/swagger-initializer.js").await.text;
    assert!(start.contains("/openapi.json") && !start.contains("http"), "{start}");
    assert!(start.contains("\"validatorUrl\": \"none\""), "{start}");
}

/// Goal: the landing page lists jobs, says what a house model is, and shows names as names.
#[tokio::test]
async fn the_landing_page_is_quiet_and_escaped() {
    let world = World::empty().await;
    assert!(world.get("/").await.text.contains("There is no job yet"));
    let name = "<script>alert('x')</script>";
    let mut simulation = week();
    let model = "house::momentum".parse().expect("a model");
    simulation.models = Vec::new();
    simulation.agents = vec![AgentConfig::solo(AgentName::new(name), model)];
    let queued = trigger(&world.app, simulation).await.expect("it is queued");
    let page = world.get("/").await;
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert!(page.text.contains(queued.job.as_str()) && page.text.contains("house model, no LLM"));
    assert!(
        page.text.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;") && !page.text.contains(name)
    );
    assert!(!page.text.contains("http:") && !page.text.contains("https:") && !page.text.contains("style="));
}
