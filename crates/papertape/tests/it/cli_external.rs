//! `papertape run --agent`: whole runs of external agents, with the bundled data.

use crate::cli_tool::Tool;
use crate::external_protocol::{recorded, recording};
use crate::external_support::{AGENT, python};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

const RUN: [&str; 9] = [
    "run",
    "--start",
    "2012-10-01",
    "--end",
    "2012-10-12",
    "--symbols",
    "AAPL,IBM",
    "--no-summaries",
    "--agent",
];

fn run(name: &'static str) -> Vec<&'static str> {
    RUN.into_iter().chain([name]).collect()
}

/// A tool whose agent `mine` follows a moving average.
fn with_average(watch: Option<&TcpListener>) -> Tool {
    let mut command = vec![python(), AGENT.to_owned(), "moving-average".to_owned()];
    command.extend(watch.map(|watch| watch.local_addr().expect("it is bound").to_string()));
    Tool::new().configured(&format!("[external_agents.mine]\ncommand = {}", json!(command)))
}

fn canonical(tool: &Tool, job: &str) -> String {
    tool.ok(&["export", "canonical", job]).out
}

/// A process that reports: each line is a symbol that it has read on a day. At `gate` it waits, until this is dropped.
fn reports(watch: &TcpListener, gate: &str) -> impl Iterator<Item = String> {
    let (mut stream, _): (TcpStream, _) = watch.accept().expect("an agent starts");
    writeln!(stream, "{gate}").expect("it listens");
    BufReader::new(stream).lines().map_while(Result::ok)
}

/// Goal: two runs of the same program are equal, are marked as unverified, replay without the program, and verify.
#[test]
fn a_program_runs_twice_alike() {
    let (one, two) = (with_average(None), with_average(None));
    let (job, other) = (one.job(&run("mine")), two.job(&run("mine")));
    let first = canonical(&one, &job);
    assert!(first.contains("\"buy\"") || first.contains("buy"), "it has traded");
    assert_eq!(first, canonical(&two, &other));
    let sessions = one.json(&["reasoning", &job]);
    assert!(sessions.to_string().contains("by the average"), "its reasons are in the record");
    let results = one.json(&["results", &job]).to_string();
    assert!(results.contains("\"unverified\"") && results.contains("\"external\""), "it is marked");
    // The program is gone; its record is not.
    let without = one.with("PAPERTAPE_EXTERNAL_AGENTS__MINE__COMMAND", "papertape-no-such-program");
    without.ok(&["replay", &job]);
    without.ok(&["verify", &job]);
}

/// Goal: the lines of a real run, both ways, are those of the published schemas.
#[test]
fn a_real_run_follows_the_schemas() {
    let dir = tempfile::tempdir().expect("a directory");
    let agent = recording("moving-average", dir.path());
    let config =
        format!("[external_agents.mine]\ncommand = {}\ncwd = {}", json!(agent.command), json!(agent.cwd));
    let tool = Tool::new().configured(&config);
    tool.ok(&run("mine"));
    let given = recorded(&dir.path().join("in.jsonl"), "fromPapertape", "end");
    assert_eq!(given.first().map(String::as_str), Some("day"));
    let requests = recorded(&dir.path().join("out.jsonl"), "fromAgent", "done");
    assert_eq!(requests.iter().filter(|kind| *kind == "read").count(), 2);
}

/// Goal: a run whose process is killed in the middle of a day resumes to the same result as one that was not, without
/// placing an order twice.
#[test]
fn a_killed_run_resumes_alike() {
    let whole = with_average(None);
    let expected = canonical(&whole, &whole.job(&run("mine")));
    let watch = TcpListener::bind("127.0.0.1:0").expect("a port");
    let tool = with_average(Some(&watch));
    let running = tool.start(&run("mine"));
    let mut reported = reports(&watch, "2012-10-08 AAPL");
    reported.find(|line| line == "2012-10-08 AAPL").expect("the day begins");
    running.signal(Signal::KILL);
    // The program continues, and ends with its input.
    drop((running, reported));
    let resumed = tool.start(&["resume", "latest", "--json"]);
    let mut again = reports(&watch, "");
    assert_eq!(again.next().as_deref(), Some("2012-10-08 AAPL"), "the day begins again");
    let rest = again.count();
    assert!(rest > 0);
    let done = resumed.end();
    assert_eq!(done.code, 0, "{done:#?}");
    let job =
        serde_json::from_str::<Value>(&done.out).expect("JSON")["job_id"].as_str().expect("an ID").to_owned();
    assert_eq!(canonical(&tool, &job), expected);
    tool.ok(&["verify", &job]);
}

/// Goal: the same for a server that runs the job, at whose own address the doors are.
#[test]
fn a_killed_server_resumes_alike() {
    let whole = with_average(None);
    let expected = canonical(&whole, &whole.job(&run("mine")));
    let watch = TcpListener::bind("127.0.0.1:0").expect("a port");
    let tool = with_average(Some(&watch));
    let mut server = tool.start(&["serve"]);
    server.first_line();
    let client = tool.start(&run("mine"));
    let mut reported = reports(&watch, "2012-10-05 IBM");
    reported.find(|line| line == "2012-10-05 IBM").expect("the day begins");
    server.signal(Signal::KILL);
    drop((server, client, reported));
    let mut server = tool.start(&["serve"]);
    server.first_line();
    let mut again = reports(&watch, "");
    assert_eq!(again.next().as_deref(), Some("2012-10-05 AAPL"), "the day begins again");
    let job = loop {
        let jobs = tool.json(&["jobs"]);
        let newest = &jobs["jobs"][0];
        match newest["status"].as_str().unwrap_or_else(|| panic!("{jobs}")) {
            "queued" | "running" => {}
            status => {
                assert_eq!(status, "completed", "{jobs}");
                break newest["job_id"].as_str().expect("an ID").to_owned();
            }
        }
    };
    server.signal(Signal::TERM);
    assert_eq!(server.end().code, 0);
    assert_eq!(canonical(&tool, &job), expected);
}

/// Goal: an agent that nobody configured, and one that cannot be started, are usage errors that say what to do; the
/// adapter needs no configuration.
#[test]
fn agents_that_cannot_run() {
    let tool = Tool::new();
    let done = tool.ends(&run("nobody"), 2);
    assert!(done.err.contains("the external agent `nobody` is not configured"), "{done:#?}");
    let done = tool.ends(&["run", "--end", "2012-10-05", "--sandbox"], 2);
    assert!(done.err.contains("--agent"), "{done:#?}");
    let tool = tool.with("PATH", "/papertape-no-such-folder");
    let done = tool.ends(&run("tradingagents"), 2);
    assert!(done.err.contains("command not found: `python3`"), "{done:#?}");
}

/// Goal: a config is checked when it is read, and secrets of an agent are not printed.
#[test]
fn the_config_is_checked() {
    let cases = [
        ("[external_agents.x]", "external_agents.x: set either `command` or `url`"),
        (
            "[external_agents.x]\ncommand = ['a']\nurl = 'http://a/'",
            "external_agents.x: set either `command` or `url`",
        ),
        ("[external_agents.'a b']\ncommand = ['a']", "external_agents.a b: invalid name"),
        ("[external_agents.x]\nurl = 'a/day'", "external_agents.x.url: invalid URL"),
        (
            "[external_agents.x]\nurl = 'http://a/'\nsandbox = true",
            "external_agents.x.sandbox: applies only to",
        ),
        (
            "[external_agents.x]\ncommand = ['a']\nkey_env = 'K'",
            "external_agents.x.key_env: only an agent with `url`",
        ),
        (
            "[external_agents.x]\ncommand = ['a']\nmax_concurrent = 0",
            "external_agents.x.max_concurrent: must be",
        ),
        (
            "[external_agents.x]\ncommand = ['a']\nnormalize = ['(']",
            "external_agents.x.normalize: invalid regular",
        ),
        (
            "[external_agents.x]\ncommand = ['a']\nsandbox_paths = ['x']",
            "sandbox_paths: `x` is not an absolute path",
        ),
        ("[external_agents.x]\ncommand = ['a']\nmodels = ['gpt']", "provider::model"),
        ("[server]\npublic_url = 'desk.example'", "server.public_url: invalid URL"),
    ];
    for (toml, message) in cases {
        let done = Tool::new().configured(toml).ends(&["jobs"], 2);
        assert!(done.err.contains(message), "{toml}: {done:#?}");
    }
    let toml =
        "[external_agents.x]\ncommand = ['a']\nenv = { API_KEY = 'zq7x81kfp02mvn55', MODEL = 'small' }";
    let shown = Tool::new().configured(toml).ok(&["config", "show"]).out;
    assert!(!shown.contains("zq7x81kfp02mvn55") && shown.contains("MODEL = \"small\""), "{shown}");
}

/// Goal: the installation's check names an agent that cannot be started, and why.
#[test]
fn the_doctor_checks_agents() {
    let toml = format!(
        "[external_agents.good]\ncommand = [{}]\n[external_agents.gone]\ncommand = ['papertape-no-such-program']\n\
         [external_agents.there]\nurl = 'http://127.0.0.1:9/day'",
        json!(python())
    );
    let done = Tool::new().configured(&toml).run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&done.out).expect("JSON");
    let findings = report["findings"].as_array().expect("findings").iter();
    let agents: Vec<String> = findings
        .filter(|finding| finding["check"] == "external agent")
        .map(|finding| {
            format!(
                "{}: {}",
                finding["state"].as_str().unwrap_or_default(),
                finding["text"].as_str().unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(agents.len(), 3, "{agents:?}");
    assert!(agents[1].starts_with("ok: good: `") && agents[1].ends_with("` can be started"), "{agents:?}");
    assert!(agents[0].starts_with("broken: ") && agents[0].contains("command not found"), "{agents:?}");
    assert!(agents[2].starts_with("ok: there: the URL"), "{agents:?}");
}
