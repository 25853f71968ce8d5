//! A server owns the data directory: commands that write go through it, transparently.

use crate::cli_tool::{Running, SHORT, Tool};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use rustix::process::Signal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn serve(tool: &Tool) -> Running {
    let mut serving = tool.start(&["serve"]);
    let line = serving.first_line();
    assert!(line.starts_with("Papertape is listening on http://127.0.0.1:"), "{line}");
    serving
}

fn stop(serving: Running) {
    serving.signal(Signal::TERM);
    let ended = serving.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.err.contains("mode prod") && ended.err.ends_with("stopped\n"), "{ended:#?}");
}

#[test]
fn run_branch_resume_and_cancel_go_through_the_server() {
    let tool = Tool::new();
    // A file that a dead server left behind misleads nobody.
    std::fs::create_dir(tool.path("data")).expect("makes it");
    std::fs::write(tool.path("data/server.json"), r#"{"pid":1,"url":"http://127.0.0.1:1"}"#).expect("writes");
    let alone = tool.ok(&SHORT);
    let serving = serve(&tool);

    // The same command gives the same result.
    let through = tool.ok(&SHORT);
    let expected: Vec<&str> = alone.out.lines().collect();
    let same = through.out.lines().filter(|line| expected.contains(line));
    assert_eq!(same.collect::<Vec<_>>(), expected, "the same lines, next to those about completed days");
    assert!(through.out.contains("completed before, by job"), "{through:#?}");
    assert!(through.err.contains("runs in the server at http://127.0.0.1:"), "{through:#?}");
    let args = [
        "run",
        "--start",
        "2012-11-01",
        "--end",
        "2012-11-02",
        "--cash",
        "5000.50",
        "--max-steps",
        "3",
        "--budget-usd",
        "1.5",
        "--model",
        "house::contrarian",
    ];
    let job = tool.job(&args);
    assert_eq!(tool.json(&["results", &job])["results"][0]["starting_portfolio_value"], 5000.5);
    let branch = ["branch", &job, "--date", "2012-11-02", "--model", "house::momentum"];
    assert_eq!(tool.json(&branch)["status"], "completed");

    // A request that the server rejects has the same exit code as without a server.
    tool.ends(&["cancel", "nope"], 4);
    tool.ends(&["resume", &job], 1);
    tool.ends(&["cancel", &job], 1);
    let unknown = ["run", "--start", "2012-11-01", "--end", "2012-11-02", "--symbols", "TSLA"];
    assert!(tool.ends(&unknown, 2).err.contains("TSLA"));
    let second = tool.ends(&["serve"], 1);
    assert!(second.err.contains("the server at http://127.0.0.1:"), "{second:#?}");
    assert!(tool.ok(&["doctor"]).out.contains("the server at http://127.0.0.1:"));

    stop(serving);
    assert!(!tool.path("data/server.json").exists());
    tool.ok(&SHORT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_of_the_server_is_cancelled_and_resumed_from_outside() {
    // A model that waits at each step until it is released.
    let may_end = Arc::new(AtomicBool::new(false));
    let server = ModelServer::answering({
        let may_end = Arc::clone(&may_end);
        move |_| match may_end.load(Ordering::SeqCst) {
            false => ScriptedAnswer::call("c1", "get_portfolio", "{}").held(),
            true => ScriptedAnswer::text("Nothing to do today. <FINISH_SIGNAL>"),
        }
    });
    let server = server.await;
    let tool = Tool::new().configured(&format!(
        "[models.providers.test]\nkind = 'openai_compatible'\nbase_url = '{}'\n\
         [simulation]\nsummaries = false\nmemory = {{ mode = 'off' }}\n\
         [[agents]]\nname = 'talker'\nmodel = 'test::talker'\nlimits = {{ max_steps = 100000 }}",
        server.url()
    ));
    let serving = serve(&tool);

    // A client that follows a job of the server may leave: the job continues.
    let mut following =
        tool.start(&["run", "--start", "2012-10-01", "--end", "2012-10-02", "--symbols", "IBM"]);
    following.until("runs in the server");
    server.request(1).await;
    following.signal(Signal::INT);
    let left = following.end();
    assert_eq!(left.code, 3, "{left:#?}");
    assert!(left.err.contains("continues in the server"), "{left:#?}");
    assert_eq!(tool.json(&["jobs", "latest"])["status"], "running");

    let cancelled = tool.ok(&["cancel", "latest"]);
    assert!(cancelled.err.contains("stops after its current step"), "{cancelled:#?}");
    while tool.json(&["jobs", "latest"])["status"] == "running" {
        server.release();
    }
    assert_eq!(tool.json(&["jobs", "latest"])["status"], "cancelled");

    may_end.store(true, Ordering::SeqCst);
    assert_eq!(tool.json(&["resume", "latest"])["status"], "completed");
    assert_eq!(server.repeats(), 0);
    stop(serving);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_finishes_the_step_and_the_next_one_resumes() {
    let done = || ScriptedAnswer::text("Nothing to do today. <FINISH_SIGNAL>");
    let calls = ScriptedAnswer::call("c1", "get_portfolio", "{}");
    let server = ModelServer::scripted([calls.held(), done(), done()]).await;
    let provider =
        format!("[models.providers.test]\nkind = 'openai_compatible'\nbase_url = '{}'", server.url());
    let tool = Tool::new()
        .configured(&format!("{provider}\n[simulation]\nsummaries = false\nmemory = {{ mode = 'off' }}"));
    let mut serving = serve(&tool);
    let args = [
        "run",
        "--start",
        "2012-10-01",
        "--end",
        "2012-10-02",
        "--symbols",
        "IBM",
        "--model",
        "test::talker",
    ];
    let mut following = tool.start(&args);
    following.until("runs in the server");
    server.request(1).await;
    serving.signal(Signal::TERM);
    serving.until("stopping after the current steps");
    server.release();
    let ended = serving.end();
    assert_eq!(ended.code, 0, "{ended:#?}");

    let serving = serve(&tool);
    let followed = following.end();
    assert_eq!(followed.code, 0, "{followed:#?}");
    assert_eq!((server.count(), server.repeats()), (3, 0));
    stop(serving);
}
