//! The MCP server's session tools: a real client over a real connection, and sessions that the test plays.

use crate::api_stream::Server;
use crate::api_support::{World, config};
use crate::mcp_server_support::{McpClient, Played, at_once};
use axum::body::Body;
use axum::http::Request;
use papertape_core::external::AgentRequest;
use papertape_core::json::to_value;
use papertape_protocol::access::Scope;
use papertape_service::access::{AccessToken, TokenHash, new_token};
use papertape_service::app::{Access, App};
use serde_json::{Value, json};

/// Goal: an external agent lists its session's tools, reads, trades and finishes its day; each call is one request of the
/// session, its reply is the tool's result, and a rejection is an error with the broker's reason.
#[tokio::test]
async fn an_agent_trades_its_day() {
    let world = World::empty().await;
    let server = Server::start(world.app.clone()).await;
    let mut session = Played::start(&world.app, "mine", &["get_price", "get_portfolio"]);
    let client = McpClient::connect(&server.url, Some(&session.token)).await.expect("it connects");
    let tools = client.tools().await;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["get_price", "get_portfolio", "buy", "sell", "finish_day"]);
    assert_eq!(tools[0].input_schema["properties"], json!({ "symbol": { "type": "string" } }));
    let only_reads = |at: usize| tools[at].annotations.as_ref().and_then(|hints| hints.read_only_hint);
    assert_eq!((only_reads(1), only_reads(2), only_reads(4)), (Some(true), Some(false), Some(false)));
    let about = client.0.peer().peer_info().and_then(|info| info.instructions.clone()).expect("instructions");
    assert!(about.contains("2012-10-01") && about.contains("finish_day"), "{about}");

    let arguments = json!({ "symbol": "AAPL" });
    let read = client.good("get_price", arguments.clone()).await;
    assert_eq!(read, json!({ "of": "mine", "tool": "get_price", "given": arguments }));
    let asked = session.asked().await;
    assert_eq!(
        asked,
        AgentRequest::Read { tool: "get_price".to_owned(), arguments: json!({ "symbol": "AAPL" }) }
    );
    let order = json!({ "symbol": "AAPL", "quantity": 10.5 });
    assert_eq!(client.good("buy", order).await["status"], "filled");
    let asked = to_value(&session.asked().await);
    assert_eq!(asked, json!({ "type": "order", "side": "buy", "symbol": "AAPL", "quantity": 10.5 }));
    let rejected = client.error("sell", json!({ "symbol": "AAPL", "quantity": 0 })).await;
    assert_eq!(
        (&rejected["code"], &rejected["reason"]),
        (&json!("order_rejected"), &json!("invalid_quantity"))
    );
    session.asked().await;

    let finished = client.good("finish_day", json!({ "decision": "up", "state": { "seen": 1 } })).await;
    assert_eq!(finished, json!({ "state_stored": true }));
    let asked = to_value(&session.asked().await);
    assert_eq!(asked, json!({ "type": "done", "decision": "up", "state": { "seen": 1 } }));

    // The day is over: the agent reads why, and its token opens nothing any more.
    session.closed(&world.app).await;
    for tool in ["get_price", "buy", "finish_day", "list_runs"] {
        let error = client.error(tool, json!({})).await;
        assert_eq!(error["code"], "session_ended");
        assert!(error["message"].as_str().expect("a text").contains("the session has ended"), "{error}");
    }
    // A client that lists the tools again, as some do after every call, is not cut off; a new one is turned away.
    assert_eq!(client.names().await, Vec::<String>::new());
    assert!(McpClient::connect(&server.url, Some(&session.token)).await.is_err());
    drop(client);
    server.stop().await;
}

