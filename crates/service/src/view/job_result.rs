//! Results of jobs on plans.

use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::JobId;
use papertape_core::record::JobKind;
use papertape_protocol::job_result::JobResult;

/// The result of a job of this kind; `None` until it ends, and for kinds without one.
///
/// # Errors
/// A database error.
pub async fn job_result(app: &App, job: &JobId, kind: &JobKind) -> Result<Option<JobResult>, ServiceError> {
    if !matches!(kind, JobKind::PlanDecompose | JobKind::PlanExecute) {
        return Ok(None);
    }
    let Some(kept) = app.store.outcome(job).await? else { return Ok(None) };
    let read = match kind {
        JobKind::PlanDecompose => serde_json::from_value(kept).map(JobResult::Decomposition),
        _ => serde_json::from_value(kept).map(JobResult::Execution),
    };
    // A job that ended before it began has no result.
    Ok(read.ok())
}
