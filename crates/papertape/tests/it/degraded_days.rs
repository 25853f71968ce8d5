//! Days that turned out worse than planned: every reader reports them with the same facts, and an unknown
//! value is never shown as zero.

use crate::cli_tool::{SHORT, Tool};
use crate::desk_support::{Broken, DeskWorld, Fault, buyers, desk, house, one_day};
use papertape_agents::config::Analyst;
use papertape_core::record::JobStatus;
use papertape_service::trigger::Request as Simulation;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};
use std::time::Duration;

/// A tool whose models are behind a server, with no price for any of them.
fn behind(server: &ModelServer) -> Tool {
    let url = server.url();
    Tool::new().configured(&format!("[models.providers.lab]\nkind = 'openai_compatible'\nbase_url = '{url}'"))
}

/// One day of one of the lab's agents.
fn day_of(kind: &str) -> Vec<&str> {
    let mut args: Vec<&str> = SHORT[..3].to_vec();
    args.extend(["--end", "2012-10-02", "--symbols", "AAPL", "--no-summaries", "--memory", "off"]);
    args.extend(["--kind", kind, "--model", "lab::one"]);
    args
}

/// Runs a command while the server responds.
async fn ends(tool: Tool, args: Vec<String>, code: i32) -> (Tool, crate::cli_tool::Done) {
    let run = move || {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let done = tool.ends(&args, code);
        (tool, done)
    };
    tokio::task::spawn_blocking(run).await.expect("no panic")
}

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

/// Goal: a model that returns nonsense is not full research: the run warns on stderr and counts the days, and
/// results, a single day, jobs and reasoning name the state and the first reason. Next to the summary are the
/// facts from the books; and the cost of an unpriced model is unknown everywhere, and never $0.
#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_named_by_every_reader() {
    let server = ModelServer::answering(|_| ScriptedAnswer::text("The moon is full tonight.")).await;
    let (tool, done) = ends(behind(&server), owned(&day_of("solo")), 0).await;
    let warning = "warning: of 2 model-days 2 degraded and 0 failed; the first: lab::one on 2012-10-01: no_decision \
                   (solo_no_finish_signal)";
    assert!(done.err.contains(warning), "{done:#?}");
    assert!(done.out.contains("2 of 2") && done.out.contains("solo_no_finish_signal"), "{done:#?}");
    assert!(done.out.contains("unknown") && !done.out.contains("$0"), "{done:#?}");
    for args in [&["results"][..], &["results", "latest"], &["jobs", "latest"], &["reasoning", "latest"]] {
        let done = tool.ok(args);
        let text = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("no_decision") && text.contains("solo_no_finish_signal"),
            "{args:?}: {done:#?}"
        );
        assert!(!done.out.contains("$0"), "{args:?}: {done:#?}");
    }
    let day = tool.ok(&["results", "latest", "--date", "2012-10-02"]).out;
    assert!(day.contains("no_decision: solo_no_finish_signal") && day.contains("books: no orders"), "{day}");
    assert!(tool.ok(&["reasoning", "latest"]).out.contains("books: no orders"));
    let jobs = tool.ok(&["jobs"]).out;
    assert!(jobs.contains("unknown") && jobs.contains("degraded") && !jobs.contains("$0"), "{jobs}");

    let first = json!({ "date": "2012-10-01", "model": "lab::one", "state": "no_decision",
        "reason": "solo_no_finish_signal" });
    let quality = json!({ "degraded_days": 2, "failed_days": 0, "first": first });
    let job = tool.json(&["jobs", "latest"]);
    assert_eq!(job["quality"], quality);
    assert_eq!((&job["usage"]["cost_usd"], &job["usage"]["cost"]), (&Value::Null, &json!("unknown")));
    assert_eq!(job["details"][0]["quality"]["state"], "no_decision");
    assert_eq!(tool.json(&["jobs"])["jobs"][0]["quality"], quality);
    let range = tool.json(&["results", "latest", "--reasoning", "summary"])["results"][0].clone();
    assert_eq!(range["provenance"]["reasons"][0], first);
    assert_eq!(range["provenance"]["degraded_days"], json!(["2012-10-01", "2012-10-02"]));
    assert_eq!(range["full_research"]["days"], 0);
    assert_eq!(range["reasoning"][0]["books"]["text"], "no orders");
    let day = tool.json(&["results", "latest", "--date", "2012-10-01"])["results"][0].clone();
    assert_eq!(day["quality"], json!({ "state": "no_decision", "reason": "solo_no_finish_signal" }));
    assert_eq!(day["provenance"]["sample_quality"], "degraded_research");
    assert_eq!(day["books"], json!({ "orders": 0, "fills": 0, "rejections": 0, "text": "no orders" }));
}

