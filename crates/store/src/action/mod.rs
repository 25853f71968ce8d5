//! The action log: a job's rows, numbered inside the transaction that writes them.

mod read;
mod retention;

pub(crate) use read::{ROW, all, index_of, rows_from};

use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::fence::Fence;
use crate::store::{Store, port};
use crate::value::{columns, params};
use futures::FutureExt as _;
use papertape_core::action::{self, ActionEntry, ActionRow, CleanupReport, LogPage, LogPosition, PlanJob};
use papertape_core::id::JobId;
use papertape_core::page::{Page, PageRequest};
use papertape_core::plan::PlanId;
use papertape_core::ports::{ActionLog, RecordError, RecordFuture};
use papertape_core::record::{JobStatus, Lease, NewJob};
use papertape_core::time::Timestamp;
use serde_json::{Value, json};

impl ActionLog for Store {
    fn append_action_log<'a>(
        &'a self,
        lease: &'a Lease,
        entry: ActionEntry,
        at: Timestamp,
    ) -> RecordFuture<'a, i64> {
        port(self.write_for_with(lease, (lease.clone(), entry), move |db, (lease, entry)| {
            async move {
                let mut fence = Fence::take(db, lease, 1).await?;
                append(db, &mut fence, &lease.job, entry, at).await
            }
            .boxed()
        }))
    }

    fn start_action_log<'a>(
        &'a self,
        lease: &'a Lease,
        entry: ActionEntry,
        at: Timestamp,
    ) -> RecordFuture<'a, Option<i64>> {
        port(self.write_for_with(lease, (lease.clone(), entry), move |db, (lease, entry)| {
            start(db, lease, entry, at).boxed()
        }))
    }

    fn list_action_logs<'a>(
        &'a self,
        job: &'a JobId,
        from: LogPosition,
        limit: u32,
    ) -> RecordFuture<'a, LogPage> {
        port(
            self.read_with((job.clone(), from), move |db, (job, from)| {
                read::list(db, job, from, limit).boxed()
            }),
        )
    }

    fn action_log<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<ActionRow>> {
        port(self.read_with(job.clone(), |db, job| read::all(db, job).boxed()))
    }

    fn plan_job<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<PlanJob>> {
        port(self.read_with(job.clone(), |db, job| read::index_of(db, job).boxed()))
    }

    fn plan_jobs<'a>(&'a self, plan: PlanId, page: &'a PageRequest) -> RecordFuture<'a, Page<PlanJob>> {
        port(self.read_with(page.clone(), move |db, page| read::plan_jobs(db, plan, page).boxed()))
    }

    fn cleanup_action_logs<'a>(
        &'a self,
        older_than: Timestamp,
        max_rows: u32,
        dry_run: bool,
    ) -> RecordFuture<'a, CleanupReport> {
        async move {
            let removed = if dry_run {
                self.read(move |db| async move { retention::count(db, older_than, max_rows).await }.boxed())
                    .await
            } else {
                self.cleanup(older_than, max_rows).await
            };
            removed.map_err(RecordError::from)
        }
        .boxed()
    }
}

/// Adds a job to the index.
pub(crate) async fn index(db: &mut dyn Db, job: &NewJob) -> Result<()> {
    let row = columns! {
        job_id: &job.id, plan_id: job.plan, job_type: &job.kind, status: JobStatus::Queued,
        created_at: job.created_at, updated_at: job.created_at,
    };
    db.insert("plan_job_index", row).await
}

/// Copies a job's status to the index.
pub(crate) async fn index_status(
    db: &mut dyn Db,
    job: &JobId,
    status: JobStatus,
    at: Timestamp,
) -> Result<()> {
    let sql = "UPDATE plan_job_index SET status = $1, updated_at = $2 WHERE job_id = $3";
    db.execute(sql, params![status, at, job]).await.map(drop)
}

