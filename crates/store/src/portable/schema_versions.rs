//! The formats of portable files, and the migration from older ones.
//!
//! | format | contents |
//! |---|---|
//! | 0 | `plan_job_index` with job and plan IDs, optionally type and status; no log |
//! | 1 | `plan_action_logs`, times as ISO 8601 text in any zone; index with `job_type` and `status` |
//! | 2 | times as RFC 3339 in UTC; log with `redactions`; index with row counts and each job's source database |

use crate::error::{Result, StoreError};
use papertape_core::time::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Transaction};
use std::path::Path;

/// The current format.
pub(super) const FORM: i64 = 2;

/// The log table of format 1.
const LOG: &str = "CREATE TABLE IF NOT EXISTS plan_action_logs (
    id INTEGER PRIMARY KEY,
    plan_id INTEGER,
    job_id TEXT NOT NULL,
    session_id TEXT,
    user_message TEXT,
    action_kind TEXT NOT NULL,
    action_name TEXT NOT NULL,
    status TEXT NOT NULL,
    success INTEGER,
    message TEXT,
    details_json TEXT,
    sequence INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS plan_action_logs_by_job ON plan_action_logs (job_id, sequence);
CREATE INDEX IF NOT EXISTS plan_action_logs_by_plan ON plan_action_logs (plan_id, created_at);
CREATE INDEX IF NOT EXISTS plan_action_logs_by_session ON plan_action_logs (session_id, created_at);
CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL);";

/// The index table of the current format.
const INDEX: &str = "CREATE TABLE new_index (
    job_id TEXT PRIMARY KEY,
    plan_id INTEGER,
    job_type TEXT NOT NULL,
    status TEXT NOT NULL,
    next_sequence INTEGER NOT NULL,
    rows_kept INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    record TEXT
);";

/// Every job of an older file: those in its log, and those only in its index.
const JOBS: &str = "INSERT INTO new_index (job_id, plan_id, job_type, status, next_sequence, rows_kept,
        created_at, updated_at)
    SELECT j.job_id, j.plan_id, j.job_type, j.status, coalesce(l.last, 0) + 1, coalesce(l.kept, 0),
        coalesce(l.first_at, '1970-01-01T00:00:00Z'), coalesce(l.last_at, '1970-01-01T00:00:00Z')
    FROM old_jobs j LEFT JOIN (
        SELECT job_id, max(sequence) AS last, count(*) AS kept, min(created_at) AS first_at,
            max(updated_at) AS last_at
        FROM plan_action_logs GROUP BY job_id) l ON l.job_id = j.job_id";

/// The format of a file; `None` if it has none of our tables.
pub(super) fn form_of(connection: &Connection) -> Result<Option<i64>> {
    if connection.table_exists(None, "schema_version")? {
        let sql = "SELECT max(version) FROM schema_version";
        let version: Option<i64> = connection.query_row(sql, [], |row| row.get(0)).optional()?.flatten();
        if version.is_some() {
            return Ok(version);
        }
    }
    if connection.table_exists(None, "plan_action_logs")? {
        return Ok(Some(1));
    }
    Ok(connection.table_exists(None, "plan_job_index")?.then_some(0))
}

/// Rejects a file written by a newer program.
pub(super) fn check(path: &Path, form: Option<i64>) -> Result<()> {
    match form {
        Some(found) if found > FORM => Err(StoreError::file(
            path,
            &format!("it has schema version {found}, but this program supports {FORM}: use a newer version"),
        )),
        _ => Ok(()),
    }
}

