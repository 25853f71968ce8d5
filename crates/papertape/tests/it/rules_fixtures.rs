//! Databases of every rules version, as the programs that wrote them left them. This program opens each one:
//! it stays readable, is verified by the rules that it was written with, and is neither replayed nor
//! continued under others. `scripts/record-rules-fixture.sh` creates them.

use crate::bundle_support::{failed, verified, written};
use crate::crash_support::worker;
use flate2::read::GzDecoder;
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_core::time::parse_date;
use papertape_core::{OLDER_RULES, RULES_VERSION};
use papertape_protocol::bundle::TapeForm;
use papertape_protocol::results::ResultsQuery;
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::replay;
use papertape_runtime::simulate::{JobOutcome, NoopObserver};
use papertape_service::app::{Access, App};
use papertape_service::bundle::{BundleOptions, BundleTarget};
use papertape_service::config::Config;
use papertape_service::trigger::{BranchRequest, Request, branch, resume, trigger};
use papertape_service::view;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::postgres::{self, TestDatabase};
use rusqlite::types::ValueRef;
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A database of some rules version, unpacked.
struct Fixture {
    rules: u32,
    expected: Value,
    dir: TempDir,
}

fn unpack(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().expect("is in a folder")).expect("makes folders");
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(from).expect("opens")).read_to_end(&mut bytes).expect("is gzip");
    fs::write(to, bytes).expect("writes");
}

fn unpack_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("is a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if path.is_dir() {
            unpack_all(&path, &to.join(name));
        } else {
            unpack(&path, &to.join(name.strip_suffix(".gz").expect("is packed")));
        }
    }
}

/// All fixtures, oldest first.
fn fixtures() -> Vec<Fixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir(folder)
        .expect("is a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|path| Some((path.file_name()?.to_str()?.strip_prefix("rules-")?.parse().ok()?, path)))
        .collect();
    found.sort();
    let fixture = |(rules, path): (u32, PathBuf)| {
        let dir = tempfile::tempdir().expect("makes a directory");
        unpack(&path.join("record.db.gz"), &dir.path().join("papertape.db"));
        unpack_all(&path.join("datasets"), &dir.path().join("datasets"));
        let expected = fs::read_to_string(path.join("expected.json")).expect("reads");
        Fixture { rules, expected: serde_json::from_str(&expected).expect("is JSON"), dir }
    };
    found.into_iter().map(fixture).collect()
}

impl Fixture {
    async fn app(&self) -> App {
        let config = Config { data_dir: self.dir.path().to_owned(), ..crate::frictionless() };
        App::open(config, Access::Own, papertape::integrations())
            .await
            .expect("an older record is brought to the present schema")
    }

    fn jobs(&self) -> impl Iterator<Item = (&String, JobId, &Value)> {
        let jobs = self.expected["jobs"].as_object().expect("has jobs");
        jobs.iter().map(|(name, job)| (name, JobId::new(job["job_id"].as_str().expect("an id")), job))
    }

    fn job(&self, name: &str) -> JobId {
        JobId::new(self.expected["jobs"][name]["job_id"].as_str().expect("an id"))
    }
}

async fn run(app: &App, job: &JobId) -> JobOutcome {
    let worker = worker(&app.services);
    let ended = Box::pin(worker.run_job(job, &CancelSource::default().signal(), &NoopObserver)).await;
    ended.expect("the record holds").expect("the job is there to be claimed")
}

/// A writer that counts lines and computes a checksum.
#[derive(Default)]
struct Summed(flate2::Crc, u64);

impl std::io::Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        self.1 += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Every version before this program's has its fixture, and no fixture has a later version.
#[test]
fn every_older_version_has_its_record() {
    let versions: Vec<u32> = fixtures().iter().map(|fixture| fixture.rules).collect();
    let older: Vec<u32> = (1..RULES_VERSION).collect();
    assert!(versions.starts_with(&older), "{versions:?}");
    assert!(versions.iter().all(|version| *version <= RULES_VERSION), "{versions:?}");
}

