//! On PostgreSQL there is no owner: commands, workers and servers share the jobs.

use crate::cli_tool::{SHORT, Tool};
use papertape_testkit::postgres;
use rustix::process::Signal;

fn tool() -> Tool {
    let place = postgres::place().expect("starts PostgreSQL");
    Tool::new().with("PAPERTAPE_DATABASE_URL", &place.url)
}

#[test]
fn postgres_lets_a_worker_run_a_job_that_a_command_queued_and_follows() {
    let tool = tool();
    let job = tool.job(&SHORT);
    let queued =
        tool.job(&["branch", &job, "--date", "2012-10-02", "--instructions", "Be bold.", "--no-run"]);
    assert_eq!(tool.json(&["jobs", &queued])["status"], "queued");
    let mut worker = tool.start(&["worker"]);
    worker.until("running jobs of");
    // Follows the worker's job, or runs it before the worker does; a completed job has nothing left.
    let resumed = tool.run(&["resume", &queued]);
    assert!(resumed.code == 0 || resumed.err.contains("is completed"), "{resumed:#?}");
    assert_eq!(tool.json(&["jobs", &queued])["status"], "completed");
    worker.signal(Signal::TERM);
    let ended = worker.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let found = tool.ok(&["doctor"]).out;
    assert!(found.contains("PostgreSQL") && !found.contains("password"), "{found}");
    assert_eq!(tool.json(&["replay", &queued])["equal"], true);
}

#[test]
fn postgres_stores_dev_data_in_a_separate_schema() {
    let tool = tool();
    let before = tool.run(&["jobs", "--json"]).code;
    assert!([0, 1].contains(&before));
    let tool = tool.with("PAPERTAPE_MODE", "dev");
    tool.ok(&SHORT);
    assert_eq!(tool.json(&["jobs"])["is_dev_mode"], true);
    let mut serving = tool.start(&["serve"]);
    serving.first_line();
    serving.signal(Signal::TERM);
    assert_eq!(serving.end().code, 0);
    assert_eq!(tool.json(&["jobs"])["count"], 0);
}
