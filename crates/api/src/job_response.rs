//! What requests that put a job into the queue, or take it out, answer.

use super::error::ApiError;
use papertape_core::id::JobId;
use papertape_core::record::JobStatus;
use papertape_service::app::App;
use papertape_service::trigger::QueuedJob;
use papertape_service::view::{self, ContinuesFrom, Deployment};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A job that was queued.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct QueuedResponse {
    /// The job.
    pub(super) job_id: String,
    /// `queued`.
    #[schema(schema_with = papertape_service::view::vocabulary::job_status)]
    pub(super) status: JobStatus,
    /// Trading days x agents, the skipped ones included.
    pub(super) total_model_days: usize,
    /// In a sentence.
    pub(super) message: String,
    /// What the caller should know.
    pub(super) warnings: Vec<String>,
    /// By model: the job, and the last day of it, that the model goes on from.
    pub(super) continues: BTreeMap<String, ContinuesFrom>,
    /// The job that it branched from.
    pub(super) parent: Option<String>,
    /// Whose data it is.
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

/// What became of a job's status.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ChangedResponse {
    /// The job.
    pub(super) job_id: String,
    /// Its status now.
    #[schema(schema_with = papertape_service::view::vocabulary::job_status)]
    pub(super) status: JobStatus,
    /// In a sentence.
    pub(super) message: String,
    /// Whose data it is.
    #[serde(flatten)]
    pub(super) deployment: Deployment,
}

impl ChangedResponse {
    pub(super) fn of(app: &App, job_id: String, status: JobStatus, message: &str) -> Self {
        Self { job_id, status, message: message.to_owned(), deployment: Deployment::of(app) }
    }
}

/// A job's id. One that cannot be is one that is not there.
pub(super) fn job_id(text: &str) -> Result<JobId, ApiError> {
    if text.contains('\0') {
        return Err(ApiError::NotFound("there is no such job".to_owned()));
    }
    Ok(JobId::new(text))
}
