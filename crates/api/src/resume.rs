//! `POST /simulate/{job_id}/resume`

use super::error::ApiError;
use super::extract::{JobPath, OptionalBody};
use super::job_response::{changed_response, job_id};
use super::responses::BodyErrors;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_protocol::fields::JsonObject;
use papertape_protocol::simulate::{ChangedResponse, ResumeBody};
use papertape_service::app::App;

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
    let budget = body
        .and_then(|body| body.budget)
        .map(|JsonObject(budget)| papertape_service::trigger::budget_change(budget));
    let status = papertape_service::trigger::resume(&app, &job_id(&job)?, budget).await?;
    let response = changed_response(&app, job, status, &format!("the job is {status}"));
    Ok((StatusCode::ACCEPTED, Json(response)))
}
