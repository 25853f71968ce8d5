//! Several real `papertape worker` processes on one PostgreSQL: one is killed, one is suspended until its
//! leases belong to another, and nothing is done twice.

use crate::cli_tool::{Running, Tool};
use crate::crash_support::{
    Desk, Place, SCRIPTED, agent, compose, config, export, forgetful, queue, same, target,
};
use papertape_agents::config::AgentConfig;
use papertape_core::id::JobId;
use papertape_core::message::Sampling;
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::JobStatus;
use papertape_runtime::budget::{Budget, Limit};
use papertape_service::app::App;
use papertape_service::trigger::Request;
use papertape_store::Store;
use papertape_testkit::postgres;
use rust_decimal::Decimal;
use rustix::process::Signal;
use std::process::Command;

const JOBS: usize = 200;
/// The number of jobs that a worker runs concurrently.
const AT_ONCE: usize = 4;
/// The schema that the commands use.
const SCHEMA: &str = "papertape";

/// A statement executed directly, as an administrator would.
fn by_hand(url: &str, sql: &str) -> Vec<String> {
    let psql = postgres::programs().expect("PostgreSQL is there").join("psql");
    let asked = Command::new(psql).args(["-At", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]).output();
    let done = asked.expect("psql runs");
    assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text").lines().map(str::to_owned).collect()
}

/// One day of one agent, with two requests.
fn small() -> Request {
    Request { agents: vec![agent("alpha")], ..forgetful(1) }
}

/// Waits until a job has stopped.
pub(crate) async fn stopped(app: &App, job: &JobId) -> JobStatus {
    let mut follower = app.store.follow(job);
    loop {
        let row = app.store.get_job(job).await.expect("reads").expect("is there");
        if row.status.is_stopped() {
            return row.status;
        }
        follower.changed().await;
    }
}

/// A worker, once it accepts jobs.
pub(crate) fn worker(tool: &Tool) -> Running {
    let mut worker = tool.start(&["worker"]);
    worker.until("running jobs of");
    worker
}

/// Goal: three workers share 200 jobs; one is killed and one suspended in the middle of theirs. Every job
/// completes with the steps of an undisturbed one, and only the calls in progress are repeated. The suspended
/// one wakes up, finds that its jobs belong to another, writes none of their late responses, and continues
/// with other jobs.
#[tokio::test(flavor = "multi_thread")]
async fn crash_postgres_three_workers_share_two_hundred_jobs() {
    let alone = Desk::new().await;
    let alone_job = alone.queue(small()).await;
    alone.run(&alone_job).await;
    let expected = export(&alone.app().await.store, &alone_job).await;
    let calls = alone.server.count();

    let url = postgres::place().expect("PostgreSQL").url;
    // It may be suspended in a transaction; the server must not wait for it longer than this.
    let more = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{more}options=-c%20idle_in_transaction_session_timeout%3D5s");
    let desk = Desk::thinking_on(&Place::Postgres(url.clone(), SCHEMA.to_owned()), SCRIPTED).await;
    let app = desk.app().await;
    let mut jobs = Vec::new();
    for _ in 0..JOBS {
        jobs.push(queue(&app, small()).await);
    }
    let provider = "[models.providers.test]\nkind = 'openai_compatible'\nbase_url = ";
    let tool = Tool::new()
        .configured(&format!("{provider}'{}'\n[worker]\nparallel_jobs = {AT_ONCE}", desk.server.url()))
        .with("PAPERTAPE_DATABASE_URL", &url)
        // Leases end only by hand.
        .with("PAPERTAPE_WORKER__LEASE_SECS", "3600")
        .with("PAPERTAPE_WORKER__POLL_INTERVAL_MS", "20")
        // Output that is not read here must not fill the pipe.
        .with("PAPERTAPE_LOG", "error,papertape_runtime::leases=info");
    desk.hold(2 * AT_ONCE);
    let killed = worker(&tool);
    desk.server.request(AT_ONCE).await;
    let mut stands = worker(&tool);
    desk.server.request(2 * AT_ONCE).await;
    let third = worker(&tool);
    desk.server.request(2 * AT_ONCE + 20 * calls).await;

    let of =
        |column: &str| format!("{column} LIKE '{}-%' OR {column} LIKE '{}-%'", killed.pid(), stands.pid());
    let taken = of("lease_owner");
    killed.signal(Signal::KILL);
    stands.signal(Signal::STOP);
    let left = by_hand(&url, &format!("SELECT job_id FROM {SCHEMA}.jobs WHERE {taken}"));
    assert_eq!(left.len(), 2 * AT_ONCE, "both have their jobs under way");
    by_hand(&url, &format!("UPDATE {SCHEMA}.jobs SET lease_until = 0 WHERE {taken}"));
    by_hand(&url, &format!("UPDATE {SCHEMA}.workers SET beat_until = 0 WHERE {}", of("worker_id")));
    for job in &left {
        assert_eq!(stopped(&app, &JobId::new(job)).await, JobStatus::Completed);
    }

    // Now it learns that its jobs are done, and receives the responses that it waited for.
    stands.signal(Signal::CONT);
    desk.server.release();
    let stands = tokio::task::spawn_blocking(move || {
        for _ in 0..AT_ONCE {
            // Not an error: another worker has the job.
            let line = stands.until("lease lost: another worker owns the job");
            assert!(line.contains("INFO"), "{line}");
        }
        stands
    });
    let stands = stands.await.expect("it says so");
    for job in &jobs {
        assert_eq!(stopped(&app, job).await, JobStatus::Completed);
    }
    for worker in [stands, third] {
        worker.signal(Signal::TERM);
        let ended = tokio::task::spawn_blocking(|| worker.end()).await.expect("no panic");
        assert_eq!(ended.code, 0, "{ended:#?}");
    }
    assert_eq!(desk.server.count(), JOBS * calls + 2 * AT_ONCE, "only what was under way is asked again");
    let mut interrupted = 0;
    for job in &jobs {
        same(&expected, &export(&app.store, job).await, job.as_str());
        interrupted += app.store.interrupted_attempts(job).await.expect("counts");
        let chain = app.store.verify_chain(job).await.expect("verifies");
        assert!(chain.broken.is_none(), "{chain:?}");
    }
    assert_eq!(interrupted, 2 * AT_ONCE as u64);
    drop(killed);
}

