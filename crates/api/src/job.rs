//! `GET /jobs/{job_id}`, and the same by a plan and for decompositions.

use super::error::ApiResult;
use super::extract::{JobPath, PlanJobPath, PreferredLanguage, Query};
use super::metrics::count_retries;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::actions::LogQuery;
use papertape_protocol::jobs::JobResponse;
use papertape_service::app::App;
use papertape_service::view;

/// Get a job with its settings and the newest rows of its action log
///
/// The texts of `actions_summary` are Chinese, or English if `Accept-Language` prefers it.
#[utoipa::path(
    get,
    path = "/jobs/{job_id}",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job"), LogQuery),
    responses((status = 200, body = JobResponse, description = "The job"), ReadErrors)
)]
pub(super) async fn job(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(query): Query<LogQuery>,
    PreferredLanguage(language): PreferredLanguage,
) -> ApiResult<JobResponse> {
    count_retries(&app, query.retries)?;
    Ok(Json(view::job(&app, &job, query, language).await?))
}

/// Get a job of a plan, as `/jobs/{job_id}` returns it
#[utoipa::path(
    get,
    path = "/plans/{plan_id}/jobs/{job_id}",
    tag = "plans",
    params(
        ("plan_id" = i64, Path, description = "The plan"),
        ("job_id" = String, Path, description = "The job"),
        LogQuery
    ),
    responses((status = 200, body = JobResponse, description = "The job"), ReadErrors)
)]
pub(super) async fn plan_job(
    State(app): State<App>,
    PlanJobPath(plan, job): PlanJobPath,
    Query(query): Query<LogQuery>,
    PreferredLanguage(language): PreferredLanguage,
) -> ApiResult<JobResponse> {
    count_retries(&app, query.retries)?;
    Ok(Json(view::plan_job(&app, plan, &job, query, language).await?))
}

/// Get a job that decomposes a task, as `/jobs/{job_id}` returns it
#[utoipa::path(
    get,
    path = "/tasks/decompose/jobs/{job_id}",
    tag = "plans",
    params(("job_id" = String, Path, description = "The job"), LogQuery),
    responses((status = 200, body = JobResponse, description = "The job"), ReadErrors)
)]
pub(super) async fn decompose_job(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(query): Query<LogQuery>,
    PreferredLanguage(language): PreferredLanguage,
) -> ApiResult<JobResponse> {
    count_retries(&app, query.retries)?;
    Ok(Json(view::decompose_job(&app, &job, query, language).await?))
}
