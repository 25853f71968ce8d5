//! Who may use the server: over real connections, as a program, a browser and a stranger.

use crate::api_stream::{Client, Server};
use crate::api_support::{config, week};
use papertape_core::ports::Queue as _;
use papertape_protocol::access::Scope;
use papertape_runtime::cancellation::CancelSource;
use papertape_service::access::{AccessToken, TokenHash, new_token};
use papertape_service::app::{Access, App};
use papertape_service::config::Config;
use papertape_service::trigger::trigger;
use papertape_testkit::clock::FakeClock;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A server with two tokens.
struct Guarded {
    server: Server,
    client: reqwest::Client,
    clock: FakeClock,
    read: String,
    operate: String,
    config: Config,
    _dir: TempDir,
}

fn with_tokens(config: &mut Config) -> (String, String) {
    let (read, operate) = (new_token(), new_token());
    for (name, scope, token) in [("reader", Scope::Read, &read), ("desk", Scope::Operate, &operate)] {
        let hash = TokenHash::of(token);
        config.auth.tokens.push(AccessToken { name: name.to_owned(), scope, hash });
    }
    (read, operate)
}

impl Guarded {
    async fn start() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mut config = config(&dir);
        config.server.allowed_origins = vec!["https://desk.example".to_owned()];
        let (read, operate) = with_tokens(&mut config);
        let clock = FakeClock::new();
        let server = serve(config.clone(), &clock).await;
        let policy = reqwest::redirect::Policy::none();
        let client = reqwest::Client::builder().redirect(policy).build().expect("a client");
        Self { server, client, clock, read, operate, config, _dir: dir }
    }

    /// Stops the server and starts another one on the same data.
    async fn restart(&mut self, change: impl FnOnce(&mut Config)) {
        // The client holds the server's connections open.
        self.client =
            reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
        change(&mut self.config);
        self.server.stop_now().await;
        self.server = serve(self.config.clone(), &self.clock).await;
    }

    /// Sends a request with these headers.
    async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::try_from(*name).expect("a name");
            map.insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        let request = self.client.request(method, format!("{}{path}", self.server.url)).headers(map);
        request.send().await.expect("an answer")
    }

    /// Submits the login form from its own page.
    async fn log_in(&self, token: &str, fields: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = self
            .client
            .post(format!("{}/login", self.server.url))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("token={token}{fields}"));
        if !headers.iter().any(|(name, _)| *name == "origin") {
            request = request.header("origin", &self.server.url);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.expect("an answer")
    }

    /// The cookie of a successful login, as a browser sends it back.
    async fn cookie(&self, token: &str) -> String {
        let answer = self.log_in(token, "", &[]).await;
        assert_eq!(answer.status(), 303);
        cookie_of(&answer).split(';').next().expect("a pair").to_owned()
    }
}

async fn serve(config: Config, clock: &FakeClock) -> Server {
    let mut app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
    app.services.clock = Arc::new(clock.clone());
    Server::start(app).await
}

fn cookie_of(answer: &Response) -> String {
    answer.headers()["set-cookie"].to_str().expect("text").to_owned()
}

async fn error_of(answer: Response) -> String {
    let body: Value = answer.json().await.expect("JSON");
    assert_eq!(body.as_object().map(serde_json::Map::len), Some(2), "{body}");
    body["error"].as_str().expect("a code").to_owned()
}

