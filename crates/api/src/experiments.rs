//! `GET /experiments` and `POST /experiments`

use super::error::{ApiError, ApiResult};
use super::extract::{Body, Query};
use super::responses::{BodyErrors, ReadErrors};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_core::record::JobStatus;
use papertape_protocol::experiments::{
    EstimateResponse, ExperimentBody, ExperimentsQuery, ExperimentsResponse, QueuedExperimentResponse,
};
use papertape_protocol::simulate::CommandResponse;
use papertape_service::app::App;
use papertape_service::command::run_command;
use papertape_service::experiments::{self, ExperimentRequest};
use papertape_service::view;

/// List experiments, newest first
#[utoipa::path(
    get,
    path = "/experiments",
    tag = "simulation",
    params(ExperimentsQuery),
    responses((status = 200, body = ExperimentsResponse, description = "A page of experiments"), ReadErrors)
)]
pub(super) async fn experiments(
    State(app): State<App>,
    Query(query): Query<ExperimentsQuery>,
) -> ApiResult<ExperimentsResponse> {
    Ok(Json(view::experiments(&app, query).await?))
}

/// Queue an experiment: all its jobs, or none
#[utoipa::path(
    post,
    path = "/experiments",
    tag = "simulation",
    request_body = ExperimentBody,
    responses(
        (status = 202, body = QueuedExperimentResponse, description = "The jobs are queued"),
        BodyErrors
    )
)]
pub(super) async fn create(
    State(app): State<App>,
    Body(body): Body<ExperimentBody>,
) -> Result<(StatusCode, Json<QueuedExperimentResponse>), ApiError> {
    let queued = experiments::create(&app, &ExperimentRequest::of(body)?).await?;
    let jobs: Vec<String> = queued.jobs.iter().map(ToString::to_string).collect();
    let response = QueuedExperimentResponse {
        experiment_id: queued.id.to_string(),
        status: JobStatus::Queued,
        total_model_days: queued.total_model_days,
        message: format!(
            "the experiment is queued: {} jobs, {} model-days",
            jobs.len(),
            queued.total_model_days
        ),
        jobs,
        warnings: queued.warnings,
        manifest: queued.manifest,
        estimate: queued.estimate,
        deployment: view::deployment(&app),
    };
    Ok((StatusCode::ACCEPTED, Json(response)))
}

/// Estimate what an experiment may take, without queuing it
#[utoipa::path(
    post,
    path = "/experiments/estimate",
    tag = "simulation",
    request_body = ExperimentBody,
    responses((status = 200, body = EstimateResponse, description = "The plan and its estimate"), BodyErrors)
)]
pub(super) async fn estimate(
    State(app): State<App>,
    Body(body): Body<ExperimentBody>,
) -> ApiResult<EstimateResponse> {
    let (manifest, estimate, warnings) = experiments::estimate(&app, &ExperimentRequest::of(body)?).await?;
    Ok(Json(EstimateResponse { manifest, estimate, warnings, deployment: view::deployment(&app) }))
}

/// Get the command that runs an experiment or a single job, without queuing it
#[utoipa::path(
    post,
    path = "/experiments/command",
    tag = "simulation",
    request_body = ExperimentBody,
    responses((status = 200, body = CommandResponse, description = "The command"), BodyErrors)
)]
pub(super) async fn command(
    State(app): State<App>,
    Body(body): Body<ExperimentBody>,
) -> ApiResult<CommandResponse> {
    let request = ExperimentRequest::of(body)?;
    experiments::check(&app, &request).await?;
    let command = run_command(&app.config, &request);
    Ok(Json(CommandResponse { command, deployment: view::deployment(&app) }))
}
