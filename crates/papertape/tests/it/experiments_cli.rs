//! Experiments on the command line, with the real binary.

use crate::cli_tool::Tool;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use rustix::process::Signal;
use serde_json::Value;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

const RUN: [&str; 11] = [
    "run",
    "--start",
    "2012-10-01",
    "--end",
    "2012-10-05",
    "--symbols",
    "IBM",
    "--model",
    "test::talker",
    "--trials",
    "3",
];

/// A model that holds back its first two answers to the third day: one of each job that runs.
async fn server() -> ModelServer {
    let held = AtomicUsize::new(2);
    ModelServer::answering(move |body| {
        let done = ScriptedAnswer::text("Nothing to do today. <FINISH_SIGNAL>");
        let is_third = body.to_string().contains("2012-10-03");
        match is_third && held.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
            true => done.held(),
            false => done,
        }
    })
    .await
}

fn tool(server: &ModelServer) -> Tool {
    let provider =
        format!("[models.providers.test]\nkind = 'openai_compatible'\nbase_url = '{}'", server.url());
    let rest = "[simulation]\nsummaries = false\nmemory = { mode = 'off' }\n[worker]\nparallel_jobs = 2";
    Tool::new().configured(&format!("{provider}\n{rest}"))
}

fn id(tool: &Tool) -> String {
    let list = tool.json(&["experiments"]);
    list["experiments"][0]["experiment_id"].as_str().expect("an id").to_owned()
}

/// Goal: killed in the middle, an experiment is shown, cancelled and resumed by its ID as one, and only the calls in
/// flight are repeated. Its results list every trial.
#[tokio::test(flavor = "multi_thread")]
async fn crash_a_killed_experiment_is_resumed_as_one() {
    let server = server().await;
    let tool = tool(&server);
    let mut running = tool.start(&RUN);
    running.until("estimate   test::talker: 15 model-days, 120 calls");
    // Two jobs run side by side, and both wait for the answer of the third day.
    server.request(6).await;
    running.signal(Signal::KILL);
    drop(running);
    assert_eq!(server.count(), 6, "two days of two jobs, and a call of each in flight");

    let id = id(&tool);
    let short = &id[id.len() - 8..];
    let shown = tool.ok(&["jobs", short]).out;
    assert!(shown.contains("interim") && shown.contains("4/15 model-days, 0 of 3 jobs"), "{shown}");
    tool.ok(&["cancel", short]);
    assert_eq!(tool.json(&["jobs", short])["experiment"]["status"], "cancelled");
    let resumed = tool.run(&["resume", &id]);
    assert_eq!(resumed.code, 0, "{resumed:#?}");
    assert!(resumed.err.contains(&format!("experiment {id} completed: 3 jobs")), "{resumed:#?}");
    assert_eq!((server.count(), server.repeats()), (17, 2), "15 days, and the two calls in flight");

    let text = tool.ok(&["results", &id]).out;
    assert!(text.contains("test::talker, window 1: 2012-10-01 to 2012-10-05, 5 trading days"), "{text}");
    assert!(text.contains("mean") && text.contains("n=3") && !text.contains("Interim"), "{text}");
    assert_eq!(tool.json(&["results", &id])["agents"][0]["windows"][0]["spread"]["trials"], 3);
    let refused = tool.ends(&["cancel", &id], 1);
    assert!(refused.err.contains("is already completed"), "{refused:#?}");
}

/// A run of a house model over a quarter.
fn rules<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let run = [
        "run",
        "--start",
        "2012-10-01",
        "--end",
        "2012-12-31",
        "--symbols",
        "IBM",
        "--model",
        "house::momentum",
    ];
    [&run[..], more].concat()
}

/// Goal: an estimate runs nothing; rule-based agents run once, over every window; a range that is too short says what
/// fits; and a single trial of one range is an ordinary run.
#[test]
fn rules_run_once_and_windows_must_fit() {
    let tool = Tool::new();
    let estimate = tool.ok(&rules(&["--trials", "4", "--windows", "3x10d", "--estimate"]));
    assert!(estimate.err.contains("runs once: it is rule-based"), "{estimate:#?}");
    assert!(
        estimate.err.contains("3 jobs, 30 model-days; an estimate: 0 calls, 0 tokens, $0"),
        "{estimate:#?}"
    );
    assert_eq!(tool.json(&["experiments"])["count"], 0);

    let done = tool.ok(&rules(&["--trials", "4", "--windows", "3x10d", "--compare", "buy_and_hold"]));
    assert!(
        done.out.contains("house::momentum, window 3:") && done.out.contains("buy and hold"),
        "{done:#?}"
    );
    assert!(done.err.contains("completed: 3 jobs"), "{done:#?}");
    let shown = tool.json(&["experiments", &id(&tool)]);
    assert_eq!(shown["manifest"]["windows"].as_array().map(Vec::len), Some(3));
    assert_eq!(shown["experiment"]["interim"], Value::Null);

    let refused = tool.ends(&rules(&["--windows", "3x40d"]), 2);
    assert!(refused.err.contains("--windows: 3 windows of 40 trading days need 120 days"), "{refused:#?}");
    let refused = tool.ends(&rules(&["--windows", "3x"]), 2);
    assert!(refused.err.contains("such as 5x60d"), "{refused:#?}");
    tool.ok(&rules(&["--trials", "1", "--no-summaries"]));
    assert_eq!(tool.json(&["experiments"])["count"], 1);
}