/// Goal: a caller without a token, with a wrong one, or with one in the URL learns nothing; a reader reads
/// and changes nothing; an operator does both.
#[tokio::test]
async fn a_token_is_needed_for_everything() {
    let desk = Guarded::start().await;
    let (reader, operator) = (format!("Bearer {}", desk.read), format!("bearer {}", desk.operate));
    let wrong = format!("Bearer {}", new_token());
    let basic = "Basic dXNlcjpwYXNz".to_owned();
    let cookie = format!("papertape={}", desk.operate);
    let strangers: [Vec<(&str, &str)>; 5] = [
        vec![],
        vec![("authorization", &wrong)],
        vec![("authorization", &basic)],
        vec![("authorization", "Bearer")],
        vec![("cookie", &cookie)],
    ];
    let in_address = format!("/jobs?token={0}&access_token={0}", desk.operate);
    let reads = ["/jobs", "/metrics", "/access", "/openapi.json", "/docs/", "/", "/jobs/x/stream"];
    for headers in &strangers {
        for path in reads.into_iter().chain([in_address.as_str(), "/nowhere"]) {
            let answer = desk.ask(Method::GET, path, headers).await;
            assert_eq!(answer.status(), 401, "{path} {headers:?}");
            assert!(answer.headers()["www-authenticate"].to_str().expect("text").starts_with("Bearer"));
            assert_eq!(error_of(answer).await, "unauthorized");
        }
        let answer = desk.ask(Method::POST, "/simulate/x/cancel", headers).await;
        assert_eq!(answer.status(), 401, "{headers:?}");
        // A probe learns whether the server works, but no version, path or agent name.
        let answer = desk.ask(Method::GET, "/health", headers).await;
        assert_eq!(answer.status(), 200, "{headers:?}");
        let body: Value = answer.json().await.expect("JSON");
        assert_eq!(body, serde_json::json!({ "status": "ok" }), "{headers:?}");
    }
    for (token, write) in [(&reader, 403), (&operator, 404)] {
        let headers = [("authorization", token.as_str())];
        assert_eq!(desk.ask(Method::GET, "/jobs", &headers).await.status(), 200);
        assert_eq!(desk.ask(Method::GET, "/jobs/x/stream", &headers).await.status(), 404);
        let answer = desk.ask(Method::POST, "/simulate/x/cancel", &headers).await;
        assert_eq!(answer.status(), write);
        let code = if write == 403 { "read_only_token" } else { "not_found" };
        assert_eq!(error_of(answer).await, code);
    }
    let who: Value =
        desk.ask(Method::GET, "/access", &[("authorization", &reader)]).await.json().await.expect("JSON");
    assert_eq!(who, serde_json::json!({ "required": true, "name": "reader", "scope": "read" }));
    desk.server.stop().await;
}

/// Goal: a page of another origin changes nothing, whatever token it has obtained; a configured origin may,
/// with its own token.
#[tokio::test]
async fn foreign_origins_change_nothing() {
    let desk = Guarded::start().await;
    let bearer = format!("Bearer {}", desk.operate);
    let own = desk.server.url.clone();
    let checks: [(&[(&str, &str)], u16); 7] = [
        (&[("origin", "https://evil.example")], 403),
        (&[("origin", "null")], 403),
        (&[("origin", "https://desk.example")], 404),
        (&[("origin", &own)], 404),
        (&[("sec-fetch-site", "cross-site")], 403),
        (&[("sec-fetch-site", "same-site")], 403),
        (&[("sec-fetch-site", "none")], 404),
    ];
    for (headers, status) in checks {
        let mut all = vec![("authorization", bearer.as_str())];
        all.extend(headers);
        let answer = desk.ask(Method::POST, "/simulate/x/cancel", &all).await;
        assert_eq!(answer.status(), status, "{headers:?}");
    }
    for path in ["/login", "/logout"] {
        let answer = desk.ask(Method::POST, path, &[("origin", "https://evil.example")]).await;
        assert_eq!(answer.status(), 403, "{path}");
    }
    desk.server.stop().await;
}

