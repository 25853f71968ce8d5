//! Which jobs can be resumed.

use papertape_core::record::JobStatus;
use serde_json::Value;

/// Whether a job has stopped before its end and can be resumed.
pub(crate) fn can_resume(status: JobStatus, config: &Value) -> bool {
    let is_early = matches!(status, JobStatus::Partial | JobStatus::Failed | JobStatus::Cancelled);
    is_early && !is_log_only(config)
}

/// Whether a job is the log of another database's job.
pub(crate) fn is_log_only(config: &Value) -> bool {
    config.get("imported_from").is_some()
}
