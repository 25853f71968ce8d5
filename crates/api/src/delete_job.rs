//! `DELETE /jobs/{job_id}`

use super::error::ApiError;
use super::extract::{JobPath, Query};
use super::job_response::job_id;
use super::responses::WriteErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::jobs::DeletedResponse;
use papertape_service::app::App;
use papertape_service::deletion;
use papertape_service::view;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DeleteParams {
    /// Also delete the jobs that depend on it: branches, jobs that continue its accounts, skip days that it ran, received
    /// its memory or were started by it. Absent: a job with dependents is not deleted.
    #[serde(default)]
    dependents: bool,
}

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
    params(("job_id" = String, Path, description = "The job"), DeleteParams),
    responses((status = 200, body = DeletedResponse, description = "The job is deleted"), WriteErrors)
)]
pub(super) async fn delete_job(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(params): Query<DeleteParams>,
) -> Result<Json<DeletedResponse>, ApiError> {
    let deleted = deletion::delete(&app, &job_id(&job)?, params.dependents).await?;
    Ok(Json(DeletedResponse {
        job_id: job,
        jobs: deleted.jobs.iter().map(ToString::to_string).collect(),
        texts: deleted.texts,
        deployment: view::deployment(&app),
    }))
}
