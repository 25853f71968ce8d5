//! Responses of requests that queue, cancel or resume a job.

use super::error::ApiError;
use papertape_core::id::JobId;
use papertape_core::record::JobStatus;
use papertape_service::app::App;
use papertape_service::trigger::QueuedJob;
use papertape_service::view::{self, ContinuesFrom, Deployment};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A queued job.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct QueuedResponse {
    /// The job.
    pub(super) job_id: String,
    /// `queued`.
    #[schema(schema_with = papertape_service::view::vocabulary::job_status)]
    pub(super) status: JobStatus,
    /// Trading days x agents, the skipped ones included.
    pub(super) total_model_days: usize,
    /// A summary for people.
    pub(super) message: String,
    /// Warnings for the caller.
    pub(super) warnings: Vec<String>,
    /// By model: the job that it continues, and the last day of that job that counts.
    pub(super) continues: BTreeMap<String, ContinuesFrom>,
    /// The job that it is a branch of.
    pub(super) parent: Option<String>,
    #[serde(flatten)]
    pub(super) deployment: Deployment,
}

impl QueuedResponse {
    pub(super) async fn of(app: &App, queued: QueuedJob, parent: Option<&JobId>) -> Result<Self, ApiError> {
        let job = view::job_summary(app, queued.job.as_str()).await?;
        let skipped = match queued.skipped {
            0 => String::new(),
            skipped => format!(", {skipped} of them skipped as done already"),
        };
        Ok(Self {
            job_id: queued.job.to_string(),
            status: JobStatus::Queued,
            total_model_days: queued.total_model_days,
            message: format!("the simulation is queued: {} model-days{skipped}", queued.total_model_days),
            warnings: queued.warnings,
            continues: job.simulation.map(|simulation| simulation.continues).unwrap_or_default(),
            parent: parent.map(ToString::to_string),
            deployment: Deployment::of(app),
        })
    }
}

/// A job with its new status.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ChangedResponse {
    /// The job.
    pub(super) job_id: String,
    /// Its status now.
    #[schema(schema_with = papertape_service::view::vocabulary::job_status)]
    pub(super) status: JobStatus,
    /// A summary for people.
    pub(super) message: String,
    #[serde(flatten)]
    pub(super) deployment: Deployment,
}

impl ChangedResponse {
    pub(super) fn of(app: &App, job_id: String, status: JobStatus, message: &str) -> Self {
        Self { job_id, status, message: message.to_owned(), deployment: Deployment::of(app) }
    }
}

/// Parses a job ID. An invalid one names no job.
pub(super) fn job_id(text: &str) -> Result<JobId, ApiError> {
    if text.contains('\0') {
        return Err(ApiError::NotFound("there is no such job".to_owned()));
    }
    Ok(JobId::new(text))
}
