//! The plans' portable files: equal to the database after commits and after a kill; files in older formats and
//! from other databases are migrated and imported.

use crate::actions::{entry, planned, running};
use crate::desk::{at, claim};
use crate::places::{Place, on_both};
use papertape_core::action::{ActionRow, ActionStatus, LogPosition};
use papertape_core::id::JobId;
use papertape_core::page::PageRequest;
use papertape_core::plan::{NewPlan, PlanId, PlanWrite};
use papertape_core::ports::{ActionLog as _, Plans as _, Queue as _};
use papertape_core::record::JobStatus;
use papertape_redact::{Redactor, Sanitized};
use papertape_store::{Deletion, FileReport, PortableFiles, Projector, Store};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

on_both!(
    files_follow_the_commits,
    what_was_missed_is_caught_up_with,
    older_and_foreign_files_are_taken_in,
    a_file_that_cannot_be_brought_stays_as_it_was,
    a_job_that_cannot_be_read_is_named_and_copied_once,
    rows_without_an_index_are_told,
    a_damaged_file_is_made_anew,
);

fn files(store: &Store, dir: &TempDir) -> PortableFiles {
    let secrets = vec![("key".to_owned(), "correct-horse-battery".to_owned())];
    let redactor = Redactor::new(secrets).expect("long enough");
    PortableFiles::new(store.clone(), dir.path().to_owned(), Arc::new(redactor))
}

/// A file's log: job, sequence, plan, name, status, time.
fn rows(path: &Path) -> Vec<(String, i64, Option<i64>, String, String, String)> {
    if !path.exists() {
        return Vec::new();
    }
    let connection = Connection::open(path).expect("opens");
    let sql = "SELECT job_id, sequence, plan_id, action_name, status, created_at FROM plan_action_logs
        ORDER BY job_id, sequence";
    let mut statement = connection.prepare(sql).expect("reads");
    let read = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
    };
    let rows = statement.query_map([], read).expect("reads");
    rows.map(|row| row.expect("a row")).collect()
}

/// A file's index: job, status, next number, rows.
fn index(path: &Path) -> Vec<(String, String, i64, i64)> {
    if !path.exists() {
        return Vec::new();
    }
    let connection = Connection::open(path).expect("opens");
    let sql = "SELECT job_id, status, next_sequence, rows_kept FROM plan_job_index ORDER BY job_id";
    let mut statement = connection.prepare(sql).expect("reads");
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let rows = statement.query_map([], read).expect("reads");
    rows.map(|row| row.expect("a row")).collect()
}

/// Every job's rows are in its plan's file as in the database, and nowhere else.
async fn equal(store: &Store, files: &PortableFiles, jobs: &[&str], plans: &[i64]) {
    let mut wanted = std::collections::BTreeMap::<Option<PlanId>, (Vec<_>, Vec<_>)>::new();
    for job in jobs {
        let id = JobId::new(job);
        let Some(about) = store.plan_job(&id).await.expect("reads") else { continue };
        let of = wanted.entry(about.plan).or_default();
        for ActionRow { row, sequence, created_at, .. } in store.action_log(&id).await.expect("reads") {
            let plan = row.plan.map(|plan| plan.0);
            let (name, status) = (row.name, row.status.to_string());
            of.0.push(((*job).to_owned(), sequence, plan, name, status, created_at.to_string()));
        }
        of.1.push(((*job).to_owned(), about.status.to_string(), about.next_sequence, about.rows_kept));
    }
    for plan in plans.iter().map(|plan| Some(PlanId(*plan))).chain([None]) {
        let path = files.path(plan);
        let (log, jobs) = wanted.remove(&plan).unwrap_or_default();
        assert_eq!(rows(&path), log, "{}", path.display());
        assert_eq!(index(&path), jobs, "{}", path.display());
    }
}