/// The parts of the job that is split.
const PARTS: u32 = 8;

/// Goal: four workers share one job of many agents in eight parts, and small jobs next to it. One is killed, and one is
/// suspended until its leases have expired by the database's clock. Each session is there once, no call but those in
/// progress is repeated, the suspended worker writes nothing more for what it has lost, and the canonical bytes are
/// those of a job that one process runs in one part.
///
/// 64 agents and 24 small jobs, or as many as `PAPERTAPE_TEST_SPLIT=400,200` says.
#[tokio::test(flavor = "multi_thread")]
async fn crash_postgres_four_workers_share_a_split_job() {
    let sizes = std::env::var("PAPERTAPE_TEST_SPLIT").unwrap_or_else(|_| "64,24".to_owned());
    let (agents, jobs) = sizes.split_once(',').expect("two numbers");
    share_a_split_job(agents.parse().expect("a number"), jobs.parse().expect("a number")).await;
}

async fn share_a_split_job(agents: usize, small_jobs: usize) {
    let many =
        || Request { agents: (0..agents).map(|n| agent(&format!("a{n:03}"))).collect(), ..forgetful(1) };
    let alone = Desk::new().await;
    let (big, little) = (alone.queue(many()).await, alone.queue(small()).await);
    alone.run(&big).await;
    let calls_of_big = alone.server.count();
    alone.run(&little).await;
    let calls_of_little = alone.server.count() - calls_of_big;
    let (expected, expected_small) = {
        let app = alone.app().await;
        (export(&app.store, &big).await, export(&app.store, &little).await)
    };

    let url = postgres::place().expect("PostgreSQL").url;
    let more = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{more}options=-c%20idle_in_transaction_session_timeout%3D2s");
    let desk = Desk::thinking_on(&Place::Postgres(url.clone(), SCHEMA.to_owned()), SCRIPTED).await;
    let app = desk.app().await;
    let split = queue(&app, Request { parts: Some(PARTS), ..many() }).await;
    let mut jobs = Vec::new();
    for _ in 0..small_jobs {
        jobs.push(queue(&app, small()).await);
    }
    let provider = "[models.providers.test]\nkind = 'openai_compatible'\nbase_url = ";
    let tool = Tool::new()
        .configured(&format!("{provider}'{}'\n[worker]\nparallel_jobs = {AT_ONCE}", desk.server.url()))
        .with("PAPERTAPE_DATABASE_URL", &url)
        .with("PAPERTAPE_WORKER__LEASE_SECS", "3")
        .with("PAPERTAPE_WORKER__POLL_INTERVAL_MS", "50")
        .with("PAPERTAPE_LOG", "error,papertape_runtime::leases=info");
    let of = |column: &str, worker: &Running| format!("{column} LIKE '{}-%'", worker.pid());
    let held = |worker: &Running| {
        let of = of("lease_owner", worker);
        let sql = format!(
            "SELECT (SELECT count(*) FROM {SCHEMA}.jobs WHERE {of}) +
                 (SELECT count(*) FROM {SCHEMA}.job_parts WHERE {of})"
        );
        by_hand(&url, &sql).concat().parse::<usize>().expect("a number")
    };
    // Some calls are in progress until the end.
    desk.hold(2 * AT_ONCE);
    let (killed, stands) = (worker(&tool), worker(&tool));
    desk.server.request(2 * AT_ONCE).await;
    while held(&killed) < AT_ONCE || held(&stands) < AT_ONCE {}
    stands.signal(Signal::STOP);
    killed.signal(Signal::KILL);
    let others = [worker(&tool), worker(&tool)];

    // Everything ends without them, also what they had begun.
    assert_eq!(stopped(&app, &split).await, JobStatus::Completed);
    for job in &jobs {
        assert_eq!(stopped(&app, job).await, JobStatus::Completed);
    }
    let events = format!("SELECT count(*) FROM {SCHEMA}.job_events");
    let before = by_hand(&url, &events);
    stands.signal(Signal::CONT);
    desk.server.release();
    let stands = tokio::task::spawn_blocking(move || {
        let mut stands = stands;
        stands.until("lease lost: another worker owns the job");
        stands
    });
    let stands = stands.await.expect("it says so");
    for worker in others.into_iter().chain([stands]) {
        worker.signal(Signal::TERM);
        let ended = tokio::task::spawn_blocking(|| worker.end()).await.expect("no panic");
        assert_eq!(ended.code, 0, "{ended:#?}");
    }
    assert_eq!(by_hand(&url, &events), before, "it has written nothing");

    same(&expected, &export(&app.store, &split).await, "the split job");
    let mut interrupted = app.store.interrupted_attempts(&split).await.expect("counts");
    for job in &jobs {
        same(&expected_small, &export(&app.store, job).await, job.as_str());
        interrupted += app.store.interrupted_attempts(job).await.expect("counts");
    }
    for job in jobs.iter().chain([&split]) {
        let chain = app.store.verify_chain(job).await.expect("verifies");
        assert!(chain.broken.is_none(), "{chain:?}");
    }
    let repeated = desk.server.count() - calls_of_big - small_jobs * calls_of_little;
    assert!(repeated as u64 <= interrupted, "{repeated} calls are repeated, {interrupted} were interrupted");
    drop(killed);
}

