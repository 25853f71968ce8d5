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

/// How far a plan is broken down.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DecomposeBody {
    /// Where to begin; absent: the whole plan, at its goal.
    task_id: Option<i64>,
    /// Levels below it; 2 where absent.
    #[schema(minimum = 1, maximum = 4)]
    max_depth: Option<u32>,
    /// Children of one task; 5 where absent.
    #[schema(minimum = 1, maximum = 10)]
    max_children: Option<u32>,
    /// New tasks in all; 50 where absent.
    #[schema(minimum = 1, maximum = 200)]
    total_node_budget: Option<u32>,
}

/// What of a plan is carried out.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExecuteBody {
    /// Run this task again, with what it needs that is not completed; absent: the whole plan.
    task_id: Option<i64>,
    /// May a task start work that costs after it has read text of others, the web's say? Not where absent.
    trusted: Option<bool>,
}

/// A job on a plan that was queued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct PlanJobQueued {
    /// The job.
    job_id: String,
    /// The plan.
    plan_id: i64,
    /// `queued`.
    #[schema(schema_with = papertape_service::view::vocabulary::job_status)]
    status: JobStatus,
    /// Whose data it is.
    #[serde(flatten)]
    deployment: Deployment,
}

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
        deployment: Deployment::of(app),
    };
    (StatusCode::ACCEPTED, Json(answer))
}