/// This program prints the same as the one that wrote it: the chains' heads, the canonical form, the results.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_record_reads_and_verifies_as_it_did() {
    for fixture in fixtures() {
        let app = fixture.app().await;
        for (name, job, expected) in fixture.jobs() {
            let what = format!("{name} of rules version {}", fixture.rules);
            let row = app.store.get_job(&job).await.expect("reads").expect("is there");
            assert_eq!(row.rules_version, fixture.rules, "{what}");
            assert_eq!(row.status.to_string(), expected["status"].as_str().expect("a status"), "{what}");

            reads_and_verifies_as_it_did(&app.store, (&job, fixture.rules), expected, &what).await;

            // From now on its head can be published.
            let head = app.store.publish_job_head(&job).await.expect("writes").expect("is there");
            let extended = app.store.verify_chain_from(&job, Some(&head)).await.expect("verifies");
            assert_eq!(extended.broken, None, "{what}");
            if let Some(hash) = expected.pointer("/head/hash") {
                assert_eq!(head.hash().to_hex(), *hash, "{what}");
            }
            same_results(&app, &job, expected, &what).await;
        }
    }
}

/// Goal: the bundles of older records verify, branches, desks and imports included; version 1 lacks what a bundle needs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_record_is_bundled() {
    let mut bundled = 0;
    for fixture in fixtures() {
        let app = fixture.app().await;
        for (name, job, expected) in fixture.jobs().filter(|(_, _, job)| job["kind"] == "simulate") {
            let what = format!("{name} of rules version {}", fixture.rules);
            for tape in [TapeForm::Full, TapeForm::Redacted] {
                let options = BundleOptions { tape, audit: false };
                match written(&app, &BundleTarget::Job(job.clone()), options).await {
                    Ok(bytes) => {
                        assert_eq!(failed(&verified(&bytes)).into_iter().next(), None, "{what}");
                        bundled += 1;
                    }
                    Err(error) => {
                        let has_stopped = !matches!(expected["status"].as_str(), Some("queued" | "running"));
                        let of_version_1 =
                            fixture.rules == 1 && error.to_string().contains("rules version 1");
                        let is_empty = error.to_string().contains("no closed day");
                        assert!(!has_stopped || of_version_1 || is_empty, "{what}: {error}");
                    }
                }
            }
        }
    }
    assert!(bundled > 6, "{bundled} bundles");
}

/// The chains' heads and the canonical form are those of the program that wrote them.
async fn reads_and_verifies_as_it_did(
    store: &Store,
    (job, rules): (&JobId, u32),
    expected: &Value,
    what: &str,
) {
    let report = store.verify_chain(job).await.expect("verifies");
    assert_eq!(report.broken, None, "{what}");
    assert_eq!(report.rules_version, rules, "{what}");
    let heads: Vec<Value> = report
        .heads
        .iter()
        .map(|head| {
            serde_json::json!({ "date": head.date, "model": head.agent, "session_id": head.session, "head": head.head })
        })
        .collect();
    assert_eq!(Value::from(heads), expected["verify"]["heads"], "{what}");
    assert_eq!(report.links, expected["verify"]["links"], "{what}");

    let mut canonical = Summed::default();
    store.canonical_export(job, &mut canonical).await.expect("exports");
    canonical.flush().expect("is there");
    assert_eq!(canonical.1, expected["canonical_lines"], "{what}");
    assert_eq!(canonical.0.sum(), expected["canonical_crc32"], "{what}");
}

