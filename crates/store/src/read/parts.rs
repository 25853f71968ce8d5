//! The parts of jobs that have not stopped.

use crate::db::Db;
use crate::error::Result;
use crate::leases::has_expired;
use crate::value::from_row;

/// Jobs in parts that have not stopped, and their parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartCounts {
    /// The jobs.
    pub jobs: u64,
    /// Parts that wait for a worker.
    pub queued: u64,
    /// Parts that a worker runs.
    pub running: u64,
    /// Parts whose worker has died or lost its connection. The next one that is free takes them over.
    pub expired: u64,
}

from_row! { impl row => PartCounts { jobs, queued, running, expired } }

pub(super) async fn part_counts(db: &mut dyn Db) -> Result<PartCounts> {
    let expired = has_expired(db, "p");
    let sql = format!(
        "SELECT count(DISTINCT job_id), coalesce(sum(CASE WHEN state = 'queued' THEN 1 ELSE 0 END), 0),
             coalesce(sum(CASE WHEN state = 'running' THEN 1 ELSE 0 END), 0),
             coalesce(sum(CASE WHEN state = 'expired' THEN 1 ELSE 0 END), 0)
         FROM (SELECT p.job_id, CASE WHEN p.status = 'running' AND {expired} THEN 'expired' ELSE p.status END AS state
             FROM job_parts p JOIN jobs j ON j.job_id = p.job_id WHERE j.status IN ('queued', 'running')) parts"
    );
    Ok(db.first(&sql, &[]).await?.unwrap_or_default())
}
