//! Mutual exclusion of jobs: at most one job decomposes or executes a plan, and at most one writes a reply in a
//! conversation. Checked inside the transaction that queues the job, with the row of the plan or conversation
//! locked, so that of two concurrent requests one is rejected, whichever process they reach. Also: how a plan's
//! status follows its job's start and stop.

use crate::db::{Backend, Db};
use crate::error::{Result, StoreError};
use crate::value::{Value, params};
use papertape_core::chat::ChatId;
use papertape_core::id::JobId;
use papertape_core::plan::{PlanError, PlanId};
use papertape_core::record::{JobKind, JobStatus};
use papertape_core::time::Timestamp;

/// Rejects a job on a plan while another one is queued or running: executing a plan that is still being
/// decomposed would finish before its tasks exist. The plan's row stays locked until the transaction ends.
pub(crate) async fn ensure_plan_free(
    db: &mut dyn Db,
    (job, kind): (&JobId, &JobKind),
    plan: Option<PlanId>,
) -> Result<()> {
    let Some(plan) = plan.filter(|_| JobKind::EXCLUSIVE_PER_PLAN.contains(kind)) else { return Ok(()) };
    refuse(job_on_plan(db, plan, job.as_str()).await?)
}

/// The job, other than this one, that is queued or running on a plan. The plan's row stays locked until the
/// transaction ends.
async fn job_on_plan(db: &mut dyn Db, plan: PlanId, but: &str) -> Result<Option<JobId>> {
    hold(db, "plans", plan.into()).await?;
    let kinds = sql_list(JobKind::EXCLUSIVE_PER_PLAN);
    let sql = format!(
        "SELECT job_id FROM plan_job_index WHERE plan_id = $1 AND job_type IN ({kinds})
         AND status IN ('queued', 'running') AND job_id <> $2 LIMIT 1"
    );
    db.first(&sql, params![plan, but]).await
}

/// `'a', 'b'`, for `IN (…)`.
pub(crate) fn sql_list(kinds: &[JobKind]) -> String {
    kinds.iter().map(|kind| format!("'{kind}'")).collect::<Vec<_>>().join(", ")
}

/// Rejects another reply while one of the conversation's is queued or running. The caller has locked the
/// conversation's row.
pub(crate) async fn ensure_chat_free(db: &mut dyn Db, job: &JobId, chat: &ChatId) -> Result<()> {
    let sql = "SELECT j.job_id FROM chat_messages m JOIN jobs j ON j.job_id = m.job_id
        WHERE m.session_id = $1 AND j.status IN ('queued', 'running') AND j.job_id <> $2 LIMIT 1";
    refuse(db.first(sql, params![chat, job]).await?)
}

/// Both checks, for a job that is requeued.
pub(crate) async fn recheck(db: &mut dyn Db, job: &JobId) -> Result<()> {
    let sql = "SELECT job_type, plan_id FROM plan_job_index WHERE job_id = $1";
    let found = db.first::<(JobKind, Option<PlanId>)>(sql, params![job]).await?;
    let Some((kind, plan)) = found else { return Ok(()) };
    ensure_plan_free(db, (job, &kind), plan).await?;
    if kind != JobKind::ChatAction {
        return Ok(());
    }
    let sql = "SELECT session_id FROM chat_messages WHERE job_id = $1 LIMIT 1";
    let Some(chat) = db.first::<ChatId>(sql, params![job]).await? else { return Ok(()) };
    hold(db, "chat_sessions", (&chat).into()).await?;
    ensure_chat_free(db, job, &chat).await
}

/// Rejects a deletion from a plan while a job works on it. The plan's row stays locked until the transaction
/// ends.
pub(crate) async fn ensure_no_job_on_plan(db: &mut dyn Db, plan: PlanId) -> Result<()> {
    job_on_plan(db, plan, "").await?.map_or(Ok(()), |job| Err(PlanError::Busy(job).into()))
}

/// A worker has claimed an execution: its plan is running, even if it had been stopped before.
pub(crate) async fn mark_plan_running(db: &mut dyn Db, job: &JobId, at: Timestamp) -> Result<()> {
    let sql = "UPDATE plans SET status = 'running', updated_at = $1
        WHERE id = (SELECT plan_id FROM plan_job_index WHERE job_id = $2)";
    db.execute(sql, params![at, job]).await.map(drop)
}

/// An execution has stopped: its plan takes the job's status, and none of the plan's tasks is running anymore.
pub(crate) async fn release_plan(
    db: &mut dyn Db,
    job: &JobId,
    status: JobStatus,
    at: Timestamp,
) -> Result<()> {
    let sql = "SELECT plan_id FROM plan_job_index WHERE job_id = $1 AND job_type = $2";
    let plan = db.first::<Option<PlanId>>(sql, params![job, &JobKind::PlanExecute]).await?;
    let Some(plan) = plan.flatten() else { return Ok(()) };
    let sql = "UPDATE plan_tasks SET status = 'queued', updated_at = $1
        WHERE plan_id = $2 AND status = 'running'";
    db.execute(sql, params![at, plan]).await?;
    let sql = "UPDATE plans SET status = $1, updated_at = $2 WHERE id = $3 AND status = 'running'";
    db.execute(sql, params![status, at, plan]).await.map(drop)
}

/// Locks a row until the transaction ends. SQLite has only one writer at a time and needs no lock.
async fn hold(db: &mut dyn Db, table: &str, id: Value) -> Result<()> {
    if db.backend() == Backend::Postgres {
        db.query(&format!("SELECT id FROM {table} WHERE id = $1 FOR UPDATE"), &[id]).await?;
    }
    Ok(())
}

fn refuse(other: Option<JobId>) -> Result<()> {
    other.map_or(Ok(()), |other| Err(StoreError::Busy(other)))
}