/// Writes a row and its event; returns the row's number. The fence has exclusive access to the job, so no other
/// transaction takes the same number. The first row that names a plan binds the whole job to it.
pub(crate) async fn append(
    db: &mut dyn Db,
    fence: &mut Fence,
    job: &JobId,
    entry: &ActionEntry,
    at: Timestamp,
) -> Result<i64> {
    let row = entry.row();
    if let Some(plan) = row.plan {
        bind(db, job, plan, at).await?;
    }
    let sql = "UPDATE plan_job_index SET next_sequence = next_sequence + 1, rows_kept = rows_kept + 1,
            updated_at = $1 WHERE job_id = $2 RETURNING next_sequence - 1, plan_id";
    let numbered = db.first::<(i64, Option<PlanId>)>(sql, params![at, job]).await?;
    let missing = || StoreError::inconsistent(format!("the job {job} is not in the index"));
    let (sequence, plan) = numbered.ok_or_else(missing)?;
    // The event only announces the row, which readers then fetch.
    let event = json!({
        "sequence": sequence, "plan_id": plan, "action_kind": row.kind, "action_name": row.name,
        "status": row.status,
    });
    let n = fence.event(db, "log_entry", &event, at).await?;
    insert(db, job, plan, sequence, entry, (at, at), Some(n)).await?;
    Ok(sequence)
}

/// Writes the row that starts a job, unless the log already has one.
async fn start(db: &mut dyn Db, lease: &Lease, entry: &ActionEntry, at: Timestamp) -> Result<Option<i64>> {
    let mut fence = Fence::take(db, lease, 1).await?;
    // Each part has a fence of its own. Here, the parts of a job wait for each other.
    let sql = "UPDATE plan_job_index SET next_sequence = next_sequence WHERE job_id = $1";
    db.execute(sql, params![&lease.job]).await?;
    if action::is_started(read::all(db, &lease.job).await?) {
        fence.settle(db).await?;
        return Ok(None);
    }
    append(db, &mut fence, &lease.job, entry, at).await.map(Some)
}

/// The latest rows of actions that a job has started and not ended.
pub(crate) async fn still_open(db: &mut dyn Db, job: &JobId) -> Result<Vec<ActionRow>> {
    Ok(action::still_open(read::all(db, job).await?))
}

/// Ends the open rows of a canceled job without a worker: each gets a closing row.
pub(crate) async fn close(
    db: &mut dyn Db,
    fence: &mut Fence,
    open: &[ActionRow],
    at: Timestamp,
) -> Result<()> {
    if open.is_empty() {
        return Ok(());
    }
    let job = fence.job().clone();
    let sql = "SELECT config FROM job_configs WHERE job_id = $1";
    let config = db.first::<Value>(sql, params![&job]).await?;
    for row in open {
        let entry = ActionEntry::cancelled(row, config.as_ref().unwrap_or(&Value::Null));
        append(db, fence, &job, &entry, at).await?;
    }
    Ok(())
}

/// Writes a row at a known position in the log, with its creation and update times.
pub(crate) async fn insert(
    db: &mut dyn Db,
    job: &JobId,
    plan: Option<PlanId>,
    sequence: i64,
    entry: &ActionEntry,
    (created_at, updated_at): (Timestamp, Timestamp),
    n: Option<i64>,
) -> Result<()> {
    let row = entry.row();
    let row = columns! {
        plan_id: plan, job_id: job, session_id: row.chat_session.as_ref(),
        user_message: row.user_message.as_ref(), action_kind: row.kind, action_name: &row.name,
        status: row.status, success: entry.success(), message: row.message.as_ref(),
        details_json: row.details.as_ref(), sequence, created_at, updated_at, redactions: entry.redactions(), n,
    };
    db.insert("plan_action_logs", row).await
}

/// Binds a job without a plan to this one, with its existing rows.
async fn bind(db: &mut dyn Db, job: &JobId, plan: PlanId, at: Timestamp) -> Result<()> {
    let sql = "UPDATE plan_job_index SET plan_id = $1 WHERE job_id = $2 AND plan_id IS NULL";
    if db.execute(sql, params![plan, job]).await? > 0 {
        let sql = "UPDATE plan_action_logs SET plan_id = $1, updated_at = $2 WHERE job_id = $3";
        db.execute(sql, params![plan, at, job]).await?;
    }
    Ok(())
}