/// Goal: a browser logs in with a form without scripts, in its language, and gets a cookie that no script can
/// read and no other site's page can use; the cookie is valid until logout.
#[tokio::test]
async fn a_browser_logs_in_and_out() {
    let desk = Guarded::start().await;
    let html = ("accept", "text/html,application/xhtml+xml");
    let sent_away = desk.ask(Method::GET, "/jobs?limit=5", &[html]).await;
    assert_eq!(
        (sent_away.status().as_u16(), &sent_away.headers()["location"]),
        (303, &HeaderValue::from_static("/login?next=%2Fjobs%3Flimit%3D5"))
    );
    for (language, title) in [("en-GB,en", "Access token"), ("zh-CN,zh;q=0.9", "访问令牌")] {
        let page = desk.ask(Method::GET, "/login?next=/jobs", &[html, ("accept-language", language)]).await;
        assert_eq!(
            (page.status().as_u16(), page.headers()["referrer-policy"].to_str().ok()),
            (200, Some("same-origin"))
        );
        assert_eq!(page.headers()["cache-control"], "no-store");
        let text = page.text().await.expect("text");
        assert!(
            text.contains(title) && text.contains("value=\"/jobs\"") && !text.contains("<script"),
            "{text}"
        );
        assert!(!text.contains("style=") && !text.contains("http"), "{text}");
    }
    assert_eq!(desk.ask(Method::GET, "/login.css", &[]).await.status(), 200);

    let answer = desk.log_in(&desk.operate, "&next=%2Fjobs%3Flimit%3D5", &[]).await;
    assert_eq!(
        (answer.status().as_u16(), answer.headers()["location"].to_str().ok()),
        (303, Some("/jobs?limit=5"))
    );
    let set = cookie_of(&answer);
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains("Secure") && !set.contains(&desk.operate), "{set}");
    let away = desk.log_in(&desk.read, "&next=%2F%2Fevil.example", &[]).await;
    assert_eq!(away.headers()["location"], "/");

    let cookie = desk.cookie(&desk.operate).await;
    let with = |origin: Option<&str>| {
        let origin = origin.map(|origin| ("origin".to_owned(), origin.to_owned()));
        [("cookie".to_owned(), cookie.clone())].into_iter().chain(origin).collect::<Vec<_>>()
    };
    let ask = async |method: Method, path: &str, origin: Option<&str>| {
        let headers = with(origin);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        desk.ask(method, path, &headers).await.status().as_u16()
    };
    let own = desk.server.url.clone();
    assert_eq!(ask(Method::GET, "/jobs", None).await, 200);
    assert_eq!(ask(Method::POST, "/simulate/x/cancel", Some(&own)).await, 404);
    assert_eq!(ask(Method::POST, "/simulate/x/cancel", None).await, 403, "a form without an origin");
    assert_eq!(ask(Method::POST, "/simulate/x/cancel", Some("https://desk.example")).await, 403);
    let reader = desk.cookie(&desk.read).await;
    let refused =
        desk.ask(Method::POST, "/simulate/x/cancel", &[("cookie", &reader), ("origin", &own)]).await;
    assert_eq!(error_of(refused).await, "read_only_token");

    let inside = desk.ask(Method::GET, "/login", &[("cookie", &cookie)]).await.text().await.expect("text");
    assert!(inside.contains("<strong>desk</strong>") && inside.contains("action=\"/logout\""), "{inside}");
    assert_eq!(ask(Method::POST, "/logout", Some(&own)).await, 303);
    assert_eq!(ask(Method::GET, "/jobs", None).await, 401);
    assert_eq!(desk.ask(Method::GET, "/jobs", &[("cookie", &reader)]).await.status(), 200, "another browser");
    desk.clock.advance(Duration::from_secs(12 * 3_600));
    assert_eq!(
        desk.ask(Method::GET, "/jobs", &[("cookie", &reader)]).await.status(),
        401,
        "its time is over"
    );
    desk.server.stop().await;
}

