//! What decides who may write for a job: its row, and whether a lease has expired.

use crate::db::{Backend, Db};
use crate::error::Result;
use crate::value::params;
use papertape_core::id::JobId;

/// Locks a job's row until the transaction ends. SQLite has only one writer at a time and needs no lock.
/// Returns the number of its parts.
pub(crate) async fn hold(db: &mut dyn Db, job: &JobId) -> Result<u32> {
    let lock = match db.backend() {
        // Does not wait for those that only refer to the row, such as its parts' transactions.
        Backend::Postgres => "FOR NO KEY UPDATE",
        Backend::Sqlite => "",
    };
    let sql = format!("SELECT parts FROM jobs WHERE job_id = $1 {lock}");
    Ok(db.first(&sql, params![job]).await?.unwrap_or(1))
}

/// SQL condition: the lease in a row of `table` has expired. Its own time has passed, and its owner's heartbeat
/// has stopped.
pub(crate) fn has_expired(db: &dyn Db, table: &str) -> String {
    let now = db.backend().now();
    format!(
        "({table}.lease_until <= {now} AND NOT EXISTS (SELECT 1 FROM workers w
             WHERE w.worker_id = {table}.lease_owner AND w.beat_until > {now}))"
    )
}
