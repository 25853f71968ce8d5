//! The parts of a job that is split: each has a lease of its own, and the job's row has their common status. Whoever
//! changes both locks the job's row first.

use super::candidate::{Attempt, Candidate};
use super::{CANCEL, micros, stop};
use crate::action;
use crate::db::Db;
use crate::enqueue::status_event;
use crate::error::{Result, StoreError};
use crate::fence::Fence;
use crate::leases::has_expired;
use crate::rows::JOB;
use crate::shares;
use crate::value::params;
use papertape_core::action::ActionEntry;
use papertape_core::id::JobId;
use papertape_core::job::stop_reason;
use papertape_core::json;
use papertape_core::record::{JobRow, JobStatus, Lease, PartEnd};
use papertape_core::time::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;

/// Tries to claim a part. The caller has locked the job's row.
pub(super) async fn claim(
    db: &mut dyn Db,
    (owner, lease_for): (&str, Duration),
    Candidate { job, part, epoch }: Candidate,
) -> Result<Attempt> {
    let (now, expired) = (db.backend().now(), has_expired(db, "job_parts"));
    let sql = format!(
        "UPDATE job_parts SET status = 'running', lease_owner = $1, lease_epoch = lease_epoch + 1,
             lease_until = {now} + $2, reasons = '[]',
             crashes = crashes + CASE WHEN status = 'running' THEN 1 ELSE 0 END
         WHERE job_id = $3 AND part = $4 AND lease_epoch = $5
             AND (status = 'queued' OR (status = 'running' AND {expired}))
         RETURNING lease_epoch, crashes"
    );
    let values = params![owner, micros(lease_for), &job, part, epoch];
    let Some((epoch, crashes)) = db.first::<(i64, u32)>(&sql, values).await? else {
        return Ok(Attempt::TooLate);
    };
    // The first part starts the job.
    let sql = format!(
        "UPDATE jobs SET status = 'running', error = NULL, completed_at = NULL,
             started_at = coalesce(started_at, {now}), next_seq = next_seq + 1
         WHERE job_id = $1 AND status = 'queued' RETURNING next_seq, {now}"
    );
    if let Some((end, at)) = db.first::<(i64, Timestamp)>(&sql, params![&job]).await? {
        let mut fence = Fence::of(job.clone(), end, 1);
        status_event(db, &mut fence, JobStatus::Running, None, at).await?;
    }
    let row = db.first::<JobRow>(&format!("SELECT {JOB} FROM jobs WHERE job_id = $1"), params![&job]).await?;
    let row = row.ok_or_else(|| StoreError::inconsistent(format!("the job {job} is not there")))?;
    Ok(Attempt::Claimed(Box::new((Lease { job, part, epoch }, JobRow { crashes, ..row }))))
}

/// Ends a part's lease, and the job with the last part. The caller has locked the job's row.
pub(super) async fn finish(db: &mut dyn Db, lease: &Lease, end: &PartEnd) -> Result<()> {
    Fence::take(db, lease, 0).await?;
    let sql = "SELECT cancel_requested FROM jobs WHERE job_id = $1";
    let is_cancelled = db.first::<i64>(sql, params![&lease.job]).await? == Some(CANCEL);
    let status = match (end.status, is_cancelled) {
        (JobStatus::Queued, true) => JobStatus::Cancelled,
        // A resume requested after the cancellation is honored.
        (JobStatus::Cancelled, false) => JobStatus::Queued,
        (status, _) => status,
    };
    let none = BTreeSet::new();
    let reasons = if status == JobStatus::Queued { &none } else { &end.reasons };
    // Incrementing the epoch fences off this lease: nothing more can be written under it.
    let sql = "UPDATE job_parts SET status = $1, reasons = $2, lease_owner = NULL, lease_until = NULL,
            lease_epoch = lease_epoch + 1 WHERE job_id = $3 AND part = $4";
    let reasons = json::to_value(reasons);
    db.execute(sql, params![status, &reasons, &lease.job, lease.part]).await?;
    let days =
        "UPDATE job_details SET status = 'queued' WHERE job_id = $1 AND part = $2 AND status = 'running'";
    db.execute(days, params![&lease.job, lease.part]).await?;
    shares::release(db, lease).await?;
    roll_up(db, &lease.job).await
}

