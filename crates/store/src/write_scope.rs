//! What a write belongs to.

use papertape_core::id::JobId;
use papertape_core::record::Lease;

/// A job, or one of its parts, whose writes keep their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WriteScope {
    pub(crate) job: JobId,
    pub(crate) part: u32,
}

impl From<&JobId> for WriteScope {
    fn from(job: &JobId) -> Self {
        Self { job: job.clone(), part: 0 }
    }
}

impl From<&Lease> for WriteScope {
    fn from(lease: &Lease) -> Self {
        Self { job: lease.job.clone(), part: lease.part }
    }
}
