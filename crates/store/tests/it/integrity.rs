//! What `verify` detects. One value of every column is changed and one row of every table is deleted, as listed
//! by the database itself: each change is detected, or is in [`OUTSIDE`] with its reason. See also
//! `docs/integrity.md`.

use crate::desk::{DAYS, at, claim, commit, date, new_job, run_day};
use crate::memory::{context, reflection, round};
use crate::places::{Place, on_both};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{
    AttemptEnd, Commit, ContextState, Continuation, DerivedRow, Intent, JobHead, JobStatus, Lease,
    MemoryKind, NewModelDay, NewSession, RecalledMemoryRow, SessionId, SkippedDay, StepEnd, Write,
};
use papertape_core::tape::{ContentDoc, OutcomeKind, StepClass, StepPath, text};
use papertape_store::{ChainBreak, DatabaseTarget, Store};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;
use std::path::Path;

/// What no chain covers, with reasons: tables (`table`) and columns (`table.column`).
const OUTSIDE: &[(&str, &str)] = &[
    ("schema_version", "of the database, not of a job"),
    ("record_identity", "of the database, not of a job"),
    ("workers", "the queue's"),
    ("experiments", "of several jobs: what was planned; each job's own config and seed are in its anchor"),
    ("job_labels", "names and notes, which people change"),
    ("job_tags", "tags, which people change"),
    ("session_reviews", "scores and notes, which readers change"),
    ("job_search", "derived: what lists of jobs are filtered and sorted by"),
    ("job_sort_changes", "derived: what lists of jobs were sorted by"),
    ("experiment_jobs", "of several jobs: which ones, and what they may spend"),
    ("job_parts", "the queue's"),
    ("jobs.parts", "the queue's"),
    ("job_details.part", "the queue's"),
    ("logins", "who may use the server"),
    ("text_search", "derived: an index of words"),
    ("text_search_config", "derived: an index of words"),
    ("text_search_data", "derived: an index of words"),
    ("text_search_docsize", "derived: an index of words"),
    ("text_search_idx", "derived: an index of words"),
    ("pending_upgrades", "of the database, not of a job"),
    ("texts_to_index", "derived: what the index of words has not come to"),
    ("reflection_vectors", "derived: made anew by a command"),
    ("trade_reflection_archives", "derived: made by a command, the originals stay"),
    ("job_events", "the stream: a view of what happened, which retention removes"),
    ("plan_action_logs", "the action log, which retention removes"),
    ("plan_job_index", "derived: an index of jobs by plan"),
    ("id_counters", "numbers for plans and tasks"),
    ("reserved_ids", "numbers for plans and tasks"),
    ("plans", "the assistant's work, which people change"),
    ("plan_tasks", "the assistant's work, which people change"),
    ("chat_sessions", "conversations with the assistant"),
    ("chat_messages", "conversations with the assistant"),
    ("job_supersessions", "what counts is decided by later jobs"),
    ("jobs.status", "changes with every stop and resume; a published head holds the one of its time"),
    ("jobs.error", "why it stopped last; changes with every stop"),
    ("jobs.warnings", "what the one who started it was told"),
    ("jobs.superseded_by", "what counts is decided by later jobs"),
    ("jobs.cancel_requested", "the queue's"),
    ("jobs.lease_owner", "the queue's"),
    ("jobs.lease_epoch", "the queue's"),
    ("jobs.lease_until", "the queue's"),
    ("jobs.next_seq", "numbers of events"),
    ("jobs.crashes", "the queue's"),
    ("jobs.created_at", "wall time"),
    ("jobs.started_at", "wall time"),
    ("jobs.completed_at", "wall time"),
    ("job_details.started_at", "wall time"),
    ("job_details.completed_at", "wall time"),
    ("trading_sessions.started_at", "wall time"),
    ("trading_sessions.completed_at", "wall time"),
    ("trading_sessions.input_tokens", "usage"),
    ("trading_sessions.cached_tokens", "usage"),
    ("trading_sessions.output_tokens", "usage"),
    ("trading_sessions.cost_usd", "usage"),
    ("trading_sessions.detached_input_tokens", "usage"),
    ("trading_sessions.detached_cached_tokens", "usage"),
    ("trading_sessions.detached_output_tokens", "usage"),
    ("trading_sessions.detached_cost_usd", "usage"),
    ("trading_sessions.estimated_calls", "usage"),
    ("trading_sessions.detached_estimated_calls", "usage"),
    ("trading_sessions.unpriced_calls", "usage"),
    ("trading_sessions.detached_unpriced_calls", "usage"),
    ("session_instructions.n", "the number of an event"),
    ("steps.lease_epoch", "the queue's"),
    ("steps.input_tokens", "usage"),
    ("steps.cached_tokens", "usage"),
    ("steps.output_tokens", "usage"),
    ("steps.cost_usd", "usage"),
    ("steps.estimated_calls", "usage"),
    ("steps.started_at", "wall time"),
    ("steps.ended_at", "wall time"),
    ("steps.n", "the number of an event"),
    ("step_attempts.sent_at", "wall time"),
    ("step_attempts.ended_at", "wall time"),
    ("step_attempts.input_tokens", "usage"),
    ("step_attempts.cached_tokens", "usage"),
    ("step_attempts.output_tokens", "usage"),
    ("step_attempts.cost_usd", "usage"),
    ("reasoning_log_rows.id", "a number of the database that nothing refers to"),
    ("reasoning_log_rows.timestamp", "wall time"),
    ("reasoning_log_rows.n", "the number of an event"),
    ("positions.id", "a number of the database that nothing refers to"),
    ("positions.created_at", "wall time"),
    ("orders.id", "a number of the database that nothing refers to"),
    ("orders.created_at", "wall time"),
    ("orders.n", "the number of an event"),
    ("exposures.id", "a number of the database that nothing refers to"),
    ("position_snapshots.id", "a number of the database that nothing refers to"),
    ("trader_round_memory.id", "a number of the database that nothing refers to"),
    ("trader_round_memory.created_at", "wall time"),
    ("open_position_contexts.id", "a number of the database that nothing refers to"),
    ("open_position_contexts.created_at", "wall time"),
    ("trade_reflections.id", "a number of the database that only derived rows refer to"),
    ("trade_reflections.created_at", "wall time"),
    ("session_memory.id", "a number of the database that nothing refers to"),
];

