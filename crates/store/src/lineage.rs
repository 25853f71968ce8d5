//! Which of an agent's days are current: what a job supersedes and what it continues, one row per job and agent.
//! Written in the transaction that queues the job, with the older jobs' rows locked, so that if one job continues
//! an account and another supersedes it at the same moment, the second one sees the first.

use crate::db::{Backend, Db};
use crate::error::{Result, StoreError};
use crate::value::{columns, params};
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::NewJob;
use std::collections::BTreeSet;

/// Records what the job continues and supersedes.
///
/// # Errors
/// [`StoreError::Superseded`] if an account that it continues has been superseded since the job was planned.
pub(crate) async fn record(db: &mut dyn Db, job: &NewJob) -> Result<()> {
    for from in &job.continues {
        // Not for a branch: it shares the past of a stored job, superseded or not.
        if job.parent.is_none() {
            hold(db, &from.job, "FOR KEY SHARE").await?;
            if is_superseded(db, &from.job, &from.agent).await? {
                let (job, agent) = (from.job.clone(), from.agent.clone());
                return Err(StoreError::Superseded { job, agent });
            }
        }
        let (job_id, agent, continued_job) = (&job.id, &from.agent, &from.job);
        db.insert("job_continuations", columns! { job_id, agent, continued_job, date: from.date }).await?;
    }
    let mut jobs = BTreeSet::new();
    for old in &job.supersedes {
        jobs.extend(supersede(db, &job.id, &old.agent, &old.job).await?);
    }
    for old in &jobs {
        db.execute(
            "UPDATE jobs SET superseded_by = $1 WHERE job_id = $2 AND NOT EXISTS (
                SELECT 1 FROM job_details d WHERE d.job_id = $2 AND NOT EXISTS (
                    SELECT 1 FROM job_supersessions s WHERE s.superseded_job = $2 AND s.agent = d.model))",
            params![&job.id, old],
        )
        .await?;
    }
    Ok(())
}

/// Supersedes an agent's days in a job, and in every job that continues its account from there: their days build
/// on days that are no longer current.
async fn supersede(db: &mut dyn Db, new: &JobId, agent: &AgentName, old: &JobId) -> Result<BTreeSet<JobId>> {
    let mut done = BTreeSet::new();
    let mut open = vec![old.clone()];
    while let Some(old) = open.pop() {
        if old == *new || done.contains(&old) {
            continue;
        }
        hold(db, &old, "FOR UPDATE").await?;
        db.execute(
            "INSERT INTO job_supersessions (job_id, agent, superseded_job) VALUES ($1, $2, $3)
             ON CONFLICT (superseded_job, agent, job_id) DO NOTHING",
            params![new, agent, &old],
        )
        .await?;
        let sql = "SELECT job_id FROM job_continuations WHERE continued_job = $1 AND agent = $2";
        open.extend(db.all::<JobId>(sql, params![&old, agent]).await?);
        done.insert(old);
    }
    Ok(done)
}

/// Reinstates jobs whose successors were deleted.
pub(crate) async fn reinstate(db: &mut dyn Db) -> Result<()> {
    db.execute(
        "UPDATE jobs SET superseded_by = NULL WHERE superseded_by IS NOT NULL AND EXISTS (
            SELECT 1 FROM job_details d WHERE d.job_id = jobs.job_id AND NOT EXISTS (
                SELECT 1 FROM job_supersessions s WHERE s.superseded_job = d.job_id AND s.agent = d.model))",
        &[],
    )
    .await
    .map(drop)
}

async fn is_superseded(db: &mut dyn Db, job: &JobId, agent: &AgentName) -> Result<bool> {
    let sql = "SELECT 1 FROM job_supersessions WHERE superseded_job = $1 AND agent = $2 LIMIT 1";
    Ok(db.row(sql, params![job, agent]).await?.is_some())
}

/// Locks a job's row until the transaction ends. SQLite has only one writer at a time and needs no lock.
async fn hold(db: &mut dyn Db, job: &JobId, how: &str) -> Result<()> {
    if db.backend() == Backend::Postgres {
        db.query(&format!("SELECT job_id FROM jobs WHERE job_id = $1 {how}"), params![job]).await?;
    }
    Ok(())
}
