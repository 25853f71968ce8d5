//! The job queue: `papertape_core::ports::Queue`. Leases use the database's clock, so that workers' clocks need
//! not agree.

mod candidate;
mod claim;
mod heartbeat;
mod parts;

use self::candidate::Attempt;
use self::claim::{ClaimFilter, claim};
use crate::action;
use crate::chats;
use crate::db::Db;
use crate::enqueue::{Split, enqueue, status_event};
use crate::error::{Result, StoreError};
use crate::exclusivity;
use crate::fence::Fence;
use crate::leases::{has_expired, hold};
use crate::rows::JOB;
use crate::store::{Store, port};
use crate::value::params;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::ports::{Queue, RecordFuture};
use papertape_core::record::{JobKind, JobRow, JobStatus, Lease, LeaseState, NewJob, PartEnd};
use papertape_core::time::Timestamp;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

impl Queue for Store {
    fn enqueue<'a>(&'a self, job: NewJob) -> RecordFuture<'a, ()> {
        port(self.enqueue_in_parts(job, 1, &[]))
    }

    fn claim<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        only: Option<&'a JobId>,
    ) -> RecordFuture<'a, Option<(Lease, JobRow)>> {
        self.claiming(owner, lease_for, only.map_or(ClaimFilter::Any, |job| ClaimFilter::Job(job.clone())))
    }

    fn claim_of<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        kinds: &'a [JobKind],
    ) -> RecordFuture<'a, Option<(Lease, JobRow)>> {
        self.claiming(owner, lease_for, ClaimFilter::Kinds(kinds.to_vec()))
    }

    fn renew<'a>(&'a self, lease: &'a Lease, lease_for: Duration) -> RecordFuture<'a, bool> {
        port(self.write_with(lease.clone(), move |db, lease| renew(db, lease, lease_for).boxed()))
    }

    fn heartbeat<'a>(
        &'a self,
        owner: &'a str,
        leases: &'a [Lease],
        lease_for: Duration,
    ) -> RecordFuture<'a, Vec<LeaseState>> {
        port(self.write_with((owner.to_owned(), leases.to_vec()), move |db, (owner, leases)| {
            heartbeat::heartbeat(db, owner, leases, lease_for).boxed()
        }))
    }

    fn survived<'a>(&'a self, lease: &'a Lease) -> RecordFuture<'a, ()> {
        port(self.write_for_with(lease, lease.clone(), |db, lost| survived(db, lost).boxed()))
    }

    fn finish<'a>(
        &'a self,
        lease: &'a Lease,
        status: JobStatus,
        error: Option<String>,
    ) -> RecordFuture<'a, ()> {
        port(self.write_for_with(lease, (lease.clone(), error), move |db, (lease, error)| {
            finish(db, lease, status, error.as_deref()).boxed()
        }))
    }

    fn finish_part<'a>(&'a self, lease: &'a Lease, end: PartEnd) -> RecordFuture<'a, ()> {
        port(self.write_for_with(lease, (lease.clone(), end), |db, (lease, end)| {
            finish_part(db, lease, end).boxed()
        }))
    }

    fn requeue<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, bool> {
        port(self.write_for_with(job, job.clone(), |db, job| requeue(db, job).boxed()))
    }

    fn cancel<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<JobStatus>> {
        port(self.write_for_with(job, job.clone(), |db, job| cancel(db, job).boxed()))
    }

    fn request_cancel<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<JobStatus>> {
        port(self.write_for_with(job, job.clone(), |db, job| request_cancel(db, job).boxed()))
    }

    fn get_job<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<JobRow>> {
        port(self.first(format!("SELECT {JOB} FROM jobs WHERE job_id = $1"), params![job]))
    }
}

impl Store {
    fn claiming<'a>(
        &'a self,
        owner: &str,
        lease_for: Duration,
        filter: ClaimFilter,
    ) -> RecordFuture<'a, Option<(Lease, JobRow)>> {
        let args = Arc::new((owner.to_owned(), filter));
        let store = self.clone();
        let claimed = async move {
            let mut was_late = false;
            loop {
                let claiming = store.write_with(Arc::clone(&args), move |db, args| {
                    claim(db, &args.0, lease_for, (&args.1, was_late)).boxed()
                });
                match claiming.await? {
                    Attempt::Claimed(claimed) => {
                        // Only now is it known which job this is.
                        store.notifier().committed(&claimed.0.job);
                        return Ok(Some(*claimed));
                    }
                    Attempt::TooLate => was_late = true,
                    Attempt::Nothing => return Ok(None),
                }
            }
        };
        port(claimed.boxed())
    }

    /// Adds a job whose agents, in this order, are split into this many parts that different workers can run at the
    /// same time; see [`Queue::enqueue`]. The write is started at once, even if nobody waits for it. Its errors are
    /// those of [`Queue::enqueue`].
    pub fn enqueue_in_parts(
        &self,
        job: NewJob,
        parts: u32,
        agents: &[AgentName],
    ) -> BoxFuture<'static, Result<()>> {
        let (id, split) = (job.id.clone(), Split::new(parts, agents));
        self.write_for_with(&id, (job, split), |db, (job, split)| enqueue(db, job, split).boxed())
    }

    /// How many parts of a job have each status; empty if it is not split.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn parts(&self, job: &JobId) -> Result<BTreeMap<String, u64>> {
        let sql = "SELECT status, count(*) FROM job_parts WHERE job_id = $1 GROUP BY status";
        Ok(self.all(sql, params![job]).await?.into_iter().collect())
    }

    /// Replaces the config of a job that is not running with another one of the same fingerprint, such as a
    /// different budget. Returns `false` if the job does not exist, is running, or has another fingerprint.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn reconfigure(
        &self,
        job: &JobId,
        config: serde_json::Value,
        fingerprint: ContentHash,
    ) -> Result<bool> {
        let sql = "UPDATE job_configs SET config = $1 WHERE job_id = $2 AND EXISTS (
            SELECT 1 FROM jobs WHERE job_id = $2 AND fingerprint = $3 AND status <> 'running')";
        Ok(self.execute(sql, params![&config, job, fingerprint]).await? > 0)
    }
}

