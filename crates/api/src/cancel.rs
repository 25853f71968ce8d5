//! `POST /simulate/{job_id}/cancel`

use super::error::ApiError;
use super::extract::JobPath;
use super::job_response::{changed_response, job_id};
use super::responses::WriteErrors;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_core::record::JobStatus;
use papertape_protocol::simulate::ChangedResponse;
use papertape_runtime::child_jobs;
use papertape_service::app::App;

/// Cancel a job after its current step
///
/// A cancelled job can be resumed.
#[utoipa::path(
    post,
    path = "/simulate/{job_id}/cancel",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job")),
    responses((status = 202, body = ChangedResponse, description = "The job is cancelled, or stops after its current step"), WriteErrors)
)]
pub(super) async fn cancel(
    State(app): State<App>,
    JobPath(job): JobPath,
) -> Result<(StatusCode, Json<ChangedResponse>), ApiError> {
    let status = child_jobs::cancel(&app.services, &job_id(&job)?).await;
    let status = status.map_err(|error| ApiError::Internal(error.into()))?;
    let message = match status {
        None => return Err(ApiError::NotFound(format!("there is no job {job}"))),
        Some(JobStatus::Cancelled) => "the job is cancelled",
        Some(JobStatus::Running | JobStatus::Queued) => "the job stops after its current step",
        Some(status) => return Err(ApiError::Conflict(format!("job {job} is {status}"))),
    };
    let status = status.unwrap_or(JobStatus::Cancelled);
    Ok((StatusCode::ACCEPTED, Json(changed_response(&app, job, status, message))))
}
