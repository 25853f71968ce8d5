//! `GET /jobs`

use super::error::ApiResult;
use super::extract::Query;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::jobs::{JobsQuery, JobsResponse};
use papertape_service::app::App;
use papertape_service::view;

/// List, search and sort jobs
///
/// The newest come first, unless `sort` says otherwise. Pages stay in the order of the first one, even if a job's name,
/// status or quality changes meanwhile: a job that matches all along is returned exactly once.
#[utoipa::path(
    get,
    path = "/jobs",
    tag = "simulation",
    params(JobsQuery),
    responses((status = 200, body = JobsResponse, description = "A page of jobs"), ReadErrors)
)]
pub(super) async fn jobs(State(app): State<App>, Query(query): Query<JobsQuery>) -> ApiResult<JobsResponse> {
    Ok(Json(view::jobs(&app, query).await?))
}