/// Goal: two sessions at the same time see only their own; a token never opens the record tools, which hold the future
/// of its session, neither listed nor by name.
#[tokio::test]
async fn a_token_is_bound_to_its_session() {
    let world = World::new().await;
    let server = Server::start(world.app.clone()).await;
    let mut sessions = [
        Played::start(&world.app, "one", &["get_price"]),
        Played::start(&world.app, "two", &["get_price", "get_news"]),
    ];
    let one = McpClient::connect(&server.url, Some(&sessions[0].token)).await.expect("it connects");
    let two = McpClient::connect(&server.url, Some(&sessions[1].token)).await.expect("it connects");
    let answers = at_once(&[&one, &two, &one, &two], "get_price").await;
    let of: Vec<&str> = answers.iter().map(|answer| answer["of"].as_str().expect("a name")).collect();
    assert_eq!(of, ["one", "two", "one", "two"]);
    for session in &mut sessions {
        assert_eq!([session.asked().await, session.asked().await].len(), 2);
        assert!(session.is_quiet());
    }
    let record = McpClient::connect(&server.url, None).await.expect("it connects").names().await;
    assert_eq!(record.len(), 10);
    assert!(one.names().await.iter().all(|name| !record.contains(name)));
    for name in ["list_runs", "get_results", "get_messages", "search", "get_news"] {
        let arguments = json!({ "job_id": world.job, "query": "buy" });
        let error = one.error(name, arguments).await;
        assert_eq!(error["code"], "unknown_tool", "{name}");
        // It is a turn of the session, so the attempt is recorded.
        assert!(matches!(sessions[0].asked().await, AgentRequest::Malformed { .. }));
    }
    assert!(sessions[1].is_quiet());
    drop((one, two));
    server.stop().await;
}

/// A request to `/mcp` as any program could send it.
async fn post(url: &str, headers: &[(&str, &str)], body: &Value) -> reqwest::Response {
    let mut request = reqwest::Client::new()
        .post(format!("{url}/mcp"))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body.to_string()).send().await.expect("an answer")
}

fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" })
}

/// The first message of a client, with and without a handshake.
fn first_messages() -> [Value; 2] {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let of = |method: &str| json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    [of("initialize"), of("server/discover")]
}

/// Goal: a server with tokens serves the record to its readers, a session to its token, and nobody else; a listener for
/// agents alone serves no record even if the API is open.
#[tokio::test]
async fn who_may_use_which_tools() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    let read = new_token();
    let token = AccessToken { name: "reader".to_owned(), scope: Scope::Read, hash: TokenHash::of(&read) };
    config.auth.tokens.push(token);
    let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
    let server = Server::start(app.clone()).await;
    let session = Played::start(&app, "mine", &["get_price"]);
    let status = async |url: &str, token: &str, message: Value| {
        let value = format!("Bearer {token}");
        let answer = post(url, &[("authorization", &value)], &message).await;
        (answer.status().as_u16(), answer.text().await.expect("a body"))
    };
    let (code, tools) = status(&server.url, &read, list()).await;
    assert!(code == 200 && tools.contains("list_runs") && !tools.contains("finish_day"), "{code} {tools}");
    let (code, tools) = status(&server.url, &session.token, list()).await;
    assert!(code == 200 && !tools.contains("list_runs") && tools.contains("finish_day"), "{code} {tools}");
    let unknown = format!("pts_{}", "0".repeat(64));
    for token in ["", "x", &new_token(), &unknown, &session.token[..40], &read.replace("ptk_", "pts_")] {
        for message in first_messages() {
            let (code, body) = status(&server.url, token, message).await;
            assert_eq!(code, 401, "{token}: {body}");
            assert!(body.contains("\"unauthorized\""), "{body}");
        }
        let (code, body) = status(&server.url, token, list()).await;
        // Of a session that has ended, or never was, there are no tools.
        let is_empty = code == 200 && body.contains("\"tools\":[]");
        assert!(if token.starts_with("pts_") { is_empty } else { code == 401 }, "{token}: {code} {body}");
    }
    assert_eq!(post(&server.url, &[], &list()).await.status(), 401);
    // What only `/mcp` accepts opens nothing else.
    let bearer = format!("Bearer {}", session.token);
    let jobs = reqwest::Client::new().get(format!("{}/jobs", server.url)).header("authorization", &bearer);
    assert_eq!(jobs.send().await.expect("an answer").status(), 401);
    server.stop().await;

    let open = World::empty().await;
    let session = Played::start(&open.app, "mine", &["get_price"]);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let agents = papertape_api::mcp::router(open.app.clone());
    let serving = tokio::spawn(async move { axum::serve(listener, agents).await });
    assert_eq!(post(&url, &[], &list()).await.status(), 401);
    assert_eq!(status(&url, &read, list()).await.0, 401);
    let (code, tools) = status(&url, &session.token, list()).await;
    assert!(code == 200 && !tools.contains("list_runs") && tools.contains("finish_day"), "{code} {tools}");
    let bearer = format!("Bearer {}", session.token);
    let foreign = [("authorization", bearer.as_str()), ("origin", "https://attacker.example")];
    assert_eq!(post(&url, &foreign, &list()).await.status(), 403);
    serving.abort();
}

