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

/// Break a plan, or one of its tasks, into smaller tasks
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
    let usual = Limits::default();
    let limits = Limits {
        max_depth: body.max_depth.unwrap_or(usual.max_depth),
        max_children: body.max_children.unwrap_or(usual.max_children),
        total_node_budget: body.total_node_budget.unwrap_or(usual.total_node_budget),
    };
    let what = Decompose { plan_id: PlanId(plan), task_id: body.task_id.map(TaskId), limits };
    let job = assistant::decompose(&app, what, language).await?;
    Ok(queued(&app, plan, job.as_str()))
}

/// Carry out a plan's tasks: dependencies first, then children, then the node
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
    let what = Execute { plan_id: PlanId(plan), task_id: body.task_id.map(TaskId), trusted };
    let job = assistant::execute(&app, what, language).await?;
    Ok(queued(&app, plan, job.as_str()))
}

fn queued(app: &App, plan_id: i64, job: &str) -> (StatusCode, Json<PlanJobQueued>) {
    let answer = PlanJobQueued {
        job_id: job.to_owned(),
        plan_id,
        status: JobStatus::Queued,
        deployment: view::deployment(app),
    };
    (StatusCode::ACCEPTED, Json(answer))
}
