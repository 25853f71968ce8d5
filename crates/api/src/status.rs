//! `GET /simulate/status/{job_id}`

use super::error::ApiResult;
use super::extract::{JobPath, Query};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::jobs::{StatusQuery, StatusResponse};
use papertape_service::app::App;
use papertape_service::view;

/// Get a simulation's progress, by model-day
#[utoipa::path(
    get,
    path = "/simulate/status/{job_id}",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job"), StatusQuery),
    responses((status = 200, body = StatusResponse, description = "The progress"), ReadErrors)
)]
pub(super) async fn status(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(query): Query<StatusQuery>,
) -> ApiResult<StatusResponse> {
    Ok(Json(view::status(&app, &job, &query).await?))
}
