//! Secrets that enter by every possible way, and leave by none: not in a file of the data directory, not in
//! the server's log, not on the wire, not in an export.

use crate::cli_tool::Tool;
use crate::mcp_support::Watch;
use crate::redaction_support::{KEY, Net, Planted, Serving, TOOL_SECRET};
use papertape_core::message::{Message, ModelRequest};
use papertape_testkit::model_server::{Call, ModelServer, Reply, ScriptedAnswer, Tokens, read_request};
use serde_json::{Value, json};

/// A model that outputs all secrets wherever it can: in its text, in a tool's arguments, in an order's
/// reason; or in an error.
fn telltale(body: &Value, all: &str) -> ScriptedAnswer {
    let request: ModelRequest = read_request(body, "test::any".parse().expect("a model")).expect("a request");
    if body["model"] == "refuses" {
        let error = json!({ "error": { "message": all, "code": "invalid_request", "type": all } });
        return ScriptedAnswer::raw("application/json", error.to_string()).status(400);
    }
    let tokens = Some(Tokens { input: 10, cached: 0, output: 5 });
    let has_spoken = request.messages.iter().any(|message| matches!(message, Message::Assistant { .. }));
    if request.tools.is_empty() || has_spoken {
        let text = format!("Done. {all}\n<FINISH_SIGNAL>");
        if body["stream"] == true {
            return in_pieces(&text);
        }
        return ScriptedAnswer::reply(Reply { text, tokens, ..Reply::default() });
    }
    let call = |id: &str, name: &str, arguments: Value| Call {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_string(),
    };
    let calls = vec![
        call("c1", "buy", json!({ "symbol": "IBM", "quantity": 1, "reason": all })),
        call("c2", "buy", json!({ "symbol": all, "quantity": 1_000_000 })),
        call("c3", "desk__echo", json!({ "text": all })),
        call("c6", "get_news", json!({ "limit": 10 })),
        call("c4", all.lines().next().unwrap_or_default(), json!({ "password": KEY })),
        Call { id: "c5".to_owned(), name: "calculate".to_owned(), arguments: format!("{{ no json: {all}") },
    ];
    ScriptedAnswer::reply(Reply {
        text: all.to_owned(),
        reasoning: Some(all.to_owned()),
        calls,
        tokens,
        ..Reply::default()
    })
}

/// A streamed response in chunks of a few letters, so that most secrets are split.
fn in_pieces(text: &str) -> ScriptedAnswer {
    let letters: Vec<char> = text.chars().collect();
    let event = |piece: &[char]| {
        let piece: String = piece.iter().collect();
        let delta =
            json!({ "choices": [{ "index": 0, "delta": { "content": piece }, "finish_reason": null }] });
        format!("data: {delta}\n\n")
    };
    let mut events: String = letters.chunks(5).map(event).collect();
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    events.push_str(&format!("data: {end}\n\ndata: [DONE]\n\n"));
    ScriptedAnswer::raw("text/event-stream", events)
}

/// A small dataset whose news contains all of it.
fn with_news(tool: &Tool, all: &str) {
    let bars = "symbol,date,open,high,low,close,volume\nIBM,2012-10-01,100,101,99,100,1000\n\
                IBM,2012-10-02,100,101,99,100,1000\nIBM,2012-10-03,100,101,99,100,1000\n";
    std::fs::write(tool.path("bars.csv"), bars).expect("writes");
    let item = json!({ "symbol": "IBM", "published_at": "2012-09-28T12:00:00Z", "headline": "What leaked", "body": all });
    let second = json!({ "symbol": "IBM", "published_at": "2012-09-28T13:00:00Z", "headline": all.lines().next(), "body": "" });
    std::fs::write(tool.path("news.jsonl"), format!("{item}\n{second}\n")).expect("writes");
    tool.ok(&["data", "import", "bars.csv", "news.jsonl", "--name", "leaky"]);
}

/// Queues a job and reads its stream to the end.
async fn run(client: &reqwest::Client, url: &str, request: &Value, net: &mut Net) -> String {
    let answer =
        client.post(format!("{url}/simulate/trigger")).json(request).send().await.expect("an answer");
    let status = answer.status();
    let text = answer.text().await.expect("text");
    assert_eq!(status, 202, "{text}");
    net.check("the trigger's answer", &text);
    let job: Value = serde_json::from_str(&text).expect("JSON");
    let job = job["job_id"].as_str().expect("an id").to_owned();
    let stream = client.get(format!("{url}/jobs/{job}/stream?after=0")).send().await.expect("an answer");
    let told = stream.text().await.expect("it ends");
    assert!(told.contains("event: end"), "{told}");
    net.check("the stream", &told);
    job
}

