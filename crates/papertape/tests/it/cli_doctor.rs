//! The doctor finds what is broken, and changes nothing.

use crate::cli_tool::{SHORT, Tool};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

fn states(findings: &Value, what: &str) -> Vec<String> {
    let of = |finding: &&Value| finding["check"] == what;
    let found = findings["findings"].as_array().expect("has findings").iter().filter(of);
    found.map(|finding| finding["state"].as_str().expect("has a state").to_owned()).collect()
}

/// The table's row of a check.
fn row<'a>(table: &'a str, what: &str) -> Option<&'a str> {
    table.lines().find(|line| line.split_whitespace().any(|word| word == what))
}

#[test]
fn an_empty_directory_passes_and_stays_empty() {
    let tool = Tool::new();
    let done = tool.ok(&["doctor"]);
    assert!(row(&done.out, "data").is_some_and(|row| row.contains("✓ ok")), "{done:#?}");
    assert!(done.out.contains("data does not exist yet; the first run creates it"), "{done:#?}");
    assert!(!done.out.contains('✗'), "{done:#?}");
    assert_eq!(std::fs::read_dir(tool.path("")).expect("reads").count(), 0);
    std::fs::create_dir(tool.path("data")).expect("makes it");
    tool.ok(&["doctor"]);
    assert_eq!(std::fs::read_dir(tool.path("data")).expect("reads").count(), 0);
}

#[test]
fn a_used_directory_passes() {
    let tool = Tool::new();
    tool.ok(&SHORT);
    let done = tool.ok(&["doctor"]);
    assert!(done.out.contains("1 job, 3 sessions"), "{done:#?}");
    let found = tool.json(&["doctor"]);
    assert_eq!((&found["ok"], states(&found, "data")), (&true.into(), vec!["ok".to_owned()]));
}

#[test]
fn failed_checks_exit_with_code_1() {
    let check = |tool: &Tool, what: &str| {
        let done = tool.ends(&["doctor"], 1);
        let broken = done.out.lines().any(|line| line.contains("✗ failed") && line.contains(what));
        assert!(broken, "{what}: {done:#?}");
        assert!(!done.err.contains("panicked"), "{done:#?}");
        let done = tool.ends(&["--json", "doctor"], 1);
        let found: Value = serde_json::from_str(&done.out).expect("stdout is JSON");
        assert!(states(&found, what).contains(&"broken".to_owned()), "{done:#?}");
    };
    let tool = Tool::new();
    std::fs::write(tool.path("data"), "a file").expect("writes");
    check(&tool, "data");

    let tool = Tool::new();
    std::fs::create_dir(tool.path("data")).expect("makes it");
    std::fs::write(tool.path("data/papertape.db"), "no database, whatever its name says").expect("writes");
    check(&tool, "database");

    // As a full disk or a broken copy leaves it.
    let tool = Tool::new();
    tool.ok(&SHORT);
    std::fs::write(tool.path("data/papertape.db"), "").expect("writes");
    check(&tool, "database");

    let tool = Tool::new();
    let rows = "symbol,date,open,high,low,close,volume\nXYZ,2024-01-02,10,11,9,10.5,100\n";
    std::fs::write(tool.path("bars.csv"), rows).expect("writes");
    tool.ok(&["data", "import", "bars.csv", "--name", "tiny", "--zone", "America/New_York"]);
    let content = tool.path("data/datasets/content");
    let dataset = std::fs::read_dir(content).expect("reads").next().expect("one dataset").expect("an entry");
    let data = dataset.path().join("data");
    let mut bytes = std::fs::read(&data).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&data, bytes).expect("writes");
    check(&tool, "dataset");

    check(&Tool::new().configured("[simulation]\ndataset = 'none'"), "dataset");
    check(&Tool::new().configured("[prompts]\ndir = 'nowhere'"), "prompts");
    check(&Tool::new().configured("[models]\nprices = 'nowhere.toml'"), "models");
    check(&Tool::new().configured("[[agents]]\nname = 'a'\nmodel = 'openai::gpt-5'"), "agent");
    check(&Tool::new().with("PAPERTAPE_DATABASE_URL", "postgres://127.0.0.1:1/none"), "database");
}

