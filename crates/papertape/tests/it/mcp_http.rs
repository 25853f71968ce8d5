//! Tool servers at an address.

use crate::mcp_support::{SERVER, Seen, Watch, call, desk};
use papertape_core::message::FailureKind;
use papertape_core::ports::ToolClient as _;
use papertape_integrations::mcp::McpTools;
use papertape_service::config::ToolServer;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

/// A server that runs as long as this value exists, and its reports.
async fn serve() -> (Child, Seen, McpTools) {
    let watch = Watch::new().await;
    let address = watch.address().to_string();
    let server = Command::new("python3")
        .args([SERVER, "http", &address])
        .kill_on_drop(true)
        .spawn()
        .expect("python3 is there");
    let mut seen = watch.server().await;
    let line = seen.says().await.expect("it starts");
    let port = line.strip_prefix("listening on ").expect("it listens");
    let url = Some(format!("http://127.0.0.1:{port}/mcp?key=not-to-be-told"));
    (server, seen, desk(ToolServer { url, ..ToolServer::default() }))
}

async fn echo(tools: &McpTools, words: &str) {
    let reply = tools.call(&call("echo", json!({ "text": words }))).await.expect("it answers");
    assert_eq!((reply.text.as_str(), reply.is_error), (words, false));
}

/// Goal: an address works like a child process.
#[tokio::test]
async fn calls_over_http() {
    let (_server, _seen, tools) = serve().await;
    let listed = tools.list().await.expect("it lists its tools");
    assert_eq!(listed.len(), 10);
    echo(&tools, "over HTTP").await;
    let failed = tools.call(&call("fail", json!({}))).await.expect("an answer");
    assert_eq!((failed.text.as_str(), failed.is_error), ("no such company", true));
    let structured = tools.call(&call("structured", Value::Null)).await.expect("an answer");
    assert_eq!(structured.text, r#"{"asked":"AAPL","price":12.5}"#);
}

/// Goal: a call that is dropped is cancelled at the server, and the next one works.
#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let (_server, mut seen, tools) = serve().await;
    let asked = call("hang", json!({}));
    let mut hanging = tools.call(&asked);
    tokio::select! {
        _ = &mut hanging => panic!("it hangs"),
        () = async { while seen.says().await.as_deref() != Some("hanging") {} } => {}
    }
    echo(&tools, "meanwhile").await;
    drop(hanging);
    while seen.says().await.as_deref() != Some("cancelled") {}
    echo(&tools, "after").await;
}

/// Goal: a broken connection fails its call, a session that the server has forgotten fails none, and the next
/// call works in either case.
#[tokio::test]
async fn broken_connections_are_made_anew() {
    let (_server, mut seen, tools) = serve().await;
    let failed = tools.call(&call("crash", json!({}))).await.expect_err("it is cut off");
    assert_eq!(failed.kind, FailureKind::ToolError);
    assert!(failed.message.starts_with("the tool server `desk` closed the connection"), "{failed}");
    echo(&tools, "again").await;
    assert_eq!(seen.says().await.as_deref(), Some("session"));
    assert_eq!(seen.says().await.as_deref(), Some("session"));
    tools.call(&call("forget", json!({}))).await.expect("it answers");
    echo(&tools, "in a new session").await;
    assert_eq!(seen.says().await.as_deref(), Some("session"));
}

/// Goal: an address where nobody listens is reported, without the address, which may contain a key.
#[tokio::test]
async fn an_address_without_a_server() {
    let held = tokio::net::TcpSocket::new_v4().expect("a socket");
    held.bind(([127, 0, 0, 1], 0).into()).expect("a port is free");
    let url = Some(format!("http://{}/mcp?key=not-to-be-told", held.local_addr().expect("it is bound")));
    let tools = desk(ToolServer { url, ..ToolServer::default() });
    let failed = tools.call(&call("echo", json!({}))).await.expect_err("nobody is there");
    assert_eq!(failed.kind, FailureKind::Unavailable);
    let sentence = "the tool server `desk` cannot be reached: Connection refused (os error ";
    assert!(failed.message.starts_with(sentence), "{failed}");
}

/// Goal: a hostile server fails its call with the name of the limit, and is disconnected at the first byte
/// too many: whole responses that are endless, nested, or consist of nothing but small values.
#[tokio::test]
async fn a_server_that_sends_too_much_is_left() {
    const JSON: &str = "application/json";
    let message = |inner: &str| format!(r#"{{"jsonrpc":"2.0","id":0,"result":{inner}}}"#);
    let deep = message(&("[".repeat(70) + &"]".repeat(70)));
    let wide = message(&format!("[{}0]", "{},".repeat(200_000)));
    let cases = [
        (ScriptedAnswer::endless(JSON, "{", "\"a\":1,".repeat(1_000)), "a message of more than 4 MiB"),
        (ScriptedAnswer::bytes(JSON, vec![b' '; 5 << 20]), "a message of more than 4 MiB"),
        (ScriptedAnswer::raw(JSON, deep), "JSON nested deeper than 64 levels"),
        (ScriptedAnswer::raw(JSON, wide), "more than 100000 JSON values"),
    ];
    for (answer, bound) in cases {
        let server = ModelServer::answering(move |_| answer.clone()).await;
        let tools = desk(ToolServer { url: Some(server.url()), ..ToolServer::default() });
        let failed = tools.call(&call("echo", json!({}))).await.expect_err("it is too much");
        assert_eq!(failed.kind, FailureKind::BadAnswer, "{failed}");
        assert!(failed.message.contains(bound), "{bound}: {failed}");
    }
}
