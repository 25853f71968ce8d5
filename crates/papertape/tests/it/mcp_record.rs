//! The MCP server's record tools, over HTTP and over the standard streams of `papertape mcp`.

use crate::api_stream::Server;
use crate::api_support::{DAYS, MODELS, World};
use crate::cli_tool::{SHORT, Tool};
use crate::mcp_server_support::{McpClient, Played, client_config};
use papertape_service::record_tools::MAX_ANSWER_BYTES;
use rmcp::service::serve_client;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

/// Goal: a tool's answer is the API's for the same query, and nothing that it lists can be changed through it.
#[tokio::test]
async fn answers_are_those_of_the_api() {
    let world = World::new().await;
    let server = Server::start(world.app.clone()).await;
    let client = McpClient::connect(&server.url, None).await.expect("it connects");
    for tool in client.tools().await {
        let hints = tool.annotations.expect("annotations");
        assert_eq!(
            (hints.read_only_hint, hints.destructive_hint),
            (Some(true), Some(false)),
            "{}",
            tool.name
        );
    }
    let (job, model) = (&world.job, MODELS[1]);
    let of = json!({ "job_id": job, "model": model, "date": DAYS[0] });
    let reasoning = format!("/reasoning?job_id={job}&model={model}&date={}", DAYS[0]);
    let session = world.good(&reasoning).await["sessions"][0]["session_id"].as_i64().expect("a number");
    let compared = format!("job:{job}/{},job:{job}/{}", MODELS[0], MODELS[1]);
    let items: Vec<&str> = compared.split(',').collect();
    let cases = [
        ("list_runs", json!({}), "/jobs?kind=simulate&limit=20".to_owned()),
        (
            "list_runs",
            json!({ "search": "momentum", "limit": 1 }),
            "/jobs?kind=simulate&search=momentum&limit=1".to_owned(),
        ),
        (
            "get_results",
            json!({ "job_id": job, "model": model }),
            format!("/results?job_id={job}&model={model}"),
        ),
        ("get_results", of.clone(), format!("/results?job_id={job}&model={model}&date={}", DAYS[0])),
        ("get_reasoning", json!({ "job_id": job, "limit": 3 }), format!("/reasoning?job_id={job}&limit=3")),
        ("get_session", of.clone(), format!("/sessions/{session}")),
        ("get_session", json!({ "session_id": session }), format!("/sessions/{session}")),
        ("get_messages", of, format!("/sessions/{session}/messages?limit=20")),
        (
            "get_messages",
            json!({ "session_id": session, "from": 1, "limit": 2 }),
            format!("/sessions/{session}/messages?from=1&limit=2"),
        ),
        ("compare_runs", json!({ "select": items }), format!("/compare?select={compared}")),
        ("list_datasets", json!({ "limit": 5 }), "/datasets?limit=5".to_owned()),
    ];
    for (tool, arguments, uri) in cases {
        let answer = client.good(tool, arguments).await;
        let expected = world.good(&uri).await;
        if answer.get("truncated").is_none() {
            assert_eq!(answer, expected, "{tool}");
        } else {
            // Too long for a model: what is left is the beginning of the same answer.
            assert!(expected.to_string().len() > MAX_ANSWER_BYTES, "{tool}");
            assert_eq!(tool, "list_datasets");
        }
    }
    drop(client);
    server.stop().await;
}