/// Goal: a browser stays logged in across a server restart as long as its token is configured; the stored
/// data grants no access.
#[tokio::test]
async fn a_login_outlasts_the_server() {
    let mut desk = Guarded::start().await;
    let (cookie, other) = (desk.cookie(&desk.operate).await, desk.cookie(&desk.read).await);
    let data = desk._dir.path().to_owned();
    for file in std::fs::read_dir(&data).expect("reads").flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).expect("reads");
        for secret in [&cookie, &other].map(|cookie| cookie.trim_start_matches("papertape=ptk_").as_bytes()) {
            assert!(!bytes.windows(secret.len()).any(|part| part == secret), "{:?}", file.file_name());
        }
    }
    desk.restart(|_| {}).await;
    let status = async |desk: &Guarded, cookie: &str| {
        desk.ask(Method::GET, "/jobs", &[("cookie", cookie)]).await.status().as_u16()
    };
    assert_eq!((status(&desk, &cookie).await, status(&desk, &other).await), (200, 200));
    let own = desk.server.url.clone();
    let out = desk.ask(Method::POST, "/logout", &[("cookie", &other), ("origin", &own)]).await;
    assert_eq!(out.status(), 303);
    desk.restart(|config| config.auth.tokens.retain(|token| token.name == "reader")).await;
    assert_eq!(status(&desk, &cookie).await, 401, "its token was taken back");
    assert_eq!(status(&desk, &other).await, 401, "it has logged out");
    desk.server.stop().await;
}

/// Goal: guessing gets slower and slower, reveals nothing, and is reported with a message.
#[tokio::test]
async fn failed_logins_are_slowed() {
    let desk = Guarded::start().await;
    let guess = "%3Cscript%3Eguess";
    let wrong = desk.log_in(guess, "", &[]).await;
    assert_eq!(wrong.status(), 401);
    assert!(wrong.headers().get("set-cookie").is_none());
    let text = wrong.text().await.expect("text");
    assert!(text.contains("Unknown token") && !text.contains("guess"), "{text}");
    let slowed = desk.log_in(&desk.operate, "&lang=zh", &[]).await;
    assert_eq!(
        (slowed.status().as_u16(), &slowed.headers()["retry-after"]),
        (429, &HeaderValue::from_static("1"))
    );
    assert!(slowed.text().await.expect("text").contains("1 秒"));
    // Programs with a token are not slowed down by it.
    let bearer = format!("Bearer {}", desk.read);
    assert_eq!(desk.ask(Method::GET, "/jobs", &[("authorization", &bearer)]).await.status(), 200);
    desk.clock.advance(Duration::from_secs(1));
    desk.cookie(&desk.operate).await;
    let large = desk.log_in(&"x".repeat(9_000), "", &[]).await;
    assert_eq!(large.status(), 413);
    desk.server.stop().await;
}

/// A server with these limits.
async fn limited(change: impl FnOnce(&mut Config)) -> (Server, TempDir) {
    let (server, _, dir) = limited_app(change).await;
    (server, dir)
}

async fn limited_app(change: impl FnOnce(&mut Config)) -> (Server, App, TempDir) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    change(&mut config);
    let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
    (Server::start(app.clone()).await, app, dir)
}

async fn connect(server: &Server) -> TcpStream {
    let address = server.url.trim_start_matches("http://");
    TcpStream::connect(address).await.expect("connects")
}

/// Everything received until the server closes.
async fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // A reset counts as the end too.
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

const POST: &str = "POST /simulate/trigger HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";

/// Goal: a client that sends a head or a body byte by byte is cut off: the head without a response, the body
/// with 408.
#[tokio::test]
async fn slow_clients_are_cut_off() {
    let (server, _dir) = limited(|config| {
        config.server.header_timeout_secs = 1;
        config.server.body_timeout_secs = 1;
    })
    .await;
    let mut slow_head = connect(&server).await;
    slow_head.write_all(b"GET /health HTTP/1.1\r\nhost: local").await.expect("is sent");
    let mut slow_body = connect(&server).await;
    slow_body.write_all(format!("{POST}content-length: 100\r\n\r\n{{").as_bytes()).await.expect("is sent");
    let idle = connect(&server).await;
    assert_eq!(rest(slow_head).await, "");
    assert_eq!(rest(idle).await, "");
    let answer = rest(slow_body).await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("body_timeout"), "{answer}");
    server.stop().await;
}

