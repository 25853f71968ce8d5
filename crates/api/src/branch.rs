//! `POST /simulate/{job_id}/branch`

use super::error::ApiError;
use super::extract::{Body, JobPath, JsonObject, day};
use super::job_response::{QueuedResponse, job_id};
use super::responses::BodyErrors;
use super::trigger::SamplingBody;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_core::time::Date;
use papertape_service::app::App;
use papertape_service::trigger::BranchRequest;
use serde::Deserialize;
use utoipa::ToSchema;

/// The cut, and what changes from there on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "date": "2012-10-17", "agent": "house::momentum", "node": "solo#1", "model": "house::contrarian" }))]
pub(super) struct BranchBody {
    /// The day of the cut.
    #[serde(deserialize_with = "day")]
    date: Date,
    /// The agent; required if the job has several.
    agent: Option<String>,
    /// A node (`solo#1`, `AAPL/Trader#1`), a desk's symbol (`AAPL`) or a step (`solo#1/model#3`). Steps at the cut
    /// and after it run again. Absent: before the agent's first node.
    node: Option<String>,
    /// The model from the cut on, `provider::model`.
    model: Option<String>,
    /// The instructions from the cut on.
    instructions: Option<String>,
    /// The sampling parameters from the cut on.
    #[schema(value_type = Option<SamplingBody>)]
    sampling: Option<JsonObject<SamplingBody>>,
}

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
    Ok((StatusCode::ACCEPTED, Json(QueuedResponse::of(&app, queued, Some(&parent)).await?)))
}