/// Goal: orders and fills of a run are those of its days, whichever pages they are read in.
#[tokio::test]
async fn orders_and_fills_are_those_of_the_days() {
    let world = World::new().await;
    let server = Server::start(world.app.clone()).await;
    let client = McpClient::connect(&server.url, None).await.expect("it connects");
    let (mut fills, mut days) = (Vec::new(), Vec::new());
    for date in DAYS {
        let day = world.good(&format!("/results?job_id={}&date={date}", world.job)).await;
        for result in day["results"].as_array().expect("results") {
            let trades = result["trades"].as_array().expect("trades");
            fills.extend(
                trades.iter().map(|trade| (json!(date), result["model"].clone(), trade["path"].clone())),
            );
            let parts = ["date", "model", "trades", "rejections", "pending_orders"];
            days.push(parts.map(|part| result[part].clone()));
        }
    }
    assert!(!fills.is_empty());
    for limit in [1, 2, 50] {
        let (mut found, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let arguments = json!({ "job_id": world.job, "limit": limit, "cursor": cursor });
            let page = client.good("get_trades", arguments).await;
            let rows = page["trades"].as_array().expect("trades").clone();
            found.extend(
                rows.iter().map(|row| (row["date"].clone(), row["model"].clone(), row["path"].clone())),
            );
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(found, fills, "{limit}");
    }
    let all = client.good("get_orders", json!({ "job_id": world.job, "limit": 50 })).await;
    let parts = ["date", "model", "trades", "rejections", "pending_orders"];
    let found: Vec<[Value; 5]> =
        all["days"].as_array().expect("days").iter().map(|day| parts.map(|part| day[part].clone())).collect();
    assert_eq!(found, days);
    let one = json!({ "job_id": world.job, "model": MODELS[0], "date": DAYS[1] });
    let one = client.good("get_orders", one).await;
    assert_eq!((&one["count"], &one["days"][0]["date"]), (&json!(1), &json!(DAYS[1])));
    drop(client);
    server.stop().await;
}

/// Goal: a search leads to the message that has the words, and transcripts can be read on from there, page by page, until
/// their end; no answer is longer than its bound.
#[tokio::test]
async fn a_search_leads_into_transcripts() {
    let world = World::new().await;
    let server = Server::start(world.app.clone()).await;
    let client = McpClient::connect(&server.url, None).await.expect("it connects");
    let reasoning = world.good(&format!("/reasoning?job_id={}&model={}", world.job, MODELS[1])).await;
    let session = reasoning["sessions"][0]["session_id"].as_i64().expect("a number");
    let whole = world.good(&format!("/sessions/{session}/messages?limit=1000")).await;
    let messages = whole["messages"].as_array().expect("messages");
    let (at, text) = messages
        .iter()
        .enumerate()
        .find_map(|(at, message)| Some((at, message["content"].as_str().filter(|text| text.len() > 20)?)))
        .expect("a message");
    let words: Vec<&str> = text.split_whitespace().take(3).collect();
    let query = json!({ "query": words.join(" ").to_uppercase(), "job_id": world.job, "limit": 20 });
    let found = client.good("search", query).await;
    let sessions = found["sessions"].as_array().expect("sessions");
    let of_session = sessions.iter().find(|row| row["session_id"] == session).expect("the session");
    let first = &of_session["matches"][0];
    assert_eq!(first["message_index"].as_u64(), Some(at as u64));
    assert!(first["excerpt"].as_str().expect("a text").contains(words[0]), "{first}");
    assert_eq!(first["role"], messages[at]["role"]);
    let nothing = client.good("search", json!({ "query": "zzzunheardof" })).await;
    assert_eq!(nothing, json!({ "sessions": [], "count": 0, "next_cursor": null }));

    let (mut read, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = json!({ "session_id": session, "limit": 3, "cursor": cursor });
        let page = client.good("get_messages", page).await;
        assert!(page.to_string().len() <= MAX_ANSWER_BYTES);
        read.extend(page["messages"].as_array().expect("messages").clone());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(&read, messages);
    drop(client);
    server.stop().await;
}

/// Goal: an error says what is wrong and what is expected, and is a result that a model can read.
#[tokio::test]
async fn errors_are_results() {
    let world = World::empty().await;
    let server = Server::start(world.app.clone()).await;
    let client = McpClient::connect(&server.url, None).await.expect("it connects");
    let cases = [
        ("get_results", json!({}), "invalid_input", "`job_id` is missing"),
        ("get_results", json!({ "job_id": "nowhere" }), "not_found", "there is no job nowhere"),
        ("get_session", json!({}), "invalid_input", "give a session_id, or job_id with model and date"),
        ("get_session", json!({ "session_id": 99 }), "not_found", "there is no session 99"),
        ("get_session", json!({ "session_id": "x" }), "invalid_input", "expected a whole number"),
        ("get_orders", json!({ "job_id": "nowhere" }), "not_found", "there is no job nowhere"),
        ("get_orders", json!({ "job_id": "x", "date": "2012" }), "invalid_input", "not a date of the form"),
        ("list_runs", json!({ "status": "well" }), "invalid_input", "well"),
        ("list_runs", json!({ "cursor": "x" }), "invalid_input", "cursor"),
        ("list_runs", json!({ "what": 1 }), "invalid_input", "has no argument `what`"),
        ("search", json!({ "query": "?!" }), "invalid_input", "it has no words"),
        ("compare_runs", json!({ "select": ["latest"] }), "not_found", "there is no simulation"),
        ("finish_day", json!({}), "not_found", "there is no tool `finish_day`"),
    ];
    for (tool, arguments, code, message) in cases {
        let error = client.error(tool, arguments).await;
        assert_eq!(error["code"], code, "{tool}: {error}");
        assert!(error["message"].as_str().expect("a text").contains(message), "{tool}: {error}");
    }
    drop(client);
    server.stop().await;
}

/// A client of `papertape mcp` in a process of its own.
async fn started(tool: &Tool, args: &[&str]) -> (tokio::process::Child, McpClient) {
    let mut command = tokio::process::Command::from(tool.command(args));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("it starts");
    let streams = (child.stdout.take().expect("stdout"), child.stdin.take().expect("stdin"));
    let client = Box::pin(serve_client(client_config(), streams)).await.expect("a handshake");
    (child, McpClient(client))
}

/// Goal: `papertape mcp` serves the record of its data directory to a client that starts it, says on stdout nothing but
/// MCP, and ends when the client has left.
#[tokio::test]
async fn the_record_over_standard_streams() {
    let tool = Tool::new();
    tool.ends(&["mcp"], 4);
    tool.ok(&SHORT);
    let jobs = tool.json(&["jobs"]);
    let (mut child, client) = started(&tool, &["mcp"]).await;
    assert_eq!(client.names().await.len(), 10);
    let runs = client.good("list_runs", json!({})).await;
    assert_eq!(runs["jobs"][0]["job_id"], jobs["jobs"][0]["job_id"]);
    let results = client.good("get_results", json!({ "job_id": runs["jobs"][0]["job_id"] })).await;
    assert_eq!(results["results"][0]["model"], "house::momentum");
    // Another process can write meanwhile.
    tool.ok(&SHORT);
    assert_eq!(client.good("list_runs", json!({})).await["count"], 2);
    drop(client);
    assert!(child.wait().await.expect("it ends").success());
}

/// Goal: lines that are not MCP, too long, or not even text neither stop the program nor appear on its stdout.
#[test]
fn garbage_on_standard_input() {
    let tool = Tool::new();
    tool.ok(&SHORT);
    let mut child = tool
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("stdin");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } } });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let too_long = format!("{{\"x\":\"{}\"}}", "y".repeat(2 << 20));
    let garbage: [&[u8]; 4] = [b"hello", b"{\"jsonrpc\":", b"\xff\xfe\x00", too_long.as_bytes()];
    let mut answers = Vec::new();
    for message in [&initialize, &initialized, &list] {
        for line in garbage {
            stdin.write_all(&[line, b"\n"].concat()).expect("it reads");
        }
        stdin.write_all(format!("{message}\n").as_bytes()).expect("it reads");
        if message["id"].is_null() {
            continue;
        }
        // Valid JSON that is no message is answered too, without an ID.
        loop {
            let mut line = String::new();
            stdout.read_line(&mut line).expect("it answers");
            let answer: Value = serde_json::from_str(&line).expect("only JSON is on stdout");
            assert_eq!(answer["jsonrpc"], "2.0");
            if answer["id"] == message["id"] {
                answers.push(answer);
                break;
            }
        }
    }
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "papertape");
    assert_eq!(answers[1]["result"]["tools"].as_array().map(Vec::len), Some(10));
    drop(stdin);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("it closes");
    assert_eq!(rest, "");
    assert!(child.wait().expect("it ends").success());
}