/// Each day's values and the ending value equal those printed.
async fn same_results(app: &App, job: &JobId, expected: &Value, what: &str) {
    let Some(results) = expected["results"]["results"].as_array() else { return };
    let query = ResultsQuery { job_id: Some(job.to_string()), ..ResultsQuery::default() };
    let now = view::results(app, query).await.expect("has results");
    let now = serde_json::to_value(&now).expect("is JSON");
    for (result, now) in results.iter().zip(now["results"].as_array().expect("a list")) {
        assert_eq!(now["model"], result["model"], "{what}");
        // The format of a number may change, but not its value.
        let ending = |result: &Value| result["ending_portfolio_value"].as_f64();
        assert_eq!(ending(now), ending(result), "{what}");
        let values = |result: &Value| -> Vec<(Value, Option<f64>)> {
            let days = result["daily_portfolio_values"].as_array().cloned().unwrap_or_default();
            days.into_iter().map(|day| (day["date"].clone(), day["portfolio_value"].as_f64())).collect()
        };
        let (was, is) = (values(result), values(now));
        assert!(is.ends_with(&was), "{what}: {was:?} {is:?}");
    }
}

/// A replay says under which rules a job was recorded, and an unfinished job ends as failed, resumed or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_job_is_neither_replayed_nor_continued() {
    for fixture in fixtures() {
        if fixture.rules == RULES_VERSION {
            continue;
        }
        let app = fixture.app().await;
        for name in ["solo", "desk", "imported", "profile"] {
            let row = app.store.get_job(&fixture.job(name)).await.expect("reads").expect("is there");
            let report = Box::pin(replay::run(&app.services, &row)).await.expect("is said");
            assert_eq!((report.recorded_under, report.equal), (Some(fixture.rules), 0), "{name}");
            assert!(report.faults.is_empty(), "{name}: {:?}", report.faults);
        }
        // One that never started, and one whose process was killed: its lease has expired.
        let killed = fixture.job("killed");
        let connection = rusqlite::Connection::open(fixture.dir.path().join("papertape.db")).expect("opens");
        connection.execute("UPDATE jobs SET lease_until = 0 WHERE status = 'running'", []).expect("runs out");
        for job in [fixture.job("queued"), killed] {
            let end = run(&app, &job).await;
            assert_eq!((end.status, end.error.as_deref()), (JobStatus::Failed, Some(OLDER_RULES)));
        }
        // A stopped job is queued again, and ends the same way.
        let stopped = fixture.job("budget");
        resume(&app, &stopped, None).await.expect("is queued");
        let before = app.store.verify_chain(&stopped).await.expect("verifies").links;
        assert_eq!(run(&app, &stopped).await.error.as_deref(), Some(OLDER_RULES));
        let row = app.store.get_job(&stopped).await.expect("reads").expect("is there");
        assert_eq!((row.status, row.error.as_deref()), (JobStatus::Failed, Some(OLDER_RULES)));
        assert_eq!(row.rules_version, fixture.rules);
        let report = app.store.verify_chain(&stopped).await.expect("verifies");
        assert_eq!((report.broken, report.links), (None, before), "nothing was added");
    }
}

/// A day done under other rules does not count as done, and a branch says what it copies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn older_days_are_run_again_and_branched_from() {
    for fixture in fixtures() {
        if fixture.rules == RULES_VERSION {
            continue;
        }
        let app = fixture.app().await;
        let date = |text: &str| parse_date(text).expect("is a date");
        let request = Request {
            start_date: Some(date("2012-10-01")),
            end_date: Some(date("2012-10-02")),
            models: vec!["house::momentum".to_owned()],
            ..Request::default()
        };
        let triggered = trigger(&app, request).await.expect("queues");
        assert_eq!((triggered.total_model_days, triggered.skipped), (2, 0), "{:?}", triggered.warnings);
        assert_eq!(run(&app, &triggered.job).await.status, JobStatus::Completed);

        let parent = fixture.job("desk");
        let head = app.store.job_head(&parent).await.expect("reads").expect("is there");
        let request = BranchRequest {
            agent: None,
            date: date("2012-10-02"),
            at: None,
            model: None,
            instructions: None,
            sampling: None,
        };
        let branched = branch(&app, &parent, request).await.expect("branches");
        let said = format!("recorded under rules {}", fixture.rules);
        assert!(branched.warnings.iter().any(|warning| warning.contains(&said)), "{:?}", branched.warnings);
        assert_eq!(run(&app, &branched.job).await.status, JobStatus::Completed);
        let row = app.store.get_job(&branched.job).await.expect("reads").expect("is there");
        assert_eq!(row.rules_version, RULES_VERSION);
        assert_eq!(app.store.verify_chain(&branched.job).await.expect("verifies").broken, None);
        // The branch names its parent in its original state.
        assert_eq!(app.store.stored_job_head(head.hash()).await.expect("reads"), Some(head));
    }
}