/// Goal: the head's deadline does not apply to a stream: it stays open, however long nothing happens.
#[tokio::test]
async fn a_quiet_stream_is_not_cut_off() {
    let (server, app, _dir) = limited_app(|config| config.server.header_timeout_secs = 1).await;
    let job = trigger(&app, week()).await.expect("it is queued").job;
    let mut stream = Client::open(&server.url, job.as_str(), None).await;
    stream.next().await.expect("a snapshot");
    assert_eq!(rest(connect(&server).await).await, "", "a connection without a request has met it");
    app.store.cancel(&job).await.expect("writes");
    assert_eq!(stream.rest().await.last().expect("events").name, "end");
    server.stop().await;
}

/// Goal: a body is rejected once it grows too large, before all of it has arrived.
#[tokio::test]
async fn an_endless_body_is_refused() {
    let (server, _dir) = limited(|config| config.server.body_limit_bytes = 1_000).await;
    let mut endless = connect(&server).await;
    endless.write_all(format!("{POST}transfer-encoding: chunked\r\n\r\n").as_bytes()).await.expect("is sent");
    let chunk = format!("258\r\n{}\r\n", "x".repeat(600));
    for _ in 0..2 {
        endless.write_all(chunk.as_bytes()).await.expect("is sent");
    }
    let mut answer = vec![0; 12];
    endless.read_exact(&mut answer).await.expect("an answer");
    assert_eq!(answer, b"HTTP/1.1 413");
    let mut head = connect(&server).await;
    let long = format!("GET /health HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "x".repeat(300_000));
    // The server may close before everything is sent.
    let _ = head.write_all(long.as_bytes()).await;
    let answer = rest(head).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    server.stop().await;
}

/// Goal: connections beyond the limit wait for a place, and get one.
#[tokio::test]
async fn connections_are_bounded() {
    let (server, _dir) = limited(|config| config.server.max_connections = 1).await;
    let mut first = connect(&server).await;
    let ask = "GET /access HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let answered = async |stream: &mut TcpStream| {
        stream.write_all(ask.as_bytes()).await.expect("is sent");
        let mut text = String::new();
        while !text.ends_with('}') {
            let mut piece = [0; 1_000];
            let read = stream.read(&mut piece).await.expect("an answer");
            assert!(read > 0, "closed after {text}");
            text.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    };
    answered(&mut first).await;
    let mut second = connect(&server).await;
    second.write_all(ask.as_bytes()).await.expect("is sent");
    // The server does a lot meanwhile, but nothing for the second connection.
    for _ in 0..20 {
        answered(&mut first).await;
    }
    let nothing = second.try_read(&mut [0; 1]).expect_err("nothing has come");
    assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
    drop(first);
    answered(&mut second).await;
    drop(second);
    server.stop().await;
}

/// Goal: an address that others can reach is not served without tokens, even if `serve` is called directly.
#[tokio::test]
async fn other_addresses_need_tokens() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    let stopper = CancelSource::default();
    let everywhere = async || TcpListener::bind("0.0.0.0:0").await.expect("a port");
    let app = App::open(config.clone(), Access::Own, papertape::integrations()).await.expect("it opens");
    let refused = papertape_api::serve(app, everywhere().await, stopper.signal()).await;
    assert!(refused.expect_err("refused").to_string().contains("papertape auth token"));
    let loopback = ["127.0.0.1:80", "127.9.9.9:80", "[::1]:80", "[::ffff:127.0.0.1]:80"];
    for address in loopback {
        assert!(
            papertape_api::ensure_safe_bind(&config, address.parse().expect("an address")).is_ok(),
            "{address}"
        );
    }
    with_tokens(&mut config);
    for address in ["0.0.0.0:80", "[::]:80", "10.0.0.1:80"] {
        assert!(
            papertape_api::ensure_safe_bind(&config, address.parse().expect("an address")).is_ok(),
            "{address}"
        );
    }
}