/// Goal: a client that can only start programs reaches a running session, and a server's record, through
/// `papertape mcp --server`.
#[tokio::test(flavor = "multi_thread")]
async fn another_server_over_standard_streams() {
    let world = World::new().await;
    let server = Server::start(world.app.clone()).await;
    let mut session = Played::start(&world.app, "mine", &["get_price"]);
    let url = format!("{}/mcp", server.url);
    let tool = Tool::new().with("PAPERTAPE_MCP_URL", &url).with("PAPERTAPE_MCP_TOKEN", &session.token);
    let (mut child, client) = started(&tool, &["mcp"]).await;
    assert_eq!(client.names().await, ["get_price", "buy", "sell", "finish_day"]);
    assert_eq!(
        client.good("get_price", json!({ "symbol": "IBM" })).await["given"],
        json!({ "symbol": "IBM" })
    );
    assert_eq!(client.good("finish_day", json!({})).await, json!({ "state_stored": true }));
    session.asked().await;
    session.asked().await;
    session.closed(&world.app).await;
    assert_eq!(client.error("get_price", json!({})).await["code"], "session_ended");
    drop(client);
    assert!(child.wait().await.expect("it ends").success());

    let tool = Tool::new();
    let (mut child, client) = started(&tool, &["mcp", "--server", &url]).await;
    assert_eq!(client.good("list_runs", json!({})).await["jobs"][0]["job_id"], world.job);
    drop(client);
    assert!(child.wait().await.expect("it ends").success());
    // A token that opens nothing is reported before anything is served.
    let closed = Tool::new().with("PAPERTAPE_MCP_TOKEN", &session.token).ends(&["mcp", "--server", &url], 1);
    assert!(
        closed.err.contains("requires credentials") && !closed.err.contains(&session.token),
        "{}",
        closed.err
    );
    Tool::new().ends(&["mcp", "--server", "localhost"], 2);
    server.stop().await;
}