/// The output tokens of each call, reserved and used.
const OUTPUT: u32 = 20;

/// Goal: four workers run a job in eight parts whose budget pays for exactly M calls, and make M calls: no more, and no
/// fewer.
///
/// 16 agents and 40 calls, or as many as `PAPERTAPE_TEST_BUDGET=64,500` says.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_four_workers_make_as_many_calls_as_the_budget_pays_for() {
    spend_a_budget(false).await;
}

/// Goal: the same if one of the workers is killed while its parts have shares of the budget, and calls in progress:
/// those count, even though nobody knows their outcomes.
#[tokio::test(flavor = "multi_thread")]
async fn crash_postgres_a_killed_workers_calls_count_against_the_budget() {
    spend_a_budget(true).await;
}

async fn spend_a_budget(is_killed: bool) {
    let sizes = std::env::var("PAPERTAPE_TEST_BUDGET").unwrap_or_else(|_| "16,40".to_owned());
    let (agents, calls) = sizes.split_once(',').expect("two numbers");
    let (agents, calls): (usize, usize) =
        (agents.parse().expect("a number"), calls.parse().expect("a number"));
    let sampling = Sampling { max_tokens: Some(OUTPUT), ..Sampling::default() };
    let agent = |n| AgentConfig { sampling: sampling.clone(), ..agent(&format!("a{n:03}")) };
    // One cent per token of the answer. What is reserved for a call is what it costs.
    let limit = Decimal::from(calls) * Decimal::from(OUTPUT) / Decimal::ONE_HUNDRED;
    let budget = Budget { job: Limit { tokens: None, usd: Some(limit) }, ..Budget::default() };

    let url = postgres::place().expect("PostgreSQL").url;
    let desk = Desk::thinking_on(&Place::Postgres(url.clone(), SCHEMA.to_owned()), SCRIPTED).await;
    let prices = "[[price]]\nmodel = 'test::scripted'\ninput = '0'\noutput = '10000'\n\
        stated = '2026-01-01'\nsource = 'the test'";
    let tool = Tool::new();
    let file = tool.path("prices.toml");
    std::fs::write(&file, prices).expect("writes");
    let mut config = config(&desk.server.url());
    config.models.prices = Some(file.clone());
    let app = compose(config, Store::open(target(&desk.place)).await.expect("opens"));
    // Each part could use all of the budget: none of them ends before it is used up.
    let request = Request {
        agents: (0..agents).map(agent).collect(),
        parts: Some(PARTS),
        budget: Some(budget),
        ..forgetful(26)
    };
    let job = queue(&app, request).await;
    let tool = tool
        .configured(&format!(
            "[models]\nprices = '{}'\n[models.providers.test]\nkind = 'openai_compatible'\nbase_url = '{}'\n\
             [worker]\nparallel_jobs = {}",
            file.display(),
            desk.server.url(),
            PARTS / 4
        ))
        .with("PAPERTAPE_DATABASE_URL", &url)
        // Leases end only by hand.
        .with("PAPERTAPE_WORKER__LEASE_SECS", "3600")
        .with("PAPERTAPE_WORKER__POLL_INTERVAL_MS", "20")
        .with("PAPERTAPE_LOG", "error");
    // The first call of each agent is in progress until all are.
    desk.hold(agents);
    let mut workers: Vec<Running> = (0..4).map(|_| worker(&tool)).collect();
    desk.server.request(agents).await;
    let mut interrupted = 0;
    if is_killed {
        let killed = workers.remove(0);
        killed.signal(Signal::KILL);
        let of = |column: &str| format!("{column} LIKE '{}-%'", killed.pid());
        let parts = format!("SELECT count(*) FROM {SCHEMA}.job_parts WHERE {}", of("lease_owner"));
        assert_eq!(by_hand(&url, &parts), [(PARTS / 4).to_string()]);
        interrupted = agents / 4;
        by_hand(&url, &format!("UPDATE {SCHEMA}.job_parts SET lease_until = 0 WHERE {}", of("lease_owner")));
        by_hand(&url, &format!("UPDATE {SCHEMA}.workers SET beat_until = 0 WHERE {}", of("worker_id")));
        workers.push(worker(&tool));
        desk.server.request(agents + interrupted).await;
    }
    desk.server.release();
    // Without a completed day in any part, it has failed.
    let status = stopped(&app, &job).await;
    assert!(matches!(status, JobStatus::Partial | JobStatus::Failed), "{status}");
    for worker in workers {
        worker.signal(Signal::TERM);
        let ended = tokio::task::spawn_blocking(|| worker.end()).await.expect("no panic");
        assert_eq!(ended.code, 0, "{ended:#?}");
    }
    let error = app.store.get_job(&job).await.expect("reads").expect("is there").error.expect("a reason");
    assert!(error.starts_with("budget exhausted: job: the job's parts have used or reserved"), "{error}");
    assert_eq!((desk.server.count(), desk.server.repeats()), (calls, interrupted));
    let used = app.store.load_usage(&job).await.expect("reads");
    assert_eq!(used.iter().map(|used| used.cost_usd).sum::<Decimal>(), limit);
    assert_eq!(app.store.interrupted_attempts(&job).await.expect("counts"), interrupted as u64);
    let chain = app.store.verify_chain(&job).await.expect("verifies");
    assert!(chain.broken.is_none(), "{chain:?}");
}
