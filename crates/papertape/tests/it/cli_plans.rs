//! The commands for the action log, for plans, and for the maintenance of both.

use crate::cli_tool::{SHORT, Tool};
use papertape_core::ports::Clock as _;
use papertape_testkit::clock::FakeClock;
use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Goal: a run logs its start and its end, and the log is in the portable file when the command has ended.
#[test]
fn a_run_has_an_action_log() {
    let tool = Tool::new();
    let job = tool.job(&SHORT);
    let log = tool.json(&["actions", "latest"]);
    let told: Vec<(&str, &str)> = log["logs"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| (row["action_name"].as_str().expect("a name"), row["status"].as_str().expect("a status")))
        .collect();
    assert_eq!(told, [("run_simulation", "running"), ("run_simulation", "completed")]);
    let shown = tool.ok(&["actions", &job, "--limit", "1"]);
    assert!(
        shown.out.contains("tool_operation/run_simulation") && shown.err.contains("--before"),
        "{shown:#?}"
    );
    tool.ends(&["actions", "nobody"], 4);
    tool.ends(&["actions", &job, "--limit", "501"], 2);
    tool.ends(&["actions", &job, "--before", "x"], 2);
    let file = Connection::open(tool.path("data/system_jobs.sqlite")).expect("is there");
    let sql = "SELECT count(*) FROM plan_action_logs WHERE job_id = ?1";
    let rows: i64 = file.query_row(sql, [&job], |row| row.get(0)).expect("reads");
    assert_eq!(rows, 2);
}

/// Goal: plans created through the API are listed, shown and deleted, with a server and without one; a plan
/// is not deleted without confirmation.
#[tokio::test(flavor = "multi_thread")]
async fn plans_are_listed_shown_and_deleted() {
    let tool = Tool::new();
    tool.ends(&["plans", "list"], 4);
    let mut server = tool.start(&["serve"]);
    let said = server.first_line();
    let url = said.trim().strip_prefix("Papertape is listening on ").expect("an address").to_owned();
    // The client requires a crypto provider even if it never uses one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let post = async |path: &str, body: serde_json::Value| {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let answer = client.post(format!("{url}{path}")).json(&body).send().await.expect("answers");
        assert_eq!(answer.status(), 201);
        answer.json::<serde_json::Value>().await.expect("JSON")
    };
    for name in ["Autumn", "Winter"] {
        let plan = post("/plans", json!({ "name": name, "goal": "why it lost" })).await;
        let plan = plan["plan"]["id"].clone();
        post(&format!("/plans/{plan}/tasks"), json!({ "name": "Run it" })).await;
    }
    assert_eq!(tool.json(&["plans", "list"])["count"], 2);
    let asked = tool.ends(&["plans", "delete", "1"], 2);
    assert!(asked.err.contains("Autumn") && asked.err.contains("--yes"), "{asked:#?}");
    tool.ok(&["plans", "delete", "1", "--yes"]);
    tool.ends(&["plans", "delete", "1", "--yes"], 4);
    server.signal(Signal::TERM);
    assert_eq!(server.end().code, 0);

    let listed = tool.ok(&["plans", "list"]).out;
    assert!(listed.contains("Winter") && !listed.contains("Autumn"), "{listed}");
    let shown = tool.ok(&["plans", "show", "2"]).out;
    assert!(shown.contains("Winter") && shown.contains("Run it (queued)"), "{shown}");
    assert_eq!(tool.json(&["plans", "show", "2"])["tasks"][0]["name"], "Run it");
    tool.ok(&["plans", "delete", "2", "--yes"]);
    tool.ends(&["plans", "show", "2"], 4);
    tool.ends(&["plans", "delete", "2", "--yes"], 4);
}

