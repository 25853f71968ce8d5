//! `GET /jobs/{job_id}`

use super::error::ApiError;
use super::extract::{JobPath, Query};
use super::metrics::count_retries;
use super::responses::Read;
use crate::app::App;
use crate::view::{self, JobAnswer};
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

/// How it is asked.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// How many times a client had to ask since its stream broke off, this time included: it is counted in
    /// the metrics.
    #[param(minimum = 0, maximum = 1_000_000)]
    retries: Option<u32>,
}

/// One job, with what it is to do
#[utoipa::path(
    get,
    path = "/jobs/{job_id}",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job"), Params),
    responses((status = 200, body = JobAnswer, description = "The job"), Read)
)]
pub(super) async fn job(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(params): Query<Params>,
) -> Result<Json<JobAnswer>, ApiError> {
    count_retries(&app, params.retries)?;
    Ok(Json(view::job(&app, &job).await?))
}
