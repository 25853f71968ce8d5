//! Plans and their tasks. `papertape_core::plan::Tree` decides what a change does; this module reads and writes
//! the rows while the plan's row is locked.

use crate::db::{Backend, Db, Statement};
use crate::error::{Result, StoreError};
use crate::exclusivity;
use crate::fence::Fence;
use crate::page::List;
use crate::store::{Store, port};
use crate::value::{FromRow, Row, columns, from_row, params};
use futures::{FutureExt as _, TryFutureExt as _};
use papertape_core::action::{IdKind, Origin};
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::page::{Page, PageRequest};
use papertape_core::plan::{
    NewPlan, Plan, PlanError, PlanId, PlanWrite, Task, TaskId, TaskWrite, Tree, WriteResult,
};
use papertape_core::ports::{Plans, RecordFuture};
use papertape_core::record::{JobStatus, Lease};
use papertape_core::time::{Timestamp, to_micros};
use papertape_redact::Sanitized;

const PLANS: List = List::descending("plans", (50, 200), "p.created_at, p.id");

impl Plans for Store {
    fn reserve<'a>(&'a self, lease: &'a Lease, origin: &'a Origin, kind: IdKind) -> RecordFuture<'a, i64> {
        port(self.write_for_with(lease, (lease.clone(), origin.path.clone()), move |db, (lease, path)| {
            async move {
                Fence::take(db, lease, 0).await?;
                reserve(db, &lease.job, path, kind).await
            }
            .boxed()
        }))
    }

    fn write_plans<'a>(
        &'a self,
        writes: Sanitized<Vec<PlanWrite>>,
        at: Timestamp,
    ) -> RecordFuture<'a, Vec<WriteResult>> {
        port(self.write_with(writes, move |db, writes| {
            async move {
                let mut written = Vec::new();
                for write in writes.get() {
                    written.push(apply(db, write, at).await?);
                }
                Ok(written)
            }
            .boxed()
        }))
    }

    fn plan<'a>(&'a self, plan: PlanId) -> RecordFuture<'a, Option<Plan>> {
        port(self.first(format!("SELECT {PLAN} FROM plans p WHERE p.id = $1"), params![plan]))
    }

    fn plans<'a>(&'a self, page: &'a PageRequest) -> RecordFuture<'a, Page<Plan>> {
        port(self.read_with(page.clone(), |db, page| plans(db, page).boxed()))
    }

    fn count_plans(&self) -> RecordFuture<'_, u64> {
        port(self.first("SELECT count(*) FROM plans", &[]).map_ok(Option::unwrap_or_default).boxed())
    }

    fn tasks<'a>(&'a self, plan: PlanId) -> RecordFuture<'a, Vec<Task>> {
        port(self.read(move |db| {
            async move {
                let tree = tree(db, plan).await?;
                Ok(tree.in_order().into_iter().cloned().collect())
            }
            .boxed()
        }))
    }
}

async fn reserve(db: &mut dyn Db, job: &JobId, path: &str, kind: IdKind) -> Result<i64> {
    let sql = "SELECT id FROM reserved_ids WHERE job_id = $1 AND path = $2 AND kind = $3";
    if let Some(id) = db.first(sql, params![job, path, kind]).await? {
        return Ok(id);
    }
    let id = next_id(db, kind).await?;
    db.insert("reserved_ids", columns! { job_id: job, path, kind, id }).await?;
    Ok(id)
}

/// An ID that this kind has never used.
async fn next_id(db: &mut dyn Db, kind: IdKind) -> Result<i64> {
    let id = match db.backend() {
        Backend::Sqlite => {
            let sql = "UPDATE id_counters SET next_id = next_id + 1 WHERE kind = $1 RETURNING next_id - 1";
            db.first(sql, params![kind]).await?
        }
        // `nextval` takes no lock that lasts until the commit.
        Backend::Postgres => db.first(&format!("SELECT nextval('{kind}_ids')"), &[]).await?,
    };
    id.ok_or_else(|| StoreError::inconsistent(format!("there are no numbers for a {kind}")))
}

/// Reserves all plan IDs up to this one.
pub(crate) async fn skip_plan_ids(db: &mut dyn Db, through: PlanId) -> Result<()> {
    match db.backend() {
        Backend::Sqlite => {
            let sql = "UPDATE id_counters SET next_id = $1 WHERE kind = 'plan' AND next_id < $1";
            db.execute(sql, params![through.0.saturating_add(1)]).await.map(drop)
        }
        Backend::Postgres => {
            let sql = "SELECT setval('plan_ids', $1) FROM plan_ids WHERE last_value <= $1";
            db.query(sql, params![through]).await.map(drop)
        }
    }
}