/// Goal: a wrong key ends with exit code 1, says what to fix and how to continue, and stops at the same call
/// again: after the fix, the second run equals an undisturbed one.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_exits_with_1_and_resumes() {
    let broken = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let is_broken = std::sync::Arc::clone(&broken);
    let server =
        ModelServer::answering(move |body| match is_broken.load(std::sync::atomic::Ordering::SeqCst) {
            true => ScriptedAnswer::error(401, "invalid_api_key"),
            false => house(body),
        })
        .await;
    for kind in ["solo", "desk"] {
        broken.store(true, std::sync::atomic::Ordering::SeqCst);
        let (tool, done) = ends(behind(&server), owned(&day_of(kind)), 1).await;
        assert!(
            done.err.contains("the provider answered 401 (invalid_api_key): the key is missing or wrong"),
            "{done:#?}"
        );
        assert!(done.err.contains("papertape resume ") && done.err.contains("fix the key"), "{done:#?}");
        assert!(!done.out.contains("+0.00%"), "{done:#?}");
        let job = tool.json(&["jobs", "latest"]);
        assert_eq!((&job["status"], &job["progress"]["failed"]), (&json!("failed"), &json!(1)));
        assert!(job["details"][0]["error"].as_str().is_some_and(|error| error.contains("401")), "{job}");
        let said = tool.json(&["reasoning", "latest"])["sessions"][0].clone();
        assert_eq!((&said["status"], &said["quality"]["state"]), (&json!("failed"), &json!("failed")));
        broken.store(false, std::sync::atomic::Ordering::SeqCst);
        let (tool, _) = ends(tool, owned(&["resume", "latest"]), 0).await;
        let job = tool.json(&["jobs", "latest"]);
        assert_eq!((&job["status"], &job["quality"]["failed_days"]), (&json!("completed"), &json!(0)));
        let said = tool.json(&["reasoning", "latest"])["sessions"][0].clone();
        assert_eq!((&said["status"], &said["error"]), (&json!("completed"), &Value::Null));
    }
}

/// Goal: a call that hangs has one reason, whichever limit is reached first: the node's deadline, the call's
/// timeout or the session's time.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_hangs_has_one_reason() {
    let lab = DeskWorld::new().await;
    lab.break_nodes([Broken::new("Bull Researcher", Fault::Hang)].into_iter().chain(buyers()));
    for (what, call_secs, session_secs) in
        [("deadline", 120, 1_800), ("call", 30, 1_800), ("session", 120, 30)]
    {
        let mut agent = desk(&[Analyst::Market]);
        agent.limits.call_timeout_secs = call_secs;
        agent.limits.session_timeout_secs = session_secs;
        if what != "deadline" {
            // Later than the other limits.
            agent.desk.as_mut().expect("a desk").research_node_timeout_secs = 300;
        }
        let (job, end) =
            lab.run(Simulation { agents: vec![agent], replace_existing: true, ..one_day(&["AAPL"]) }).await;
        assert_eq!(end.status, JobStatus::Completed, "{what}: {end:?}");
        let metadata = lab.day(&job).await.metadata;
        let research = &metadata["research"];
        assert_eq!(research["degraded_reason"], "bull_researcher_timeout", "{what}");
        assert!(
            research["timed_out_nodes"].as_array().expect("a list").contains(&json!("Bull Researcher")),
            "{what}"
        );
        assert_eq!(metadata["degradations"][0]["kind"], "timeout", "{what}");
    }
    assert!(lab.clock.elapsed() >= Duration::from_secs(90));
}

/// Goal: a negative zero never appears in a response, an export, a table or a metric, for agents that trade,
/// that do nothing, and that end at zero.
#[test]
fn no_answer_has_a_negative_zero() {
    let tool = Tool::new();
    let mut args: Vec<&str> = SHORT.to_vec();
    args.extend(["--model", "house::contrarian", "--model", "house::buy_and_hold"]);
    tool.ok(&args);
    // One day, on which most metrics are zero.
    let one = ["run", "--start", "2012-10-01", "--end", "2012-10-01", "--symbols", "FB", "--model"];
    tool.ok(&one.iter().copied().chain(["house::momentum", "--replace"]).collect::<Vec<_>>());
    let check = |args: &[&str]| {
        let out = tool.run(args).out;
        let bad = |text: &str| {
            out.match_indices(text).any(|(at, _)| {
                let after = out[at + text.len()..].trim_start_matches(['0', '.']);
                !after.starts_with(|c: char| c.is_ascii_digit())
                    && !out[..at].ends_with(|c: char| c.is_ascii_alphanumeric())
            })
        };
        assert!(!bad("-0.0") && !bad("-0%") && !bad("-$0"), "{args:?}:\n{out}");
    };
    let commands: [&[&str]; 8] = [
        &["results"],
        &["results", "latest"],
        &["results", "--date", "2012-10-01"],
        &["results", "--date", "2012-10-03"],
        &["jobs", "latest"],
        &["reasoning", "latest", "--full"],
        &["export", "canonical", "latest"],
        &["doctor"],
    ];
    for command in commands {
        check(command);
        check(&[&["--json"], command].concat());
    }
}
