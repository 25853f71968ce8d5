//! `GET /jobs/{job_id}/report` and `GET /experiments/{experiment_id}/report`

use super::error::ApiError;
use super::extract::{ExperimentPath, JobPath, PreferredLanguage, Query};
use super::responses::ReadErrors;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::language::Language;
use papertape_protocol::report::ReportQuery;
use papertape_service::app::App;
use papertape_service::report;

/// Get the report of a job: one HTML page without scripts
///
/// Without `language`, the `Accept-Language` header selects it.
#[utoipa::path(
    get,
    path = "/jobs/{job_id}/report",
    tag = "record",
    params(("job_id" = String, Path, description = "The job"), ReportQuery),
    responses(
        (status = 200, body = String, content_type = "text/html", description = "The page; see docs/report.md"),
        ReadErrors
    )
)]
pub(super) async fn job_report(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(query): Query<ReportQuery>,
    PreferredLanguage(preferred): PreferredLanguage,
) -> Result<Response, ApiError> {
    let language = language(&query, preferred)?;
    Ok(page(report::job_report(&app, &JobId::new(job), language).await?))
}

/// Get the report of an experiment: one HTML page without scripts
///
/// Without `language`, the `Accept-Language` header selects it.
#[utoipa::path(
    get,
    path = "/experiments/{experiment_id}/report",
    tag = "record",
    params(("experiment_id" = String, Path, description = "The experiment"), ReportQuery),
    responses(
        (status = 200, body = String, content_type = "text/html", description = "The page; see docs/report.md"),
        ReadErrors
    )
)]
pub(super) async fn experiment_report(
    State(app): State<App>,
    ExperimentPath(experiment): ExperimentPath,
    Query(query): Query<ReportQuery>,
    PreferredLanguage(preferred): PreferredLanguage,
) -> Result<Response, ApiError> {
    let language = language(&query, preferred)?;
    Ok(page(report::experiment_report(&app, &ExperimentId::new(experiment), language).await?))
}

fn language(query: &ReportQuery, preferred: Language) -> Result<Language, ApiError> {
    let Some(name) = &query.language else { return Ok(preferred) };
    name.parse::<Language>().map_err(|error| ApiError::Invalid(format!("language: {error}")))
}

fn page(html: String) -> Response {
    let headers =
        [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, report::REPORT_POLICY)];
    (headers, html).into_response()
}
