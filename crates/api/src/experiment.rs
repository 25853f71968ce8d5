//! One experiment: `GET /experiments/{experiment_id}`, its results, and `POST` to cancel and resume it.

use super::error::{ApiError, ApiResult};
use super::extract::{ExperimentPath, OptionalBody};
use super::responses::{BodyErrors, ReadErrors, WriteErrors};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_core::budget::Limit;
use papertape_core::id::ExperimentId;
use papertape_core::record::JobStatus;
use papertape_protocol::experiments::{
    ChangedExperimentResponse, ExperimentResponse, ExperimentResults, ResumeExperimentBody,
};
use papertape_protocol::fields::JsonObject;
use papertape_service::app::App;
use papertape_service::{experiments, view};

/// Get an experiment: its plan, its jobs and their progress
#[utoipa::path(
    get,
    path = "/experiments/{experiment_id}",
    tag = "simulation",
    params(("experiment_id" = String, Path, description = "The experiment")),
    responses((status = 200, body = ExperimentResponse, description = "The experiment"), ReadErrors)
)]
pub(super) async fn experiment(
    State(app): State<App>,
    ExperimentPath(experiment): ExperimentPath,
) -> ApiResult<ExperimentResponse> {
    Ok(Json(view::experiment(&app, &experiment).await?))
}

/// Get the result of every trial, with mean and spread
#[utoipa::path(
    get,
    path = "/experiments/{experiment_id}/results",
    tag = "record",
    params(("experiment_id" = String, Path, description = "The experiment")),
    responses(
        (status = 200, body = ExperimentResults, description = "Every trial by agent and window"),
        ReadErrors
    )
)]
pub(super) async fn results(
    State(app): State<App>,
    ExperimentPath(experiment): ExperimentPath,
) -> ApiResult<ExperimentResults> {
    Ok(Json(view::experiment_results(&app, &experiment).await?))
}

/// Cancel all jobs of an experiment after their current steps
///
/// A cancelled experiment can be resumed.
#[utoipa::path(
    post,
    path = "/experiments/{experiment_id}/cancel",
    tag = "simulation",
    params(("experiment_id" = String, Path, description = "The experiment")),
    responses(
        (status = 202, body = ChangedExperimentResponse, description = "The jobs are cancelled, or stop after their current steps"),
        WriteErrors
    )
)]
pub(super) async fn cancel(
    State(app): State<App>,
    ExperimentPath(experiment): ExperimentPath,
) -> Result<(StatusCode, Json<ChangedExperimentResponse>), ApiError> {
    let changed = experiments::cancel(&app, &id(&experiment)?).await?;
    let message = "the jobs are cancelled, or stop after their current steps";
    Ok((StatusCode::ACCEPTED, Json(response(&app, experiment, changed, message.to_owned()))))
}

/// Resume all stopped jobs of an experiment
///
/// Each resumes at the exact step where it stopped.
#[utoipa::path(
    post,
    path = "/experiments/{experiment_id}/resume",
    tag = "simulation",
    params(("experiment_id" = String, Path, description = "The experiment")),
    request_body = Option<ResumeExperimentBody>,
    responses(
        (status = 202, body = ChangedExperimentResponse, description = "The jobs are queued or running"),
        BodyErrors
    )
)]
pub(super) async fn resume(
    State(app): State<App>,
    ExperimentPath(experiment): ExperimentPath,
    OptionalBody(body): OptionalBody<ResumeExperimentBody>,
) -> Result<(StatusCode, Json<ChangedExperimentResponse>), ApiError> {
    let limit = body.and_then(|body| body.budget);
    let limit = limit.map(|JsonObject(limit)| Limit { tokens: limit.tokens, usd: limit.usd });
    let changed = experiments::resume(&app, &id(&experiment)?, limit).await?;
    let message = format!("the experiment is {}", changed.0);
    Ok((StatusCode::ACCEPTED, Json(response(&app, experiment, changed, message))))
}

fn response(
    app: &App,
    experiment_id: String,
    (status, jobs): (JobStatus, usize),
    message: String,
) -> ChangedExperimentResponse {
    ChangedExperimentResponse { experiment_id, status, jobs, message, deployment: view::deployment(app) }
}

/// Parses an experiment's ID. An invalid one names no experiment.
fn id(text: &str) -> Result<ExperimentId, ApiError> {
    if text.contains('\0') {
        return Err(ApiError::NotFound("unknown experiment ID".to_owned()));
    }
    Ok(ExperimentId::new(text))
}