/// Goal: after a flush, the files contain what was committed: rows, statuses, and a job bound to a plan halfway
/// only in that plan's file; and nothing that was deleted or removed by retention.
async fn files_follow_the_commits(place: Place) {
    let (store, dir) = (place.store().await, tempfile::tempdir().expect("a directory"));
    let files = files(&store, &dir);
    let projector = Projector::start(files.clone());
    let one = running(&store, "one").await;
    let two = running(&store, "two").await;
    for n in 1..=5 {
        store.append_action_log(&one, entry("help", ActionStatus::Completed), at(n)).await.expect("writes");
        store.append_action_log(&two, entry("help", ActionStatus::Running), at(n)).await.expect("writes");
    }
    projector.flush().await;
    equal(&store, &files, &["one", "two"], &[7]).await;
    assert_eq!(rows(&files.path(None)).len(), 10);
    store.append_action_log(&two, planned(7), at(6)).await.expect("writes");
    projector.flush().await;
    equal(&store, &files, &["one", "two"], &[7]).await;
    assert_eq!(rows(&files.path(Some(PlanId(7)))).len(), 6);
    store.finish(&one, JobStatus::Completed, None).await.expect("ends");
    store.cleanup_action_logs(at(3), 2, false).await.expect("removes");
    projector.flush().await;
    equal(&store, &files, &["one", "two"], &[7]).await;
    assert_eq!(rows(&files.path(None)).len(), 2);
    let gone = store.delete_job(&JobId::new("one"), false).await.expect("deletes");
    assert!(matches!(gone, Deletion::Deleted(_)), "{gone:?}");
    projector.stop().await;
    let projector = Projector::start(files.clone());
    projector.flush().await;
    equal(&store, &files, &["one", "two"], &[7]).await;
    projector.stop().await;
}

/// Goal: anything committed while nothing wrote the files, or half written when the process was killed, is there
/// after the next start.
async fn what_was_missed_is_caught_up_with(place: Place) {
    let (store, dir) = (place.store().await, tempfile::tempdir().expect("a directory"));
    let files = files(&store, &dir);
    let lease = running(&store, "one").await;
    store.append_action_log(&lease, entry("help", ActionStatus::Completed), at(1)).await.expect("writes");
    let projector = Projector::start(files.clone());
    projector.stop().await;
    equal(&store, &files, &["one"], &[7]).await;
    // Nothing writes the files now.
    for n in 2..=4 {
        store.append_action_log(&lease, entry("help", ActionStatus::Failed), at(n)).await.expect("writes");
    }
    let other = running(&store, "two").await;
    store.append_action_log(&other, planned(7), at(5)).await.expect("writes");
    assert_eq!(rows(&files.path(None)).len(), 1);
    // A job was moved, but its old file was not cleaned up yet.
    let copy = Connection::open(files.path(None)).expect("opens");
    copy.execute_batch(
        "INSERT INTO plan_job_index SELECT 'two', NULL, job_type, status, 2, 1, created_at, updated_at, record
             FROM plan_job_index;
         INSERT INTO plan_action_logs (job_id, action_kind, action_name, status, sequence, created_at, updated_at)
             SELECT 'two', action_kind, 'old', status, 1, created_at, updated_at FROM plan_action_logs;",
    )
    .expect("edits");
    drop(copy);
    let projector = Projector::start(files.clone());
    projector.flush().await;
    equal(&store, &files, &["one", "two"], &[7]).await;
    projector.stop().await;
}

/// A file in the first format, with one job from another database.
fn older(path: &Path, job: &str, time: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("makes it");
    let connection = Connection::open(path).expect("makes the file");
    connection
        .execute_batch(
            "CREATE TABLE schema_version (version INTEGER NOT NULL);
             INSERT INTO schema_version VALUES (1);
             CREATE TABLE plan_job_index (job_id TEXT PRIMARY KEY, plan_id INTEGER, job_type TEXT, status TEXT);
             CREATE TABLE plan_action_logs (id INTEGER PRIMARY KEY, plan_id INTEGER, job_id TEXT NOT NULL,
                 session_id TEXT, user_message TEXT, action_kind TEXT NOT NULL, action_name TEXT NOT NULL,
                 status TEXT NOT NULL, success INTEGER, message TEXT, details_json TEXT,
                 sequence INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);",
        )
        .expect("makes the tables");
    let sql = "INSERT INTO plan_job_index VALUES (?1, 3, 'chat_action', 'running')";
    connection.execute(sql, [job]).expect("writes");
    for (sequence, status) in [(1, "running"), (2, "completed")] {
        let sql = "INSERT INTO plan_action_logs (plan_id, job_id, action_kind, action_name, status, message,
            details_json, sequence, created_at, updated_at)
            VALUES (3, ?1, 'tool_operation', 'web_search', ?2, 'with correct-horse-battery', '{\"n\": 1}', ?3,
            ?4, ?4)";
        connection.execute(sql, (job, status, sequence, time)).expect("writes");
    }
    // Previously deleted data is in free pages.
    connection
        .execute_batch(
            "PRAGMA secure_delete = OFF; CREATE TABLE gone (text TEXT);
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 200)
                 INSERT INTO gone SELECT 'removed long ago: correct-horse-battery ' || n FROM n;
             DROP TABLE gone;",
        )
        .expect("leaves pages");
    assert!(holds(path, "removed long ago: correct-horse-battery"), "as older programs left it");
}

