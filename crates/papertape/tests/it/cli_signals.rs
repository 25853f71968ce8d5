//! Ctrl-C: the first stops after the current step, the second at once; both can be resumed.

use crate::cli_tool::Tool;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use rustix::process::Signal;

const RUN: [&str; 9] =
    ["run", "--start", "2012-10-01", "--end", "2012-10-02", "--symbols", "IBM", "--model", "test::talker"];

fn tool(server: &ModelServer) -> Tool {
    let provider =
        format!("[models.providers.test]\nkind = 'openai_compatible'\nbase_url = '{}'", server.url());
    Tool::new()
        .configured(&format!("{provider}\n[simulation]\nsummaries = false\nmemory = {{ mode = 'off' }}"))
}

fn done() -> ScriptedAnswer {
    ScriptedAnswer::text("Nothing to do today. <FINISH_SIGNAL>")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_signal_finishes_the_step_and_resume_repeats_no_call() {
    let calls = ScriptedAnswer::call("c1", "get_portfolio", "{}");
    let server = ModelServer::scripted([calls.held(), done(), done()]).await;
    let tool = tool(&server);
    let mut running = tool.start(&RUN);
    server.request(1).await;
    running.signal(Signal::INT);
    let line = running.until("stops after its current step");
    server.release();
    let ended = running.end();
    assert_eq!(ended.code, 3, "{ended:#?}");
    let job = line.split_whitespace().nth(1).expect("names the job").to_owned();
    assert!(ended.err.contains(&format!("papertape resume {job}")), "{ended:#?}");

    assert_eq!(tool.json(&["jobs", &job])["status"], "queued");
    let list = tool.ok(&["jobs"]).out;
    assert!(list.contains("queued (stopped)"), "{list}");
    let shown = tool.ok(&["jobs", &job]).out;
    let resume = format!("`papertape resume {}` continues it", &job[job.len() - 8..]);
    assert!(shown.contains("queued (stopped)") && shown.contains(&resume), "{shown}");
    let resumed = tool.json(&["resume", "latest"]);
    assert_eq!((&resumed["job_id"], &resumed["status"]), (&job.into(), &"completed".into()));
    assert_eq!((server.count(), server.repeats()), (3, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_signal_stops_immediately_and_the_call_is_sent_again() {
    let server = ModelServer::scripted([done().held(), done(), done()]).await;
    let tool = tool(&server);
    let mut running = tool.start(&RUN);
    server.request(1).await;
    running.signal(Signal::INT);
    running.until("press Ctrl-C again");
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.code, 3, "{ended:#?}");
    server.closed(1).await;

    assert_eq!(tool.json(&["resume", "latest"])["status"], "completed");
    assert_eq!((server.count(), server.repeats()), (3, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_can_read_during_a_run_and_learns_the_owner() {
    let server = ModelServer::scripted([done().held(), done()]).await;
    let tool = tool(&server);
    let running = tool.start(&RUN);
    server.request(1).await;
    assert_eq!(tool.json(&["jobs", "latest"])["status"], "running");
    tool.ok(&["reasoning"]);
    tool.ok(&["verify", "latest"]);
    let found = tool.ok(&["doctor"]).out;
    assert!(found.contains(&format!("process {}; other commands", running.pid())), "{found}");
    for args in [&["cancel", "latest"][..], &["serve"][..], &["worker"][..], &RUN[..]] {
        let refused = tool.ends(args, 1);
        assert!(
            refused.err.contains(&format!("process {} owns the database", running.pid())),
            "{refused:#?}"
        );
    }
    server.release();
    let ended = running.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
}
