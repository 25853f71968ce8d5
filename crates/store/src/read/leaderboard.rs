//! What a leaderboard needs of every completed run, without its sessions.

use super::by_key;
use crate::error::Result;
use crate::store::Store;
use crate::value::{from_row, params};
use futures::FutureExt as _;
use papertape_core::id::JobId;
use papertape_core::record::{JobKind, JobStatus};
use papertape_core::time::{Date, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A completed simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedRun {
    /// The job.
    pub job: JobId,
    /// Its lease epoch: its sessions cannot change without a new one.
    pub epoch: i64,
    /// When it was requested.
    pub created_at: Timestamp,
    /// Its first planned day, in its own books.
    pub first: Date,
    /// Its last planned day.
    pub last: Date,
}

impl Store {
    /// All completed simulations, newest first.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn completed_runs(&self) -> Result<Vec<CompletedRun>> {
        let sql = "SELECT j.job_id, j.lease_epoch, j.created_at,
                (SELECT min(d.date) FROM job_details d WHERE d.job_id = j.job_id),
                (SELECT max(d.date) FROM job_details d WHERE d.job_id = j.job_id)
            FROM jobs j WHERE j.status = $1 AND j.kind = $2
                AND EXISTS (SELECT 1 FROM job_details d WHERE d.job_id = j.job_id)
            ORDER BY j.created_at DESC, j.job_id DESC";
        self.all(sql, params![JobStatus::Completed, &JobKind::Simulate]).await
    }

    /// The configs of these jobs. Jobs that do not exist are left out.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn job_configs(&self, jobs: &[JobId]) -> Result<BTreeMap<JobId, serde_json::Value>> {
        let jobs: Arc<[JobId]> = jobs.into();
        self.read_with(jobs, |db, jobs| {
            async move {
                let sql = "SELECT job_id, config FROM job_configs WHERE job_id IN (?)";
                let rows: BTreeMap<JobId, Vec<serde_json::Value>> = by_key(db, sql, jobs).await?;
                Ok(rows.into_iter().filter_map(|(job, mut configs)| Some((job, configs.pop()?))).collect())
            }
            .boxed()
        })
        .await
    }
}

from_row! { impl row => CompletedRun { job, epoch, created_at, first, last } }