/// Responds to every connection with this once the request has arrived, and records the requests' heads.
fn listening(answer: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.expect("connects");
            let lines = BufReader::new(&connection).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            kept.lock().expect("locks").push(head.join("\n"));
            connection.write_all(answer.as_bytes()).expect("answers");
        }
    });
    (url, heads)
}

fn response(status: &str, body: &str) -> &'static str {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
        .leak()
}

// Goal: "can be called" appears only after the provider has listed its models for the key, and only for a
// model in that list; every other response is distinguished from it, and the key is never shown.
#[test]
fn a_provider_lists_its_models_before_they_can_be_called() {
    const KEY: &str = "sk-test-0123456789abcdef0123456789";
    let list = r#"{"object":"list","data":[{"id":"gpt-5","object":"model"},{"id":"gpt-5-mini"}]}"#;
    let cases = [
        ("ok", "ok", "openai::gpt-5 can be called", response("200 OK", list)),
        ("note", "ok", "openai does not list gpt-5", response("200 OK", r#"{"data":[{"id":"other"}]}"#)),
        ("note", "note", "openai responds, but lists no models", response("404 Not Found", "{}")),
        ("note", "note", "openai responds, but lists no models", response("200 OK", "<html></html>")),
        (
            "broken",
            "note",
            "cannot be called: openai",
            response("401 Unauthorized", r#"{"error":{"message":"no"}}"#),
        ),
        ("broken", "note", "cannot be called: openai", response("503 Service Unavailable", "")),
        ("broken", "note", "cannot be called: openai", ""),
    ];
    for (agent, provider, text, answer) in cases {
        let (url, heads) = listening(answer);
        let config = format!(
            "[[agents]]\nname = 'a'\nmodel = 'openai::gpt-5'\n[models.providers.openai]\nbase_url = '{url}'"
        );
        let tool = Tool::new().with("OPENAI_API_KEY", KEY).configured(&config);
        let status = i32::from(agent == "broken");
        let done = tool.ends(&["--json", "doctor"], status);
        let found: Value = serde_json::from_str(&done.out).expect("JSON");
        assert_eq!(states(&found, "agent"), [agent], "{answer}: {done:#?}");
        assert_eq!(states(&found, "provider")[0], provider, "{answer}: {done:#?}");
        assert!(done.out.contains(text), "{answer}: {done:#?}");
        assert!(!done.out.contains(KEY) && !done.err.contains(KEY), "{done:#?}");
        let heads = heads.lock().expect("locks");
        assert_eq!(heads.len(), 1, "asked once");
        assert!(heads[0].starts_with("GET /v1/models HTTP/1.1"), "{heads:?}");
        assert!(heads[0].to_lowercase().contains(&format!("authorization: bearer {KEY}")), "{heads:?}");
    }
}

// Goal: a replaced prompt that refers to something missing is found by the doctor and at every start, with
// its folder, file and line; the assistant's prompts are checked too, and valid ones pass.
#[test]
fn an_invalid_prompt_is_found_before_anything_runs() {
    let tool = Tool::new().configured("[prompts]\ndir = 'own'");
    let own = tool.path("own");
    std::fs::create_dir_all(own.join("assistant")).expect("makes it");
    std::fs::write(own.join("solo-day.en.md"), "Go, {{ date }}!").expect("writes");
    std::fs::write(own.join("assistant/task.en.md"), "Do it.").expect("writes");
    assert!(tool.ok(&["doctor"]).out.contains("2 replaced by files in own"));
    for (file, text, wanted) in [
        ("solo-day.en.md", "One.\nTwo {{ dte }}", "prompt `solo-day.en.md`: line 2: `dte` is not a value"),
        (
            "assistant/task.en.md",
            "{{ moon }}",
            "prompt `assistant/task.en.md`: line 1: `moon` is not a value",
        ),
    ] {
        let good = std::fs::read_to_string(own.join(file)).expect("reads");
        std::fs::write(own.join(file), text).expect("writes");
        let done = tool.ends(&["doctor"], 1);
        assert!(
            row(&done.out, "prompts").is_some_and(|row| row.contains("✗ failed"))
                && done.out.contains(wanted)
                && done.out.contains("own"),
            "{done:#?}"
        );
        let done = tool.run(&SHORT);
        assert!(done.code != 0 && done.err.contains(wanted) && done.err.contains("own"), "{done:#?}");
        std::fs::write(own.join(file), good).expect("writes");
    }
    tool.ok(&["doctor"]);
}
