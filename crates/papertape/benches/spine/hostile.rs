//! Hostile providers against `papertape serve`: how much memory each of them makes the server use. The server
//! runs in its own process, with one provider that streams and one that does not.

use crate::product;
use papertape_testkit::bench::{BenchTarget, Series, Table, Unit};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The maximum resident memory of the server, in bytes.
const AIM: f64 = 300e6;
const SSE: &str = "text/event-stream";
const JSON: &str = "application/json";

pub(crate) fn run() {
    let runtime = product::runtime();
    runtime.block_on(measure());
}

async fn measure() {
    let answer = Arc::new(Mutex::new(ScriptedAnswer::text("<FINISH_SIGNAL>")));
    let shown = Arc::clone(&answer);
    let models = ModelServer::answering(move |_| shown.lock().expect("is whole").clone()).await;
    let dir = product::directory();
    let serve = Serve::start(dir.path(), &models.url()).await;
    serve.day("whole", "usual").await;
    let usual = serve.peak();
    let reference: Series = [usual].into_iter().collect();
    let mut table = Table::default();
    for (name, stream, hostile) in corpus() {
        *answer.lock().expect("is whole") = hostile;
        serve.reset();
        serve.day(if stream { "streamed" } else { "whole" }, name).await;
        let peak: Series = [serve.peak()].into_iter().collect();
        let against = Some(("a usual day", &reference));
        table.add(format!("peak memory, {name}"), Unit::Megabytes, &peak, against, BenchTarget::To(AIM));
    }
    *answer.lock().expect("is whole") = ScriptedAnswer::text("<FINISH_SIGNAL>");
    serve.day("whole", "afterwards").await;
    table.print();
    serve.stop();
}

/// The responses, and whether they are streams.
fn corpus() -> Vec<(&'static str, bool, ScriptedAnswer)> {
    let index = json!({ "choices": [{ "delta": { "tool_calls": [
        { "index": 4_000_000_000_u64, "id": "c", "function": { "name": "buy", "arguments": "{}" } }] } }] });
    let call = json!({ "id": "c", "function": { "name": "buy", "arguments": "{}" } });
    let calls = json!({ "choices": [{ "message": { "tool_calls": vec![call; 10_000] } }] });
    let large = format!(r#"{{"choices":[{{"message":{{"content":"{}"}}}}]}}"#, "a".repeat(50_000_000));
    let wide =
        format!(r#"{{"choices":[{{"message":{{"content":"x","x":[{}0]}}}}]}}"#, "{\"\":0},".repeat(590_000));
    let arguments = format!(r#"{{\"a\":[{}0]}}"#, r#"{\"\":0},"#.repeat(25_000));
    let call = format!(r#"{{"id":"c","function":{{"name":"buy","arguments":"{arguments}"}}}}"#);
    let trees = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{}]}}}}]}}"#, vec![call; 16].join(","));
    let text = format!(r#"{{"choices":[{{"message":{{"content":"{}"}}}}]}}"#, "a".repeat(4_000_000));
    vec![
        ("a call with the index 4000000000", true, ScriptedAnswer::raw(SSE, format!("data: {index}\n\n"))),
        ("10,000 tool calls", false, ScriptedAnswer::raw(JSON, calls.to_string())),
        (
            "2 MB of gzip that hold 2 GB",
            false,
            ScriptedAnswer::bytes(JSON, bomb()).header("content-encoding", "gzip"),
        ),
        ("a stream without an end", true, ScriptedAnswer::endless(SSE, "", ": more\n\n".repeat(100))),
        ("an event without an end", true, ScriptedAnswer::endless(SSE, "data: ", "more ".repeat(200))),
        (
            "an answer without an end",
            false,
            ScriptedAnswer::endless(JSON, "{\"choices\":[", "{},".repeat(300)),
        ),
        ("an answer of 50 MB", false, ScriptedAnswer::bytes(JSON, large.into_bytes())),
        ("an answer just within the bound", false, ScriptedAnswer::bytes(JSON, text.into_bytes())),
        ("4 MB of small values", false, ScriptedAnswer::bytes(JSON, wide.into_bytes())),
        ("4 MB of arguments", false, ScriptedAnswer::bytes(JSON, trees.into_bytes())),
        ("JSON nested a million levels deep", false, ScriptedAnswer::bytes(JSON, vec![b'['; 1_000_000])),
        (
            "an error without an end",
            false,
            ScriptedAnswer::endless("text/plain", "", "no ".repeat(300)).status(500),
        ),
        (
            "a pause of 3,000 years",
            false,
            ScriptedAnswer::error(429, "rate_limit_exceeded").header("retry-after", "99999999999"),
        ),
        (
            "a slow drip",
            true,
            ScriptedAnswer::endless(SSE, "", ": .\n\n").dripping(Duration::from_millis(100)),
        ),
    ]
}