/// Which row of a table is changed or deleted, if not just any row of the job.
const ROWS: &[(&str, &str)] = &[
    ("texts", "id = (SELECT content_id FROM reasoning_log_rows ORDER BY id LIMIT 1)"),
    ("steps", "state = 'done' AND class = 'external' AND detached = 0"),
    ("step_attempts", "step_id IN (SELECT id FROM steps WHERE state = 'done')"),
    ("job_details", "status = 'completed'"),
    ("trading_sessions", "close_seq IS NOT NULL AND session_summary IS NOT NULL"),
    ("agent_chains", "agent = 'momentum'"),
    ("positions", "daily_profit IS NOT NULL"),
];

/// Columns that have a value only in another row than the one in [`ROWS`].
const ROWS_OF_COLUMNS: &[(&str, &str)] = &[
    ("job_details.error", "status = 'skipped'"),
    ("job_details.skipped_job", "status = 'skipped'"),
    ("job_details.skipped_session", "status = 'skipped'"),
    ("job_details.skipped_head", "status = 'skipped'"),
];

const JOB: &str = "job";

/// A job with a row in every table that a simulation writes: days of its own, one completed in another job, a
/// memory, summaries, a parent.
async fn recorded(store: &Store) -> JobId {
    store.enqueue(new_job("earlier", &["momentum", "skipper"], 0)).await.expect("queues");
    let lease = claim(store, "earlier").await;
    for day in 0..2 {
        run_day(store, &lease, "momentum", day, i64::MAX).await.expect("runs");
    }
    let done = run_day(store, &lease, "skipper", 0, i64::MAX).await.expect("runs");
    store.finish(&lease, JobStatus::Partial, None).await.expect("ends");

    let start = text("{}".to_owned());
    let mut new = new_job(JOB, &["momentum", "keeper"], 1);
    new.config = json!({
        "seed": 7, "starts": { "momentum": start.hash }, "branch": { "job": "earlier" }, "budget": { "job": {} },
    });
    new.texts = vec![start];
    new.parent = Some(JobId::new("earlier"));
    let from = || JobId::new("earlier");
    new.continues = vec![Continuation { agent: "keeper".into(), job: from(), date: date(DAYS[0]) }];
    for (day, session) in [(DAYS[0], Some(done)), (DAYS[1], None)] {
        new.days.push(NewModelDay {
            date: date(day),
            agent: AgentName::new("skipper"),
            agent_hash: ContentHash::of(b"skipper"),
            skipped: session.map(|session| SkippedDay { job: from(), session }),
        });
    }
    store.enqueue(new).await.expect("queues");
    let lease = claim(store, JOB).await;
    for day in 0..2 {
        let session = run_day(store, &lease, "momentum", day, i64::MAX).await.expect("runs");
        summarize(store, &lease, session).await;
    }
    remember(store, &lease).await;
    lease.job
}

