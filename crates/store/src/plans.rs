//! Plans and their tasks. `papertape_core::plan::Tree` decides what a change does; this module reads and writes
//! the rows while the plan's row is locked.

use crate::db::{Backend, Db, Statement};
use crate::error::StoreError;
use crate::exclusivity;
use crate::fence::Fence;
use crate::page::{List, number};
use crate::store::{Store, port};
use crate::value::{Row, Value, params};
use futures::FutureExt as _;
use papertape_core::action::{IdKind, Origin};
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::page::{Page, PageRequest};
use papertape_core::plan::{
    NewPlan, Plan, PlanError, PlanId, PlanWrite, Task, TaskId, TaskWrite, Tree, WriteResult,
};
use papertape_core::ports::{BoxFuture, Plans, RecordError};
use papertape_core::record::{JobStatus, Lease};
use papertape_core::time::{Timestamp, to_micros};
use papertape_redact::Sanitized;

const PLANS: List = List { name: "plans", default: 50, max_limit: 200 };

impl Plans for Store {
    fn reserve<'a>(
        &'a self,
        lease: &'a Lease,
        origin: &'a Origin,
        kind: IdKind,
    ) -> BoxFuture<'a, Result<i64, RecordError>> {
        port(self.write_for_with(
            &lease.job,
            (lease.clone(), origin.path.clone()),
            move |db, (lease, path)| {
                async move {
                    Fence::take(db, lease, 0).await?;
                    reserve(db, &lease.job, path, kind).await
                }
                .boxed()
            },
        ))
    }

    fn write_plans<'a>(
        &'a self,
        writes: Sanitized<Vec<PlanWrite>>,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<WriteResult>, RecordError>> {
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

    fn plan<'a>(&'a self, plan: PlanId) -> BoxFuture<'a, Result<Option<Plan>, RecordError>> {
        port(self.read(move |db| {
            async move {
                let sql = format!("SELECT {PLAN} FROM plans p WHERE p.id = $1");
                db.row(&sql, params![plan]).await?.map(read_plan).transpose()
            }
            .boxed()
        }))
    }

    fn plans<'a>(&'a self, page: &'a PageRequest) -> BoxFuture<'a, Result<Page<Plan>, RecordError>> {
        port(self.read_with(page.clone(), |db, page| plans(db, page).boxed()))
    }

    fn count_plans(&self) -> BoxFuture<'_, Result<u64, RecordError>> {
        port(self.read(move |db| {
            async move {
                let row = db.row("SELECT count(*) FROM plans", &[]).await?;
                row.map_or(Ok(0), |mut row| row.get())
            }
            .boxed()
        }))
    }

    fn tasks<'a>(&'a self, plan: PlanId) -> BoxFuture<'a, Result<Vec<Task>, RecordError>> {
        port(self.read(move |db| {
            async move {
                let tree = tree(db, plan).await?;
                Ok(tree.in_order().into_iter().cloned().collect())
            }
            .boxed()
        }))
    }
}

async fn reserve(db: &mut dyn Db, job: &JobId, path: &str, kind: IdKind) -> Result<i64, StoreError> {
    let sql = "SELECT id FROM reserved_ids WHERE job_id = $1 AND path = $2 AND kind = $3";
    if let Some(mut row) = db.row(sql, params![job, path, kind]).await? {
        return row.get();
    }
    let id = next_id(db, kind).await?;
    let sql = "INSERT INTO reserved_ids (job_id, path, kind, id) VALUES ($1, $2, $3, $4)";
    db.execute(sql, params![job, path, kind, id]).await?;
    Ok(id)
}

/// An ID that this kind has never used.
async fn next_id(db: &mut dyn Db, kind: IdKind) -> Result<i64, StoreError> {
    let row = match db.backend() {
        Backend::Sqlite => {
            let sql = "UPDATE id_counters SET next_id = next_id + 1 WHERE kind = $1 RETURNING next_id - 1";
            db.row(sql, params![kind]).await?
        }
        // `nextval` takes no lock that lasts until the commit.
        Backend::Postgres => {
            let sql = format!("SELECT nextval('{kind}_ids')");
            db.row(&sql, &[]).await?
        }
    };
    row.ok_or_else(|| StoreError::inconsistent(format!("there are no numbers for a {kind}")))?.get()
}

