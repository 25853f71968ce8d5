//! The job queue: `papertape_core::ports::Queue`. Leases use the database's clock, so that workers' clocks need
//! not agree.

use crate::action;
use crate::chats;
use crate::db::{Backend, Db};
use crate::error::StoreError;
use crate::exclusivity;
use crate::fence::Fence;
use crate::head;
use crate::lineage;
use crate::record::port;
use crate::store::Store;
use crate::texts;
use crate::value::{Row, Value, params};
use futures::FutureExt as _;
use papertape_core::RULES_VERSION;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::json;
use papertape_core::ports::{BoxFuture, Queue, RecordError};
use papertape_core::record::{DayStatus, JobKind, JobRow, JobStatus, Lease, NewJob};
use papertape_core::time::Timestamp;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

impl Queue for Store {
    fn enqueue<'a>(&'a self, job: NewJob) -> BoxFuture<'a, Result<(), RecordError>> {
        let (id, job) = (job.id.clone(), Arc::new(job));
        port(self.write_for(&id, move |db| {
            let job = Arc::clone(&job);
            async move { enqueue(db, &job).await }.boxed()
        }))
    }

    fn claim<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        only: Option<&'a JobId>,
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        self.claiming(owner, lease_for, only.map_or(Wanted::Any, |job| Wanted::Job(job.clone())))
    }

    fn claim_of<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        kinds: &'a [JobKind],
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        self.claiming(owner, lease_for, Wanted::Kinds(kinds.to_vec()))
    }

    fn renew<'a>(
        &'a self,
        lease: &'a Lease,
        lease_for: Duration,
    ) -> BoxFuture<'a, Result<bool, RecordError>> {
        let lease = lease.clone();
        port(self.write(move |db| {
            let lease = lease.clone();
            async move { renew(db, &lease, lease_for).await }.boxed()
        }))
    }

    fn survived<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), RecordError>> {
        let lost = lease.clone();
        port(self.write_for(&lease.job, move |db| {
            let lost = lost.clone();
            async move { survived(db, &lost).await }.boxed()
        }))
    }

    fn finish<'a>(
        &'a self,
        lease: &'a Lease,
        status: JobStatus,
        error: Option<String>,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let ending = Arc::new((lease.clone(), error));
        port(self.write_for(&lease.job, move |db| {
            let ending = Arc::clone(&ending);
            async move { finish(db, &ending.0, status, ending.1.as_deref()).await }.boxed()
        }))
    }

    fn requeue<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<bool, RecordError>> {
        let id = job.clone();
        port(self.write_for(job, move |db| {
            let job = id.clone();
            async move { requeue(db, &job).await }.boxed()
        }))
    }

    fn cancel<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobStatus>, RecordError>> {
        let id = job.clone();
        port(self.write_for(job, move |db| {
            let job = id.clone();
            async move { cancel(db, &job).await }.boxed()
        }))
    }

    fn request_cancel<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobStatus>, RecordError>> {
        let id = job.clone();
        port(self.write_for(job, move |db| {
            let job = id.clone();
            async move { ask_to_stop(db, &job).await }.boxed()
        }))
    }

    fn get_job<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobRow>, RecordError>> {
        let job = job.clone();
        port(self.read(move |db| {
            let job = job.clone();
            async move {
                let sql = format!("SELECT {JOB} FROM jobs WHERE job_id = $1");
                let row = db.row(&sql, params![&job]).await?;
                row.map(|mut row| read_job(&mut row)).transpose()
            }
            .boxed()
        }))
    }
}

/// Which jobs a worker would claim.
enum Wanted {
    Any,
    Job(JobId),
    /// Of one of these kinds.
    Kinds(Vec<JobKind>),
}

