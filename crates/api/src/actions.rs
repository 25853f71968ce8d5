//! `GET /plans/{plan_id}/jobs` and `…/jobs/{job_id}/actions`

use super::error::ApiError;
use super::extract::{PageParams, PlanJobPath, PlanPath, Query, log_rows};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_service::app::App;
use papertape_service::view::{self, ActionsQuery, ActionsResponse, PlanJobsResponse};
use serde::Deserialize;
use utoipa::IntoParams;

/// Which part of the log; `cursor` or `before`, not both.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// `next_cursor` of an earlier answer: newer rows.
    cursor: Option<String>,
    /// `before` of an earlier answer: older rows.
    before: Option<String>,
    /// How many at most; 200 by default.
    #[serde(default, deserialize_with = "log_rows")]
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// The jobs of a plan, newest first; they stay when the plan is deleted
#[utoipa::path(
    get,
    operation_id = "plan_jobs",
    path = "/plans/{plan_id}/jobs",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan"), PageParams),
    responses((status = 200, body = PlanJobsResponse, description = "A page of jobs; it may be empty"), ReadErrors)
)]
pub(super) async fn jobs(
    State(app): State<App>,
    PlanPath(plan): PlanPath,
    Query(params): Query<PageParams>,
) -> Result<Json<PlanJobsResponse>, ApiError> {
    Ok(Json(view::plan_jobs(&app, plan, params.limit, params.cursor).await?))
}

/// The action log of a plan's job, the newest rows first of all
///
/// Each page is oldest row first. `next_cursor` leads to newer rows, those that are still to be written
/// included, and `before` to older ones; following them drops and repeats no row.
#[utoipa::path(
    get,
    path = "/plans/{plan_id}/jobs/{job_id}/actions",
    tag = "plans",
    params(
        ("plan_id" = i64, Path, description = "The plan"),
        ("job_id" = String, Path, description = "The job"),
        Params
    ),
    responses((status = 200, body = ActionsResponse, description = "A page of rows; it may be empty"), ReadErrors)
)]
pub(super) async fn actions(
    State(app): State<App>,
    PlanJobPath(plan, job): PlanJobPath,
    Query(params): Query<Params>,
) -> Result<Json<ActionsResponse>, ApiError> {
    let Params { cursor, before, limit } = params;
    let query = ActionsQuery { cursor, before, limit };
    Ok(Json(view::actions(&app, Some(plan), &job, query).await?))
}