/// SQL: a value of SQLite as PostgreSQL reads it.
fn literal(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => format!("'{}'", String::from_utf8_lossy(text).replace('\'', "''")),
        ValueRef::Blob(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("'\\x{digits}'")
        }
    }
}

/// Copies a SQLite database into a PostgreSQL schema of the same version.
async fn copy_to_postgres(from: &Path, place: &TestDatabase) {
    let old = rusqlite::Connection::open(from).expect("opens");
    let version: u32 = old
        .query_row("SELECT max(version) FROM schema_version", [], |row| row.get(0))
        .expect("has a version");
    let (new, connection) =
        tokio_postgres::connect(&place.url, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    let schema = &place.schema;
    let begin = format!(
        "CREATE SCHEMA {schema}; SET search_path TO {schema}; SET session_replication_role = replica;
         CREATE TABLE schema_version (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)"
    );
    new.batch_execute(&begin).await.expect("makes the schema");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/migrations/postgres");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("is a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    for file in &files[..version as usize] {
        new.batch_execute(&fs::read_to_string(file).expect("reads")).await.expect("applies");
    }
    let tables = new
        .query("SELECT table_name FROM information_schema.tables WHERE table_schema = $1 AND table_type = 'BASE TABLE'", &[schema])
        .await
        .expect("reads");
    for table in tables.iter().map(|row| row.get::<_, String>(0)) {
        let columns: Vec<String> = new
            .query(
                "SELECT column_name FROM information_schema.columns
                 WHERE table_schema = $1 AND table_name = $2 AND is_generated = 'NEVER'",
                &[schema, &table],
            )
            .await
            .expect("reads")
            .iter()
            .map(|row| row.get(0))
            .collect();
        let columns = columns.join(", ");
        // The search index is each database's own.
        let Ok(mut rows) = old.prepare(&format!("SELECT {columns} FROM {table}")) else { continue };
        if table == "text_search" {
            continue;
        }
        new.batch_execute(&format!("DELETE FROM {table}")).await.expect("empties");
        let width = rows.column_count();
        let mut rows = rows.query([]).expect("reads");
        let mut values = Vec::new();
        while let Some(row) = rows.next().expect("reads") {
            let row: Vec<String> = (0..width).map(|at| literal(row.get_ref(at).expect("reads"))).collect();
            values.push(format!("({})", row.join(", ")));
        }
        for group in values.chunks(200) {
            let sql = format!("INSERT INTO {table} ({columns}) VALUES {}", group.join(", "));
            new.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{table}: {error:?}"));
        }
    }
}

/// Goal: what an older program wrote to PostgreSQL is upgraded in place, and reads and verifies as it did.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_an_older_record_reads_and_verifies_as_it_did() {
    for fixture in fixtures().into_iter().filter(|fixture| [1, 4].contains(&fixture.rules)) {
        let place = postgres::place().expect("starts PostgreSQL");
        copy_to_postgres(&fixture.dir.path().join("papertape.db"), &place).await;
        let target = DatabaseTarget::Postgres(place.url.clone(), place.schema.clone());
        let store = Store::open(target).await.expect("is brought to the present schema");
        for (name, job, expected) in fixture.jobs() {
            let what = format!("{name} of rules version {}", fixture.rules);
            reads_and_verifies_as_it_did(&store, (&job, fixture.rules), expected, &what).await;
        }
    }
}