/// Migrates a file to the current format in the caller's transaction: if it contains invalid data, the file stays
/// unchanged.
pub(super) fn upgrade(transaction: &Transaction<'_>) -> Result<()> {
    transaction.execute_batch(LOG)?;
    times(transaction)?;
    if !has_column(transaction, "plan_action_logs", "redactions")? {
        let sql = "ALTER TABLE plan_action_logs ADD COLUMN redactions INTEGER NOT NULL DEFAULT 0";
        transaction.execute_batch(sql)?;
    }
    transaction.execute_batch(INDEX)?;
    transaction.execute_batch(&old_jobs(transaction)?)?;
    transaction.execute_batch(JOBS)?;
    transaction.execute_batch(
        "DROP VIEW old_jobs; DROP TABLE IF EXISTS plan_job_index;
         ALTER TABLE new_index RENAME TO plan_job_index;",
    )?;
    transaction.execute("INSERT INTO schema_version (version) VALUES (?1)", [FORM])?;
    Ok(())
}

/// A view of the jobs in an older file, with what its index says about them.
fn old_jobs(transaction: &Transaction<'_>) -> Result<String> {
    let mut known =
        "SELECT DISTINCT job_id, NULL AS plan_id, NULL AS job_type, NULL AS status FROM plan_action_logs"
            .to_owned();
    if transaction.table_exists(None, "plan_job_index")? {
        let mut columns = String::from("job_id");
        for name in ["plan_id", "job_type", "status"] {
            let is_there = has_column(transaction, "plan_job_index", name)?;
            columns.push_str(if is_there { ", " } else { ", NULL AS " });
            columns.push_str(name);
        }
        known = format!("SELECT {columns} FROM plan_job_index UNION ALL {known}");
    }
    // If the index does not say how a job ended, its newest row does.
    Ok(format!(
        "CREATE TEMP VIEW old_jobs AS SELECT k.job_id, max(k.plan_id) AS plan_id,
             coalesce(max(k.job_type), 'unknown') AS job_type,
             coalesce(max(k.status), (SELECT l.status FROM plan_action_logs l WHERE l.job_id = k.job_id
                 ORDER BY l.sequence DESC LIMIT 1), 'completed') AS status
         FROM ({known}) k WHERE k.job_id IS NOT NULL GROUP BY k.job_id"
    ))
}

/// Converts every time in the log to the current format.
fn times(transaction: &Transaction<'_>) -> Result<()> {
    let mut read = transaction.prepare("SELECT id, created_at, updated_at FROM plan_action_logs")?;
    let mut write =
        transaction.prepare("UPDATE plan_action_logs SET created_at = ?1, updated_at = ?2 WHERE id = ?3")?;
    let mut rows = read.query([])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let read = |column| {
            time(row.get_ref(column)?)
                .map_err(|why| StoreError::inconsistent(format!("row {id} of plan_action_logs: {why}")))
        };
        changed.push((read(1)?, read(2)?, id));
    }
    for (created, updated, id) in changed {
        write.execute((created.to_string(), updated.to_string(), id))?;
    }
    Ok(())
}

/// Parses a time in any zone; without a zone, UTC.
fn time(value: ValueRef<'_>) -> Result<Timestamp, String> {
    let text = match value {
        ValueRef::Text(text) => String::from_utf8_lossy(text).trim().to_owned(),
        other => return Err(format!("a {:?} is not a time", other.data_type())),
    };
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(instant);
    }
    let civil = text.parse::<jiff::civil::DateTime>().map_err(|_| format!("`{text}` is not a time"))?;
    let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).map_err(|error| error.to_string())?;
    Ok(zoned.timestamp())
}

fn has_column(connection: &Connection, table: &str, column: &str) -> Result<bool> {
    Ok(connection.column_exists(None, table, column)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_any_zone_are_read() {
        let read = |text: &str| time(ValueRef::Text(text.as_bytes())).map(|instant| instant.to_string());
        let noon = Ok("2026-01-02T12:00:00Z".to_owned());
        assert_eq!(read("2026-01-02T12:00:00Z"), noon);
        assert_eq!(read("2026-01-02T20:00:00+08:00"), noon);
        assert_eq!(read("2026-01-02 12:00:00"), noon);
        assert_eq!(read("2026-01-02T12:00:00.000"), noon);
        assert!(read("yesterday").is_err() && read("").is_err());
        assert!(time(ValueRef::Integer(7)).is_err());
    }
}
