//! `DELETE /jobs/{job_id}`

use super::error::ApiResult;
use super::extract::{JobPath, Query};
use super::job_response::job_id;
use super::responses::WriteErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::jobs::DeleteQuery;
use papertape_protocol::jobs::DeletedResponse;
use papertape_service::app::App;
use papertape_service::deletion;
use papertape_service::view;

/// Delete a stopped job with its whole record
///
/// This cannot be undone. One transaction deletes sessions, tape, messages, books, memory, action log, and the texts
/// that nothing else uses. A queued or running job is a 409. So is a job with dependents, which `message` lists,
/// unless `dependents=true` deletes them too.
#[utoipa::path(
    delete,
    operation_id = "delete_job",
    path = "/jobs/{job_id}",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job"), DeleteQuery),
    responses((status = 200, body = DeletedResponse, description = "The job is deleted"), WriteErrors)
)]
pub(super) async fn delete_job(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(params): Query<DeleteQuery>,
) -> ApiResult<DeletedResponse> {
    let deleted = deletion::delete(&app, &job_id(&job)?, params.dependents).await?;
    Ok(Json(DeletedResponse {
        job_id: job,
        jobs: deleted.jobs.iter().map(ToString::to_string).collect(),
        texts: deleted.texts,
        deployment: view::deployment(&app),
    }))
}
