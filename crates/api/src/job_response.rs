//! Responses of requests that queue, cancel or resume a job.

use super::error::ApiError;
use papertape_core::id::JobId;
use papertape_core::record::JobStatus;
use papertape_protocol::simulate::{ChangedResponse, QueuedResponse};
use papertape_service::app::App;
use papertape_service::trigger::QueuedJob;
use papertape_service::view;

/// The response to a request that queued a job.
pub(super) async fn queued_response(
    app: &App,
    queued: QueuedJob,
    parent: Option<&JobId>,
) -> Result<QueuedResponse, ApiError> {
    let job = view::job_summary(app, queued.job.as_str()).await?;
    let skipped = match queued.skipped {
        0 => String::new(),
        skipped => format!(", {skipped} of them skipped as already completed"),
    };
    Ok(QueuedResponse {
        job_id: queued.job.to_string(),
        status: JobStatus::Queued,
        total_model_days: queued.total_model_days,
        message: format!("the simulation is queued: {} model-days{skipped}", queued.total_model_days),
        warnings: queued.warnings,
        continues: job.simulation.map(|simulation| simulation.continues).unwrap_or_default(),
        parent: parent.map(ToString::to_string),
        deployment: view::deployment(app),
    })
}

/// The response to a request that changed the status of a job.
pub(super) fn changed_response(
    app: &App,
    job_id: String,
    status: JobStatus,
    message: &str,
) -> ChangedResponse {
    ChangedResponse { job_id, status, message: message.to_owned(), deployment: view::deployment(app) }
}

/// Parses a job ID. An invalid one names no job.
pub(super) fn job_id(text: &str) -> Result<JobId, ApiError> {
    if text.contains('\0') {
        return Err(ApiError::NotFound("unknown job ID".to_owned()));
    }
    Ok(JobId::new(text))
}
