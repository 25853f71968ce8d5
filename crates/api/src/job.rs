//! `GET /jobs/{job_id}`, and the same by a plan and for decompositions.

use super::error::ApiError;
use super::extract::{JobPath, PlanJobPath, PreferredLanguage, Query, log_rows};
use super::metrics::count_retries;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_core::language::Language;
use papertape_service::app::App;
use papertape_service::view::{self, JobResponse, LogQuery};
use serde::Deserialize;
use utoipa::IntoParams;

/// The rows of the job's action log to include.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct LogParams {
    /// `next_cursor` of an earlier response: the rows after it; absent: the newest rows.
    cursor: Option<String>,
    /// `before` of an earlier response: the rows before it. Not together with `cursor`.
    before: Option<String>,
    /// Max rows; 50 by default.
    #[serde(default, deserialize_with = "log_rows")]
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// The number of polls since the client's stream failed, including this one. It is counted in the telemetry.
    #[param(minimum = 0, maximum = 1_000_000)]
    retries: Option<u32>,
}

impl LogParams {
    fn by(self, language: Language) -> LogQuery {
        LogQuery { cursor: self.cursor, before: self.before, limit: self.limit, language }
    }
}

/// Get a job with its settings and the newest rows of its action log
///
/// The texts of `actions_summary` are Chinese, or English if `Accept-Language` prefers it.
#[utoipa::path(
    get,
    path = "/jobs/{job_id}",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job"), LogParams),
    responses((status = 200, body = JobResponse, description = "The job"), ReadErrors)
)]
pub(super) async fn job(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(params): Query<LogParams>,
    PreferredLanguage(language): PreferredLanguage,
) -> Result<Json<JobResponse>, ApiError> {
    count_retries(&app, params.retries)?;
    Ok(Json(view::job(&app, &job, params.by(language)).await?))
}

/// Get a job of a plan, as `/jobs/{job_id}` returns it
#[utoipa::path(
    get,
    path = "/plans/{plan_id}/jobs/{job_id}",
    tag = "plans",
    params(
        ("plan_id" = i64, Path, description = "The plan"),
        ("job_id" = String, Path, description = "The job"),
        LogParams
    ),
    responses((status = 200, body = JobResponse, description = "The job"), ReadErrors)
)]
pub(super) async fn plan_job(
    State(app): State<App>,
    PlanJobPath(plan, job): PlanJobPath,
    Query(params): Query<LogParams>,
    PreferredLanguage(language): PreferredLanguage,
) -> Result<Json<JobResponse>, ApiError> {
    count_retries(&app, params.retries)?;
    Ok(Json(view::plan_job(&app, plan, &job, params.by(language)).await?))
}

/// Get a job that decomposes a task, as `/jobs/{job_id}` returns it
#[utoipa::path(
    get,
    path = "/tasks/decompose/jobs/{job_id}",
    tag = "plans",
    params(("job_id" = String, Path, description = "The job"), LogParams),
    responses((status = 200, body = JobResponse, description = "The job"), ReadErrors)
)]
pub(super) async fn decompose_job(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(params): Query<LogParams>,
    PreferredLanguage(language): PreferredLanguage,
) -> Result<Json<JobResponse>, ApiError> {
    count_retries(&app, params.retries)?;
    Ok(Json(view::decompose_job(&app, &job, params.by(language)).await?))
}
