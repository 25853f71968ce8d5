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
use papertape_service::app::App;
use papertape_service::assistant;
use papertape_service::view::Deployment;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How to decompose a plan.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DecomposeBody {
    /// The task to decompose; absent: the whole plan.
    task_id: Option<i64>,
    /// Max levels below it; absent: 2.
    #[schema(minimum = 1, maximum = 4)]
    max_depth: Option<u32>,
    /// Max children per task; absent: 5.
    #[schema(minimum = 1, maximum = 10)]
    max_children: Option<u32>,
    /// Max new tasks in total; absent: 50.
    #[schema(minimum = 1, maximum = 200)]
    total_node_budget: Option<u32>,
}

/// What to execute.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExecuteBody {
    /// The task to run again, together with its unfinished dependencies; absent: the whole plan.
    task_id: Option<i64>,
    /// Whether a task may start work that costs money after it has read text from others, such as web pages;
    /// absent: no.
    trusted: Option<bool>,
}

/// A queued job on a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct PlanJobQueued {
    /// The job.
    job_id: String,
    /// The plan.
    plan_id: i64,
    /// `queued`.
    #[schema(schema_with = papertape_service::view::vocabulary::job_status)]
    status: JobStatus,
    #[serde(flatten)]
    deployment: Deployment,
}

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
        deployment: Deployment::of(app),
    };
    (StatusCode::ACCEPTED, Json(response))
}