/// Goal: whatever a model, a tool, a provider's error or a request contains, its secrets are removed before
/// anything is stored, sent or logged.
#[tokio::test(flavor = "multi_thread")]
async fn planted_secrets_come_out_nowhere() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let planted = Planted::new();
    let all = planted.everything();
    let mut net = planted.net();
    let said = all.clone();
    let server = ModelServer::answering(move |body| telltale(body, &said)).await;
    let watch = Watch::new().await;
    let outside = toml::Value::from(watch.stdio(&[]).command);
    let config = format!(
        "log = 'trace'\n[models.providers.test]\nkind = 'openai_compatible'\nbase_url = '{}'\n\
         api_key_env = 'PLANTED_KEY'\n[tools.desk]\ncommand = {outside}\nenv = ['PLANTED_TOOL_SECRET', 'PATH']\n\
         allow_unbounded = true\n",
        server.url()
    );
    let tool = Tool::new()
        .configured(&config)
        .with("PLANTED_KEY", KEY)
        .with("PLANTED_TOOL_SECRET", TOOL_SECRET)
        .with("PATH", &std::env::var("PATH").unwrap_or_default());
    assert!(planted.count() >= 200);
    with_news(&tool, &all);
    let serving = Serving::start(&tool);
    let url = serving.url.clone();
    let client = reqwest::Client::new();

    let agent = |name: &str, model: &str| {
        json!({
            "name": name, "model": model, "tools": ["desk"], "instructions": format!("Be bold. {all}"),
            "limits": { "max_attempts": 1 },
        })
    };
    let request = json!({
        "start_date": "2012-10-01", "end_date": "2012-10-02", "symbols": ["IBM", "AAPL"],
        "agents": [agent("talks", "test::talks"), agent("refused", "test::refuses")],
    });
    let job = run(&client, &url, &request, &mut net).await;
    assert!(server.count() >= 4, "both were asked");
    let request = json!({
        "start_date": "2012-10-01", "end_date": "2012-10-02", "symbols": ["IBM"], "dataset": "leaky",
        "agents": [agent("reads", "test::talks")],
    });
    let reads = run(&client, &url, &request, &mut net).await;
    let read = client.get(format!("{url}/reasoning?job_id={reads}&include_full_conversation=true"));
    let read = read.send().await.expect("an answer").text().await.expect("text");
    assert!(read.contains("What leaked"), "the news were shown");
    net.check("what was said of the news", &read);

    // What readers receive.
    let jobs = format!("/jobs/{job}");
    let mut paths: Vec<String> = [
        "/jobs",
        jobs.as_str(),
        "/metrics",
        "/health",
        "/memory/rounds",
        "/memory/trades",
        "/memory/open-positions",
        "/memory/archives",
    ]
    .map(str::to_owned)
    .into();
    paths.push(format!("/simulate/status/{job}"));
    paths.push(format!("/reasoning?job_id={job}&include_full_conversation=true"));
    for date in ["2012-10-01", "2012-10-02"] {
        paths.push(format!("/results?job_id={job}&date={date}&reasoning=full"));
    }
    paths.push(format!("/results?job_id={job}&reasoning=full"));
    for session in 1..=4 {
        for what in ["steps", "exposures", "memory"] {
            paths.push(format!("/sessions/{session}/{what}"));
        }
    }
    for path in &paths {
        let answer = client.get(format!("{url}{path}")).send().await.expect("an answer");
        let status = answer.status();
        let text = answer.text().await.expect("text");
        assert!(status.is_success(), "{path}: {status} {text}");
        net.check(path, text);
    }
    // The log does not show the content of a request either.
    for wrong in [format!("{url}/results?date={KEY}"), format!("{url}/nowhere/{KEY}")] {
        client.get(wrong).header("x-api-key", KEY).send().await.expect("an answer");
    }
    // While the server runs, the newest rows are in the database's log.
    net.check_directory(&tool.path("data"));
    for command in [
        vec!["export", "canonical", &job],
        vec!["export", "otlp", &job],
        vec!["reasoning", &job, "--full"],
        vec!["results", &job],
        vec!["jobs", &job, "--json"],
        vec!["replay", &job],
        vec!["doctor"],
        vec!["config", "show"],
    ] {
        let done = tool.run(&command);
        net.check(&command.join(" "), format!("{}{}", done.out, done.err));
    }
    serving.stop();
    net.check_directory(&tool.path("data"));
    net.check("the server's log", std::fs::read(tool.path("serve.log")).expect("reads"));
    net.assert_empty(1_000_000);
}

/// Goal: nothing is removed from the demo's texts: its prompts, its messages, its tools' results.
#[test]
fn nothing_is_taken_out_of_the_demo() {
    let tool = Tool::new();
    tool.ok(&["run", "--demo"]);
    let redactor = papertape_redact::Redactor::default();
    let told = tool.ok(&["reasoning", "latest", "--full"]).out;
    assert!(told.len() > 20_000, "{} bytes", told.len());
    assert!(!told.contains("[redacted:"), "{}", around(&told, "[redacted:"));
    let out = redactor.redact_text(&told);
    assert_eq!(out.removed, 0, "{}", around(&out.value, "[redacted:"));
    let canonical = tool.ok(&["export", "canonical", "latest"]).out;
    assert!(!canonical.contains("[redacted:"), "{}", around(&canonical, "[redacted:"));
}

/// The text around a match.
fn around(text: &str, place: &str) -> String {
    let at = text.find(place).unwrap_or_default();
    text[..at]
        .chars()
        .rev()
        .take(200)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .chain(text[at..].chars().take(80))
        .collect()
}
