//! Telemetry as a monitoring system reads it.

use crate::api_stream::{Client, Server};
use crate::api_support::{World, week};
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::simulate::NoopObserver;
use papertape_service::trigger::trigger;
use std::collections::BTreeMap;

/// Parses the text format, and checks that help and type precede every value.
fn read(text: &str) -> BTreeMap<String, u64> {
    let mut figures = BTreeMap::new();
    let (mut helped, mut typed) = (String::new(), String::new());
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            helped = help.split(' ').next().expect("a name").to_owned();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a name and a type");
            assert_eq!((name, ["counter", "gauge"].contains(&kind)), (helped.as_str(), true), "{line}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
            typed = name.to_owned();
        } else {
            let (series, value) = line.rsplit_once(' ').expect("a figure");
            let name = series.split('{').next().expect("a name");
            assert_eq!(name, typed, "{line}");
            let value: f64 = value.parse().expect("a number");
            // Counts and sizes: all costs here are 0.
            let before = figures.insert(series.to_owned(), value as u64);
            assert_eq!(before, None, "{line} stands twice");
        }
    }
    figures
}

/// Goal: the values agree with the database and with what happened: jobs, tokens, calls, sizes.
#[tokio::test]
async fn figures_are_those_of_the_record() {
    let world = World::new().await;
    let answer = world.get("/metrics").await;
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let figures = read(&answer.text);
    let status = world.good(&format!("/simulate/status/{}", world.job)).await;
    let usage = &status["usage"];
    for (kind, field) in [("input", "input_tokens"), ("cached", "cached_tokens"), ("output", "output_tokens")]
    {
        let of_record = figures[&format!("papertape_record_tokens{{kind=\"{kind}\"}}")];
        assert_eq!(Some(of_record), usage[field].as_u64(), "{kind}");
        let of_calls: u64 = ["house::buy_and_hold", "house::momentum"]
            .iter()
            .map(|model| {
                figures[&format!("papertape_model_tokens_total{{model=\"{model}\",kind=\"{kind}\"}}")]
            })
            .sum();
        assert_eq!(of_calls, of_record, "all calls were made by this process: {kind}");
    }
    let jobs = |status: &str| figures[&format!("papertape_jobs{{status=\"{status}\"}}")];
    assert_eq!((jobs("completed"), jobs("queued"), jobs("failed")), (1, 0, 0));
    let parts = |state: &str| figures[&format!("papertape_job_parts{{state=\"{state}\"}}")];
    assert_eq!((parts("queued"), parts("running"), parts("expired")), (0, 0, 0));
    assert!(figures["papertape_model_calls_total{model=\"house::momentum\",result=\"ok\"}"] >= 5);
    assert_eq!(figures["papertape_model_calls_total{model=\"house::momentum\",result=\"failed\"}"], 0);
    let file = std::fs::metadata(world.app.config.data_dir.join("papertape.db")).expect("is there").len();
    let size = figures["papertape_database_bytes{database=\"papertape\",file=\"papertape.db\"}"];
    assert!(size > 0 && size <= file, "{size} of {file}");
    for zero in
        ["action_log_write_errors_total", "streams_open", "streams_broken_total", "client_retries_total"]
    {
        assert_eq!(figures[&format!("papertape_{zero}")], 0, "{zero}");
    }
}

/// Goal: open streams and abandoned ones are counted separately, and so is a client's polling.
#[tokio::test]
async fn streams_and_retries_are_counted() {
    let world = World::empty().await;
    let server = Server::start(world.app.clone()).await;
    let job = trigger(&world.app, week()).await.expect("it is queued").job;
    let figure = async |name: &str| read(&world.get("/metrics").await.text)[&format!("papertape_{name}")];
    let mut open = Client::open(&server.url, job.as_str(), None).await;
    open.next().await.expect("a snapshot");
    let mut left = Client::open(&server.url, job.as_str(), None).await;
    left.next().await.expect("a snapshot");
    assert_eq!((figure("streams_open").await, figure("streams_broken_total").await), (2, 0));
    drop(left);
    // The server learns that a client has left when it next writes, or polls; a cancelled job causes both.
    world.app.store.cancel(&job).await.expect("writes");
    assert_eq!(open.rest().await.last().expect("events").name, "end");
    while figure("streams_open").await > 0 {
        tokio::task::yield_now().await;
    }
    assert!(figure("streams_broken_total").await <= 1);

    for (retries, status) in [("1", 200), ("7", 200), ("0", 200), ("1000001", 400), ("-1", 400), ("x", 400)] {
        let answer = world.get(&format!("/jobs/{job}?retries={retries}")).await;
        assert_eq!(answer.status, status, "{retries}: {}", answer.text);
    }
    assert_eq!(figure("client_retries_total").await, 2);
    server.stop().await;
}

/// Goal: an action log row that is committed together with what it describes, and cannot be written, is
/// counted; and what it describes is not done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_cannot_be_committed_are_counted() {
    let world = World::empty().await;
    let file = world.app.config.data_dir.join("papertape.db");
    let asked =
        world.post("/chat/message", &serde_json::json!({ "message": "Create a plan called Autumn" })).await;
    assert_eq!(asked.status, 202, "{}", asked.text);
    let job = papertape_core::id::JobId::new(asked.json()["job_id"].as_str().expect("a job"));
    let direct = rusqlite::Connection::open(&file).expect("opens");
    direct
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON plan_action_logs WHEN NEW.action_name = 'create_plan'
                 BEGIN SELECT RAISE(ABORT, 'full'); END",
        )
        .expect("makes a trigger");
    let ended = world.app.worker.run_job(&job, &CancelSource::default().signal(), &NoopObserver).await;
    assert!(!matches!(ended, Ok(Some(ended)) if ended.status == JobStatus::Completed));
    let figures = read(&world.get("/metrics").await.text);
    assert!(figures["papertape_action_log_write_errors_total"] >= 1);
    assert_eq!(world.good("/plans").await["plans"], serde_json::json!([]));
}

/// Goal: PostgreSQL has the same values, and its size.
#[tokio::test]
async fn postgres_gives_the_same_figures() {
    let world = World::on_postgres().await;
    let figures = read(&world.get("/metrics").await.text);
    assert_eq!(figures["papertape_jobs{status=\"completed\"}"], 1);
    assert!(figures["papertape_record_tokens{kind=\"input\"}"] > 0);
    assert!(figures["papertape_database_bytes{database=\"papertape\",file=\"postgresql\"}"] > 0);
}
