//! `POST /simulate/{job_id}/resume`

use super::error::ApiError;
use super::extract::{JobPath, JsonObject, OptionalBody};
use super::job_response::{ChangedResponse, job_id};
use super::responses::BodyErrors;
use super::trigger::BudgetBody;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_service::app::App;
use serde::Deserialize;
use utoipa::ToSchema;

/// Changes before the job resumes. Optional.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "budget": { "job": { "tokens": 500_000 } } }))]
pub(super) struct ResumeBody {
    /// Budget lines that replace the job's own; the others stay.
    #[schema(value_type = Option<BudgetBody>)]
    budget: Option<JsonObject<BudgetBody>>,
}

/// Resume a stopped job
///
/// The job is queued again and resumes at the exact step where it stopped.
#[utoipa::path(
    post,
    path = "/simulate/{job_id}/resume",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job")),
    request_body = Option<ResumeBody>,
    responses((status = 202, body = ChangedResponse, description = "The job is queued or running"), BodyErrors)
)]
pub(super) async fn resume(
    State(app): State<App>,
    JobPath(job): JobPath,
    OptionalBody(body): OptionalBody<ResumeBody>,
) -> Result<(StatusCode, Json<ChangedResponse>), ApiError> {
    let budget = body.and_then(|body| body.budget).map(|JsonObject(budget)| budget.into());
    let status = papertape_service::trigger::resume(&app, &job_id(&job)?, budget).await?;
    let response = ChangedResponse::of(&app, job, status, &format!("the job is {status}"));
    Ok((StatusCode::ACCEPTED, Json(response)))
}
