//! Plans and their tasks.

use super::{Deployment, ViewError, page};
use crate::app::App;
use papertape_core::plan::{Plan, PlanId, Task, TaskId, TaskStatus};
use papertape_core::ports::Plans as _;
use papertape_core::record::JobStatus;
use papertape_core::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlanSummary {
    /// Its id.
    pub id: i64,
    /// What it is called.
    pub name: String,
    /// What it is to reach.
    pub goal: String,
    /// How far it is; `partial`: some of its tasks failed.
    #[schema(schema_with = super::vocabulary::job_status)]
    pub status: JobStatus,
    /// The conversation that it comes from.
    pub chat_session_id: Option<String>,
    /// How many tasks it has.
    pub tasks: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it or one of its tasks was last changed.
    pub updated_at: Timestamp,
}

impl From<Plan> for PlanSummary {
    fn from(plan: Plan) -> Self {
        Self {
            id: plan.id.0,
            name: plan.name,
            goal: plan.goal,
            status: plan.status,
            chat_session_id: plan.chat_session_id.map(|session| session.to_string()),
            tasks: plan.tasks,
            created_at: plan.created_at,
            updated_at: plan.updated_at,
        }
    }
}

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TaskSummary {
    /// Its id.
    pub id: i64,
    /// The plan.
    pub plan_id: i64,
    /// The task that it is a part of; `null`: it stands at the top.
    pub parent_id: Option<i64>,
    /// What it is called.
    pub name: String,
    /// How far it is.
    #[schema(schema_with = super::vocabulary::task_status)]
    pub status: TaskStatus,
    /// What is to be done.
    pub instruction: String,
    /// Its place among its siblings, from 0.
    pub position: u32,
    /// How deep it stands; 0 at the top.
    pub depth: u32,
    /// The ids from the top down to itself.
    #[schema(example = "/3/17")]
    pub path: String,
    /// Tasks that must be done before it, by id.
    pub dependencies: Vec<i64>,
    /// What came of it.
    #[schema(value_type = Option<Object>)]
    pub execution_result: Option<Value>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl From<Task> for TaskSummary {
    fn from(task: Task) -> Self {
        Self {
            id: task.id.0,
            plan_id: task.plan_id.0,
            parent_id: task.parent_id.map(|parent| parent.0),
            name: task.name,
            status: task.status,
            instruction: task.instruction,
            position: task.position,
            depth: task.depth,
            path: task.path,
            dependencies: task.dependencies.into_iter().map(|task| task.0).collect(),
            execution_result: task.execution_result,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

/// One plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlanResponse {
    /// The plan.
    pub plan: PlanSummary,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A page of plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlansResponse {
    /// The plans, newest first.
    pub plans: Vec<PlanSummary>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TaskResponse {
    /// The task.
    pub task: TaskSummary,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// All tasks of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TasksResponse {
    /// The plan.
    pub plan_id: i64,
    /// The tasks, each before its children, siblings by position; at most 1000.
    pub tasks: Vec<TaskSummary>,
    /// How many there are.
    pub count: usize,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// All plans, newest first.
///
/// # Errors
/// A bad limit or cursor; the record's.
pub async fn plans(
    app: &App,
    limit: Option<u32>,
    cursor: Option<String>,
) -> Result<PlansResponse, ViewError> {
    let found = app.store.plans(&page(limit, cursor)?).await?;
    let plans: Vec<PlanSummary> = found.items.into_iter().map(PlanSummary::from).collect();
    Ok(PlansResponse { count: plans.len(), plans, next_cursor: found.next, deployment: Deployment::of(app) })
}

/// One plan.
///
/// # Errors
/// No such plan; the record's.
pub async fn plan(app: &App, plan: i64) -> Result<PlanResponse, ViewError> {
    let found = app.store.plan(PlanId(plan)).await?.ok_or_else(|| no_plan(plan))?;
    Ok(PlanResponse { plan: found.into(), deployment: Deployment::of(app) })
}

/// All tasks of a plan.
///
/// # Errors
/// No such plan; the record's.
pub async fn tasks(app: &App, plan: i64) -> Result<TasksResponse, ViewError> {
    app.store.plan(PlanId(plan)).await?.ok_or_else(|| no_plan(plan))?;
    let tasks: Vec<TaskSummary> =
        app.store.tasks(PlanId(plan)).await?.into_iter().map(TaskSummary::from).collect();
    Ok(TasksResponse { plan_id: plan, count: tasks.len(), tasks, deployment: Deployment::of(app) })
}

/// One task of a plan.
///
/// # Errors
/// No such task; the record's.
pub async fn task(app: &App, plan: i64, task: i64) -> Result<TaskResponse, ViewError> {
    let found = app.store.tasks(PlanId(plan)).await?.into_iter().find(|found| found.id == TaskId(task));
    let found = found.ok_or_else(|| ViewError::NotFound(format!("plan {plan} has no task {task}")))?;
    Ok(TaskResponse { task: found.into(), deployment: Deployment::of(app) })
}

fn no_plan(plan: i64) -> ViewError {
    ViewError::NotFound(format!("there is no plan {plan}"))
}
