//! Who may send requests, which headers responses carry, and that pages need no external resources.

use crate::api_support::World;
use axum::body::Body;
use axum::http::{Method, Request};

/// Goal: a page whose host name was made to resolve to this machine gets nothing, and a page of another
/// origin cannot start anything.
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

/// Goal: a duplicate or unreadable header is rejected: a proxy or a browser may have meant the second value.
/// A body that declares an excessive size is not waited for.
#[tokio::test]
async fn what_is_not_plain_is_refused() {
    let world = World::empty().await;
    let check = async |headers: &[(&str, &[u8])], status: u16| {
        let mut request = Request::post("/simulate/none/cancel");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = world.send(request.body(Body::empty()).expect("a request")).await;
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.text);
    };
    let own: &[u8] = b"http://localhost:8080";
    check(&[("host", b"localhost:8080"), ("host", b"evil.example")], 403).await;
    check(&[("host", b"localhost:8080"), ("origin", b"\xff\xfe")], 403).await;
    check(&[("host", b"localhost:8080"), ("origin", own), ("origin", b"http://evil.example")], 403).await;
    check(&[("host", b"localhost:8080"), ("origin", own)], 404).await;
    let large = Request::post("/plans")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("content-length", "2000000000")
        // It never arrives.
        .body(Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>()));
    assert_eq!(world.send(large.expect("a request")).await.status, 413);
}

/// Goal: every response, success or error, carries the headers; CORS admits no other origin.
#[tokio::test]
async fn answers_carry_their_headers() {
    let world = World::empty().await;
    for uri in ["/", "/docs/", "/health", "/nowhere", "/app/runs", "/openapi.json"] {
        let answer = world.get(uri).await;
        let policy = answer.headers["content-security-policy"].to_str().expect("text");
        assert!(policy.starts_with("default-src 'self'"), "{uri}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{uri}");
        assert!(!answer.headers.contains_key("access-control-allow-origin"), "{uri}");
    }
}

/// Goal: the docs page works offline: everything it loads comes from this server.
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

/// Goal: responses above a certain size are compressed for clients that accept it, and event streams never are.
#[tokio::test]
async fn large_answers_are_compressed() {
    let world = World::new().await;
    let get = async |uri: String, accepts: &str| {
        let request = Request::get(uri).header("host", "localhost").header("accept-encoding", accepts);
        world.send(request.body(Body::empty()).expect("a request")).await
    };
    let large = format!("/results?job_id={}&reasoning=full", world.job);
    let plain = get(large.clone(), "identity").await;
    assert!(!plain.headers.contains_key("content-encoding") && plain.text.len() > 10_000);
    let small = get(large, "gzip, br").await;
    assert_eq!(small.headers["content-encoding"], "gzip");
    assert!(small.text.len() < plain.text.len() / 2, "{} of {}", small.text.len(), plain.text.len());
    for uri in ["/health".to_owned(), format!("/jobs/{}/stream?after=0", world.job)] {
        let answer = get(uri.clone(), "gzip").await;
        assert!(!answer.headers.contains_key("content-encoding"), "{uri}");
    }
}

/// Goal: every page URL returns the page, or says that the pages were not built; a missing file is a normal
/// 404, and no path leads outside the pages.
#[tokio::test]
async fn the_pages_are_one_page() {
    let world = World::empty().await;
    let page = world.get("/").await;
    assert!([200, 503].contains(&page.status.as_u16()), "{}", page.status);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert!(!page.text.contains("http:") && !page.text.contains("https:") && !page.text.contains("style="));
    assert!(!page.text.contains("<script>"), "{}", page.text);
    for uri in ["/app", "/app/runs", "/app/runs/1/2012-10-01/house::momentum"] {
        let answer = world.get(uri).await;
        assert_eq!((answer.status, &answer.text), (page.status, &page.text), "{uri}");
    }
    for uri in [
        "/assets/nothing.js",
        "/assets/",
        "/assets/../index.html",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/..%5cx",
    ] {
        let answer = world.get(uri).await;
        assert_eq!(answer.status, 404, "{uri}");
        assert_eq!(answer.json()["error"], "not_found", "{uri}");
    }
}
