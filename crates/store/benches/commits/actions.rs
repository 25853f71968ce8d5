//! Action log rows per second, next to bare SQLite: the very same rows in the same schema with the same indexes,
//! one transaction per row.

use crate::appends::{Desk, Pace};
use papertape_core::action::{ActionDraft, ActionEntry, ActionKind, ActionStatus};
use papertape_core::ports::ActionLog as _;
use papertape_core::time::Timestamp;
use papertape_redact::Redactor;
use papertape_store::DatabaseTarget;
use papertape_testkit::bench::Timed;
use rusqlite::{Connection, OpenFlags, params};
use std::path::Path;
use std::time::{Duration, Instant};

/// A row's message, about as long as one sentence of a tool's result.
const MESSAGE: &str = "3 results: what the company earned in the quarter, what its rivals did, and what two analysts \
                       made of it; the first of them is of the day before the close.";

fn draft(n: u32) -> ActionDraft {
    let path = format!("turn#1/action#{n}");
    let draft = ActionDraft::of(ActionKind::ToolOperation, "web_search", ActionStatus::Completed, &path);
    ActionDraft { message: Some(MESSAGE.to_owned()), ..draft }
}

/// One appending writer in each of this many jobs; each waits until its append is durable. Rows are redacted on
/// the way, as in the product.
pub(crate) async fn paced(target: DatabaseTarget, jobs: usize, time: Duration) -> Pace {
    let Desk { store, sessions } = Desk::new(target, jobs).await;
    let (timed, started) = (Timed::start(), Instant::now());
    let writers: Vec<_> = sessions
        .into_iter()
        .map(|(lease, _)| {
            let store = store.clone();
            tokio::spawn(async move {
                let redactor = Redactor::default();
                let mut count = 0_u32;
                while started.elapsed() < time {
                    count += 1;
                    let entry = ActionEntry::redacted(&redactor, draft(count));
                    let given = store.append_action_log(&lease, entry, Timestamp::UNIX_EPOCH).await;
                    assert_eq!(given.expect("writes"), i64::from(count), "without a gap");
                }
                count
            })
        })
        .collect();
    let mut count = 0;
    for writer in writers {
        count += writer.await.expect("ends");
    }
    let pace = Pace::of(count, timed);
    let rows = store.counts().await.expect("counts").rows["plan_action_logs"];
    assert_eq!(rows, u64::from(count), "every row that was acknowledged is there");
    pace
}

/// The same rows by hand, on one connection with the product's durability settings.
pub(crate) fn raw(runtime: &tokio::runtime::Runtime, path: &Path, time: Duration) -> Pace {
    // The product creates the schema and the job, then closes.
    runtime.block_on(async { drop(Desk::new(DatabaseTarget::Sqlite(path.to_owned()), 1).await) });
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).expect("opens");
    connection.set_prepared_statement_cache_capacity(64);
    let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";
    connection.execute_batch(pragmas).expect("sets up");
    let timed = Timed::start();
    let mut count = 0_u32;
    while timed.end().0 < time {
        count += 1;
        append(&mut connection, count).expect("writes");
    }
    let pace = Pace::of(count, timed);
    let sql = "SELECT count(*) FROM plan_action_logs";
    let rows: u32 = connection.query_row(sql, [], |row| row.get(0)).expect("counts");
    assert_eq!(rows, count, "every row is there");
    pace
}

fn append(connection: &mut Connection, count: u32) -> rusqlite::Result<()> {
    let db = connection.transaction()?;
    db.prepare_cached("UPDATE jobs SET next_seq = next_seq + 1 WHERE job_id = 'bench-0'")?.execute([])?;
    db.prepare_cached(
        "UPDATE plan_job_index SET next_sequence = next_sequence + 1, rows_kept = rows_kept + 1
         WHERE job_id = 'bench-0'",
    )?
    .execute([])?;
    let event = format!(
        r#"{{"action_kind":"tool_operation","action_name":"web_search","plan_id":null,"sequence":{count},
            "status":"completed"}}"#
    );
    db.prepare_cached(
        "INSERT INTO job_events (job_id, n, kind, data, created_at) VALUES ('bench-0', ?1, 'log_entry', ?2, 0)",
    )?
    .execute(params![count + 1000, event])?;
    db.prepare_cached(
        "INSERT INTO plan_action_logs (job_id, action_kind, action_name, status, success, message, details_json,
         sequence, created_at, updated_at, redactions, n)
         VALUES ('bench-0', 'tool_operation', 'web_search', 'completed', 1, ?1, ?2, ?3, 0, 0, 0, ?4)",
    )?
    .execute(params![MESSAGE, format!(r#"{{"action":"turn#1/action#{count}"}}"#), count, count + 1000])?;
    db.commit()
}
