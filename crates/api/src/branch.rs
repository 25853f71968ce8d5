//! `POST /simulate/{job_id}/branch`

use super::error::ApiError;
use super::extract::{Body, JobPath};
use super::job_response::{job_id, queued_response};
use super::responses::BodyErrors;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_protocol::fields::JsonObject;
use papertape_protocol::simulate::{BranchBody, QueuedResponse};
use papertape_service::app::App;
use papertape_service::trigger::BranchRequest;

/// Branch a simulation
///
/// The new job shares the parent's past up to the cut.
#[utoipa::path(
    post,
    path = "/simulate/{job_id}/branch",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The parent job")),
    request_body = BranchBody,
    responses((status = 202, body = QueuedResponse, description = "The new job"), BodyErrors)
)]
pub(super) async fn branch(
    State(app): State<App>,
    JobPath(job): JobPath,
    Body(body): Body<BranchBody>,
) -> Result<(StatusCode, Json<QueuedResponse>), ApiError> {
    let parent = job_id(&job)?;
    let request = BranchRequest {
        agent: body.agent,
        date: body.date,
        at: body.node,
        model: body.model,
        instructions: body.instructions,
        sampling: body.sampling.map(|JsonObject(sampling)| sampling.into()),
    };
    let queued = papertape_service::trigger::branch(&app, &parent, request).await?;
    Ok((StatusCode::ACCEPTED, Json(queued_response(&app, queued, Some(&parent)).await?)))
}