/// Applies a change, or rejects it. The caller owns the transaction and must roll it back on rejection.
pub(crate) async fn apply(db: &mut dyn Db, write: &PlanWrite, at: Timestamp) -> Result<WriteResult> {
    match write {
        PlanWrite::Create(new) => create(db, new, at).await,
        PlanWrite::Update { plan, changes } => {
            changes.check()?;
            let sql = "UPDATE plans SET name = coalesce($1, name), goal = coalesce($2, goal),
                status = coalesce($3, status), updated_at = $4 WHERE id = $5";
            let values = params![changes.name.as_ref(), changes.goal.as_ref(), changes.status, at, *plan];
            found(db.execute(sql, values).await?, *plan)
        }
        PlanWrite::Delete { plan } => {
            exclusivity::ensure_no_job_on_plan(db, *plan).await?;
            found(db.execute("DELETE FROM plans WHERE id = $1", params![*plan]).await?, *plan)
        }
        PlanWrite::Task { plan, write } => {
            // Locks the plan's row: changes to one tree are applied one after the other.
            let sql = "UPDATE plans SET updated_at = $1 WHERE id = $2";
            found(db.execute(sql, params![at, *plan]).await?, *plan)?;
            if matches!(write, TaskWrite::Delete { .. }) {
                exclusivity::ensure_no_job_on_plan(db, *plan).await?;
            }
            let mut tree = tree(db, *plan).await?;
            let fresh = match write {
                TaskWrite::Create(new) if new.id.is_none() => next_id(db, IdKind::Task).await?,
                // Not needed.
                _ => 0,
            };
            let changed = tree.apply(write, TaskId(fresh), at)?;
            for gone in &changed.gone {
                db.execute("DELETE FROM plan_tasks WHERE id = $1", params![*gone]).await?;
            }
            for kept in &changed.kept {
                if let Some(task) = tree.get(*kept) {
                    put(db, task).await?;
                }
            }
            // An executed plan takes the combined status of its tasks; a running one keeps its own.
            let sql =
                "UPDATE plans SET status = $1 WHERE id = $2 AND status IN ('completed', 'partial', 'failed')";
            db.execute(sql, params![tree.derived_status(), *plan]).await?;
            Ok(WriteResult { plan: *plan, task: changed.task })
        }
    }
}

fn found(rows: u64, plan: PlanId) -> Result<WriteResult> {
    if rows == 0 { Err(PlanError::NoPlan(plan).into()) } else { Ok(WriteResult { plan, task: None }) }
}

async fn create(db: &mut dyn Db, new: &NewPlan, at: Timestamp) -> Result<WriteResult> {
    new.check()?;
    if let Some(origin) = &new.origin {
        let sql = "SELECT id FROM plans WHERE origin_job = $1 AND origin_path = $2";
        if let Some(plan) = db.first(sql, params![&origin.job, &origin.path]).await? {
            return Ok(WriteResult { plan, task: None });
        }
    }
    let id = match new.id {
        Some(id) => id,
        None => PlanId(next_id(db, IdKind::Plan).await?),
    };
    let origin = new.origin.as_ref();
    let row = columns! {
        id, name: &new.name, goal: &new.goal, status: JobStatus::Queued, created_at: at, updated_at: at,
        chat_session_id: new.chat_session.as_ref(), origin_job: origin.map(|origin| &origin.job),
        origin_path: origin.map(|origin| &origin.path),
    };
    if Statement::insert("plans", row).add(" ON CONFLICT (id) DO NOTHING", []).execute(db).await? == 0 {
        return Err(StoreError::inconsistent(format!("the plan {id} is there already")));
    }
    Ok(WriteResult { plan: id, task: None })
}

async fn plans(db: &mut dyn Db, page: &PageRequest) -> Result<Page<Plan>> {
    let statement = Statement::new(format!("SELECT {PLAN} FROM plans p WHERE 1 = 1"));
    PLANS.fetch(db, statement, page, |plan: &Plan| (to_micros(plan.created_at), plan.id.0)).await
}

const PLAN: &str = "p.id, p.name, p.goal, p.status, p.chat_session_id, p.created_at, p.updated_at,
    p.origin_job, p.origin_path, (SELECT count(*) FROM plan_tasks t WHERE t.plan_id = p.id)";

from_row! { impl row => Plan {
    id, name, goal, status, chat_session_id, created_at, updated_at, origin, tasks,
} }

impl FromRow for Option<Origin> {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (job, path): (Option<JobId>, Option<String>) = row.get()?;
        Ok(job.zip(path).map(|(job, path)| Origin { job, path }))
    }
}

const TASK: &str = "id, plan_id, parent_id, name, status, instruction, position, depth, path, dependencies,
    execution_result, created_at, updated_at, origin_job, origin_path";

from_row! { impl row => Task {
    id, plan_id, parent_id, name, status, instruction, position, depth, path, dependencies: row.document()?,
    execution_result, created_at, updated_at, origin,
} }

async fn tree(db: &mut dyn Db, plan: PlanId) -> Result<Tree> {
    let sql = format!("SELECT {TASK} FROM plan_tasks WHERE plan_id = $1");
    Ok(Tree::new(plan, db.all(&sql, params![plan]).await?))
}

/// Inserts a task, or overwrites all its fields.
async fn put(db: &mut dyn Db, task: &Task) -> Result<()> {
    let origin = task.origin.as_ref();
    let row = columns! {
        id: task.id, plan_id: task.plan_id, parent_id: task.parent_id, name: &task.name, status: task.status,
        instruction: &task.instruction, position: task.position, depth: task.depth, path: &task.path,
        dependencies: &to_value(&task.dependencies), execution_result: task.execution_result.as_ref(),
        created_at: task.created_at, updated_at: task.updated_at,
        origin_job: origin.map(|origin| &origin.job), origin_path: origin.map(|origin| &origin.path),
    };
    let changes = " ON CONFLICT (id) DO UPDATE SET parent_id = excluded.parent_id, name = excluded.name,
        status = excluded.status, instruction = excluded.instruction, position = excluded.position,
        depth = excluded.depth, path = excluded.path, dependencies = excluded.dependencies,
        execution_result = excluded.execution_result, updated_at = excluded.updated_at";
    Statement::insert("plan_tasks", row).add(changes, []).execute(db).await.map(drop)
}
