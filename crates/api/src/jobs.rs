//! `GET /jobs`

use super::error::ApiError;
use super::extract::{Query, rows};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_core::record::JobStatus;
use papertape_service::app::App;
use papertape_service::view::{self, JobsQuery, JobsResponse};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// Only jobs of this kind.
    #[param(schema_with = papertape_service::view::vocabulary::job_kind)]
    kind: Option<String>,
    /// Only jobs with this status.
    #[param(schema_with = papertape_service::view::vocabulary::job_status)]
    status: Option<JobStatus>,
    /// Max jobs.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List jobs, newest first
#[utoipa::path(
    get,
    path = "/jobs",
    tag = "simulation",
    params(Params),
    responses((status = 200, body = JobsResponse, description = "A page of jobs"), ReadErrors)
)]
pub(super) async fn jobs(
    State(app): State<App>,
    Query(params): Query<Params>,
) -> Result<Json<JobsResponse>, ApiError> {
    let query =
        JobsQuery { kind: params.kind, status: params.status, limit: params.limit, cursor: params.cursor };
    Ok(Json(view::jobs(&app, query).await?))
}
