//! Jobs recorded before lists could be searched are in the search table after the migration, as a new job would be.

use crate::migrate::{MIGRATIONS, Migration};
use crate::sqlite::Engine;
use papertape_testkit::postgres;
use rusqlite::Connection;

/// The migrations before the one under test, and the same including it.
fn around() -> (&'static [Migration], &'static [Migration]) {
    let at = MIGRATIONS.iter().position(|migration| migration.name == "job_labels").expect("is there");
    (&MIGRATIONS[..at], &MIGRATIONS[..=at])
}

/// A simulation with two agents, of which a branch has replaced one, with a failed and a degraded day; and a job of
/// another kind, without a dataset.
fn old_rows(blob: impl Fn(&str) -> String) -> Vec<String> {
    let x = blob("01");
    let run = r#"{"dataset": {"name": "US", "hash": "00ff"}, "start_date": "2012-10-01", "agents": [
        {"name": "Solo", "model": "openai::gpt-5"}, {"name": "desk", "model": "house::x"}],
        "branch": {"agent": {"name": "desk", "model": "anthropic::opus"}}}"#;
    let mut rows = Vec::new();
    for (job, kind, config) in [("run", "simulate", run), ("plan", "plan_decompose", "{}")] {
        rows.push(format!(
            "INSERT INTO jobs (job_id, kind, status, fingerprint, warnings, created_at)
             VALUES ('{job}', '{kind}', 'completed', {x}, '[]', 7)"
        ));
        rows.push(format!("INSERT INTO job_configs (job_id, config) VALUES ('{job}', '{config}')"));
    }
    let days = [
        (1, "failed", "NULL"),
        (2, "completed", r#"'{"data_quality": {"state": "no_decision"}}'"#),
        (3, "completed", r#"'{"data_quality": {"state": "ok"}}'"#),
        (4, "completed", "NULL"),
    ];
    rows.extend(days.map(|(day, status, metadata)| {
        format!(
            "INSERT INTO trading_sessions (job_id, date, model, started_at, status, chain_head, metadata)
             VALUES ('run', '2012-10-0{day}', 'Solo', 1, '{status}', {x}, {metadata})"
        )
    }));
    rows
}

const QUESTION: &str =
    "SELECT job_id || '|' || kind || '|' || dataset || '|' || dataset_hash || '|' || first_day || '|'
    || models || '|' || replace(agents, '
', ';') || '|' || replace(words, '
', ';') || '|' || name_key || '|' || degraded_days FROM job_search ORDER BY job_id";

const ANSWER: [&str; 2] = [
    "plan|plan_decompose||||||plan;|1|0",
    "run|simulate|US|00ff|2012-10-01|anthropic::opus, openai::gpt-5|;Solo;openai::gpt-5;desk;anthropic::opus;\
     |run;us;solo;openai::gpt-5;desk;anthropic::opus;|1|2",
];

#[test]
fn older_jobs_are_listed_on_sqlite() {
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
    let mut statement = connection.prepare(QUESTION).expect("reads");
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("reads");
    let rows: Vec<String> = rows.collect::<Result<_, _>>().expect("reads");
    assert_eq!(rows, ANSWER);
}

#[tokio::test]
async fn postgres_older_jobs_are_listed() {
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
    let rows = client.query(QUESTION, &[]).await.expect("reads");
    let rows: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(rows, ANSWER);
}