/// A step of the summaries, with a message's summary and the session's.
async fn summarize(store: &Store, lease: &Lease, session: SessionId) {
    let (request, outcome) =
        (ContentDoc::of(&json!({ "sum": "up" })), ContentDoc::of(&json!({ "text": "It thought." })));
    let path = StepPath::new("summary#1/model#1");
    let digest = ContentHash::of(b"summary");
    let mut writes: Vec<Write> = request.texts.into_iter().chain(outcome.texts).map(Write::Text).collect();
    writes.push(Write::Intent(Intent { path: path.clone(), digest, request_ref: request.hash }));
    writes.push(ended(path, (digest, request.hash, outcome.hash), 1, Vec::new()));
    let of = Some(StepPath::new("solo#1/model#1"));
    writes.push(Write::Summary { path: of, summary: Ok("It thought.".to_owned()) });
    writes.push(Write::Summary { path: None, summary: Ok("A day of thought.".to_owned()) });
    store.commit(Commit { detached: true, ..commit(lease, session, writes) }).await.expect("sums up");
}

/// An open session with a call that first failed, and rows of the trader's memory.
async fn remember(store: &Store, lease: &Lease) {
    let new = NewSession { agent: "keeper".into(), date: date(DAYS[0]), at: at(0) };
    let session = store.open_session(lease, new).await.expect("opens").id;
    let (request, outcome) =
        (ContentDoc::of(&json!({ "n": 1 })), ContentDoc::of(&json!({ "text": "second time lucky" })));
    let path = StepPath::new("post#1/model#1");
    let digest = ContentHash::of(b"post");
    let mut writes: Vec<Write> = request.texts.into_iter().chain(outcome.texts).map(Write::Text).collect();
    writes.push(Write::Intent(Intent { path: path.clone(), digest, request_ref: request.hash }));
    let failed = AttemptEnd { number: 1, error: Some("503".to_owned()), ..AttemptEnd::default() };
    writes.push(Write::Attempt { path: path.clone(), ended: failed, next: Some(2) });
    let rows = vec![
        DerivedRow::Round(Box::new(round(1, None))),
        DerivedRow::Context(Box::new(context("m-1", ContextState::Open))),
        DerivedRow::Reflection(Box::new(reflection(1))),
        DerivedRow::Given(RecalledMemoryRow {
            kind: MemoryKind::Trade,
            memory_id: "7".to_owned(),
            job: Some(JobId::new("earlier")),
            known_at: at(0),
        }),
    ];
    writes.push(ended(path, (digest, request.hash, outcome.hash), 2, rows));
    store.commit(commit(lease, session, writes)).await.expect("remembers");
}

