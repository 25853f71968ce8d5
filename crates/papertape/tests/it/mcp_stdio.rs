//! Tool servers that are child processes.

use crate::mcp_support::{Watch, call, desk};
use papertape_agents::solo::LIST_TOOLS;
use papertape_core::message::FailureKind;
use papertape_core::ports::{ExternalCall, ExternalReply, ToolClient as _};
use papertape_integrations::mcp::McpTools;
use papertape_service::config::ToolServer;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};

async fn text(tools: &McpTools, tool: &str, arguments: Value) -> String {
    let reply = tools.call(&call(tool, arguments)).await.expect("the tool answers");
    assert!(!reply.is_error, "{}", reply.text);
    reply.text
}

async fn failure(tools: &McpTools, asked: ExternalCall) -> (FailureKind, String) {
    let failed = tools.call(&asked).await.expect_err("the call fails");
    (failed.kind, failed.message)
}

/// Goal: an agent's session learns the tools of one server, sorted, from all pages, each with what the model
/// must know and whether a call may be repeated.
#[tokio::test]
async fn tools_are_listed() {
    let watch = Watch::new().await;
    let server = ToolServer { idempotent_tools: vec!["desk.notes".to_owned()], ..watch.stdio(&[]) };
    let tools = desk(server);
    let listed: Value = serde_json::from_str(&text(&tools, LIST_TOOLS, json!({})).await).expect("JSON");
    let listed = listed.as_array().expect("an array");
    let names: Vec<&str> = listed.iter().map(|tool| tool["spec"]["name"].as_str().unwrap_or("")).collect();
    let sorted =
        ["crash", "desk_x2e_notes", "echo", "env", "fail", "forget", "hang", "large", "mixed", "structured"];
    assert_eq!(names, sorted);
    let repeatable: Vec<&str> = listed
        .iter()
        .filter(|t| t["repeatable"] == true)
        .map(|t| t["spec"]["name"].as_str().unwrap_or(""))
        .collect();
    // One by the config, one read-only, one idempotent; `env` declares that it is not read-only.
    assert_eq!(repeatable, ["desk_x2e_notes", "echo", "structured"]);
    assert_eq!(
        listed[2],
        json!({
            "repeatable": true,
            "spec": {
                "name": "echo",
                "description": "Answers with its text",
                "parameters": { "type": "object", "properties": { "text": { "type": "string" } } },
            },
        })
    );
    let all = tools.list().await.expect("all servers answer");
    assert_eq!(all.iter().map(|tool| tool.spec.name.as_str()).collect::<Vec<_>>(), sorted);
    assert!(all.iter().all(|tool| tool.server == "desk"));
}

