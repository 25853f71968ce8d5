//! `/plans/{plan_id}/tasks` and `/plans/{plan_id}/tasks/{task_id}`

use super::error::ApiError;
use super::extract::{Body, PlanPath, TaskPath, given};
use super::plans::write;
use super::responses::{BodyErrors, ReadErrors, WriteErrors};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_core::plan::{
    MAX_TASKS, NewTask, PlanId, PlanWrite, TaskChanges, TaskId, TaskStatus, TaskWrite,
};
use papertape_service::app::App;
use papertape_service::view::{self, TaskResponse, TasksResponse};
use serde::Deserialize;
use utoipa::ToSchema;

/// A new task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Run the cautious desk", "instruction": "IBM and AAPL, autumn of 2012" }))]
pub(super) struct TaskBody {
    /// The name; not blank.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    name: String,
    /// The instruction.
    #[serde(default)]
    #[schema(max_length = 20_000)]
    instruction: String,
    /// The parent task; absent or `null`: top level.
    parent_id: Option<i64>,
    /// The position among its siblings, from 0; absent or beyond the end: last.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    position: Option<u32>,
    /// Tasks of the plan that must be completed before it.
    #[serde(default)]
    #[schema(max_items = 1000)]
    dependencies: Vec<i64>,
}

/// Changes of a task. Absent fields stay unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "parent_id": null, "position": 0 }))]
pub(super) struct TaskPatch {
    /// The name; not blank.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    name: Option<String>,
    /// The instruction.
    #[schema(max_length = 20_000)]
    instruction: Option<String>,
    /// The new status. Its execution result is cleared.
    #[serde(default, deserialize_with = "given")]
    #[schema(schema_with = papertape_service::view::vocabulary::task_status_by_hand)]
    status: Option<TaskStatus>,
    /// The new parent; its subtasks move with it. `null`: top level.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>)]
    parent_id: Option<Option<i64>>,
    /// The new position among its siblings, from 0.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    position: Option<u32>,
    /// Tasks of the plan that must be completed before it; they replace the current dependencies.
    #[schema(max_items = 1000)]
    dependencies: Option<Vec<i64>>,
}

/// List a plan's tasks, each before its children
#[utoipa::path(
    get,
    path = "/plans/{plan_id}/tasks",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan")),
    responses((status = 200, body = TasksResponse, description = "The tasks"), ReadErrors)
)]
pub(super) async fn tasks(
    State(app): State<App>,
    PlanPath(plan): PlanPath,
) -> Result<Json<TasksResponse>, ApiError> {
    Ok(Json(view::tasks(&app, plan).await?))
}

/// Create a task
#[utoipa::path(
    post,
    operation_id = "create_task",
    path = "/plans/{plan_id}/tasks",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan")),
    request_body = TaskBody,
    responses((status = 201, body = TaskResponse, description = "The task"), BodyErrors)
)]
pub(super) async fn create(
    State(app): State<App>,
    PlanPath(plan): PlanPath,
    Body(body): Body<TaskBody>,
) -> Result<(StatusCode, Json<TaskResponse>), ApiError> {
    let new = NewTask {
        id: None,
        parent: body.parent_id.map(TaskId),
        name: body.name,
        instruction: body.instruction,
        position: body.position,
        dependencies: task_ids(body.dependencies)?,
        origin: None,
    };
    let written = write(&app, vec![task_write(plan, TaskWrite::Create(new))]).await?;
    let task = written.task.map_or(0, |task| task.0);
    Ok((StatusCode::CREATED, Json(view::task(&app, plan, task).await?)))
}

/// Get a task
#[utoipa::path(
    get,
    path = "/plans/{plan_id}/tasks/{task_id}",
    tag = "plans",
    params(
        ("plan_id" = i64, Path, description = "The plan"),
        ("task_id" = i64, Path, description = "The task")
    ),
    responses((status = 200, body = TaskResponse, description = "The task"), ReadErrors)
)]
pub(super) async fn task(
    State(app): State<App>,
    TaskPath(plan, task): TaskPath,
) -> Result<Json<TaskResponse>, ApiError> {
    Ok(Json(view::task(&app, plan, task).await?))
}

/// Update or move a task
///
/// Its subtasks move with it. Either all changes apply or none. Circular dependencies are rejected.
#[utoipa::path(
    patch,
    operation_id = "update_task",
    path = "/plans/{plan_id}/tasks/{task_id}",
    tag = "plans",
    params(
        ("plan_id" = i64, Path, description = "The plan"),
        ("task_id" = i64, Path, description = "The task")
    ),
    request_body = TaskPatch,
    responses((status = 200, body = TaskResponse, description = "The updated task"), BodyErrors)
)]
pub(super) async fn update(
    State(app): State<App>,
    TaskPath(plan, task): TaskPath,
    Body(body): Body<TaskPatch>,
) -> Result<Json<TaskResponse>, ApiError> {
    let id = TaskId(task);
    let dependencies = body.dependencies.map(task_ids).transpose()?;
    let (name, instruction, status) = (body.name, body.instruction, body.status);
    if status == Some(TaskStatus::Running) {
        let why = "status: only a job can set `running`; execute the plan or the task";
        return Err(ApiError::Invalid(why.to_owned()));
    }
    // The result belongs to the status that a job set.
    let execution_result = status.map(|_| None);
    let changes = TaskChanges { name, instruction, status, dependencies, execution_result };
    let mut writes = vec![task_write(plan, TaskWrite::Update { task: id, changes })];
    if body.parent_id.is_some() || body.position.is_some() {
        let parent = match body.parent_id {
            Some(parent) => parent.map(TaskId),
            None => view::task(&app, plan, task).await?.task.parent_id.map(TaskId),
        };
        // Move first, so that dependencies are checked at the new place.
        writes.insert(0, task_write(plan, TaskWrite::Move { task: id, parent, position: body.position }));
    }
    write(&app, writes).await?;
    Ok(Json(view::task(&app, plan, task).await?))
}

/// Delete a task with its subtasks
///
/// Other tasks no longer depend on it.
#[utoipa::path(
    delete,
    operation_id = "delete_task",
    path = "/plans/{plan_id}/tasks/{task_id}",
    tag = "plans",
    params(
        ("plan_id" = i64, Path, description = "The plan"),
        ("task_id" = i64, Path, description = "The task")
    ),
    responses((status = 204, description = "The task is deleted"), WriteErrors)
)]
pub(super) async fn delete(
    State(app): State<App>,
    TaskPath(plan, task): TaskPath,
) -> Result<StatusCode, ApiError> {
    write(&app, vec![task_write(plan, TaskWrite::Delete { task: TaskId(task) })]).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn task_write(plan: i64, write: TaskWrite) -> PlanWrite {
    PlanWrite::Task { plan: PlanId(plan), write }
}

fn task_ids(ids: Vec<i64>) -> Result<Vec<TaskId>, ApiError> {
    if ids.len() > MAX_TASKS {
        return Err(ApiError::Invalid(format!("dependencies: more than {MAX_TASKS} tasks")));
    }
    Ok(ids.into_iter().map(TaskId).collect())
}
