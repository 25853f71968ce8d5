//! External agents at a URL, and the door that they use: real servers on loopback.

use crate::external_support::{Agents, client, post};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post as on_post;
use futures::FutureExt as _;
use papertape_core::external::{AgentRequest, ExternalAgents as _, SessionEnding};
use papertape_core::message::FailureKind;
use papertape_service::config::ExternalAgent;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::mpsc;

const DAY: papertape_core::time::Date = jiff::civil::date(2025, 3, 3);

/// What an agent at a URL does with a day.
type OnDay = fn(&HeaderMap, &Value) -> (StatusCode, String);

/// A server of an agent. Every day that it receives is passed on.
async fn server(on_day: OnDay) -> (SocketAddr, mpsc::UnboundedReceiver<Value>) {
    let (days, received) = mpsc::unbounded_channel();
    let respond = async move |State(days): State<Arc<mpsc::UnboundedSender<Value>>>,
                              headers: HeaderMap,
                              body: String| {
        let day: Value = serde_json::from_str(&body).expect("a day is JSON");
        let response = on_day(&headers, &day);
        let _ = days.send(day);
        response
    };
    let router = Router::new().route("/day", on_post(respond)).with_state(Arc::new(days));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, received)
}

fn at(address: SocketAddr) -> ExternalAgent {
    ExternalAgent { url: Some(format!("http://{address}/day")), ..ExternalAgent::default() }
}

/// Goal: an agent at a URL gets its day, may answer at once, and then trades through the session's door until it is
/// done. With the session, its token ends.
#[tokio::test]
async fn an_agent_trades_over_http() {
    let (address, mut days) = server(|headers, day| {
        assert_eq!(day["type"], "day");
        assert!(headers.get("authorization").is_none(), "no key is configured");
        (StatusCode::ACCEPTED, String::new())
    })
    .await;
    let agents = Agents::new(at(address)).await;
    agents.app.open_doors().await.expect("they open");
    let mut session = agents.start("job", DAY).await.expect("it starts");
    let day = days.recv().await.expect("a day");
    let (url, token) = (day["doors"]["session_url"].as_str().expect("a URL"), day["doors"]["token"].as_str());
    let (url, token) = (url.to_owned(), token.expect("a token").to_owned());
    let agent = async {
        let read = json!({ "type": "read", "id": 1, "tool": "get_portfolio" });
        let reply: Value = post(&url, &token, &read).await.json().await.expect("JSON");
        assert_eq!(reply, json!({ "type": "reply", "id": 1, "ok": true, "result": { "cash": 5 } }));
        let wrong = post(&url, &token, &json!({ "type": "raed", "id": 2 })).await;
        assert_eq!(wrong.status().as_u16(), 200, "an error of a request is a reply");
        let wrong: Value = wrong.json().await.expect("JSON");
        assert_eq!(
            (&wrong["id"], &wrong["ok"], &wrong["error"]["code"]),
            (&json!(2), &json!(false), &json!("unknown_type"))
        );
        let done = post(&url, &token, &json!({ "type": "done", "state": [1] })).await;
        let done: Value = done.json().await.expect("JSON");
        assert_eq!(done, json!({ "type": "reply", "id": null, "ok": true, "result": {} }));
    };
    let played = async {
        let AgentRequest::Read { tool, .. } = session.answer(json!({ "cash": 5 })).await else {
            panic!("a read")
        };
        assert_eq!(tool, "get_portfolio");
        assert_eq!(session.reject().await, "unknown_type");
        let done = session.answer(json!({})).await;
        assert_eq!(done, AgentRequest::Done { decision: None, state: Some(json!([1])) });
        session
    };
    let ((), session) = tokio::join!(agent, played);
    session.end(SessionEnding::Completed).await;
    let late = post(&url, &token, &json!({ "type": "done" })).await;
    assert_eq!(late.status().as_u16(), 401);
}