/// Cancels the parts that have no worker, and requests it of the workers of the others. The caller has locked the
/// job's row.
pub(super) async fn cancel(db: &mut dyn Db, job: &JobId) -> Result<Option<JobStatus>> {
    let requested = "UPDATE jobs SET cancel_requested = $1
        WHERE job_id = $2 AND status IN ('queued', 'running')";
    if db.execute(requested, params![CANCEL, job]).await? > 0 {
        // Incrementing the epoch fences off a worker that was only slow.
        let sql = format!(
            "UPDATE job_parts SET status = 'cancelled', lease_owner = NULL, lease_until = NULL,
                 lease_epoch = lease_epoch + 1, reasons = '[]'
             WHERE job_id = $1 AND (status = 'queued' OR (status = 'running' AND {}))",
            has_expired(db, "job_parts")
        );
        db.execute(&sql, params![job]).await?;
        let days = "UPDATE job_details SET status = 'queued' WHERE job_id = $1 AND status = 'running'
            AND part IN (SELECT part FROM job_parts WHERE job_id = $1 AND status = 'cancelled')";
        db.execute(days, params![job]).await?;
        roll_up(db, job).await?;
    }
    db.first("SELECT status FROM jobs WHERE job_id = $1", params![job]).await
}

/// Queues the parts of a job that is resumed. The caller has locked the job's row.
pub(super) async fn requeue(db: &mut dyn Db, job: &JobId) -> Result<()> {
    let sql = "UPDATE job_parts SET status = 'queued', reasons = '[]', crashes = 0
        WHERE job_id = $1 AND status NOT IN ('queued', 'running', 'completed')";
    db.execute(sql, params![job]).await.map(drop)
}

/// Gives the job the status of its parts once none is running.
async fn roll_up(db: &mut dyn Db, job: &JobId) -> Result<()> {
    let sql = "SELECT status, count(*) FROM job_parts WHERE job_id = $1 GROUP BY status";
    let parts: Vec<(JobStatus, i64)> = db.all(sql, params![job]).await?;
    let any = |status: JobStatus| parts.iter().any(|(other, _)| *other == status);
    let status = match &parts[..] {
        _ if any(JobStatus::Running) => return Ok(()),
        _ if any(JobStatus::Queued) => JobStatus::Queued,
        _ if any(JobStatus::Cancelled) => JobStatus::Cancelled,
        [(status @ (JobStatus::Completed | JobStatus::Failed), _)] => *status,
        _ => JobStatus::Partial,
    };
    let reasons = reasons(db, job).await?;
    let sql = "SELECT count(*) FROM job_details
        WHERE job_id = $1 AND status = 'failed' AND completed_at IS NOT NULL";
    let failed = db.first::<i64>(sql, params![job]).await?.unwrap_or_default();
    let error = match status {
        JobStatus::Queued | JobStatus::Completed => None,
        _ => stop_reason(&reasons, usize::try_from(failed).unwrap_or_default()),
    };
    let error = error.as_deref();
    let now = db.backend().now();
    // Readers recognize by the epoch that a job has run again.
    let sql = format!(
        "UPDATE jobs SET status = $1, error = $2, lease_epoch = lease_epoch + 1,
             completed_at = CASE WHEN $3 = 1 THEN {now} ELSE NULL END
         WHERE job_id = $4 RETURNING {now}"
    );
    let at = db.first::<Timestamp>(&sql, params![status, error, status.is_stopped(), job]).await?;
    let at = at.ok_or_else(|| StoreError::inconsistent(format!("the job {job} is not there")))?;
    let open = action::still_open(db, job).await?;
    let mut fence = Fence::held(db, job, open.len() + 2).await?;
    for row in &open {
        action::append(db, &mut fence, job, &ActionEntry::ended(row, status, error), at).await?;
    }
    stop(db, &mut fence, status, error, at).await?;
    fence.settle(db).await
}

async fn reasons(db: &mut dyn Db, job: &JobId) -> Result<BTreeSet<String>> {
    let sql = "SELECT reasons FROM job_parts WHERE job_id = $1 AND reasons <> '[]'";
    let mut reasons = BTreeSet::new();
    for mut row in db.query(sql, params![job]).await? {
        reasons.extend(row.document::<BTreeSet<String>>()?);
    }
    Ok(reasons)
}