/// 2 GiB of zeros as gzip: consecutive members of 16 MiB.
fn bomb() -> Vec<u8> {
    let mut one = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    one.write_all(&vec![0; 16 << 20]).expect("is packed");
    one.finish().expect("is packed").repeat(128)
}

/// `papertape serve` in its own process. Killed on drop.
struct Serve {
    child: Child,
    url: String,
    client: reqwest::Client,
}

impl Serve {
    async fn start(dir: &Path, models: &str) -> Self {
        let provider = |name: &str, stream: bool| {
            format!(
                "[models.providers.{name}]\nkind = \"openai_compatible\"\nbase_url = \"{models}\"\nstream = {stream}\n"
            )
        };
        let config = dir.join("papertape.toml");
        std::fs::write(&config, provider("streamed", true) + &provider("whole", false)).expect("is written");
        let free = TcpListener::bind("127.0.0.1:0").expect("binds").local_addr().expect("has an address");
        let child = Command::new(env!("CARGO_BIN_EXE_papertape"))
            .args(["serve", "--listen", &free.to_string()])
            .env("PAPERTAPE_DATA_DIR", dir)
            .env("PAPERTAPE_CONFIG", &config)
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let client = product::client();
        let serve = Self { child, url: format!("http://{free}"), client };
        let started = Instant::now();
        while serve.get("/health").await.is_none() {
            assert!(started.elapsed() < Duration::from_secs(60), "the server does not answer");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        serve
    }

    async fn get(&self, path: &str) -> Option<Value> {
        let answer = self.client.get(format!("{}{path}", self.url)).send().await.ok()?;
        serde_json::from_slice(&answer.bytes().await.ok()?).ok()
    }

    /// Runs one agent for one day with this provider, whatever the outcome.
    async fn day(&self, provider: &str, name: &str) {
        let body = json!({
            "start_date": "2012-10-01",
            "end_date": "2012-10-01",
            "symbols": ["AAPL"],
            "summaries": false,
            "agents": [{
                "name": name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"),
                "model": format!("{provider}::hostile"),
                "limits": { "max_attempts": 2, "call_timeout_secs": 5, "session_timeout_secs": 30, "max_steps": 2 },
            }],
        });
        let post = self.client.post(format!("{}/simulate/trigger", self.url)).json(&body);
        let answer = post.send().await.expect("is answered").bytes().await.expect("is whole");
        let answer: Value = serde_json::from_slice(&answer).expect("is JSON");
        let job = answer["job_id"].as_str().unwrap_or_else(|| panic!("{name}: {answer}")).to_owned();
        let started = Instant::now();
        loop {
            let status = self.get(&format!("/simulate/status/{job}")).await.expect("the server lives");
            match status["status"].as_str() {
                Some("queued" | "running") => {}
                Some(_) => break,
                None => panic!("{name}: {status}"),
            }
            assert!(started.elapsed() < Duration::from_secs(120), "{name} does not end: {status}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The peak resident memory since the last reset.
    fn peak(&self) -> f64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("the server lives");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is said");
        line.trim().trim_end_matches("kB").trim().parse::<f64>().expect("a number") * 1024.0
    }

    fn reset(&self) {
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    fn stop(mut self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).expect("is told to stop");
        assert!(self.child.wait().expect("ends").success(), "the server has stopped well");
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
