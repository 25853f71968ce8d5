//! A client outside of the process keeps all it was told: nothing that a server has said is missing after a kill.

use crate::api_stream::{Client, Got, whole};
use crate::cli_tool::{Running, Tool};
use crate::crash_random::seed;
use crate::crash_support::script;
use papertape_core::id::ContentHash;
use papertape_testkit::model_server::ModelServer;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How often the server is killed.
const KILLS: usize = 25;
/// The maximum number of events between two kills.
const MOST: u8 = 12;

/// What a client has read, from all servers.
#[derive(Default)]
struct Witness {
    /// Events by ID.
    events: BTreeMap<i64, Got>,
    /// Messages by session and index.
    messages: BTreeMap<(i64, i64), Value>,
    /// Steps by session and path, once they have ended.
    steps: BTreeMap<(i64, String), Value>,
}

impl Witness {
    fn newest(&self) -> i64 {
        self.events.keys().next_back().copied().unwrap_or_default()
    }

    fn hear(&mut self, got: Got) -> Option<i64> {
        let session = got.data["event"]["session"].as_i64();
        let before = self.events.insert(got.id, got.clone());
        assert!(before.is_none_or(|before| told(&before) == told(&got)), "event {} changed", got.id);
        session
    }

    /// Reads a session. A server that is being killed may not respond.
    async fn read(&mut self, url: &str, session: i64) {
        for (path, rows) in [("messages", "messages"), ("steps", "steps")] {
            let asked = reqwest::get(format!("{url}/sessions/{session}/{path}?limit=1000")).await;
            let Ok(answer) = asked else { return };
            let Ok(answer) = answer.json::<Value>().await else { return };
            for row in answer[rows].as_array().into_iter().flatten() {
                if path == "messages" {
                    let index = row["message_index"].as_i64().expect("a number");
                    self.messages.insert((session, index), row.clone());
                } else if row["state"] != "intent" {
                    let path = row["path"].as_str().expect("a path").to_owned();
                    self.steps.insert((session, path), row.clone());
                }
            }
        }
    }
}

/// An event without the job's state when it was sent.
fn told(got: &Got) -> (&str, &Value) {
    (&got.name, &got.data["event"])
}

fn serve(tool: &Tool) -> (Running, String) {
    let mut serving = tool.start(&["serve", "--json"]);
    let mut text = String::new();
    while !text.contains('}') {
        let line = serving.first_line();
        assert!(!line.is_empty(), "it ended: {text}");
        text.push_str(&line);
    }
    let said: Value = serde_json::from_str(&text).expect("JSON");
    (serving, said["url"].as_str().expect("an address").trim_end_matches('/').to_owned())
}

/// Goal: every event with an ID, every message and every ended step that a client was told is in the record after
/// `kill -9`, unchanged. (With the outcome of a call handed over and not waited for, the record could lack it.)
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_said_is_missing_after_a_kill() {
    // The product's commands set up TLS; a client here needs it too.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let seed = seed();
    println!("PAPERTAPE_TEST_SEED={seed}");
    let server = ModelServer::answering(script).await;
    let provider =
        format!("[models.providers.test]\nkind = 'openai_compatible'\nbase_url = '{}'", server.url());
    let worker = "[worker]\nmax_crashes_per_step = 0\n[simulation]\nsummaries = false";
    let tool = Tool::new().configured(&format!("{provider}\n{worker}"));
    let mut witness = Witness::default();
    let mut job: Option<String> = None;
    for kill in 0..KILLS {
        let (serving, url) = serve(&tool);
        let id = match &job {
            Some(job) => job.clone(),
            None => {
                let request = json!({ "start_date": "2012-10-01", "end_date": "2012-12-31",
                    "models": ["test::scripted"], "symbols": ["AAPL", "IBM"] });
                let asked = reqwest::Client::new().post(format!("{url}/simulate/trigger")).json(&request);
                let answer: Value = asked.send().await.expect("answers").json().await.expect("JSON");
                job.insert(answer["job_id"].as_str().expect("a job").to_owned()).clone()
            }
        };
        let count = 1 + ContentHash::of(format!("{seed}/{kill}").as_bytes()).as_bytes()[0] % MOST;
        let mut stream = Client::open(&url, &id, Some(witness.newest())).await;
        for _ in 0..count {
            let Some(got) = stream.next().await else { break };
            if let Some(session) = witness.hear(got) {
                witness.read(&url, session).await;
            }
        }
        serving.signal(Signal::KILL);
    }
    let id = job.expect("was queued");
    let (_serving, url) = serve(&tool);
    let all: BTreeMap<i64, Got> = whole(&url, &id).await.into_iter().map(|got| (got.id, got)).collect();
    for (number, event) in &witness.events {
        assert_eq!(all.get(number).map(told), Some(told(event)), "event {number}");
    }
    let mut after = Witness::default();
    let sessions: BTreeSet<i64> = witness.messages.keys().map(|(session, _)| *session).collect();
    for session in sessions {
        after.read(&url, session).await;
    }
    assert!(witness.messages.len() > KILLS, "{} messages", witness.messages.len());
    for (key, message) in &witness.messages {
        assert_eq!(after.messages.get(key), Some(message), "message {key:?}");
    }
    for (key, step) in &witness.steps {
        assert_eq!(after.steps.get(key), Some(step), "step {key:?}");
    }
    assert!(server.repeats() <= KILLS, "one call of one agent per kill");
}
