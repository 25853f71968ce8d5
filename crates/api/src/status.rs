//! `GET /simulate/status/{job_id}`

use super::error::ApiError;
use super::extract::{JobPath, Query, maybe_day};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_core::time::Date;
use papertape_service::app::App;
use papertape_service::view::{self, StatusQuery, StatusResponse};
use serde::Deserialize;
use utoipa::IntoParams;

/// Filters of `details`. `progress` always counts all model-days.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// Only this trading day.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    date: Option<Date>,
    /// Only this agent.
    model: Option<String>,
}

/// Get a simulation's progress, by model-day
#[utoipa::path(
    get,
    path = "/simulate/status/{job_id}",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job"), Params),
    responses((status = 200, body = StatusResponse, description = "The progress"), ReadErrors)
)]
pub(super) async fn status(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(Params { date, model }): Query<Params>,
) -> Result<Json<StatusResponse>, ApiError> {
    Ok(Json(view::status(&app, &job, &StatusQuery { date, model }).await?))
}