impl Store {
    fn claiming<'a>(
        &'a self,
        owner: &str,
        lease_for: Duration,
        wanted: Wanted,
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        let wanted = Arc::new((owner.to_owned(), wanted));
        let claiming = self.write(move |db| {
            let wanted = Arc::clone(&wanted);
            async move { claim(db, &wanted.0, lease_for, &wanted.1).await }.boxed()
        });
        let hub = self.hub().clone();
        let claimed = async move {
            let claimed = claiming.await?;
            // Only now is it known which job this is.
            if let Some((lease, _)) = &claimed {
                hub.committed(&lease.job);
            }
            Ok(claimed)
        };
        port(claimed.boxed())
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
    ) -> Result<bool, StoreError> {
        let wanted = Arc::new((job.clone(), config));
        self.write(move |db| {
            let wanted = Arc::clone(&wanted);
            async move {
                let sql = "UPDATE job_configs SET config = $1 WHERE job_id = $2 AND EXISTS (
                    SELECT 1 FROM jobs WHERE job_id = $2 AND fingerprint = $3 AND status <> 'running')";
                Ok(db.execute(sql, params![&wanted.1, &wanted.0, fingerprint]).await? > 0)
            }
            .boxed()
        })
        .await
    }
}

/// The columns that [`read_job`] reads.
pub(crate) const JOB: &str = "job_id, kind,
    (SELECT c.config FROM job_configs c WHERE c.job_id = jobs.job_id), fingerprint, rules_version, status,
    error, warnings, parent, superseded_by, created_at, started_at, completed_at, crashes";

pub(crate) fn read_job(row: &mut Row) -> Result<JobRow, StoreError> {
    Ok(JobRow {
        id: row.get()?,
        kind: row.get()?,
        config: row.get()?,
        fingerprint: row.get()?,
        rules_version: row.get()?,
        status: row.get()?,
        error: row.get()?,
        warnings: {
            let warnings: serde_json::Value = row.get()?;
            serde_json::from_value(warnings).map_err(|error| {
                StoreError::inconsistent(format!("a job's warnings cannot be read: {error}"))
            })?
        },
        parent: row.get()?,
        superseded_by: row.get()?,
        created_at: row.get()?,
        started_at: row.get()?,
        completed_at: row.get()?,
        crashes: row.get()?,
    })
}

pub(crate) async fn enqueue(db: &mut dyn Db, job: &NewJob) -> Result<(), StoreError> {
    exclusivity::ensure_plan_free(db, (&job.id, &job.kind), job.plan).await?;
    let added = db
        .execute(
            "INSERT INTO jobs (job_id, kind, status, fingerprint, rules_version, warnings, parent, created_at,
             next_seq) VALUES ($1, $2, 'queued', $3, $4, $5, $6, $7, 2) ON CONFLICT (job_id) DO NOTHING",
            params![
                &job.id,
                &job.kind,
                job.fingerprint,
                RULES_VERSION,
                &json::to_value(&job.warnings),
                job.parent.as_ref(),
                job.created_at
            ],
        )
        .await?;
    if added == 0 {
        return Err(StoreError::inconsistent(format!("the job {} is there already", job.id)));
    }
    action::index(db, job).await?;
    texts::insert(db, job.texts.iter()).await?;
    for day in &job.days {
        let status = if day.skipped.is_some() { DayStatus::Skipped } else { DayStatus::Queued };
        db.execute(
            "INSERT INTO job_details (job_id, date, model, agent_hash, status, error, skipped_job, skipped_session,
             skipped_head)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, (SELECT s.chain_head FROM trading_sessions s WHERE s.id = $8))",
            params![
                &job.id,
                day.date,
                &day.agent,
                day.agent_hash,
                status,
                day.skipped.as_ref().map(|done| format!("completed in job {}", done.job)),
                day.skipped.as_ref().map(|done| &done.job),
                day.skipped.as_ref().map(|done| done.session)
            ],
        )
        .await?;
    }
    lineage::record(db, job).await?;
    head::anchor_job(db, job).await?;
    let mut fence = Fence::of(job.id.clone(), 2, 1);
    status_event(db, &mut fence, JobStatus::Queued, None, job.created_at).await
}