/// Goal: pages of other sites, and names that resolve to this machine, reach no tool; bodies are bounded, more widely
/// for sessions, whose agents store states; streams that the server does not offer are declined, not left open.
#[tokio::test]
async fn requests_are_checked_and_bounded() {
    let world = World::empty().await;
    let server = Server::start(world.app.clone()).await;
    let session = Played::start(&world.app, "mine", &["get_price"]);
    for headers in [
        ("origin", "https://attacker.example"),
        ("host", "attacker.example"),
        ("sec-fetch-site", "cross-site"),
    ] {
        assert_eq!(post(&server.url, &[headers], &list()).await.status(), 403, "{headers:?}");
    }
    let call = |bytes: usize| {
        let arguments = json!({ "search": "x".repeat(bytes), "symbol": "" });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "get_price", "arguments": arguments } })
    };
    let limit = world.app.config.server.body_limit_bytes;
    let bearer = format!("Bearer {}", session.token);
    for (token, bytes, status) in [("", limit, 413), (&*bearer, 4 << 20, 200), (&*bearer, 5 << 20, 413)] {
        let request = Request::post("/mcp")
            .header("host", "localhost")
            .header("authorization", token)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        let request = request.body(Body::from(call(bytes).to_string())).expect("a request");
        assert_eq!(world.send(request).await.status, status, "{bytes}");
    }
    let get = reqwest::Client::new().get(format!("{}/mcp", server.url)).header("accept", "text/event-stream");
    assert_eq!(get.send().await.expect("an answer").status(), 405);
    for garbage in ["", "x", "[]", "{}", r#"{"jsonrpc":"2.0","id":1}"#, &"[".repeat(10_000)] {
        let answer = reqwest::Client::new()
            .post(format!("{}/mcp", server.url))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(garbage.to_owned());
        let status = answer.send().await.expect("an answer").status();
        assert!(status.is_client_error(), "{garbage}: {status}");
    }
    server.stop().await;
}

/// Goal: a session that is stopped while a call waits answers it; nothing waits forever.
#[tokio::test]
async fn a_waiting_call_is_answered_when_its_session_stops() {
    let world = World::empty().await;
    let server = Server::start(world.app.clone()).await;
    let mut open = world.app.services.doors.open(papertape_runtime::doors::DoorScope {
        job: papertape_core::id::JobId::new("job"),
        name: papertape_core::id::AgentName::new("mine"),
        agent: "mine".to_owned(),
        date: jiff::civil::date(2012, 10, 1),
        instant: papertape_core::time::Timestamp::UNIX_EPOCH,
        reads: Vec::new(),
        orders: Vec::new(),
        models: Vec::new(),
    });
    let client = McpClient::connect(&server.url, Some(&open.token)).await.expect("it connects");
    let stopping = async {
        let asked = open.requests.recv().await.expect("a request");
        drop((asked, open));
    };
    let (error, ()) = futures::future::join(client.error("finish_day", json!({})), stopping).await;
    assert_eq!(error["code"], "session_ended");
    drop(client);
    server.stop().await;
}