/// Goal: rows that are too old are removed, and the command reports how many; a dry run removes nothing; the
/// portable file follows.
#[test]
fn old_rows_are_cleaned_up() {
    let tool = Tool::new().configured("[settings.jobs]\nlog_retention_days = 30\n");
    let job = tool.job(&SHORT);
    let count = |file: &str| -> i64 {
        let file = Connection::open(tool.path(file)).expect("opens");
        let sql = "SELECT count(*) FROM plan_action_logs WHERE job_id = ?1";
        file.query_row(sql, [&job], |row| row.get(0)).expect("reads")
    };
    let none = tool.json(&["cleanup", "jobs"]);
    assert_eq!((&none["rows_removed_by_age"], &none["jobs"]), (&json!(0), &json!(0)));
    let record = Connection::open(tool.path("data/papertape.db")).expect("opens");
    let old = FakeClock::new().now().as_microsecond();
    record.execute("UPDATE plan_action_logs SET created_at = ?1 WHERE sequence = 1", [old]).expect("edits");
    drop(record);
    let dry = tool.json(&["cleanup", "jobs", "--dry-run"]);
    assert_eq!(
        (&dry["rows_removed_by_age"], &dry["jobs"], &dry["dry_run"]),
        (&json!(1), &json!(1), &json!(true))
    );
    assert_eq!(count("data/papertape.db"), 2);
    let done = tool.ok(&["cleanup", "jobs"]);
    assert!(done.err.contains("1 row(s) older than 30 days"), "{done:#?}");
    assert_eq!((count("data/papertape.db"), count("data/system_jobs.sqlite")), (1, 1));
    tool.ends(&["results"], 0);
    let wrong = Tool::new().configured("[settings.jobs]\nlog_retention_days = 0\n");
    assert!(wrong.ends(&["cleanup", "jobs"], 2).err.contains("settings.jobs.log_retention_days"));
}

/// Goal: the command imports a file of an older format after copying it, reports it, first only previews it,
/// and fails if a file remains; any other start imports what is in the folder, too.
#[test]
fn older_files_are_migrated() {
    let tool = Tool::new();
    tool.job(&SHORT);
    let older = |plan: u32, time: &str| {
        let path = tool.path(&format!("data/plans/plan_{plan}.sqlite"));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("makes it");
        let file = Connection::open(path).expect("makes it");
        file.execute_batch(&format!(
            "CREATE TABLE plan_action_logs (id INTEGER PRIMARY KEY, plan_id INTEGER, job_id TEXT NOT NULL,
                 session_id TEXT, user_message TEXT, action_kind TEXT NOT NULL, action_name TEXT NOT NULL,
                 status TEXT NOT NULL, success INTEGER, message TEXT, details_json TEXT,
                 sequence INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
             INSERT INTO plan_action_logs (plan_id, job_id, action_kind, action_name, status, sequence,
                 created_at, updated_at)
                 VALUES ({plan}, 'job-{plan}', 'plan_operation', 'create_plan', 'completed', 1, '{time}', '{time}');"
        ))
        .expect("makes the tables");
    };
    older(11, "2026-01-02T12:00:00Z");
    let dry = tool.json(&["migrate", "action-logs", "--dry-run"]);
    assert_eq!((&dry["files"][1]["form"], &dry["files"][1]["jobs_imported"]), (&json!(1), &json!(1)));
    tool.ends(&["actions", "job-11"], 4);
    let done = tool.json(&["migrate", "action-logs"]);
    assert_eq!(done["files"][1]["rows_imported"], 1);
    assert!(tool.path("data/plans/plan_11.sqlite.v1-backup").is_file(), "{done}");
    assert_eq!(tool.json(&["actions", "job-11"])["plan_id"], 11);
    older(12, "2026-01-02T12:00:00Z");
    tool.ok(&["cleanup", "jobs"]);
    assert_eq!(tool.json(&["actions", "job-12"])["plan_id"], 12);
    older(13, "the day before");
    let failed = tool.ends(&["migrate", "action-logs"], 1);
    assert!(
        failed.out.contains("the day before") && failed.err.contains("1 failed and unchanged"),
        "{failed:#?}"
    );
}