/// Goal: whatever a tool returns, the model reads it as text, and nothing is silently skipped.
#[tokio::test]
async fn answers_are_texts() {
    let watch = Watch::new().await;
    let tools = desk(watch.stdio(&[]));
    assert_eq!(text(&tools, "echo", json!({ "text": "Grüße" })).await, "Grüße");
    assert_eq!(text(&tools, "structured", Value::Null).await, r#"{"asked":"AAPL","price":12.5}"#);
    assert_eq!(text(&tools, "desk_x2e_notes", json!({})).await, "from the notes");
    assert_eq!(
        text(&tools, "mixed", json!({})).await,
        "first\n[image image/png, 1000 bytes]\n[audio audio/wav, 2 bytes]\ninside\n\
         [resource file:///b a/b, 1000 bytes]\n[link report https://example.org/r]\nlast"
    );
    let error = |text: &str| ExternalReply { text: text.to_owned(), is_error: true };
    let failed = tools.call(&call("fail", json!({}))).await.expect("an error of the tool is an answer");
    assert_eq!(failed, error("no such company"));
    let unknown = tools.call(&call("gone", json!({}))).await.expect("an error of the protocol is an answer");
    assert_eq!(unknown, error("Unknown tool: gone (code -32602)"));
}

/// Goal: an impossible call says why.
#[tokio::test]
async fn calls_that_cannot_be_made() {
    let watch = Watch::new().await;
    let tools = desk(watch.stdio(&[]));
    let nowhere = ExternalCall { server: "nowhere".to_owned(), ..call("echo", json!({})) };
    let (kind, message) = failure(&tools, nowhere).await;
    assert_eq!(
        (kind, &*message),
        (FailureKind::BadRequest, "there is no tool server `nowhere` in the config")
    );
    let (kind, message) = failure(&tools, call("echo", json!("{\"text\":"))).await;
    assert_eq!((kind, &*message), (FailureKind::BadRequest, "the arguments are not a JSON object"));
}

/// Goal: a server that cannot start is distinguished from one that fails, and `list` names it.
#[tokio::test]
async fn servers_that_do_not_start() {
    let program = |words: &[&str]| ToolServer {
        command: words.iter().map(|word| (*word).to_owned()).collect(),
        ..ToolServer::default()
    };
    let tools = desk(program(&["papertape-no-such-program"]));
    let (kind, message) = failure(&tools, call("echo", json!({}))).await;
    assert_eq!(kind, FailureKind::Unavailable);
    assert_eq!(
        message,
        "the tool server `desk` cannot be started: `papertape-no-such-program`: No such file or directory \
         (os error 2)"
    );
    let tools = desk(program(&["python3", "-c", "raise SystemExit(7)"]));
    let failed = tools.list().await.expect_err("it ends at once");
    assert_eq!(failed.kind, FailureKind::Unavailable);
    assert!(failed.message.starts_with("the tool server `desk` "), "{}", failed.message);
}

/// Goal: a response of 1 MiB arrives in full, and a larger one is an error, never truncated; one that is too
/// large for memory ends the connection, and the next call has a new one.
#[tokio::test]
async fn large_answers() {
    let watch = Watch::new().await;
    let tools = desk(watch.stdio(&[]));
    let most = 1 << 20;
    assert_eq!(text(&tools, "large", json!({ "bytes": most })).await.len(), most);
    let (kind, message) = failure(&tools, call("large", json!({ "bytes": most + 1 }))).await;
    assert_eq!(kind, FailureKind::BadAnswer);
    assert_eq!(
        message,
        "the tool server `desk` sent more than is read: 1048577 bytes of text in an answer, which may have 1048576"
    );
    let (kind, message) = failure(&tools, call("large", json!({ "bytes": 20 << 20 }))).await;
    assert_eq!(kind, FailureKind::BadAnswer);
    assert_eq!(message, "the tool server `desk` sent more than is read: a message of more than 4 MiB");
    assert_eq!(text(&tools, "echo", json!({ "text": "again" })).await, "again");
}

/// Goal: a server that dies fails all its calls with our message, and the next call restarts it.
#[tokio::test]
async fn a_server_that_dies_is_started_again() {
    let watch = Watch::new().await;
    let tools = desk(watch.stdio(&[]));
    let hanging = async { failure(&tools, call("hang", json!({}))).await };
    let crash = async {
        let mut seen = watch.server().await;
        assert_eq!(seen.says().await.as_deref(), Some("started"));
        assert_eq!(seen.says().await.as_deref(), Some("hanging"));
        failure(&tools, call("crash", json!({}))).await
    };
    let (hanging, crash) = futures::join!(hanging, crash);
    let sentence = "the tool server `desk` ended (exit status: 3)".to_owned();
    assert_eq!(crash, (FailureKind::ToolError, sentence.clone()));
    assert_eq!(hanging, (FailureKind::ToolError, sentence));
    assert_eq!(text(&tools, "echo", json!({ "text": "back" })).await, "back");
    assert_eq!(watch.server().await.says().await.as_deref(), Some("started"));
}

/// Goal: calls run concurrently on one process; a dropped call is cancelled at the server, and the connection stays.
#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let watch = Watch::new().await;
    let tools = desk(watch.stdio(&[]));
    let asked = call("hang", json!({}));
    let mut hanging = tools.call(&asked);
    let mut seen = tokio::select! {
        _ = &mut hanging => panic!("it hangs"),
        seen = async {
            let mut seen = watch.server().await;
            assert_eq!(seen.says().await.as_deref(), Some("started"));
            assert_eq!(seen.says().await.as_deref(), Some("hanging"));
            assert_eq!(text(&tools, "echo", json!({ "text": "meanwhile" })).await, "meanwhile");
            seen
        } => seen,
    };
    drop(hanging);
    assert_eq!(seen.says().await.as_deref(), Some("cancelled"));
    assert_eq!(text(&tools, "echo", json!({ "text": "after" })).await, "after");
    assert!(watch.is_quiet().await, "the first process serves on");
}