/// `jobs.cancel_requested` of a job whose worker must stop it…
const CANCEL: i64 = 1;
/// …and of one that was resumed after that, before its worker stopped it: it is requeued as soon as that happens.
const RESUMED: i64 = 2;

/// Locks a job's row until the transaction ends. SQLite has only one writer at a time and needs no lock.
async fn hold(db: &mut dyn Db, job: &JobId) -> Result<(), StoreError> {
    if db.backend() == Backend::Postgres {
        db.query("SELECT job_id FROM jobs WHERE job_id = $1 FOR UPDATE", params![job]).await?;
    }
    Ok(())
}

async fn claim(
    db: &mut dyn Db,
    owner: &str,
    lease_for: Duration,
    wanted: &Wanted,
) -> Result<Option<(Lease, JobRow)>, StoreError> {
    let now = db.backend().now();
    let lock = match (db.backend(), wanted) {
        (Backend::Sqlite, _) => "",
        // When this very job is requested, wait for a transaction that is still open.
        (Backend::Postgres, Wanted::Job(_)) => "FOR UPDATE",
        (Backend::Postgres, Wanted::Any | Wanted::Kinds(_)) => "FOR UPDATE SKIP LOCKED",
    };
    let mut values = vec![Value::from(owner), Value::from(micros(lease_for))];
    let (only_these, names): (String, Vec<Value>) = match wanted {
        Wanted::Any => (String::new(), Vec::new()),
        Wanted::Job(job) => ("AND job_id = $3".to_owned(), vec![job.into()]),
        Wanted::Kinds(kinds) => {
            let places: Vec<String> = (3..3 + kinds.len()).map(|place| format!("${place}")).collect();
            let kinds = kinds.iter().map(Value::from).collect();
            (format!("AND kind IN ({})", places.join(", ")), kinds)
        }
    };
    values.extend(names);
    let assistants = exclusivity::sql_list(JobKind::ASSISTANT);
    let sql = format!(
        "UPDATE jobs SET status = 'running', lease_owner = $1, lease_epoch = lease_epoch + 1,
             lease_until = {now} + $2, next_seq = next_seq + 1, error = NULL, completed_at = NULL,
             started_at = coalesce(started_at, {now}),
             crashes = crashes + CASE WHEN status = 'running' THEN 1 ELSE 0 END
         WHERE job_id = (
             SELECT job_id FROM jobs
             WHERE (status = 'queued' OR (status = 'running' AND lease_until <= {now}))
                 AND rules_version <= {RULES_VERSION} {only_these}
             ORDER BY CASE WHEN kind IN ({assistants}) THEN 0 ELSE 1 END, created_at, job_id LIMIT 1 {lock})
         RETURNING lease_epoch, next_seq, {now}, {JOB}"
    );
    let Some(mut row) = db.row(&sql, &values).await? else {
        return Ok(None);
    };
    let (epoch, end, at) = (row.get()?, row.get()?, row.get()?);
    let job = read_job(&mut row)?;
    let mut fence = Fence::of(job.id.clone(), end, 1);
    status_event(db, &mut fence, JobStatus::Running, None, at).await?;
    if job.kind == JobKind::PlanExecute {
        exclusivity::mark_plan_running(db, &job.id, at).await?;
    }
    Ok(Some((Lease { job: job.id.clone(), epoch }, job)))
}

async fn renew(db: &mut dyn Db, lease: &Lease, lease_for: Duration) -> Result<bool, StoreError> {
    let now = db.backend().now();
    let sql = format!(
        "UPDATE jobs SET lease_until = {now} + $1 WHERE job_id = $2 AND lease_epoch = $3
         RETURNING CASE WHEN cancel_requested = {CANCEL} THEN 1 ELSE 0 END"
    );
    let row = db.row(&sql, params![micros(lease_for), &lease.job, lease.epoch]).await?;
    row.ok_or(StoreError::LostLease)?.get()
}

