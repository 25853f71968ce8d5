//! Jobs recorded before lineage was stored per job and agent keep their lineage in the migration.

use crate::migrate::{MIGRATIONS, Migration};
use crate::sqlite::Engine;
use papertape_testkit::postgres;
use rusqlite::Connection;

/// The migrations before the one under test, and the same including it.
fn around() -> (&'static [Migration], &'static [Migration]) {
    let at = MIGRATIONS.iter().position(|migration| migration.name == "accounts").expect("is there");
    (&MIGRATIONS[..at], &MIGRATIONS[..=at])
}

/// Four jobs: `first` with two agents; `on` skips and continues `first`; `more` skips what `on` did and skipped;
/// `new` has superseded `first`, but only one of its agents has the same config.
fn old_rows(blob: impl Fn(&str) -> String) -> Vec<String> {
    let (x, y, z) = (blob("01"), blob("02"), blob("03"));
    let config = |job: &str| match job {
        "on" => r#"{"continues": {"x": {"job": "first", "date": "2012-10-02"}}}"#,
        "more" => r#"{"continues": {"x": {"job": "on", "date": "2012-10-03"}}}"#,
        _ => "{}",
    };
    let mut rows = Vec::new();
    for job in ["new", "first", "on", "more"] {
        let by = if job == "first" { "'new'" } else { "NULL" };
        rows.push(format!(
            "INSERT INTO jobs (job_id, kind, status, fingerprint, warnings, superseded_by, created_at)
             VALUES ('{job}', 'simulate', 'completed', {x}, '[]', {by}, 1)"
        ));
        rows.push(format!("INSERT INTO job_configs (job_id, config) VALUES ('{job}', '{}')", config(job)));
    }
    let mut day = |job: &str, agent: &str, hash: &str, day: u32, status: &str| {
        let error = if status == "skipped" { "'completed in job first'" } else { "NULL" };
        rows.push(format!(
            "INSERT INTO job_details (job_id, date, model, agent_hash, status, error)
             VALUES ('{job}', '2012-10-0{day}', '{agent}', {hash}, '{status}', {error})"
        ));
        if status == "completed" {
            rows.push(format!(
                "INSERT INTO trading_sessions (job_id, date, model, started_at, completed_at, status, chain_head)
                 VALUES ('{job}', '2012-10-0{day}', '{agent}', 1, 2, 'completed', {x})"
            ));
        }
    };
    for number in 1..=2 {
        day("first", "x", &x, number, "completed");
        day("first", "y", &y, number, "completed");
        day("new", "x", &x, number, "completed");
        // Same name, different instructions.
        day("new", "y", &z, number, "completed");
    }
    for number in 1..=4 {
        day("on", "x", &x, number, if number <= 2 { "skipped" } else { "completed" });
        day("more", "x", &x, number, if number <= 3 { "skipped" } else { "completed" });
    }
    rows
}

/// Queries on a migrated database, one line per row.
const QUESTIONS: [&str; 4] = [
    "SELECT superseded_job || ' ' || agent || ' ' || job_id FROM job_supersessions ORDER BY 1",
    "SELECT job_id || ' ' || agent || ' ' || continued_job || ' ' || date FROM job_continuations ORDER BY 1",
    "SELECT job_id FROM jobs WHERE superseded_by IS NOT NULL ORDER BY 1",
    "SELECT d.job_id || ' ' || d.date || ' ' || d.skipped_job FROM job_details d
     JOIN trading_sessions s ON s.id = d.skipped_session AND s.job_id = d.skipped_job AND s.date = d.date
     ORDER BY 1",
];

fn answers() -> [Vec<&'static str>; 4] {
    [
        vec!["first x new"],
        vec!["more x on 2012-10-03", "on x first 2012-10-02"],
        // The other agent of `first` was never superseded.
        vec![],
        vec![
            "more 2012-10-01 first",
            "more 2012-10-02 first",
            "more 2012-10-03 on",
            "on 2012-10-01 first",
            "on 2012-10-02 first",
        ],
    ]
}

#[test]
fn older_jobs_come_over_on_sqlite() {
    let dir = tempfile::tempdir().expect("makes a directory");
    let path = dir.path().join("tape.db");
    let (before, after) = around();
    drop(Engine::open(&path, before).expect("makes the file"));
    let connection = Connection::open(&path).expect("opens");
    for row in old_rows(|hex| format!("x'{hex}'")) {
        connection.execute(&row, []).unwrap_or_else(|error| panic!("{error}: {row}"));
    }
    drop(connection);
    drop(Engine::open(&path, after).expect("migrates"));
    let connection = Connection::open(&path).expect("opens");
    for (question, answer) in QUESTIONS.iter().zip(answers()) {
        let mut statement = connection.prepare(question).expect("reads");
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("reads");
        let rows: Vec<String> = rows.collect::<Result<_, _>>().expect("reads");
        assert_eq!(rows, answer, "{question}");
    }
}

#[tokio::test]
async fn postgres_older_jobs_come_over() {
    let place = postgres::place().expect("starts PostgreSQL");
    let (mut client, connection) =
        tokio_postgres::connect(&place.url, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    let schema = &place.schema;
    client
        .batch_execute(&format!("CREATE SCHEMA {schema}; SET search_path TO {schema}"))
        .await
        .expect("is made");
    let (before, after) = around();
    super::migrate(&mut client, schema, before).await.expect("makes the schema");
    for row in old_rows(|hex| format!("'\\x{hex}'")) {
        client.execute(&row, &[]).await.unwrap_or_else(|error| panic!("{error}: {row}"));
    }
    super::migrate(&mut client, schema, after).await.expect("migrates");
    for (question, answer) in QUESTIONS.iter().zip(answers()) {
        let rows = client.query(*question, &[]).await.expect("reads");
        let rows: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(rows, answer, "{question}");
    }
}
