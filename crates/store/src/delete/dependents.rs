//! Which jobs build on another one.

use crate::db::{Backend, Db};
use crate::error::Result;
use crate::value::params;
use papertape_core::action::Origin;
use papertape_core::id::JobId;
use std::collections::BTreeSet;

/// The jobs that build on this one directly: its branches; jobs that continue its accounts, skip days completed
/// in it, recalled its memory or name it in their configs; and jobs started by its actions.
pub(super) async fn of(db: &mut dyn Db, job: &JobId) -> Result<BTreeSet<JobId>> {
    let names = match db.backend() {
        Backend::Sqlite => "instr(config, $2) > 0",
        Backend::Postgres => "strpos(config, $2) > 0",
    };
    let sql = format!(
        "SELECT job_id FROM jobs WHERE parent = $1
         UNION SELECT job_id FROM job_continuations WHERE continued_job = $1
         UNION SELECT job_id FROM job_details WHERE skipped_job = $1
         UNION SELECT s.job_id FROM session_memory m JOIN trading_sessions s ON s.id = m.session_id
             WHERE m.job = $1
         UNION SELECT job_id FROM job_configs WHERE {names}"
    );
    // In a config, an ID is a JSON string.
    let quoted = serde_json::Value::from(job.as_str()).to_string();
    let mut found: BTreeSet<JobId> = db.all(&sql, params![job, quoted.as_str()]).await?.into_iter().collect();
    found.extend(started(db, job).await?);
    found.remove(job);
    Ok(found)
}

/// The jobs started by a job's actions: their IDs are derived from the actions' positions.
async fn started(db: &mut dyn Db, job: &JobId) -> Result<Vec<JobId>> {
    let sql = "SELECT p.path FROM steps p JOIN trading_sessions s ON s.id = p.session_id
        WHERE s.job_id = $1 AND p.detached = 0 AND p.path LIKE '%action#%'";
    let mut found = Vec::new();
    for path in db.all::<String>(sql, params![job]).await? {
        for nth in 0.. {
            let id = Origin::new(job, &path, nth).job_id();
            if db.row("SELECT 1 FROM jobs WHERE job_id = $1", params![&id]).await?.is_none() {
                break;
            }
            found.push(id);
        }
    }
    Ok(found)
}
