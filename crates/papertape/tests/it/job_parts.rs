//! Jobs whose agents are split into parts.

use crate::crash_support::{
    Desk, Place, SCRIPTED, agent, completed, export, forgetful, queue, request, run, same, worker,
};
use papertape_agents::config::AgentConfig;
use papertape_core::id::JobId;
use papertape_core::message::Sampling;
use papertape_core::part::EventPosition;
use papertape_core::ports::{BoxFuture, Clock, Queue as _, RecordStore as _};
use papertape_core::record::JobStatus;
use papertape_core::time::Timestamp;
use papertape_runtime::budget::{Budget, Limit};
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::services::Services;
use papertape_runtime::simulate::NoopObserver;
use papertape_service::app::App;
use papertape_service::trigger::Request;
use papertape_service::view::read_stream;
use papertape_testkit::postgres;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const NAMES: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];

fn five(days: i8, parts: Option<u32>) -> Request {
    Request { agents: NAMES.map(agent).into(), parts, ..request(days) }
}

/// A job that is not split, run by one process.
async fn undisturbed(days: i8) -> String {
    let desk = Desk::new().await;
    let job = desk.queue(five(days, None)).await;
    completed(&desk.run(&job).await);
    export(&desk.app().await.store, &job).await
}

/// The IDs of a finished job's events after a position.
async fn ids(app: &App, job: &JobId, after: &str) -> Vec<String> {
    let after: EventPosition = after.parse().expect("a position");
    let mut text = String::new();
    if let Some(mut reader) = read_stream(app, job.as_str(), Some(after)).await.expect("reads") {
        while let Some(bytes) = reader.next().await {
            text.push_str(std::str::from_utf8(&bytes).expect("a text"));
        }
    }
    text.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned).collect()
}

/// Goal: a split job has the canonical bytes of one that is not, its chains verify, and its log has one
/// beginning and one end; a client that reconnects at any event gets the rest, without duplicates or losses.
#[tokio::test]
async fn a_split_job_is_the_same_job() {
    let expected = undisturbed(2).await;
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job = queue(&app, five(2, Some(3))).await;
    assert_eq!(app.store.get_job(&job).await.expect("reads").expect("is there").parts, 3);
    completed(&run(&app.services, &job).await.expect("claims"));
    same(&expected, &export(&app.store, &job).await, "in three parts");
    let chain = app.store.verify_chain(&job).await.expect("verifies");
    assert!(chain.broken.is_none(), "{chain:?}");
    let log = papertape_core::ports::ActionLog::action_log(&app.store, &job).await.expect("reads");
    let log: Vec<&str> = log.iter().map(|row| row.status().as_str()).collect();
    assert_eq!(log, ["running", "completed"]);

    let all = ids(&app, &job, "0").await;
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "each once");
    assert!(all.iter().any(|id| id.split('-').count() == 4), "{all:?}");
    for (at, id) in all.iter().enumerate() {
        assert_eq!(ids(&app, &job, id).await, all[at + 1..], "after {id}");
    }
}

/// Goal: the parts of a job share its budget: together they do not use more of it than a job that is not split may,
/// and the job names the reason. With a larger one it continues.
#[tokio::test]
async fn the_parts_of_a_job_share_its_budget() {
    let sampling = Sampling { max_tokens: Some(1_000), ..Sampling::default() };
    let agents = NAMES.map(|name| AgentConfig { sampling: sampling.clone(), ..agent(name) });
    let max = 3_500;
    let budget = Budget { job: Limit { tokens: Some(max), usd: None }, ..Budget::default() };
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job =
        queue(&app, Request { agents: agents.into(), parts: Some(5), budget: Some(budget), ..forgetful(1) })
            .await;
    let end = run(&app.services, &job).await.expect("claims");
    assert!(matches!(end.status, JobStatus::Partial | JobStatus::Failed), "{end:?}");
    let error = end.error.expect("a reason");
    assert!(error.contains("budget exhausted: job: the job's parts have used"), "{error}");
    let used = app.store.load_usage(&job).await.expect("reads");
    let used: u64 = used.iter().map(|used| used.usage.input_tokens + used.usage.output_tokens).sum();
    assert!(used > 0 && used <= max, "{used} of {max}");
    assert!((1..10).contains(&desk.server.count()), "{} calls", desk.server.count());

    let change =
        papertape_service::trigger::BudgetChange { job: Some(Limit::default()), ..Default::default() };
    papertape_service::trigger::resume(&app, &job, Some(change)).await.expect("resumes");
    completed(&run(&app.services, &job).await.expect("claims"));
    assert_eq!((desk.server.count(), desk.server.repeats()), (10, 0));
}

/// The system's clock, set wrong.
struct Wrong(Arc<dyn Clock>, i64);

impl Clock for Wrong {
    fn now(&self) -> Timestamp {
        self.0.now() + jiff::SignedDuration::from_secs(self.1)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(duration)
    }
}

/// Goal: workers whose clocks are twenty minutes apart share a split job: no lease is taken for expired, no call is
/// made twice, and the canonical bytes are those of one process.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_clocks_need_not_agree() {
    let expected = undisturbed(3).await;
    let place = postgres::place().expect("PostgreSQL");
    let desk = Desk::thinking_on(&Place::Postgres(place.url, place.schema), SCRIPTED).await;
    let app = desk.app().await;
    let job = queue(&app, five(3, Some(5))).await;
    let stop = CancelSource::default();
    let mut working = Vec::new();
    for seconds in [-600, 600] {
        let app = desk.app().await;
        let clock = Arc::new(Wrong(Arc::clone(&app.services.clock), seconds));
        let services = Services { clock, ..app.services.clone() };
        let (job, signal) = (job.clone(), stop.signal());
        working.push(tokio::spawn(async move {
            let run = worker(&services).run_job(&job, &signal, &NoopObserver).await;
            drop(app);
            run
        }));
    }
    for work in working {
        work.await.expect("no panic").expect("no lease is lost");
    }
    let row = app.store.get_job(&job).await.expect("reads").expect("is there");
    assert_eq!((row.status, row.error, row.crashes), (JobStatus::Completed, None, 0));
    same(&expected, &export(&app.store, &job).await, "with two clocks");
    assert_eq!(desk.server.repeats(), 0);
}