// Goal: a folder that contains only files of plans, without a database, is previewed: whatever format and
// journal the files have, the report equals that of the migration that follows, and nothing in the folder
// changes, not even a timestamp.
#[test]
fn a_folder_without_a_database_is_previewed_unchanged() {
    let tool = Tool::new();
    tool.job(&SHORT);
    let bare = Tool::new();
    let plans = bare.path("data/plans");
    std::fs::create_dir_all(&plans).expect("makes it");
    std::fs::copy(tool.path("data/system_jobs.sqlite"), bare.path("data/system_jobs.sqlite"))
        .expect("copies");
    let old =
        "CREATE TABLE plan_job_index (job_id TEXT, plan_id INTEGER); INSERT INTO plan_job_index VALUES ";
    let write = |path: &std::path::Path, sql: &str| {
        let file = Connection::open(path).expect("makes it");
        file.execute_batch(sql).expect("makes the tables");
        file
    };
    drop(write(&plans.join("plan_4.sqlite"), &format!("{old} ('rollback', 4)")));
    // As a killed process leaves it: the content of its log is not in the file yet.
    let with_log = bare.path("data/with_log.sqlite");
    let sql = format!("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; {old} ('logged', 5)");
    let open = write(&with_log, &sql);
    for end in ["", "-wal"] {
        let from = bare.path(&format!("data/with_log.sqlite{end}"));
        std::fs::copy(from, plans.join(format!("plan_5.sqlite{end}"))).expect("copies");
    }
    drop(open);
    std::fs::remove_file(with_log).expect("removes");
    std::fs::write(plans.join("plan_6.sqlite"), "this is not a database, whatever its name says")
        .expect("writes");

    fn listing(dir: &std::path::Path, found: &mut Vec<(String, Vec<u8>, std::time::SystemTime)>) {
        for entry in std::fs::read_dir(dir).expect("reads") {
            let entry = entry.expect("reads");
            let (path, meta) = (entry.path(), entry.metadata().expect("reads"));
            let bytes = if meta.is_dir() { Vec::new() } else { std::fs::read(&path).expect("reads") };
            found.push((path.display().to_string(), bytes, meta.modified().expect("a time")));
            if meta.is_dir() {
                listing(&path, found);
            }
        }
        found.sort();
    }
    let all = || {
        let mut found = Vec::new();
        listing(&bare.path("data"), &mut found);
        found
    };
    let before = all();
    let seen = bare.ends(&["migrate", "action-logs", "--dry-run"], 1);
    assert!(
        seen.err.contains("4 file(s): 3 would be upgraded or imported, 1 failed and unchanged"),
        "{seen:#?}"
    );
    let preview = bare.ends(&["migrate", "action-logs", "--dry-run", "--json"], 1);
    assert!(all() == before, "a dry run changes nothing");
    let done = bare.ends(&["migrate", "action-logs", "--json"], 1);
    let counts = |out: &str| {
        let told: Value = serde_json::from_str(out).expect("JSON");
        let of = |file: &Value| [file["form"].clone(), file["jobs_imported"].clone()];
        told["files"].as_array().expect("files").iter().map(of).collect::<Vec<_>>()
    };
    let expected = [json!([2, 1]), json!([0, 1]), json!([0, 1]), json!([null, 0])];
    assert_eq!(json!(counts(&preview.out)), json!(expected), "{preview:#?}");
    assert_eq!(counts(&done.out), counts(&preview.out), "{done:#?}");
    let nothing = Tool::new();
    nothing.ends(&["migrate", "action-logs", "--dry-run"], 4);
    assert!(!nothing.path("data").exists());
}

// Goal: a job is deleted on the command line after confirmation, with its rows in the portable file, and with
// its dependents only on request.
#[test]
fn a_job_is_deleted_once_it_is_confirmed() {
    let tool = Tool::new();
    let job = tool.job(&SHORT);
    let branch = tool.job(&["branch", &job, "--date", "2012-10-03"]);
    let refused = tool.ends(&["delete", &job, "--yes"], 1);
    assert!(refused.err.contains(&format!("1 job(s) depend on job {job}: {branch}")), "{refused:#?}");
    let asked = tool.ends(&["delete", &job, "--with-dependents"], 2);
    assert!(asked.err.contains("confirm with --yes") && asked.err.contains(&branch), "{asked:#?}");
    tool.ends(&["delete", "none-of-it", "--yes"], 4);
    let file = Connection::open(tool.path("data/system_jobs.sqlite")).expect("opens");
    let rows = || -> i64 {
        file.query_row("SELECT count(*) FROM plan_action_logs", [], |row| row.get(0)).expect("reads")
    };
    assert_eq!(rows(), 4);
    let deleted = tool.json(&["delete", &branch[branch.len() - 8..], "--yes"]);
    assert_eq!(deleted["jobs"], json!([branch]), "{deleted}");
    tool.ends(&["actions", &branch], 4);
    assert_eq!(rows(), 2);
    tool.ok(&["verify", &job]);
    tool.ok(&["replay", &job]);
    let deleted = tool.json(&["delete", "latest", "--yes", "--with-dependents"]);
    assert_eq!(deleted["jobs"], json!([job]), "{deleted}");
    assert_eq!(rows(), 0);
}
