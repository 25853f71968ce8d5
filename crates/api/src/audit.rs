//! `GET /jobs/{job_id}/audit`

use super::error::ApiResult;
use super::extract::{JobPath, Query};
use super::responses::WriteErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::audit::{AuditQuery, AuditResponse};
use papertape_service::app::App;
use papertape_service::view;

/// Audit a job's sessions for look-ahead
///
/// Re-runs each session of the page on its tape, over data that end at each phase's instant and over data with another
/// future. Nothing is sent or written. The response takes as long as the sessions of the page; request small pages.
#[utoipa::path(
    get,
    path = "/jobs/{job_id}/audit",
    tag = "record",
    params(("job_id" = String, Path, description = "The job"), AuditQuery),
    responses((status = 200, body = AuditResponse, description = "A page of audited sessions"), WriteErrors)
)]
pub(super) async fn audit(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(query): Query<AuditQuery>,
) -> ApiResult<AuditResponse> {
    Ok(Json(view::audit(&app, &job, &query).await?))
}
