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

/// What to change before the job goes on. May be left out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "budget": { "job": { "tokens": 500_000 } } }))]
pub(super) struct ResumeBody {
    /// Lines of the budget that take the place of the job's own; the others stay.
    #[schema(value_type = Option<BudgetBody>)]
    budget: Option<JsonObject<BudgetBody>>,
}

/// Put a stopped job back into the queue; it goes on at the step where it stopped
#[utoipa::path(
    post,
    path = "/simulate/{job_id}/resume",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job")),
    request_body = Option<ResumeBody>,
    responses((status = 202, body = ChangedResponse, description = "It is queued, or runs already"), BodyErrors)
)]
pub(super) async fn resume(
    State(app): State<App>,
    JobPath(job): JobPath,
    OptionalBody(body): OptionalBody<ResumeBody>,
) -> Result<(StatusCode, Json<ChangedResponse>), ApiError> {
    let budget = body.and_then(|body| body.budget).map(|JsonObject(budget)| budget.into());
    let status = papertape_service::trigger::resume(&app, &job_id(&job)?, budget).await?;
    let answer = ChangedResponse::of(&app, job, status, &format!("the job is {status}"));
    Ok((StatusCode::ACCEPTED, Json(answer)))
}