/// Reserves all plan IDs up to this one.
pub(crate) async fn skip_plan_ids(db: &mut dyn Db, through: PlanId) -> Result<(), StoreError> {
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
pub(crate) async fn apply(
    db: &mut dyn Db,
    write: &PlanWrite,
    at: Timestamp,
) -> Result<WriteResult, StoreError> {
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

fn found(rows: u64, plan: PlanId) -> Result<WriteResult, StoreError> {
    if rows == 0 { Err(PlanError::NoPlan(plan).into()) } else { Ok(WriteResult { plan, task: None }) }
}

async fn create(db: &mut dyn Db, new: &NewPlan, at: Timestamp) -> Result<WriteResult, StoreError> {
    new.check()?;
    if let Some(origin) = &new.origin {
        let sql = "SELECT id FROM plans WHERE origin_job = $1 AND origin_path = $2";
        if let Some(mut row) = db.row(sql, params![&origin.job, &origin.path]).await? {
            return Ok(WriteResult { plan: row.get()?, task: None });
        }
    }
    let id = match new.id {
        Some(id) => id,
        None => PlanId(next_id(db, IdKind::Plan).await?),
    };
    let origin = new.origin.as_ref();
    let sql =
        "INSERT INTO plans (id, name, goal, status, chat_session_id, created_at, updated_at, origin_job,
        origin_path) VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8) ON CONFLICT (id) DO NOTHING";
    let values = params![
        id,
        &new.name,
        &new.goal,
        JobStatus::Queued,
        new.chat_session.as_ref(),
        at,
        origin.map(|origin| &origin.job),
        origin.map(|origin| &origin.path)
    ];
    if db.execute(sql, values).await? == 0 {
        return Err(StoreError::inconsistent(format!("the plan {id} is there already")));
    }
    Ok(WriteResult { plan: id, task: None })
}

async fn plans(db: &mut dyn Db, page: &PageRequest) -> Result<Page<Plan>, StoreError> {
    let mut statement = Statement::new(format!("SELECT {PLAN} FROM plans p WHERE 1 = 1"));
    if let Some([created_at, id]) = PLANS.key(page)? {
        let key = [number(&created_at)?.into(), number(&id)?.into()];
        statement.add(" AND (p.created_at, p.id) < (?, ?)", key);
    }
    let limit = Value::from(PLANS.limit(page) + 1);
    statement.add(" ORDER BY p.created_at DESC, p.id DESC LIMIT ?", [limit]);
    let found = statement.query(db).await?.into_iter().map(read_plan).collect::<Result<_, _>>()?;
    Ok(PLANS.page(page, found, |plan| vec![to_micros(plan.created_at).into(), plan.id.0.into()]))
}

const PLAN: &str = "p.id, p.name, p.goal, p.status, p.chat_session_id, p.created_at, p.updated_at,
    p.origin_job, p.origin_path, (SELECT count(*) FROM plan_tasks t WHERE t.plan_id = p.id)";

fn read_plan(mut row: Row) -> Result<Plan, StoreError> {
    let (id, name, goal, status) = (row.get()?, row.get()?, row.get()?, row.get()?);
    let (chat_session_id, created_at, updated_at) = (row.get()?, row.get()?, row.get()?);
    let origin = read_origin(&mut row)?;
    let tasks = row.get()?;
    Ok(Plan { id, name, goal, status, chat_session_id, tasks, origin, created_at, updated_at })
}

fn read_origin(row: &mut Row) -> Result<Option<Origin>, StoreError> {
    let (job, path): (Option<JobId>, Option<String>) = (row.get()?, row.get()?);
    Ok(job.zip(path).map(|(job, path)| Origin { job, path }))
}

const TASK: &str = "id, plan_id, parent_id, name, status, instruction, position, depth, path, dependencies,
    execution_result, created_at, updated_at, origin_job, origin_path";

fn read_task(mut row: Row) -> Result<Task, StoreError> {
    Ok(Task {
        id: row.get()?,
        plan_id: row.get()?,
        parent_id: row.get()?,
        name: row.get()?,
        status: row.get()?,
        instruction: row.get()?,
        position: row.get()?,
        depth: row.get()?,
        path: row.get()?,
        dependencies: {
            let ids: serde_json::Value = row.get()?;
            serde_json::from_value(ids).map_err(|error| {
                StoreError::inconsistent(format!("a task's dependencies cannot be read: {error}"))
            })?
        },
        execution_result: row.get()?,
        created_at: row.get()?,
        updated_at: row.get()?,
        origin: read_origin(&mut row)?,
    })
}

async fn tree(db: &mut dyn Db, plan: PlanId) -> Result<Tree, StoreError> {
    let sql = format!("SELECT {TASK} FROM plan_tasks WHERE plan_id = $1");
    let tasks =
        db.query(&sql, params![plan]).await?.into_iter().map(read_task).collect::<Result<Vec<_>, _>>();
    Ok(Tree::new(plan, tasks?))
}

/// Inserts a task, or overwrites all its fields.
async fn put(db: &mut dyn Db, task: &Task) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO plan_tasks ({TASK})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         ON CONFLICT (id) DO UPDATE SET parent_id = excluded.parent_id, name = excluded.name,
             status = excluded.status, instruction = excluded.instruction, position = excluded.position,
             depth = excluded.depth, path = excluded.path, dependencies = excluded.dependencies,
             execution_result = excluded.execution_result, updated_at = excluded.updated_at"
    );
    let origin = task.origin.as_ref();
    let values = params![
        task.id,
        task.plan_id,
        task.parent_id,
        &task.name,
        task.status,
        &task.instruction,
        task.position,
        task.depth,
        &task.path,
        &to_value(&task.dependencies),
        task.execution_result.as_ref(),
        task.created_at,
        task.updated_at,
        origin.map(|origin| &origin.job),
        origin.map(|origin| &origin.path)
    ];
    db.execute(&sql, values).await.map(drop)
}