/// Whether a file's bytes contain these words.
fn holds(path: &Path, words: &str) -> bool {
    let bytes = std::fs::read(path).expect("reads");
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

async fn migrated(files: &PortableFiles, dry_run: bool) -> Vec<FileReport> {
    files.migrate(dry_run).await.expect("migrates")
}

/// Goal: a file in an older format is backed up, migrated and imported, redacted; a dry run reports it and
/// changes nothing; importing is idempotent; new plans get other IDs; a job that was running elsewhere is claimed
/// by nobody; and the file continues as one of this database.
async fn older_and_foreign_files_are_taken_in(place: Place) {
    let (store, dir) = (place.store().await, tempfile::tempdir().expect("a directory"));
    let files = files(&store, &dir);
    let path = files.path(Some(PlanId(3)));
    older(&path, "theirs", "2026-01-02T20:00:00+08:00");
    // As its first users had it: only an index.
    let first = files.path(Some(PlanId(4)));
    let connection = Connection::open(&first).expect("makes the file");
    connection
        .execute_batch("CREATE TABLE plan_job_index (job_id TEXT, plan_id INTEGER); INSERT INTO plan_job_index VALUES ('old', 4)")
        .expect("makes it");
    drop(connection);
    let before = std::fs::read(&path).expect("reads");
    let told = migrated(&files, true).await;
    assert_eq!((told.len(), told[0].form, told[0].jobs_imported, told[0].rows_imported), (2, Some(1), 1, 2));
    assert_eq!((told[1].form, told[1].jobs_imported, told[1].rows_imported), (Some(0), 1, 0));
    assert_eq!(std::fs::read(&path).expect("reads"), before, "a dry run changes nothing");
    assert_eq!(store.plan_job(&JobId::new("theirs")).await.expect("reads"), None);

    let told = migrated(&files, false).await;
    assert!(told.iter().all(|file| file.error.is_none() && file.migrated), "{told:?}");
    let backup = told[0].backup.clone().expect("a copy");
    assert_eq!(backup, PathBuf::from(format!("{}.v1-backup", path.display())));
    assert_eq!(rows(&backup).len(), 2);
    let log = store.action_log(&JobId::new("theirs")).await.expect("reads");
    assert_eq!(log.len(), 2);
    assert_eq!(log[1].row.message.as_deref(), Some("with [redacted:key]"));
    assert_eq!((log[1].row.plan, log[1].redactions), (Some(PlanId(3)), 1));
    assert_eq!(log[1].created_at.to_string(), "2026-01-02T12:00:00Z");
    let job = store.get_job(&JobId::new("theirs")).await.expect("reads").expect("is there");
    assert_eq!((job.status, job.kind.as_str()), (JobStatus::Cancelled, "chat_action"));
    assert!(store.claim("worker", std::time::Duration::ZERO, None).await.expect("asks").is_none());
    let of_plan = store.plan_jobs(PlanId(3), &PageRequest::default()).await.expect("reads");
    assert_eq!(of_plan.items.len(), 1, "found by its plan");
    let new = PlanWrite::Create(NewPlan {
        id: None,
        name: "new".to_owned(),
        goal: String::new(),
        chat_session: None,
        origin: None,
    });
    let made =
        store.write_plans(Sanitized::of(&Redactor::default(), vec![new]), at(1)).await.expect("writes");
    assert!(made[0].plan > PlanId(4), "{made:?}");

    let projector = Projector::start(files.clone());
    projector.flush().await;
    equal(&store, &files, &["theirs"], &[3]).await;
    assert!(!holds(&path, "correct-horse-battery"), "neither in its rows nor in its free pages");
    let again = migrated(&files, false).await;
    assert!(again.iter().all(FileReport::is_current), "{again:?}");
    // A file in the current format from another database, put into the folder.
    let moved = files.path(Some(PlanId(9)));
    std::fs::copy(&path, &moved).expect("copies");
    let connection = Connection::open(&moved).expect("opens");
    connection
        .execute_batch(
            "UPDATE plan_job_index SET job_id = 'another', record = 'of another';
             UPDATE plan_action_logs SET job_id = 'another', plan_id = 9, message = 'with correct-horse-battery';
             CREATE TABLE gone AS SELECT message FROM plan_action_logs; DROP TABLE gone;",
        )
        .expect("edits");
    drop(connection);
    let told = migrated(&files, false).await;
    let taken: Vec<(usize, bool)> =
        told.iter().map(|file| (file.jobs_imported, file.backup.is_some())).collect();
    assert_eq!(taken, [(0, false), (0, false), (1, true)]);
    projector.flush().await;
    equal(&store, &files, &["theirs", "another"], &[3, 9]).await;
    assert!(!holds(&moved, "correct-horse-battery"));
    projector.stop().await;
}

/// Goal: if a file in the middle cannot be migrated, the others are, it stays unchanged to the byte, the report
/// says why, and the next run after a repair does the rest.
async fn a_file_that_cannot_be_brought_stays_as_it_was(place: Place) {
    let (store, dir) = (place.store().await, tempfile::tempdir().expect("a directory"));
    let files = files(&store, &dir);
    let paths: Vec<PathBuf> = (1..=5).map(|plan| files.path(Some(PlanId(plan)))).collect();
    older(&paths[0], "first", "2026-01-02 12:00:00");
    older(&paths[1], "second", "once upon a time");
    older(&paths[2], "third", "2026-01-02T12:00:00Z");
    std::fs::write(&paths[3], b"this is no database at all, whatever its name says").expect("writes");
    older(&paths[4], "newer", "2026-01-02T12:00:00Z");
    let connection = Connection::open(&paths[4]).expect("opens");
    connection.execute_batch("UPDATE schema_version SET version = 99").expect("edits");
    drop(connection);
    let broken = [1, 3, 4];
    let before = broken.map(|at| std::fs::read(&paths[at]).expect("reads"));
    let told = migrated(&files, false).await;
    let errors: Vec<bool> = told.iter().map(|file| file.error.is_some()).collect();
    assert_eq!(errors, [false, true, false, true, true]);
    assert!(told[1].error.as_ref().is_some_and(|why| why.contains("once upon a time")), "{told:?}");
    assert!(told[4].error.as_ref().is_some_and(|why| why.contains("newer version")), "{told:?}");
    assert_eq!(broken.map(|at| std::fs::read(&paths[at]).expect("reads")), before);
    assert!(told[1].backup.is_none(), "what is not changed needs no copy: {told:?}");
    for (job, is_there) in [("first", true), ("second", false), ("third", true), ("newer", false)] {
        let found = store.plan_job(&JobId::new(job)).await.expect("reads");
        assert_eq!(found.is_some(), is_there, "{job}");
    }
    // It does not block writing the others either.
    let projector = Projector::start(files.clone());
    let lease = running(&store, "mine").await;
    store.append_action_log(&lease, entry("help", ActionStatus::Completed), at(1)).await.expect("writes");
    let stuck = running(&store, "stuck").await;
    store.append_action_log(&stuck, planned(2), at(1)).await.expect("writes");
    projector.flush().await;
    equal(&store, &files, &["first", "third", "mine"], &[1, 3]).await;
    projector.stop().await;

    let connection = Connection::open(&paths[1]).expect("opens");
    let mend = "UPDATE plan_action_logs SET created_at = '2026-01-02T12:00:00Z', updated_at = created_at";
    connection.execute_batch(mend).expect("edits");
    connection.execute_batch("UPDATE plan_action_logs SET updated_at = created_at").expect("edits");
    drop(connection);
    let told = migrated(&files, false).await;
    // The system file comes before them.
    assert_eq!((told[2].error.clone(), told[2].jobs_imported), (None, 1));
    let log = store.list_action_logs(&JobId::new("second"), LogPosition::Newest, 0).await.expect("reads");
    assert_eq!(log.rows.len(), 2);
    let projector = Projector::start(files.clone());
    projector.flush().await;
    equal(&store, &files, &["second", "stuck", "mine"], &[2]).await;
    projector.stop().await;
    claim(&store, "stuck").await;
}

/// Goal: an unreadable job is left out and reported at each start; the file is backed up once for the other jobs,
/// and not at all if there are no others.
async fn a_job_that_cannot_be_read_is_named_and_copied_once(place: Place) {
    let (store, dir) = (place.store().await, tempfile::tempdir().expect("a directory"));
    let files = files(&store, &dir);
    let path = files.path(Some(PlanId(5)));
    older(&path, "bad", "2026-01-02T12:00:00Z");
    migrated(&files, false).await;
    std::fs::remove_file(format!("{}.v1-backup", path.display())).expect("is there");
    // It returns, from another database, with one invalid time.
    let connection = Connection::open(&path).expect("opens");
    connection
        .execute_batch(
            "UPDATE plan_job_index SET job_id = 'unread', record = 'of another';
             UPDATE plan_action_logs SET job_id = 'unread';
             UPDATE plan_action_logs SET created_at = 'some day' WHERE sequence = 2",
        )
        .expect("edits");
    let copies = || {
        let entries = std::fs::read_dir(dir.path().join("plans")).expect("reads");
        entries.filter(|entry| entry.as_ref().is_ok_and(|at| at.path() != path)).count()
    };
    for _ in 0..2 {
        let told = migrated(&files, false).await;
        let why = told[0].error.as_deref().expect("is told");
        assert!(why.contains("cannot read the job unread") && why.contains("some day"), "{why}");
        assert_eq!((told[0].jobs_imported, told[0].backup.clone(), copies()), (0, None, 0));
    }
    // Alongside a readable one.
    connection
        .execute_batch(
            "INSERT INTO plan_job_index (job_id, plan_id, job_type, status, next_sequence, rows_kept, created_at,
                 updated_at, record)
             SELECT 'good', plan_id, job_type, status, 1, 0, created_at, updated_at, record FROM plan_job_index",
        )
        .expect("edits");
    let told = migrated(&files, false).await;
    assert_eq!((told[0].jobs_imported, told[0].backup.is_some(), copies()), (1, true, 1));
    for _ in 0..2 {
        let told = migrated(&files, false).await;
        assert!(told[0].error.as_ref().is_some_and(|why| why.contains("the job unread")), "{told:?}");
        assert_eq!((told[0].jobs_imported, copies()), (0, 1), "one copy is enough");
    }
    // An ID with a path traversal is invalid.
    connection
        .execute_batch("UPDATE plan_job_index SET job_id = '../../up' WHERE job_id = 'good'")
        .expect("edits");
    let told = migrated(&files, false).await;
    assert!(told[0].error.as_ref().is_some_and(|why| why.contains("../../up")), "{told:?}");
    assert!(store.plan_job(&JobId::new("../../up")).await.expect("reads").is_none());
}

