//! Jobs of which there is one at a time: for a plan one that decomposes or executes it, for a conversation one
//! answer. Asked inside of the transaction that queues the job, with the plan or the conversation held, so
//! that of two who ask together one is refused, whichever process they ask. And what becomes of a plan when
//! such a job begins and stops.

use crate::db::{Backend, Db};
use crate::error::StoreError;
use crate::value::{Value, params};
use papertape_core::chat::ChatId;
use papertape_core::id::JobId;
use papertape_core::plan::{PlanId, PlanRefusal};
use papertape_core::record::{CHAT_ACTION, JobStatus, ONE_A_PLAN, PLAN_EXECUTE};
use papertape_core::time::Timestamp;

/// Refuses a job that works on a plan while another one does, or waits to: an execution of what is still being
/// decomposed would end before its tasks are there. The plan is held until the transaction ends.
pub(crate) async fn on_plan(
    db: &mut dyn Db,
    (job, kind): (&JobId, &str),
    plan: Option<PlanId>,
) -> Result<(), StoreError> {
    let Some(plan) = plan.filter(|_| ONE_A_PLAN.contains(&kind)) else { return Ok(()) };
    match at_work(db, plan, job.as_str()).await? {
        Some(other) => Err(StoreError::Busy(other)),
        None => Ok(()),
    }
}

/// The job, other than this one, that works on a plan or waits to. The plan is held until the transaction ends.
async fn at_work(db: &mut dyn Db, plan: PlanId, but: &str) -> Result<Option<JobId>, StoreError> {
    hold(db, "plans", plan.into()).await?;
    let kinds = ONE_A_PLAN.map(|kind| format!("'{kind}'")).join(", ");
    let sql = format!(
        "SELECT job_id FROM plan_job_index WHERE plan_id = $1 AND job_type IN ({kinds})
         AND status IN ('queued', 'running') AND job_id <> $2 LIMIT 1"
    );
    let found = db.row(&sql, params![plan, but]).await?;
    found.map(|mut row| row.get()).transpose()
}

/// Refuses another answer while one of the conversation's is queued or running. The caller holds the
/// conversation.
pub(crate) async fn in_chat(db: &mut dyn Db, job: &JobId, chat: &ChatId) -> Result<(), StoreError> {
    let sql = "SELECT j.job_id FROM chat_messages m JOIN jobs j ON j.job_id = m.job_id
        WHERE m.session_id = $1 AND j.status IN ('queued', 'running') AND j.job_id <> $2 LIMIT 1";
    refuse(db.row(sql, params![chat, job]).await?)
}

/// Both, for a job that is put back into the queue.
pub(crate) async fn again(db: &mut dyn Db, job: &JobId) -> Result<(), StoreError> {
    let sql = "SELECT job_type, plan_id FROM plan_job_index WHERE job_id = $1";
    let Some(mut row) = db.row(sql, params![job]).await? else { return Ok(()) };
    let (kind, plan): (String, Option<PlanId>) = (row.get()?, row.get()?);
    on_plan(db, (job, &kind), plan).await?;
    if kind != CHAT_ACTION {
        return Ok(());
    }
    let sql = "SELECT session_id FROM chat_messages WHERE job_id = $1 LIMIT 1";
    let Some(mut row) = db.row(sql, params![job]).await? else { return Ok(()) };
    let chat: ChatId = row.get()?;
    hold(db, "chat_sessions", (&chat).into()).await?;
    in_chat(db, job, &chat).await
}

/// Refuses to take anything of a plan away while a job works on it. The plan is held until the transaction
/// ends.
pub(crate) async fn nobody_works_on(db: &mut dyn Db, plan: PlanId) -> Result<(), StoreError> {
    match at_work(db, plan, "").await? {
        Some(job) => Err(PlanRefusal::Busy(job).into()),
        None => Ok(()),
    }
}

/// A worker has an execution: its plan is running, also where it had been stopped before.
pub(crate) async fn take_up(db: &mut dyn Db, job: &JobId, at: Timestamp) -> Result<(), StoreError> {
    let sql = "UPDATE plans SET status = 'running', updated_at = $1
        WHERE id = (SELECT plan_id FROM plan_job_index WHERE job_id = $2)";
    db.execute(sql, params![at, job]).await.map(drop)
}

/// An execution has stopped: its plan is as it is, and none of the plan's tasks is running any more.
pub(crate) async fn let_go(
    db: &mut dyn Db,
    job: &JobId,
    status: JobStatus,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "SELECT plan_id FROM plan_job_index WHERE job_id = $1 AND job_type = $2";
    let Some(mut row) = db.row(sql, params![job, PLAN_EXECUTE]).await? else { return Ok(()) };
    let Some(plan) = row.get::<Option<PlanId>>()? else { return Ok(()) };
    let sql = "UPDATE plan_tasks SET status = 'queued', updated_at = $1
        WHERE plan_id = $2 AND status = 'running'";
    db.execute(sql, params![at, plan]).await?;
    let sql = "UPDATE plans SET status = $1, updated_at = $2 WHERE id = $3 AND status = 'running'";
    db.execute(sql, params![status, at, plan]).await.map(drop)
}

/// Keeps a row from others until the transaction ends. On SQLite there is one writer at a time.
async fn hold(db: &mut dyn Db, table: &str, id: Value) -> Result<(), StoreError> {
    if db.backend() == Backend::Postgres {
        db.query(&format!("SELECT id FROM {table} WHERE id = $1 FOR UPDATE"), &[id]).await?;
    }
    Ok(())
}

fn refuse(other: Option<crate::value::Row>) -> Result<(), StoreError> {
    match other {
        Some(mut other) => Err(StoreError::Busy(other.get()?)),
        None => Ok(()),
    }
}
