//! Retention of the action log.

use crate::db::Db;
use crate::error::Result;
use crate::store::Store;
use crate::value::{from_row, params};
use futures::FutureExt as _;
use papertape_core::action::CleanupReport;
use papertape_core::id::JobId;
use papertape_core::time::Timestamp;

/// Jobs per query.
const GROUP: u32 = 100;

impl Store {
    /// Removes old rows of the action log, and changes of sort keys that no cursor may refer to any more.
    pub(super) async fn cleanup(&self, older_than: Timestamp, max_rows: u32) -> Result<CleanupReport> {
        self.remove_old_sort_changes().await?;
        self.remove_old_rows(older_than, max_rows).await
    }

    /// Removes rows job by job, each in its own transaction: other writers wait for one job's rows at most, and
    /// an interrupted cleanup keeps its progress.
    async fn remove_old_rows(&self, older_than: Timestamp, max_rows: u32) -> Result<CleanupReport> {
        let mut removed = CleanupReport::default();
        let mut last = JobId::new("");
        loop {
            let jobs = self
                .read_with(last.clone(), move |db, after| jobs(db, older_than, max_rows, after).boxed())
                .await?;
            let Some(newest) = jobs.last() else { return Ok(removed) };
            last = newest.clone();
            for job in jobs {
                let (by_age, by_count) = self
                    .write_for_with(&job, job.clone(), move |db, job| {
                        remove(db, job, older_than, max_rows).boxed()
                    })
                    .await?;
                removed.by_age += by_age;
                removed.by_count += by_count;
                removed.jobs += u64::from(by_age + by_count > 0);
            }
        }
    }
}

/// Jobs with rows that may be removed, by ID. Queued and running jobs are excluded.
const JOBS: &str = "SELECT i.job_id FROM plan_job_index i JOIN jobs j ON j.job_id = i.job_id
    WHERE j.status NOT IN ('queued', 'running') AND i.job_id > $3
        AND (i.rows_kept > $2 OR i.job_id IN (SELECT job_id FROM plan_action_logs WHERE created_at < $1))";

async fn jobs(db: &mut dyn Db, older_than: Timestamp, max_rows: u32, after: &JobId) -> Result<Vec<JobId>> {
    let sql = format!("{JOBS} ORDER BY i.job_id LIMIT {GROUP}");
    db.all(&sql, params![older_than, max_rows, after]).await
}

/// Counts what a cleanup would remove now.
pub(super) async fn count(db: &mut dyn Db, older_than: Timestamp, max_rows: u32) -> Result<CleanupReport> {
    let sql = format!(
        "SELECT coalesce(sum(CASE WHEN l.created_at < $1 THEN 1 ELSE 0 END), 0),
             coalesce(sum(CASE WHEN l.created_at >= $1 AND l.sequence < i.next_sequence - $2 THEN 1
                 ELSE 0 END), 0),
             count(DISTINCT CASE WHEN l.created_at < $1 OR l.sequence < i.next_sequence - $2 THEN l.job_id
                 END)
         FROM plan_action_logs l JOIN plan_job_index i ON i.job_id = l.job_id
         WHERE l.job_id IN ({JOBS})"
    );
    let found = db.first(&sql, params![older_than, max_rows, ""]).await?;
    Ok(found.unwrap_or_default())
}

from_row! { impl row => CleanupReport { by_age, by_count, jobs } }

/// Removes a job's old rows with their events; returns how many for their age and how many for exceeding the
/// limit.
async fn remove(db: &mut dyn Db, job: &JobId, older_than: Timestamp, max_rows: u32) -> Result<(u64, u64)> {
    // Locks the job: nobody can resume it and then write while its rows are removed.
    let sql = "UPDATE jobs SET status = status WHERE job_id = $1 AND status NOT IN ('queued', 'running')";
    if db.execute(sql, params![job]).await? == 0 {
        return Ok((0, 0));
    }
    let by_age = delete(db, job, "created_at < $2", older_than.into()).await?;
    let beyond = "sequence < (SELECT next_sequence FROM plan_job_index WHERE job_id = $1) - $2";
    let by_count = delete(db, job, beyond, max_rows.into()).await?;
    if by_age + by_count > 0 {
        let sql = "UPDATE plan_job_index SET rows_kept =
            (SELECT count(*) FROM plan_action_logs WHERE job_id = $1) WHERE job_id = $1";
        db.execute(sql, params![job]).await?;
    }
    Ok((by_age, by_count))
}

async fn delete(db: &mut dyn Db, job: &JobId, which: &str, bound: crate::value::Value) -> Result<u64> {
    let values = [job.into(), bound];
    let events = format!(
        "DELETE FROM job_events WHERE job_id = $1
             AND n IN (SELECT n FROM plan_action_logs WHERE job_id = $1 AND {which})"
    );
    db.execute(&events, &values).await?;
    db.execute(&format!("DELETE FROM plan_action_logs WHERE job_id = $1 AND {which}"), &values).await
}
