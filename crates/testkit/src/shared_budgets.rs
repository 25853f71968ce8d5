//! Shared limits of jobs in memory: there are none.

use crate::record::{MemoryRecord, ready};
use papertape_core::budget::{Limit, ShareOutcome, ShareRequest};
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::ports::{BoxFuture, RecordError, SharedBudgets};
use papertape_core::record::Lease;

impl SharedBudgets for MemoryRecord {
    fn experiment_limit<'a>(
        &'a self,
        _: &'a JobId,
    ) -> BoxFuture<'a, Result<Option<(ExperimentId, Limit)>, RecordError>> {
        ready(Ok(None))
    }

    fn request_share<'a>(
        &'a self,
        _: &'a Lease,
        _: ShareRequest,
    ) -> BoxFuture<'a, Result<ShareOutcome, RecordError>> {
        ready(Ok(ShareOutcome::Granted(Limit::default())))
    }
}