fn ended(
    path: StepPath,
    (digest, request_ref, outcome_ref): (ContentHash, ContentHash, ContentHash),
    attempt: u32,
    implied: Vec<DerivedRow>,
) -> Write {
    Write::End(StepEnd {
        path,
        class: StepClass::External,
        digest,
        request_ref,
        outcome_kind: OutcomeKind::Ok,
        outcome_ref,
        attempt: Some(AttemptEnd { number: attempt, ..AttemptEnd::default() }),
        reused_from: None,
        implied,
    })
}

/// Every table with its columns, except generated ones: they duplicate others.
fn schema(db: &Connection) -> Vec<(String, Vec<String>)> {
    let sql =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut tables = db.prepare(sql).expect("reads");
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).expect("reads");
    let columns = |table: &str| -> Vec<String> {
        let mut columns =
            db.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0").expect("reads");
        columns
            .query_map([table], |row| row.get(0))
            .expect("reads")
            .map(|name| name.expect("a name"))
            .collect()
    };
    tables.map(|table| table.expect("a name")).map(|table| (table.clone(), columns(&table))).collect()
}

/// A condition for the job's rows, restricted to those of interest.
fn rows(table: &str, column: Option<&str>, columns: &[String]) -> String {
    let has = |name: &str| columns.iter().any(|column| column == name);
    let of_job = if has("job_id") {
        format!("job_id = '{JOB}'")
    } else if has("session_id") {
        format!("session_id IN (SELECT id FROM trading_sessions WHERE job_id = '{JOB}')")
    } else if has("step_id") {
        format!(
            "step_id IN (SELECT s.id FROM steps s JOIN trading_sessions t ON t.id = s.session_id
            WHERE t.job_id = '{JOB}')"
        )
    } else {
        "1 = 1".to_owned()
    };
    let of_column = column.and_then(|column| {
        let name = format!("{table}.{column}");
        ROWS_OF_COLUMNS.iter().find(|(of, _)| *of == name).map(|(_, rows)| *rows)
    });
    let own = of_column.or_else(|| ROWS.iter().find(|(of, _)| *of == table).map(|(_, rows)| *rows));
    // A row with a value there is a better test than one without.
    let order = column.map_or_else(String::new, |column| format!(" ORDER BY {column} IS NULL"));
    format!("{of_job} AND {}{order} LIMIT 1", own.unwrap_or("1 = 1"))
}

/// Other values than this one, the most likely to pass the table's constraints first.
fn others(value: &Value) -> Vec<Value> {
    let words = [
        "failed",
        "completed",
        "local",
        "tool",
        "user",
        "sell",
        "rejected",
        "short",
        "closed",
        "low",
        "skipped",
        "template",
        "model",
        "trader_round",
        "abandoned",
    ];
    let words = || words.iter().map(|word| Value::Text((*word).to_owned()));
    let mut others: Vec<Value> = match value {
        Value::Integer(number @ (0 | 1)) => vec![Value::Integer(1 - number), Value::Integer(7_777)],
        Value::Integer(number) => {
            vec![Value::Integer(number + 1), Value::Integer(number - 1), Value::Integer(0)]
        }
        Value::Real(number) => vec![Value::Real(number + 1.0)],
        Value::Blob(_) => vec![Value::Blob(vec![7; 32])],
        Value::Null => vec![Value::Text("x".to_owned()), Value::Integer(1), Value::Blob(vec![7; 32])],
        Value::Text(text) if text.starts_with('{') => vec![Value::Text("{\"a\":1}".to_owned())],
        Value::Text(text) if text.starts_with('[') => vec![Value::Text("[\"a\"]".to_owned())],
        Value::Text(text) if text.starts_with("2012-") => vec![Value::Text("2012-03-05".to_owned())],
        Value::Text(text) if text.parse::<f64>().is_ok() => vec![Value::Text(format!("{text}1"))],
        Value::Text(text) => {
            let mut others: Vec<Value> = words().collect();
            others.insert(0, Value::Text(format!("{text}x")));
            others
        }
    };
    others.retain(|other| other != value);
    others
}

