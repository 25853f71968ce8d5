//! Jobs of which there is one at a time: for a plan one decomposition and one execution, for a conversation
//! one answer. Asked inside of the transaction that queues the job, with the plan or the conversation held, so
//! that of two who ask together one is refused, whichever process they ask.

use crate::db::{Backend, Db};
use crate::error::StoreError;
use crate::value::{Value, params};
use papertape_core::chat::ChatId;
use papertape_core::id::JobId;
use papertape_core::plan::PlanId;
use papertape_core::record::{CHAT_ACTION, ONE_A_PLAN};

/// Refuses a job of a kind of which a plan has one at a time while another one is queued or running. The plan
/// is held until the transaction ends.
pub(crate) async fn on_plan(
    db: &mut dyn Db,
    (job, kind): (&JobId, &str),
    plan: Option<PlanId>,
) -> Result<(), StoreError> {
    let Some(plan) = plan.filter(|_| ONE_A_PLAN.contains(&kind)) else { return Ok(()) };
    hold(db, "plans", plan.into()).await?;
    let sql = "SELECT job_id FROM plan_job_index
        WHERE plan_id = $1 AND job_type = $2 AND status IN ('queued', 'running') AND job_id <> $3 LIMIT 1";
    refuse(db.row(sql, params![plan, kind, job]).await?)
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
