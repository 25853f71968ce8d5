//! What a job on a plan came to.

use super::ViewError;
use crate::app::App;
use papertape_core::id::JobId;
use papertape_core::record::JobKind;
use papertape_protocol::job_result::JobResult;

/// What a job of this kind came to; `None` until it has ended, and for kinds that come to nothing of the sort.
///
/// # Errors
/// The record's.
pub async fn job_result(app: &App, job: &JobId, kind: &JobKind) -> Result<Option<JobResult>, ViewError> {
    if !matches!(kind, JobKind::PlanDecompose | JobKind::PlanExecute) {
        return Ok(None);
    }
    let Some(kept) = app.store.outcome(job).await? else { return Ok(None) };
    let read = match kind {
        JobKind::PlanDecompose => serde_json::from_value(kept).map(JobResult::Decomposition),
        _ => serde_json::from_value(kept).map(JobResult::Execution),
    };
    // A job that ended before it began has kept nothing.
    Ok(read.ok())
}
