//! `/plans/{plan_id}/decompose` and `/plans/{plan_id}/execute`

use super::error::ApiError;
use super::extract::{OptionalBody, PlanPath, PreferredLanguage};
use super::responses::BodyErrors;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_assistant::settings::{Decompose, Execute, Limits};
use papertape_core::plan::{PlanId, TaskId};
use papertape_core::record::JobStatus;
use papertape_protocol::plans::{DecomposeBody, ExecuteBody, PlanJobQueued};
use papertape_service::app::App;
use papertape_service::assistant;
use papertape_service::view;

/// Decompose a plan or one of its tasks
#[utoipa::path(
    post,
    path = "/plans/{plan_id}/decompose",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan")),
    request_body = Option<DecomposeBody>,
    responses((status = 202, body = PlanJobQueued, description = "The job is queued"), BodyErrors)
)]
pub(super) async fn decompose(
    State(app): State<App>,
    PlanPath(plan): PlanPath,
    PreferredLanguage(language): PreferredLanguage,
    OptionalBody(body): OptionalBody<DecomposeBody>,
) -> Result<(StatusCode, Json<PlanJobQueued>), ApiError> {
    let body = body.unwrap_or_default();
    let defaults = Limits::default();
    let limits = Limits {
        max_depth: body.max_depth.unwrap_or(defaults.max_depth),
        max_children: body.max_children.unwrap_or(defaults.max_children),
        total_node_budget: body.total_node_budget.unwrap_or(defaults.total_node_budget),
    };
    let settings = Decompose { plan_id: PlanId(plan), task_id: body.task_id.map(TaskId), limits };
    let job = assistant::decompose(&app, settings, language).await?;
    Ok(queued(&app, plan, job.as_str()))
}

/// Execute a plan's tasks
///
/// For each task, its dependencies run first, then its children, then the task itself.
#[utoipa::path(
    post,
    path = "/plans/{plan_id}/execute",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan")),
    request_body = Option<ExecuteBody>,
    responses((status = 202, body = PlanJobQueued, description = "The job is queued"), BodyErrors)
)]
pub(super) async fn execute(
    State(app): State<App>,
    PlanPath(plan): PlanPath,
    PreferredLanguage(language): PreferredLanguage,
    OptionalBody(body): OptionalBody<ExecuteBody>,
) -> Result<(StatusCode, Json<PlanJobQueued>), ApiError> {
    let body = body.unwrap_or_default();
    let trusted = body.trusted.unwrap_or_default();
    let settings = Execute { plan_id: PlanId(plan), task_id: body.task_id.map(TaskId), trusted };
    let job = assistant::execute(&app, settings, language).await?;
    Ok(queued(&app, plan, job.as_str()))
}

fn queued(app: &App, plan_id: i64, job: &str) -> (StatusCode, Json<PlanJobQueued>) {
    let response = PlanJobQueued {
        job_id: job.to_owned(),
        plan_id,
        status: JobStatus::Queued,
        deployment: view::deployment(app),
    };
    (StatusCode::ACCEPTED, Json(response))
}
