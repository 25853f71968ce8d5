//! `GET /plans/{plan_id}/jobs` and `…/jobs/{job_id}/actions`

use super::error::ApiResult;
use super::extract::{PlanJobPath, PlanPath, Query};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::actions::{ActionsQuery, ActionsResponse, PlanJobsResponse};
use papertape_protocol::query::PageQuery;
use papertape_service::app::App;
use papertape_service::view;

/// List a plan's jobs, newest first
///
/// Jobs remain when their plan is deleted.
#[utoipa::path(
    get,
    operation_id = "plan_jobs",
    path = "/plans/{plan_id}/jobs",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan"), PageQuery),
    responses((status = 200, body = PlanJobsResponse, description = "A page of jobs"), ReadErrors)
)]
pub(super) async fn jobs(
    State(app): State<App>,
    PlanPath(plan): PlanPath,
    Query(query): Query<PageQuery>,
) -> ApiResult<PlanJobsResponse> {
    Ok(Json(view::plan_jobs(&app, plan, query).await?))
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
        ActionsQuery
    ),
    responses((status = 200, body = ActionsResponse, description = "A page of rows"), ReadErrors)
)]
pub(super) async fn actions(
    State(app): State<App>,
    PlanJobPath(plan, job): PlanJobPath,
    Query(query): Query<ActionsQuery>,
) -> ApiResult<ActionsResponse> {
    Ok(Json(view::actions(&app, Some(plan), &job, query).await?))
}
