//! What can be claimed, and how an attempt to claim it ends.

use papertape_core::id::JobId;
use papertape_core::record::{JobRow, Lease};

/// A job, or a part of one, that can be claimed.
pub(super) struct Candidate {
    pub(super) job: JobId,
    /// 0: the job is not split.
    pub(super) part: u32,
    /// Its epoch when it was found.
    pub(super) epoch: i64,
}

/// The outcome of an attempt to claim a job.
pub(super) enum Attempt {
    Claimed(Box<(Lease, JobRow)>),
    /// Another worker was faster. There may be more jobs.
    TooLate,
    /// There is no job to claim.
    Nothing,
}