/// `jobs.cancel_requested` of a job whose worker must stop it…
const CANCEL: i64 = 1;
/// …and of one that was resumed after that, before its worker stopped it: it is requeued as soon as that happens.
const RESUMED: i64 = 2;

async fn renew(db: &mut dyn Db, lease: &Lease, lease_for: Duration) -> Result<bool> {
    let now = db.backend().now();
    let is_cancelled = if lease.part == 0 {
        let sql = format!(
            "UPDATE jobs SET lease_until = {now} + $1 WHERE job_id = $2 AND lease_epoch = $3
             RETURNING CASE WHEN cancel_requested = {CANCEL} THEN 1 ELSE 0 END"
        );
        db.first(&sql, params![micros(lease_for), &lease.job, lease.epoch]).await?
    } else {
        let sql = format!(
            "UPDATE job_parts SET lease_until = {now} + $1 WHERE job_id = $2 AND lease_epoch = $3 AND part = $4
             RETURNING (SELECT CASE WHEN cancel_requested = {CANCEL} THEN 1 ELSE 0 END
                 FROM jobs j WHERE j.job_id = job_parts.job_id)"
        );
        db.first(&sql, params![micros(lease_for), &lease.job, lease.epoch, lease.part]).await?
    };
    is_cancelled.ok_or(StoreError::LostLease)
}

/// The lease was mistaken for a dead process's: undo that count of a crash.
async fn survived(db: &mut dyn Db, lease: &Lease) -> Result<()> {
    let count = "SET crashes = crashes - 1
        WHERE job_id = $1 AND lease_epoch > $2 AND status = 'running' AND crashes > 0";
    let (job, epoch) = (&lease.job, lease.epoch);
    let done = if lease.part == 0 {
        db.execute(&format!("UPDATE jobs {count}"), params![job, epoch]).await
    } else {
        let sql = format!("UPDATE job_parts {count} AND part = $3");
        db.execute(&sql, params![job, epoch, lease.part]).await
    };
    done.map(drop)
}

async fn finish_part(db: &mut dyn Db, lease: &Lease, end: &PartEnd) -> Result<()> {
    if end.status == JobStatus::Running {
        return Err(StoreError::inconsistent("a part cannot be finished as running"));
    }
    hold(db, &lease.job).await?;
    parts::finish(db, lease, end).await
}

async fn finish(db: &mut dyn Db, lease: &Lease, status: JobStatus, error: Option<&str>) -> Result<()> {
    if status == JobStatus::Running {
        return Err(StoreError::inconsistent("a job cannot be finished as running"));
    }
    let mut fence = Fence::take(db, lease, 2).await?;
    let now = db.backend().now();
    // A resume requested after the cancellation is honored: the job is requeued.
    let resumed = "UPDATE jobs SET cancel_requested = 0 WHERE job_id = $1 AND cancel_requested = $2";
    let is_resumed =
        status == JobStatus::Cancelled && db.execute(resumed, params![&lease.job, RESUMED]).await? > 0;
    let (status, error) = if is_resumed { (JobStatus::Queued, None) } else { (status, error) };
    // Incrementing the epoch fences off this lease: nothing more can be written under it.
    let sql = format!(
        "UPDATE jobs SET status = $1, error = $2, lease_owner = NULL, lease_until = NULL,
             lease_epoch = lease_epoch + 1, completed_at = CASE WHEN $3 = 1 THEN {now} ELSE NULL END
         WHERE job_id = $4 RETURNING {now}"
    );
    let at = db.first(&sql, params![status, error, status.is_stopped(), &lease.job]).await?;
    let at = at.ok_or(StoreError::LostLease)?;
    stop(db, &mut fence, status, error, at).await?;
    fence.settle(db).await
}