/// Goal: the configured key is sent to the URL; the session's own token is not.
#[tokio::test]
async fn the_key_is_sent() {
    let (address, mut days) = server(|headers, day| {
        let key = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert_eq!(key, format!("Bearer {}", env!("CARGO_PKG_NAME")));
        assert!(!key.contains(day["doors"]["token"].as_str().expect("a token")));
        (StatusCode::OK, String::new())
    })
    .await;
    // A variable that the test runner sets for this process.
    let agents =
        Agents::new(ExternalAgent { key_env: Some("CARGO_PKG_NAME".to_owned()), ..at(address) }).await;
    agents.app.open_doors().await.expect("they open");
    let session = agents.start("job", DAY).await.expect("it starts");
    days.recv().await.expect("a day");
    session.end(SessionEnding::Stopped).await;
    let missing = ExternalAgent { key_env: Some("PAPERTAPE_TEST_NO_KEY".to_owned()), ..at(address) };
    let agents = Agents::new(missing).await;
    let error = agents.agents.facts("mine").expect_err("there is no key");
    assert!(
        error.ends_with("its key is missing: set the environment variable PAPERTAPE_TEST_NO_KEY"),
        "{error}"
    );
}

/// Goal: a URL that answers with an error, redirects, or cannot be reached fails the day with a sentence that has no
/// secret.
#[tokio::test]
async fn a_url_that_fails_is_a_failure() {
    let secret = "zq7x81kfp02mvn55";
    let cases: [(OnDay, FailureKind, &str); 4] = [
        (
            |_, _| (StatusCode::INTERNAL_SERVER_ERROR, "no model: api_key=zq7x81kfp02mvn55".to_owned()),
            FailureKind::Unavailable,
            "answered with HTTP 500: no model: api_key=",
        ),
        (
            |_, _| (StatusCode::UNAUTHORIZED, String::new()),
            FailureKind::Unauthorised,
            "answered with HTTP 401",
        ),
        (|_, _| (StatusCode::NOT_FOUND, String::new()), FailureKind::BadRequest, "answered with HTTP 404"),
        (
            |_, _| (StatusCode::TEMPORARY_REDIRECT, String::new()),
            FailureKind::BadRequest,
            "answered with HTTP 307",
        ),
    ];
    for (on_day, kind, beginning) in cases {
        let (address, _days) = server(on_day).await;
        let agents = Agents::with(at(address), &[secret]).await;
        agents.app.open_doors().await.expect("they open");
        let mut session = agents.start("job", DAY).await.expect("it starts");
        let failure = session.next().await.err().expect("it fails");
        assert_eq!(failure.kind, kind);
        assert!(failure.message.starts_with(&format!("the external agent `mine` {beginning}")), "{failure}");
        assert!(!failure.message.contains(secret), "{failure}");
        session.end(SessionEnding::Stopped).await;
    }
    // A port that was free a moment ago.
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = closed.local_addr().expect("it is bound");
    drop(closed);
    let agents = Agents::new(at(address)).await;
    let error = agents.start("job", DAY).await.err().expect("there is no listener");
    assert_eq!(error.message, "the external agent `mine` has a URL, and this process has no listener");
    agents.app.open_doors().await.expect("they open");
    let mut session = agents.start("job", DAY).await.expect("it starts");
    let failure = session.next().await.err().expect("it fails");
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (FailureKind::Unavailable, "the external agent `mine` cannot be reached")
    );
}

/// Goal: an agent on another machine is told the configured URL of this server.
#[tokio::test]
async fn agents_elsewhere_get_the_public_url() {
    let mut config = crate::frictionless();
    config.server.public_url = Some("https://desk.example/tape/".to_owned());
    let (address, _days) = server(|_, _| (StatusCode::OK, String::new())).await;
    config.external_agents.insert("there".to_owned(), at(address));
    config.external_agents.insert("here".to_owned(), crate::external_support::program("days", None));
    let dir = tempfile::tempdir().expect("a directory");
    config.data_dir = dir.path().to_owned();
    let access = papertape_service::app::Access::Own;
    let app =
        papertape_service::app::App::open(config, access, papertape::integrations()).await.expect("it opens");
    assert_eq!(app.services.external.addresses("there", "pts_1"), None, "nothing listens yet");
    app.doors.set(SocketAddr::from(([0, 0, 0, 0], 8081)));
    let there = app.services.external.addresses("there", "pts_1").expect("it listens");
    assert_eq!(there.session_url, "https://desk.example/tape/sessions/current");
    assert_eq!((there.mcp_url.as_str(), there.token.as_str()), ("https://desk.example/tape/mcp", "pts_1"));
    let here = app.services.external.addresses("here", "pts_1").expect("it listens");
    assert_eq!(here.model_base_url, "http://127.0.0.1:8081/v1");
}

