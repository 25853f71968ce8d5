//! `GET` and `POST /jobs/{job_id}/head`

use super::error::{ApiError, ApiResult};
use super::extract::JobPath;
use super::job_response::job_id;
use super::responses::WriteErrors;
use axum::Json;
use axum::extract::State;
use papertape_core::record::JobHead;
use papertape_protocol::head::HeadResponse;
use papertape_service::app::App;
use papertape_service::view::head_response;
use papertape_store::StoreError;

/// Get the current head of a job's hash chains
#[utoipa::path(
    get,
    path = "/jobs/{job_id}/head",
    tag = "record",
    params(("job_id" = String, Path, description = "The job")),
    responses((status = 200, body = HeadResponse, description = "The head"), WriteErrors)
)]
pub(super) async fn head(State(app): State<App>, JobPath(job): JobPath) -> ApiResult<HeadResponse> {
    respond(&app, &job, app.store.job_head(&job_id(&job)?).await)
}

/// Publish the head of a job's hash chains
///
/// The head is stored, so that `papertape verify` finds it by its hash.
#[utoipa::path(
    post,
    path = "/jobs/{job_id}/head",
    tag = "record",
    params(("job_id" = String, Path, description = "The job")),
    responses((status = 200, body = HeadResponse, description = "The stored head"), WriteErrors)
)]
pub(super) async fn publish(State(app): State<App>, JobPath(job): JobPath) -> ApiResult<HeadResponse> {
    respond(&app, &job, app.store.publish_job_head(&job_id(&job)?).await)
}

fn respond(app: &App, job: &str, found: Result<Option<JobHead>, StoreError>) -> ApiResult<HeadResponse> {
    match found {
        Ok(Some(head)) => Ok(Json(head_response(app, &head))),
        Ok(None) => Err(ApiError::NotFound(format!("there is no job {job}"))),
        // The chains are broken, which is a valid result.
        Err(StoreError::Inconsistent(why)) => Err(ApiError::Conflict(why)),
        Err(error) => Err(ApiError::Internal(error.into())),
    }
}
