//! The reference on SQLite: the rows of an append by hand, on one connection with the product's durability
//! settings, one transaction each. No reads, fencing, chaining or tokenizing: it measures the cost of the rows
//! and their indexes.

use crate::appends::{Append, Desk, Pace, Parts};
use papertape_core::record::SessionId;
use papertape_store::DatabaseTarget;
use papertape_testkit::bench::Timed;
use rusqlite::{Connection, OpenFlags, Transaction, params};
use std::path::Path;
use std::time::Duration;

/// Throughput and CPU cost of the reference.
pub(crate) fn paced(runtime: &tokio::runtime::Runtime, path: &Path, append: Append, time: Duration) -> Pace {
    // The product creates the schema and the referenced rows, then closes.
    let session =
        runtime.block_on(async { Desk::new(DatabaseTarget::Sqlite(path.to_owned()), 1).await.sessions[0].1 });
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).expect("opens");
    connection.set_prepared_statement_cache_capacity(64);
    let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";
    connection.execute_batch(pragmas).expect("sets up");
    let timed = Timed::start();
    let mut count = 0_u32;
    while timed.end().0 < time {
        count += 1;
        let path = format!("node0#1/model#{count}");
        let transaction = connection.transaction().expect("begins");
        match append {
            Append::Intent => intent(&transaction, session, &path),
            Append::Message => message(&transaction, session, &path, count),
        }
        .and_then(|()| transaction.commit())
        .expect("writes");
    }
    let pace = Pace::of(count, timed);
    let steps: u32 =
        connection.query_row("SELECT count(*) FROM steps", [], |row| row.get(0)).expect("counts");
    assert_eq!(steps, count, "every append is there");
    pace
}

fn intent(db: &Transaction<'_>, session: SessionId, path: &str) -> rusqlite::Result<()> {
    let digest = *Parts::of(path).digest.as_bytes();
    db.prepare_cached(
        "INSERT INTO steps (session_id, detached, path, kind, class, digest, request_ref, state,
         lease_epoch, started_at) VALUES (?1, 0, ?2, 'model', 'external', ?3, ?3, 'intent', 1, 0)",
    )?
    .execute(params![session.0, path, digest])
    .map(drop)
}

fn message(db: &Transaction<'_>, session: SessionId, path: &str, count: u32) -> rusqlite::Result<()> {
    let parts = Parts::of(path);
    let digest = *parts.digest.as_bytes();
    for text in [&parts.outcome, &parts.content] {
        db.prepare_cached("INSERT INTO texts (hash, body, encoding) VALUES (?1, ?2, 0)")?
            .execute(params![text.hash.as_bytes(), text.body])?;
    }
    let content = db.last_insert_rowid();
    db.prepare_cached(
        "INSERT INTO steps (session_id, path, kind, class, digest, request_ref, state, outcome_kind,
         outcome_ref, lease_epoch, started_at, ended_at, seq, hash, detached)
         VALUES (?1, ?2, 'model', 'local', ?3, ?3, 'done', 'ok', ?4, 1, 0, 0, ?5, ?3, 0)",
    )?
    .execute(params![session.0, path, digest, parts.outcome.hash.as_bytes(), count])?;
    let step = db.last_insert_rowid();
    db.prepare_cached("INSERT INTO text_search (rowid, words) VALUES (?1, ?2)")?
        .execute(params![content, parts.content.body])?;
    let event = format!("[{session},{count}]");
    db.prepare_cached(
        "INSERT INTO job_events (job_id, n, kind, data, created_at) VALUES ('bench-0', ?1, 'message', ?2, 0)",
    )?
    .execute(params![count + 1000, event])?;
    db.prepare_cached(
        "INSERT INTO reasoning_log_rows (session_id, message_index, role, content_id, timestamp, step_id,
         ord, n) VALUES (?1, ?2, 'user', ?3, 0, ?4, 0, ?5)",
    )?
    .execute(params![session.0, count, content, step, count + 1000])?;
    db.prepare_cached("UPDATE jobs SET next_seq = next_seq + 1 WHERE job_id = 'bench-0'")?.execute([])?;
    db.prepare_cached(
        "UPDATE trading_sessions SET next_message = ?1, chain_length = ?1, chain_head = ?2 WHERE id = ?3",
    )?
    .execute(params![count, digest, session.0])
    .map(drop)
}