/// Goal: rows of a foreign file whose job is not in its index are reported with the file, the job and their
/// number, by a dry run and at each start; they block nothing else, and are not attributed to a job known here.
async fn rows_without_an_index_are_told(place: Place) {
    let (store, dir) = (place.store().await, tempfile::tempdir().expect("a directory"));
    let files = files(&store, &dir);
    let path = files.path(Some(PlanId(5)));
    older(&path, "foreign", "2026-01-02T12:00:00Z");
    migrated(&files, false).await;
    let connection = Connection::open(&path).expect("opens");
    let copy = |job: &str| {
        let sql = format!(
            "INSERT INTO plan_action_logs (plan_id, job_id, action_kind, action_name, status, sequence, created_at,
                 updated_at, redactions)
             SELECT plan_id, '{job}', action_kind, action_name, status, sequence, created_at, updated_at, 0
             FROM plan_action_logs WHERE job_id = 'foreign'"
        );
        connection.execute_batch(&sql).expect("edits");
    };
    copy("lost");
    copy("other");
    for dry_run in [true, false, false] {
        let told = migrated(&files, dry_run).await;
        assert_eq!((told.len(), &told[0].path, told[0].rows_left_out), (1, &path, 4), "{told:?}");
        let why = told[0].error.as_deref().expect("is told");
        for job in ["lost", "other"] {
            assert!(why.contains(&format!("2 row(s) of the job {job} are not imported")), "{why}");
        }
        assert!(!told[0].is_current() && told[0].backup.is_none());
    }
    assert!(store.plan_job(&JobId::new("lost")).await.expect("reads").is_none());
    // This database's own rows of the job are intact, whatever the file says about it.
    connection.execute_batch("DELETE FROM plan_job_index WHERE job_id = 'foreign'").expect("edits");
    let told = migrated(&files, false).await;
    assert_eq!(told[0].rows_left_out, 4, "{told:?}");
}

/// Goal: a corrupt file of this database is set aside and recreated with all its jobs at the next start.
async fn a_damaged_file_is_made_anew(place: Place) {
    let (store, dir) = (place.store().await, tempfile::tempdir().expect("a directory"));
    let files = files(&store, &dir);
    let projector = Projector::start(files.clone());
    for (job, seconds) in [("one", 1), ("two", 2)] {
        let lease = running(&store, job).await;
        store.append_action_log(&lease, planned(6), at(seconds)).await.expect("writes");
    }
    projector.flush().await;
    equal(&store, &files, &["one", "two"], &[6]).await;
    projector.stop().await;
    let path = files.path(Some(PlanId(6)));
    let mut bytes = std::fs::read(&path).expect("reads");
    // The first page identifies the file as a database.
    bytes[4096..].fill(0xA5);
    std::fs::write(&path, bytes).expect("writes");
    let projector = Projector::start(files.clone());
    projector.flush().await;
    equal(&store, &files, &["one", "two"], &[6]).await;
    assert!(PathBuf::from(format!("{}.damaged", path.display())).is_file());
    projector.stop().await;
}
