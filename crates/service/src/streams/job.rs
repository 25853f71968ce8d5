//! A job as its stream reports it.

use papertape_core::id::JobId;
use papertape_protocol::stream::StreamedJob;
use papertape_store::JobTail;

/// A job as its stream reports it.
pub(super) fn streamed_job(job: &JobId, tail: &JobTail) -> StreamedJob {
    StreamedJob {
        job_id: job.to_string(),
        kind: tail.kind.clone(),
        status: tail.status,
        error: tail.error.clone(),
    }
}