fn behind(path: &Path) -> Connection {
    let db = Connection::open(path).expect("opens");
    db.pragma_update(None, "foreign_keys", false).expect("is set");
    db
}

/// Edits a copy of the database and returns what `verify` finds there; `None` if there is nothing to edit.
async fn after(original: &Path, edit: impl FnOnce(&Connection) -> bool) -> Option<Option<ChainBreak>> {
    let dir = tempfile::tempdir().expect("makes a directory");
    let copy = dir.path().join("tape.db");
    std::fs::copy(original, &copy).expect("copies");
    if !edit(&behind(&copy)) {
        return None;
    }
    let store = Store::open(DatabaseTarget::Sqlite(copy)).await.expect("opens");
    Some(store.verify_chain(&JobId::new(JOB)).await.expect("verifies").broken)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_column_and_every_row_is_found_or_listed() {
    let place = Place::sqlite();
    let DatabaseTarget::Sqlite(path) = &place.target else { panic!("it is a file") };
    let store = place.store().await;
    let job = recorded(&store).await;
    assert_eq!(store.verify_chain(&job).await.expect("verifies").broken, None);
    drop(store);
    behind(path).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("writes all into one file");

    let is_outside = |name: &str| OUTSIDE.iter().any(|(outside, _)| *outside == name);
    let tables = schema(&behind(path));
    let mut wrong = Vec::new();
    let mut known: Vec<String> = Vec::new();
    for (table, columns) in &tables {
        known.push(table.clone());
        known.extend(columns.iter().map(|column| format!("{table}.{column}")));
        if is_outside(table) {
            continue;
        }
        let one = rows(table, None, columns);
        let key = if columns.is_empty() { String::new() } else { columns.join(", ") };
        let sql = format!("DELETE FROM {table} WHERE ({key}) IS (SELECT {key} FROM {table} WHERE {one})");
        match after(path, |db| db.execute(&sql, []).expect("deletes") > 0).await {
            Some(Some(_)) => {}
            Some(None) => wrong.push(format!("{table}: a row that is gone is not found")),
            None => wrong.push(format!("{table}: the record has no row of it")),
        }
        for column in columns {
            let name = format!("{table}.{column}");
            let one = rows(table, Some(column), columns);
            let found = after(path, |db| {
                let sql = format!("SELECT {column} FROM {table} WHERE {one}");
                let Ok(value) = db.query_row(&sql, [], |row| row.get::<_, Value>(0)) else { return false };
                let sql = format!(
                    "UPDATE {table} SET {column} = ?1 WHERE ({key}) IS (SELECT {key} FROM {table} WHERE {one})"
                );
                let change = |other| db.execute(&sql, [other]).is_ok_and(|rows| rows == 1);
                // A value that the table's constraints allow is a better test than one that they reject.
                others(&value).into_iter().any(change) || {
                    db.pragma_update(None, "ignore_check_constraints", true).expect("is set");
                    others(&value).into_iter().any(change)
                }
            })
            .await;
            match (found, is_outside(&name)) {
                (Some(Some(_)), false) | (Some(None), true) => {}
                (Some(Some(broken)), true) => wrong.push(format!("{name}: is listed, and found: {broken}")),
                (Some(None), false) => wrong.push(format!("{name}: is neither found nor listed")),
                (None, _) => wrong.push(format!("{name}: nothing could be changed")),
            }
        }
    }
    let gone = OUTSIDE.iter().filter(|(name, _)| !known.iter().any(|known| known == name));
    wrong.extend(gone.map(|(name, _)| format!("{name}: is listed, and not in the database")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

on_both!(a_day_that_is_gone_or_swapped_is_found, what_a_job_was_to_do_is_held, a_head_is_extended_or_not,);

async fn broken(store: &Store) -> Option<ChainBreak> {
    store.verify_chain(&JobId::new(JOB)).await.expect("verifies").broken
}

/// SQL condition for the session of an agent's day.
fn session(agent: &str, day: usize) -> String {
    format!("job_id = '{JOB}' AND model = '{agent}' AND date = '{}'", DAYS[day])
}

/// Deleting days with everything that belongs to them, and swapping days, are detected.
async fn a_day_that_is_gone_or_swapped_is_found(place: Place) {
    let store = place.store().await;
    recorded(&store).await;
    assert_eq!(broken(&store).await, None);
    // Two sessions of one agent swap days.
    let swap = |from: &str, to: &str| {
        format!(
            "UPDATE trading_sessions SET date = '{to}' WHERE job_id = '{JOB}' AND model = 'momentum' AND date = '{from}'"
        )
    };
    let swaps = [(DAYS[0], "2012-01-01"), (DAYS[1], DAYS[0]), ("2012-01-01", DAYS[1])];
    for (from, to) in swaps {
        place.edit(&swap(from, to)).await;
    }
    assert!(broken(&store).await.is_some());
    for (from, to) in swaps.into_iter().rev() {
        place.edit(&swap(to, from)).await;
    }
    assert_eq!(broken(&store).await, None);
    // A session changes its agent.
    let moved = session("momentum", 1);
    place.edit(&format!("UPDATE trading_sessions SET model = 'skipper' WHERE {moved}")).await;
    assert!(broken(&store).await.is_some());
    let back = session("skipper", 1);
    place.edit(&format!("UPDATE trading_sessions SET model = 'momentum' WHERE {back}")).await;
    assert_eq!(broken(&store).await, None);

    // The last day, with its row of `job_details` reset as if it had not started.
    let last = session("momentum", 1);
    place
        .edit(&format!("DELETE FROM agent_states WHERE job_id = '{JOB}' AND after_date = '{}'", DAYS[1]))
        .await;
    place.edit(&format!("DELETE FROM trading_sessions WHERE {last}")).await;
    let found = broken(&store).await.expect("the day is expected");
    assert_eq!(
        (found.agent.as_ref().map(AgentName::as_str), found.date),
        (Some("momentum"), Some(date(DAYS[1])))
    );
    place.edit(&format!("UPDATE job_details SET status = 'queued', error = NULL WHERE {last}")).await;
    let found = broken(&store).await.expect("the agent had more days");
    assert_eq!(found.why, "momentum has 1 days, but 2 were recorded");
    // A middle day: the next one continues from it.
    let first = session("momentum", 0);
    place
        .edit(&format!("DELETE FROM agent_states WHERE job_id = '{JOB}' AND after_date = '{}'", DAYS[0]))
        .await;
    place.edit(&format!("DELETE FROM trading_sessions WHERE {first}")).await;
    assert_eq!(broken(&store).await.expect("is found").date, Some(date(DAYS[0])));
}

/// The config, the states, the instructions, and the owners of orders and memories.
async fn what_a_job_was_to_do_is_held(place: Place) {
    let store = place.store().await;
    recorded(&store).await;
    let of_job = format!("(SELECT max(id) FROM trading_sessions WHERE {})", session("momentum", 0));
    let other = format!("(SELECT max(id) FROM trading_sessions WHERE {})", session("momentum", 1));
    let one_order = "(SELECT min(id) FROM orders WHERE session_id = ";
    let start = "(SELECT body FROM texts WHERE id = (SELECT min(id) FROM texts WHERE body = '{}'))";
    for (edit, back) in [
        (
            "UPDATE job_configs SET config = replace(config, '\"seed\":7', '\"seed\":8') WHERE job_id = 'job'".to_owned(),
            "UPDATE job_configs SET config = replace(config, '\"seed\":8', '\"seed\":7') WHERE job_id = 'job'".to_owned(),
        ),
        (
            format!("UPDATE texts SET body = '{{\"cash\":9}}' WHERE body = {start}"),
            "UPDATE texts SET body = '{}' WHERE body = '{\"cash\":9}'".to_owned(),
        ),
        (
            format!("UPDATE session_instructions SET node = 'bar#1' WHERE session_id = {of_job}"),
            format!("UPDATE session_instructions SET node = 'solo#1' WHERE session_id = {of_job}"),
        ),
        (
            format!("UPDATE orders SET session_id = {other} WHERE id = {one_order}{of_job})"),
            format!("UPDATE orders SET session_id = {of_job} WHERE id = (SELECT min(id) FROM orders WHERE session_id IN ({of_job}, {other}))"),
        ),
        (
            "UPDATE trader_round_memory SET model = 'momentum' WHERE job_id = 'job'".to_owned(),
            "UPDATE trader_round_memory SET model = 'keeper' WHERE job_id = 'job'".to_owned(),
        ),
        (
            "UPDATE open_position_contexts SET job_id = 'earlier' WHERE job_id = 'job'".to_owned(),
            "UPDATE open_position_contexts SET job_id = 'job' WHERE job_id = 'earlier'".to_owned(),
        ),
        (
            "UPDATE trade_reflections SET model = 'momentum' WHERE job_id = 'job'".to_owned(),
            "UPDATE trade_reflections SET model = 'keeper' WHERE job_id = 'job'".to_owned(),
        ),
        (
            "UPDATE jobs SET rules_version = 1 WHERE job_id = 'job'".to_owned(),
            "UPDATE jobs SET rules_version = 2 WHERE job_id = 'job'".to_owned(),
        ),
    ] {
        assert_eq!(broken(&store).await, None, "before {edit}");
        assert!(place.edit(&edit).await > 0, "{edit}");
        assert!(broken(&store).await.is_some(), "{edit}");
        place.edit(&back).await;
    }
}

/// A published head is extended by what comes after it, and by nothing else: neither another job nor a rewritten
/// record.
async fn a_head_is_extended_or_not(place: Place) {
    let store = place.store().await;
    let job = JobId::new("grows");
    store.enqueue(new_job("grows", &["momentum"], 0)).await.expect("queues");
    let lease = claim(&store, "grows").await;
    let mut heads: Vec<JobHead> = Vec::new();
    let published = async |store: &Store| {
        let head = store.publish_job_head(&job).await.expect("writes").expect("is there");
        assert_eq!(store.stored_job_head(head.hash()).await.expect("reads"), Some(head.clone()));
        head
    };
    heads.push(published(&store).await);
    // Interrupted in the middle of its first day, and resumed.
    run_day(&store, &lease, "momentum", 0, 6).await.expect_err("is cut off");
    heads.push(published(&store).await);
    assert!(heads[1].agents[&AgentName::new("momentum")].open.is_some());
    for day in 0..2 {
        run_day(&store, &lease, "momentum", day, i64::MAX).await.expect("runs");
        heads.push(published(&store).await);
    }
    store.finish(&lease, JobStatus::Completed, None).await.expect("ends");
    let verify = async |job: &JobId, head: &JobHead| {
        store.verify_chain_from(job, Some(head)).await.expect("verifies").broken
    };
    for head in &heads {
        assert_eq!(verify(&job, head).await, None, "{head:?}");
    }
    // What no rewrite of the record could produce: other days, another open session, another plan.
    let agent = AgentName::new("momentum");
    let forged = |change: &dyn Fn(&mut JobHead)| {
        let mut head = heads[2].clone();
        change(&mut head);
        head
    };
    let other = ContentHash::of(b"other");
    let changes: [&dyn Fn(&mut JobHead); 4] = [
        &|head| head.anchor = other,
        &|head| {
            head.agents
                .entry(agent.clone())
                .and_modify(|chain| chain.head = other)
                .or_insert_with(|| panic!("is there"))
                .days = 1
        },
        &|head| {
            head.agents
                .entry(agent.clone())
                .and_modify(|chain| chain.days = 9)
                .or_insert_with(|| panic!("is there"))
                .open = None
        },
        &|head| head.job = JobId::new("other"),
    ];
    for change in changes {
        assert!(verify(&job, &forged(change)).await.is_some());
    }
    let mut open = heads[1].clone();
    if let Some(open) = open.agents.get_mut(&agent).and_then(|chain| chain.open.as_mut()) {
        open.head = other;
    }
    assert!(verify(&job, &open).await.is_some());
}
