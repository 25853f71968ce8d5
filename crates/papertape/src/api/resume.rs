//! `POST /simulate/{job_id}/resume`

use super::error::ApiError;
use super::extract::JobPath;
use super::queued::{ChangedAnswer, job_id};
use super::responses::Change;
use crate::app::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

/// Put a stopped job back into the queue; it goes on at the step where it stopped
#[utoipa::path(
    post,
    path = "/simulate/{job_id}/resume",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job")),
    responses((status = 202, body = ChangedAnswer, description = "It is queued, or runs already"), Change)
)]
pub(super) async fn resume(
    State(app): State<App>,
    JobPath(job): JobPath,
) -> Result<(StatusCode, Json<ChangedAnswer>), ApiError> {
    let status = crate::trigger::resume(&app, &job_id(&job)?).await?;
    let answer = ChangedAnswer::of(&app, job, status, &format!("the job is {status}"));
    Ok((StatusCode::ACCEPTED, Json(answer)))
}
