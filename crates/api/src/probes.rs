//! `/probes`: memory probes

use super::error::{ApiError, ApiResult};
use super::extract::{Body, JobPath};
use super::responses::{BodyErrors, ReadErrors};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_core::record::JobStatus;
use papertape_protocol::probes::{
    CounterfactualResponse, EstimateProbeResponse, ProbeBody, ProbeResponse, QueuedProbeResponse,
};
use papertape_service::app::App;
use papertape_service::{probes, view};

/// Queue a memory probe: a quiz that shows whether a model recalls the prices of a dataset
///
/// Every call is recorded. A probe that was interrupted is resumed with `POST /simulate/{job_id}/resume` and repeats no
/// call that has an outcome.
#[utoipa::path(
    post,
    path = "/probes",
    tag = "simulation",
    request_body = ProbeBody,
    responses((status = 202, body = QueuedProbeResponse, description = "The job is queued"), BodyErrors)
)]
pub(super) async fn create(
    State(app): State<App>,
    Body(body): Body<ProbeBody>,
) -> Result<(StatusCode, Json<QueuedProbeResponse>), ApiError> {
    let (job, prepared) = probes::create(&app, body).await?;
    let response = QueuedProbeResponse {
        job_id: job.to_string(),
        status: JobStatus::Queued,
        estimate: prepared.estimate,
        warnings: prepared.warnings,
        deployment: view::deployment(&app),
    };
    Ok((StatusCode::ACCEPTED, Json(response)))
}

/// Estimate the calls, tokens and cost of a memory probe; nothing is queued
#[utoipa::path(
    post,
    path = "/probes/estimate",
    tag = "simulation",
    request_body = ProbeBody,
    responses((status = 200, body = EstimateProbeResponse, description = "The estimate"), BodyErrors)
)]
pub(super) async fn estimate(
    State(app): State<App>,
    Body(body): Body<ProbeBody>,
) -> ApiResult<EstimateProbeResponse> {
    let prepared = probes::prepare(&app, body)?;
    Ok(Json(EstimateProbeResponse {
        estimate: prepared.estimate,
        training_cutoff: prepared.training_cutoff,
        warnings: prepared.warnings,
        deployment: view::deployment(&app),
    }))
}

/// Get a memory probe and its result
#[utoipa::path(
    get,
    path = "/probes/{job_id}",
    tag = "record",
    params(("job_id" = String, Path, description = "The probe's job")),
    responses((status = 200, body = ProbeResponse, description = "The probe"), ReadErrors)
)]
pub(super) async fn probe(State(app): State<App>, JobPath(job): JobPath) -> ApiResult<ProbeResponse> {
    Ok(Json(view::probe(&app, &job).await?))
}

/// Score a counterfactual run: do its positions follow the real future?
///
/// For jobs that `papertape probe memory --counterfactual` ran: the real future is that of the dataset whose future was
/// resampled.
#[utoipa::path(
    get,
    path = "/probes/{job_id}/counterfactual",
    tag = "record",
    params(("job_id" = String, Path, description = "The simulation's job")),
    responses(
        (status = 200, body = CounterfactualResponse, description = "The score of each agent"),
        (status = 409, body = papertape_protocol::error::ErrorBody, description = "The job's dataset is not a counterfactual one"),
        ReadErrors
    )
)]
pub(super) async fn counterfactual(
    State(app): State<App>,
    JobPath(job): JobPath,
) -> ApiResult<CounterfactualResponse> {
    Ok(Json(view::counterfactual(&app, &job).await?))
}
