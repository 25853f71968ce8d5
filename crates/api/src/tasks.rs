//! `/plans/{plan_id}/tasks` and `/plans/{plan_id}/tasks/{task_id}`

use super::error::{ApiError, ApiResult};
use super::extract::{Body, PlanPath, TaskPath};
use super::plans::write;
use super::responses::{BodyErrors, ReadErrors, WriteErrors};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_core::plan::{
    MAX_TASKS, NewTask, PlanId, PlanWrite, TaskChanges, TaskId, TaskStatus, TaskWrite,
};
use papertape_protocol::plans::{TaskBody, TaskPatch, TaskResponse, TasksResponse};
use papertape_service::app::App;
use papertape_service::view;

/// List a plan's tasks, each before its children
#[utoipa::path(
    get,
    path = "/plans/{plan_id}/tasks",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan")),
    responses((status = 200, body = TasksResponse, description = "The tasks"), ReadErrors)
)]
pub(super) async fn tasks(State(app): State<App>, PlanPath(plan): PlanPath) -> ApiResult<TasksResponse> {
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
pub(super) async fn task(State(app): State<App>, TaskPath(plan, task): TaskPath) -> ApiResult<TaskResponse> {
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
) -> ApiResult<TaskResponse> {
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