/// The lease was mistaken for a dead process's: undo that count of a crash.
async fn survived(db: &mut dyn Db, lease: &Lease) -> Result<(), StoreError> {
    let sql = "UPDATE jobs SET crashes = crashes - 1
        WHERE job_id = $1 AND lease_epoch > $2 AND status = 'running' AND crashes > 0";
    db.execute(sql, params![&lease.job, lease.epoch]).await.map(drop)
}

async fn finish(
    db: &mut dyn Db,
    lease: &Lease,
    status: JobStatus,
    error: Option<&str>,
) -> Result<(), StoreError> {
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
    let at: Timestamp = db
        .row(&sql, params![status, error, status.is_stopped(), &lease.job])
        .await?
        .ok_or(StoreError::LostLease)?
        .get()?;
    stop(db, &mut fence, status, error, at).await?;
    fence.settle(db).await
}

async fn requeue(db: &mut dyn Db, job: &JobId) -> Result<bool, StoreError> {
    hold(db, job).await?;
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
    let Some(mut row) = db.row(&sql, params![job]).await? else {
        return Ok(false);
    };
    let (end, at) = (row.get()?, row.get()?);
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

async fn cancel(db: &mut dyn Db, job: &JobId) -> Result<Option<JobStatus>, StoreError> {
    hold(db, job).await?;
    let now = db.backend().now();
    // Unclaimed, or its worker may be dead: incrementing the epoch fences off a worker that was only slow.
    let sql = format!(
        "UPDATE jobs SET status = 'cancelled', completed_at = {now}, lease_owner = NULL, lease_until = NULL,
             lease_epoch = lease_epoch + 1
         WHERE job_id = $1 AND (status = 'queued' OR (status = 'running' AND lease_until <= {now}))
         RETURNING {now}"
    );
    if let Some(mut row) = db.row(&sql, params![job]).await? {
        let at: Timestamp = row.get()?;
        // Its worker would have closed them.
        let open = action::still_open(db, job).await?;
        let mut fence = Fence::held(db, job, open.len() + 2).await?;
        action::close(db, &mut fence, &open, at).await?;
        stop(db, &mut fence, JobStatus::Cancelled, None, at).await?;
        fence.settle(db).await?;
        return Ok(Some(JobStatus::Cancelled));
    }
    ask_to_stop(db, job).await
}

/// Requests cancellation of a job that has not stopped, from its current or next worker. Returns its current
/// status; a job with an expired lease counts as queued.
async fn ask_to_stop(db: &mut dyn Db, job: &JobId) -> Result<Option<JobStatus>, StoreError> {
    let sql = "UPDATE jobs SET cancel_requested = $1 WHERE job_id = $2 AND status IN ('queued', 'running')";
    db.execute(sql, params![CANCEL, job]).await?;
    let now = db.backend().now();
    let sql = format!(
        "SELECT CASE WHEN status = 'running' AND lease_until <= {now} THEN 'queued' ELSE status END
         FROM jobs WHERE job_id = $1"
    );
    let row = db.row(&sql, params![job]).await?;
    row.map(|mut row| row.get()).transpose()
}

/// Side effects of a job's stop, after its row has the new status: at most two events.
async fn stop(
    db: &mut dyn Db,
    fence: &mut Fence,
    status: JobStatus,
    error: Option<&str>,
    at: Timestamp,
) -> Result<(), StoreError> {
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
        chats::leave_word(db, &job, status, error, at).await?;
    }
    Ok(())
}

pub(crate) async fn status_event(
    db: &mut dyn Db,
    fence: &mut Fence,
    status: JobStatus,
    error: Option<&str>,
    at: Timestamp,
) -> Result<(), StoreError> {
    fence.event(db, "job", &json!({ "status": status, "error": error }), at).await?;
    action::index_status(db, fence.job(), status, at).await
}

fn micros(duration: Duration) -> i64 {
    // Capped at some 300,000 years.
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}
