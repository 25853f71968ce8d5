//! `GET /jobs/{job_id}`

use super::error::ApiError;
use super::extract::JobPath;
use super::responses::Read;
use crate::app::App;
use crate::view::{self, JobAnswer};
use axum::Json;
use axum::extract::State;

/// One job, with what it is to do
#[utoipa::path(
    get,
    path = "/jobs/{job_id}",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job")),
    responses((status = 200, body = JobAnswer, description = "The job"), Read)
)]
pub(super) async fn job(State(app): State<App>, JobPath(job): JobPath) -> Result<Json<JobAnswer>, ApiError> {
    Ok(Json(view::job(&app, &job).await?))
}
