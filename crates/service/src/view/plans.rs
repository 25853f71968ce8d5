//! Plans and their tasks.

use super::page;
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use papertape_core::plan::{PlanId, TaskId};
use papertape_core::ports::Plans as _;
use papertape_protocol::plans::{
    PlanResponse, PlanSummary, PlansResponse, TaskResponse, TaskSummary, TasksResponse,
};
use papertape_protocol::query::PageQuery;

/// All plans, newest first.
///
/// # Errors
/// A bad limit or cursor; a database error.
pub async fn plans(app: &App, query: PageQuery) -> Result<PlansResponse, ServiceError> {
    let found = app.store.plans(&page(query.limit, query.cursor)?).await?;
    let plans: Vec<PlanSummary> = found.items.into_iter().map(PlanSummary::from).collect();
    Ok(PlansResponse { count: plans.len(), plans, next_cursor: found.next, deployment: deployment(app) })
}

/// One plan.
///
/// # Errors
/// No such plan; a database error.
pub async fn plan(app: &App, plan: i64) -> Result<PlanResponse, ServiceError> {
    let found = app.store.plan(PlanId(plan)).await?.ok_or_else(|| ServiceError::no_plan(PlanId(plan)))?;
    Ok(PlanResponse { plan: found.into(), deployment: deployment(app) })
}

/// All tasks of a plan.
///
/// # Errors
/// No such plan; a database error.
pub async fn tasks(app: &App, plan: i64) -> Result<TasksResponse, ServiceError> {
    app.store.plan(PlanId(plan)).await?.ok_or_else(|| ServiceError::no_plan(PlanId(plan)))?;
    let tasks: Vec<TaskSummary> =
        app.store.tasks(PlanId(plan)).await?.into_iter().map(TaskSummary::from).collect();
    Ok(TasksResponse { plan_id: plan, count: tasks.len(), tasks, deployment: deployment(app) })
}

/// One task of a plan.
///
/// # Errors
/// No such task; a database error.
pub async fn task(app: &App, plan: i64, task: i64) -> Result<TaskResponse, ServiceError> {
    let found = app.store.tasks(PlanId(plan)).await?.into_iter().find(|found| found.id == TaskId(task));
    let found = found.ok_or_else(|| ServiceError::NotFound(format!("plan {plan} has no task {task}")))?;
    Ok(TaskResponse { task: found.into(), deployment: deployment(app) })
}