/// The status of a request that announces a body of this length.
async fn declared_length(address: SocketAddr, token: &str, length: usize) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("it listens");
    let head = format!(
        "POST /sessions/current HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("it reads");
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.expect("it responds");
    String::from_utf8_lossy(&status[9..]).into_owned()
}

/// Goal: the door admits the session's token and no other, for JSON up to 4 MiB; where a process serves only doors,
/// nothing else of the API is there.
#[tokio::test]
async fn the_door_is_guarded() {
    let agents = Agents::new(at(SocketAddr::from(([127, 0, 0, 1], 9)))).await;
    agents.app.open_doors().await.expect("they open");
    agents.app.open_doors().await.expect("again is the same");
    let mut open = agents.open("job", DAY);
    let doors = agents.agents.addresses("mine", &open.token).expect("they are open");
    let done = json!({ "type": "done", "id": 1 });
    for token in ["", "pts_", &open.token.to_uppercase()] {
        let response = post(&doors.session_url, token, &done).await;
        assert_eq!(response.status().as_u16(), 401, "{token}");
        assert!(response.headers().contains_key("www-authenticate"));
        let body: Value = response.json().await.expect("JSON");
        assert_eq!(body["error"], "unauthorized");
    }
    assert_eq!(
        declared_length(agents.app.doors.address().expect("it listens"), &open.token, 5 << 20).await,
        "413"
    );
    let client = client();
    let text =
        client.post(&doors.session_url).bearer_auth(&open.token).body("{}").send().await.expect("responds");
    assert_eq!(text.status().as_u16(), 415);
    let get = client.get(&doors.session_url).bearer_auth(&open.token).send().await.expect("responds");
    assert_eq!(get.status().as_u16(), 405);
    let rebound =
        client.post(&doors.session_url).bearer_auth(&open.token).header("host", "evil.example").json(&done);
    assert_eq!(rebound.send().await.expect("responds").status().as_u16(), 403);
    let base = doors.session_url.trim_end_matches("/sessions/current");
    for path in ["/jobs", "/openapi.json", "/health", "/"] {
        assert_eq!(
            client.get(format!("{base}{path}")).send().await.expect("responds").status().as_u16(),
            404,
            "{path}"
        );
    }
    assert!(open.requests.recv().now_or_never().is_none(), "nothing has reached the session");
}

/// Goal: a server that requires tokens admits an agent by its session's token, to its session only; a token of the
/// server's own opens no session.
#[tokio::test]
async fn the_server_offers_the_door_too() {
    use axum::body::Body;
    use axum::http::Request;
    use papertape_protocol::access::Scope;
    use papertape_service::access::{AccessToken, TokenHash};
    use tower::ServiceExt as _;
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = crate::api_support::config(&dir);
    let hash = TokenHash::of("ptk_operator");
    config.auth.tokens.push(AccessToken { name: "desk".to_owned(), scope: Scope::Operate, hash });
    let access = papertape_service::app::Access::Own;
    let app =
        papertape_service::app::App::open(config, access, papertape::integrations()).await.expect("it opens");
    let agents = Agents::new(at(SocketAddr::from(([127, 0, 0, 1], 9)))).await;
    let scope = agents.open("job", DAY).door.scope().clone();
    let mut open = app.services.doors.open(scope);
    let router = papertape_api::router(app.clone());
    let send = async |method: &str, path: &str, token: &str, body: &str| {
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json");
        let response =
            router.clone().oneshot(request.body(Body::from(body.to_owned())).expect("a request")).await;
        response.expect("it responds").status().as_u16()
    };
    let done = r#"{"type":"done"}"#;
    assert_eq!(send("POST", "/sessions/current", "ptk_operator", done).await, 401);
    assert_eq!(send("GET", "/jobs", &open.token, "").await, 401);
    let token = open.token.clone();
    let answered = async {
        let asked = open.requests.recv().await.expect("a request");
        let _ = asked.reply.send(papertape_core::external::AgentReply::Ok { result: json!({}) });
    };
    let (status, ()) = tokio::join!(send("POST", "/sessions/current", &token, done), answered);
    assert_eq!(status, 200);
}