async fn requeue(db: &mut dyn Db, job: &JobId) -> Result<bool> {
    let is_split = hold(db, job).await? > 1;
    if is_split {
        // Still being stopped: the parts that have stopped are queued, the others when they finish.
        let stopping = "UPDATE jobs SET cancel_requested = 0
            WHERE job_id = $1 AND status IN ('queued', 'running') AND cancel_requested = $2";
        if db.execute(stopping, params![job, CANCEL]).await? > 0 {
            parts::requeue(db, job).await?;
            return Ok(true);
        }
    }
    // Still being stopped: its worker requeues it when it finishes.
    let stopping = "UPDATE jobs SET cancel_requested = CASE WHEN status = 'running' THEN $1 ELSE 0 END
        WHERE job_id = $2 AND status IN ('queued', 'running') AND cancel_requested = $3";
    if db.execute(stopping, params![RESUMED, job, CANCEL]).await? > 0 {
        return Ok(true);
    }
    let now = db.backend().now();
    let sql = format!(
        "UPDATE jobs SET status = 'queued', error = NULL, completed_at = NULL, cancel_requested = 0,
             next_seq = next_seq + 1, crashes = 0
         WHERE job_id = $1 AND status IN ('failed', 'partial', 'cancelled') RETURNING next_seq, {now}"
    );
    let Some((end, at)) = db.first(&sql, params![job]).await? else { return Ok(false) };
    if is_split {
        parts::requeue(db, job).await?;
    }
    // Failed days that were waiting for a fix run again.
    let days = "UPDATE job_details SET status = 'queued', error = NULL
        WHERE job_id = $1 AND status = 'failed' AND completed_at IS NULL";
    db.execute(days, params![job]).await?;
    let sessions = "UPDATE trading_sessions SET status = 'running', error = NULL
        WHERE job_id = $1 AND status = 'failed' AND completed_at IS NULL";
    db.execute(sessions, params![job]).await?;
    let mut fence = Fence::of(job.clone(), end, 1);
    status_event(db, &mut fence, JobStatus::Queued, None, at).await?;
    exclusivity::recheck(db, job).await?;
    Ok(true)
}

async fn cancel(db: &mut dyn Db, job: &JobId) -> Result<Option<JobStatus>> {
    if hold(db, job).await? > 1 {
        return parts::cancel(db, job).await;
    }
    let (now, expired) = (db.backend().now(), has_expired(db, "jobs"));
    // Unclaimed, or its worker may be dead: incrementing the epoch fences off a worker that was only slow.
    let sql = format!(
        "UPDATE jobs SET status = 'cancelled', completed_at = {now}, lease_owner = NULL, lease_until = NULL,
             lease_epoch = lease_epoch + 1
         WHERE job_id = $1 AND (status = 'queued' OR (status = 'running' AND {expired}))
         RETURNING {now}"
    );
    if let Some(at) = db.first::<Timestamp>(&sql, params![job]).await? {
        // Its worker would have closed them.
        let open = action::still_open(db, job).await?;
        let mut fence = Fence::held(db, job, open.len() + 2).await?;
        action::close(db, &mut fence, &open, at).await?;
        stop(db, &mut fence, JobStatus::Cancelled, None, at).await?;
        fence.settle(db).await?;
        return Ok(Some(JobStatus::Cancelled));
    }
    request_cancel_of(db, job).await
}

async fn request_cancel(db: &mut dyn Db, job: &JobId) -> Result<Option<JobStatus>> {
    match hold(db, job).await? {
        1 => request_cancel_of(db, job).await,
        // A job that is split starts no other jobs.
        _ => parts::cancel(db, job).await,
    }
}

/// Requests cancellation of a job that has not stopped, from its current or next worker. Returns its current
/// status; a job with an expired lease counts as queued.
async fn request_cancel_of(db: &mut dyn Db, job: &JobId) -> Result<Option<JobStatus>> {
    let sql = "UPDATE jobs SET cancel_requested = $1 WHERE job_id = $2 AND status IN ('queued', 'running')";
    db.execute(sql, params![CANCEL, job]).await?;
    let expired = has_expired(db, "jobs");
    let sql = format!(
        "SELECT CASE WHEN status = 'running' AND {expired} THEN 'queued' ELSE status END
         FROM jobs WHERE job_id = $1"
    );
    db.first(&sql, params![job]).await
}

/// Side effects of a job's stop, after its row has the new status: at most two events.
async fn stop(
    db: &mut dyn Db,
    fence: &mut Fence,
    status: JobStatus,
    error: Option<&str>,
    at: Timestamp,
) -> Result<()> {
    let job = fence.job().clone();
    // A day without a worker is not running.
    let days = "UPDATE job_details SET status = 'queued' WHERE job_id = $1 AND status = 'running'";
    db.execute(days, params![&job]).await?;
    status_event(db, fence, status, error, at).await?;
    if status.is_stopped() {
        fence.event(db, "end", &json!({ "status": status, "error": error }), at).await?;
        exclusivity::release_plan(db, &job, status, at).await?;
    }
    if matches!(status, JobStatus::Failed | JobStatus::Cancelled) {
        chats::answer_ended_job(db, &job, status, error, at).await?;
    }
    Ok(())
}

fn micros(duration: Duration) -> i64 {
    // Capped at some 300,000 years.
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}