/// Goal: a server that hangs entirely, and so receives no cancellation, does not block later calls: the next
/// call has a new process.
#[tokio::test]
async fn a_server_that_hangs_is_left_behind() {
    let watch = Watch::new().await;
    let tools = desk(watch.stdio(&["one-at-a-time"])).with_ping_timeout(Duration::from_millis(50));
    let asked = call("hang", json!({}));
    let mut hanging = tools.call(&asked);
    let mut first = tokio::select! {
        _ = &mut hanging => panic!("it hangs"),
        seen = async {
            let mut seen = watch.server().await;
            assert_eq!(seen.says().await.as_deref(), Some("started"));
            assert_eq!(seen.says().await.as_deref(), Some("hanging"));
            seen
        } => seen,
    };
    drop(hanging);
    assert_eq!(text(&tools, "echo", json!({ "text": "after" })).await, "after");
    assert_eq!(watch.server().await.says().await.as_deref(), Some("started"));
    assert_eq!(first.says().await, None, "it does not end with its input, and is killed");
}

/// Goal: a server sees PATH, HOME and the variables that the config names, and nothing else of our environment.
#[tokio::test]
async fn the_environment_is_kept_from_servers() {
    let watch = Watch::new().await;
    let mut server = ToolServer { env: vec!["CARGO_PKG_NAME".to_owned()], ..watch.stdio(&[]) };
    // `python3` may be a script that sets variables of its own before it starts the real one.
    let python = std::process::Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("python3 is there")
        .stdout;
    server.command[0] = String::from_utf8(python).expect("UTF-8").trim().to_owned();
    let tools = desk(server);
    let seen: serde_json::Map<String, Value> =
        serde_json::from_str(&text(&tools, "env", json!({})).await).expect("JSON");
    assert!(std::env::var_os("CARGO_PKG_VERSION").is_some(), "there is something to keep");
    assert_eq!(seen["CARGO_PKG_NAME"], json!("papertape"));
    assert_eq!(seen.get("PATH").and_then(Value::as_str), std::env::var("PATH").ok().as_deref());
    // Python sets LC_CTYPE for itself.
    let allowed = BTreeSet::from(["CARGO_PKG_NAME", "HOME", "LC_CTYPE", "PATH"]);
    assert!(seen.keys().all(|name| allowed.contains(name.as_str())), "{:?}", seen.keys());
}

/// Goal: when the tools are dropped, a server gets the chance to exit by itself.
#[tokio::test]
async fn dropped_tools_end_their_servers() {
    let watch = Watch::new().await;
    let tools = desk(watch.stdio(&[]));
    assert_eq!(text(&tools, "echo", json!({ "text": "a" })).await, "a");
    let mut seen = watch.server().await;
    assert_eq!(seen.says().await.as_deref(), Some("started"));
    drop(tools);
    assert_eq!(seen.says().await.as_deref(), Some("input ended"));
    assert_eq!(seen.says().await, None);
}

/// Goal: when the runtime shuts down, even a server that ignores the end of its input exits.
#[test]
fn a_shutdown_kills_servers() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("it starts")
    };
    let (watching, working) = (runtime(), runtime());
    let watch = watching.block_on(Watch::new());
    let tools = desk(watch.stdio(&["stubborn"]));
    assert_eq!(working.block_on(text(&tools, "echo", json!({ "text": "a" }))), "a");
    drop(working);
    watching.block_on(async {
        let mut seen = watch.server().await;
        assert_eq!(seen.says().await.as_deref(), Some("started"));
        while seen.says().await.is_some() {}
    });
}

/// Goal: the fixture itself follows the protocol, so that the tests above do not pass because of two matching
/// mistakes: one message per line, the ID repeated, an error for unknown requests.
#[tokio::test]
async fn the_test_server_is_a_server() {
    use tokio::io::AsyncWriteExt as _;
    let watch = Watch::new().await;
    let command = watch.stdio(&[]).command;
    let mut child = tokio::process::Command::new(&command[0])
        .args(&command[1..])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("python3 is there");
    let mut input = child.stdin.take().expect("piped");
    input
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"resources/list\"}\n")
        .await
        .expect("it reads");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let line = lines.next_line().await.expect("it writes").expect("a line");
    let answer: Value = serde_json::from_str(&line).expect("JSON");
    let error = json!({ "code": -32601, "message": "Method not found" });
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": "a", "error": error }));
}
