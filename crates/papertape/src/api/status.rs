//! `GET /simulate/status/{job_id}`

use super::error::ApiError;
use super::extract::JobPath;
use super::responses::Read;
use crate::app::App;
use crate::view::{self, StatusAnswer};
use axum::Json;
use axum::extract::State;

/// How far a job is, by model-day
#[utoipa::path(
    get,
    path = "/simulate/status/{job_id}",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job")),
    responses((status = 200, body = StatusAnswer, description = "Its progress"), Read)
)]
pub(super) async fn status(
    State(app): State<App>,
    JobPath(job): JobPath,
) -> Result<Json<StatusAnswer>, ApiError> {
    Ok(Json(view::status(&app, &job).await?))
}
