//! `POST /simulate/{job_id}/branch`

use super::error::{ApiError, ApiResult};
use super::extract::{Body, JobPath};
use super::job_response::{job_id, queued_response};
use super::responses::BodyErrors;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_protocol::fields::JsonObject;
use papertape_protocol::simulate::{BranchBody, CommandResponse, QueuedResponse};
use papertape_service::app::App;
use papertape_service::command::branch_command;
use papertape_service::trigger::BranchRequest;
use papertape_service::view;

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

/// Get the command that branches a simulation, without branching it
#[utoipa::path(
    post,
    path = "/simulate/{job_id}/branch/command",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The parent job")),
    request_body = BranchBody,
    responses((status = 200, body = CommandResponse, description = "The command"), BodyErrors)
)]
pub(super) async fn command(
    State(app): State<App>,
    JobPath(job): JobPath,
    Body(body): Body<BranchBody>,
) -> ApiResult<CommandResponse> {
    let parent = view::job_summary(&app, job_id(&job)?.as_str()).await?;
    let command = branch_command(&parent.job_id, body)?;
    Ok(Json(CommandResponse { command, deployment: view::deployment(&app) }))
}
