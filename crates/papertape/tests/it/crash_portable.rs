//! A process is killed between a commit and the writing of the portable files: after the next start they
//! equal the database.

use crate::crash_support::Place;
use papertape_core::action::{ActionDraft, ActionEntry, ActionKind, ActionStatus};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::plan::PlanId;
use papertape_core::ports::{ActionLog as _, Clock as _, Queue as _};
use papertape_core::record::{JobKind, NewJob};
use papertape_redact::Redactor;
use papertape_runtime::clock::SystemClock;
use papertape_service::app::{Access, App};
use papertape_service::config::Config;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::postgres;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// The variable that tells the child where the database is.
const CHILD: &str = "PAPERTAPE_TEST_PORTABLE_CHILD";
const JOB: &str = "a-job";
const PLAN: PlanId = PlanId(7);

/// The location of a database and of its files.
#[derive(Debug, Serialize, Deserialize)]
struct Home {
    place: Place,
    data: PathBuf,
}

impl Home {
    async fn app(&self) -> App {
        let config = Config { data_dir: self.data.clone(), ..crate::frictionless() };
        let app = match &self.place {
            Place::Sqlite(_) => {
                App::open(config, Access::Own, papertape::integrations()).await.expect("opens")
            }
            Place::Postgres(url, schema) => {
                let target = DatabaseTarget::Postgres(url.clone(), schema.clone());
                App::compose(config, Store::open(target).await.expect("opens"), papertape::integrations())
                    .expect("composes")
            }
        };
        app.with_portable_files()
    }
}

/// In a child: writes some rows and the files, then more rows, one of which binds the job to a plan, and is
/// killed before anything else can run. In a normal test run: nothing.
#[tokio::test]
async fn writes_rows_until_it_is_killed() {
    let Ok(home) = std::env::var(CHILD) else { return };
    let home: Home = serde_json::from_str(&home).expect("a child is told where it is");
    let app = home.app().await;
    let job = NewJob {
        id: JobId::new(JOB),
        kind: JobKind::ChatAction,
        config: json!({}),
        fingerprint: ContentHash::of(b""),
        warnings: Vec::new(),
        days: Vec::new(),
        parent: None,
        plan: None,
        supersedes: Vec::new(),
        continues: Vec::new(),
        texts: Vec::new(),
        created_at: SystemClock.now(),
    };
    app.store.enqueue(job).await.expect("queues");
    let claimed = app.store.claim("child", Duration::from_secs(60), Some(&JobId::new(JOB))).await;
    let (lease, _) = claimed.expect("claims").expect("is free");
    let append = async |plan: Option<PlanId>| {
        let draft = ActionDraft::of(ActionKind::ToolOperation, "web_search", ActionStatus::Completed, "a");
        let entry = ActionEntry::redacted(&Redactor::default(), ActionDraft { plan, ..draft });
        app.store.append_action_log(&lease, entry, SystemClock.now()).await.expect("writes")
    };
    for _ in 0..5 {
        append(None).await;
    }
    app.flush().await;
    append(None).await;
    append(None).await;
    append(Some(PLAN)).await;
    // The files may lack the last rows, or be written at this moment.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::thread::park();
}

/// A file's log: sequence, plan, action, time.
fn rows(path: &Path) -> Vec<(i64, Option<i64>, String, String)> {
    if !path.exists() {
        return Vec::new();
    }
    let connection = rusqlite::Connection::open(path).expect("opens");
    if !connection.table_exists(None, "plan_action_logs").expect("asks") {
        return Vec::new();
    }
    let sql = "SELECT sequence, plan_id, action_name, created_at FROM plan_action_logs
        WHERE job_id = ?1 ORDER BY sequence";
    let mut statement = connection.prepare(sql).expect("reads");
    let rows = statement.query_map([JOB], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
    rows.expect("reads").map(|row| row.expect("a row")).collect()
}

async fn check(home: Home) {
    let mut child = tokio::process::Command::new(std::env::current_exe().expect("this program"));
    let child = child
        .args(["crash_portable::writes_rows_until_it_is_killed", "--exact", "--nocapture"])
        .env(CHILD, serde_json::to_string(&home).expect("is JSON"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .status();
    let status = child.await.expect("ends");
    assert_eq!(status.signal(), Some(9), "the child was to be killed: {status}");
    let (system, plan) = (home.data.join("system_jobs.sqlite"), home.data.join("plans/plan_7.sqlite"));
    assert!(rows(&system).len() <= 7, "the files are behind the database");
    let app = home.app().await;
    let log = app.store.action_log(&JobId::new(JOB)).await.expect("reads");
    assert_eq!(log.len(), 8, "what was committed is there");
    app.flush().await;
    let wanted: Vec<_> = log
        .into_iter()
        .map(|row| (row.sequence, Some(PLAN.0), row.row.name, row.created_at.to_string()))
        .collect();
    assert_eq!(rows(&plan), wanted);
    assert_eq!(rows(&system), [], "the job is its plan's now");
}

/// Goal: files that a killed process left behind equal the database after the next start.
#[tokio::test(flavor = "multi_thread")]
async fn crash_between_commit_and_file_loses_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let data = dir.path().to_owned();
    check(Home { place: Place::Sqlite(data.join("papertape.db")), data }).await;
}

/// Goal: the same on PostgreSQL, whose data is not stored with the files.
#[tokio::test(flavor = "multi_thread")]
async fn crash_and_postgres_loses_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let place = postgres::place().expect("starts PostgreSQL");
    check(Home { place: Place::Postgres(place.url, place.schema), data: dir.path().to_owned() }).await;
}
