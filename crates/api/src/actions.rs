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

/// The page of the log; `cursor` or `before`, not both.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// `next_cursor` of an earlier response: newer rows.
    cursor: Option<String>,
    /// `before` of an earlier response: older rows.
    before: Option<String>,
    /// Max rows; 200 by default.
    #[serde(default, deserialize_with = "log_rows")]
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// List a plan's jobs, newest first
///
/// Jobs remain when their plan is deleted.
#[utoipa::path(
    get,
    operation_id = "plan_jobs",
    path = "/plans/{plan_id}/jobs",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan"), PageParams),
    responses((status = 200, body = PlanJobsResponse, description = "A page of jobs"), ReadErrors)
)]
pub(super) async fn jobs(
    State(app): State<App>,
    PlanPath(plan): PlanPath,
    Query(params): Query<PageParams>,
) -> Result<Json<PlanJobsResponse>, ApiError> {
    Ok(Json(view::plan_jobs(&app, plan, params.limit, params.cursor).await?))
}

/// Get the action log of a plan's job
///
/// The first page has the newest rows. Rows are oldest first within a page. Follow `next_cursor` to newer rows,
/// including rows that are not written yet, and `before` to older ones. No page drops or repeats a row.
#[utoipa::path(
    get,
    path = "/plans/{plan_id}/jobs/{job_id}/actions",
    tag = "plans",
    params(
        ("plan_id" = i64, Path, description = "The plan"),
        ("job_id" = String, Path, description = "The job"),
        Params
    ),
    responses((status = 200, body = ActionsResponse, description = "A page of rows"), ReadErrors)
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
