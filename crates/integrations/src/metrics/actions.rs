//! Counts action log rows that could not be written.

use super::Metrics;
use super::record::is_failure;
use futures::FutureExt as _;
use papertape_core::action::{ActionEntry, ActionRow, CleanupReport, LogPage, LogPosition, PlanJob};
use papertape_core::id::JobId;
use papertape_core::page::{Page, PageRequest};
use papertape_core::plan::PlanId;
use papertape_core::ports::{ActionLog, RecordFuture};
use papertape_core::record::Lease;
use papertape_core::time::Timestamp;
use std::sync::Arc;

/// An action log whose failures are counted. A lost lease is not a failure.
pub(super) struct InstrumentedLog {
    pub(super) log: Arc<dyn ActionLog>,
    pub(super) metrics: Arc<Metrics>,
}

impl ActionLog for InstrumentedLog {
    fn append_action_log<'a>(
        &'a self,
        lease: &'a Lease,
        entry: ActionEntry,
        at: Timestamp,
    ) -> RecordFuture<'a, i64> {
        async move {
            let written = self.log.append_action_log(lease, entry, at).await;
            if written.as_ref().is_err_and(is_failure) {
                self.metrics.action_log_write_errors.increment();
            }
            written
        }
        .boxed()
    }

    fn start_action_log<'a>(
        &'a self,
        lease: &'a Lease,
        entry: ActionEntry,
        at: Timestamp,
    ) -> RecordFuture<'a, Option<i64>> {
        async move {
            let written = self.log.start_action_log(lease, entry, at).await;
            if written.as_ref().is_err_and(is_failure) {
                self.metrics.action_log_write_errors.increment();
            }
            written
        }
        .boxed()
    }

    fn list_action_logs<'a>(
        &'a self,
        job: &'a JobId,
        from: LogPosition,
        limit: u32,
    ) -> RecordFuture<'a, LogPage> {
        self.log.list_action_logs(job, from, limit)
    }

    fn action_log<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<ActionRow>> {
        self.log.action_log(job)
    }

    fn plan_job<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<PlanJob>> {
        self.log.plan_job(job)
    }

    fn plan_jobs<'a>(&'a self, plan: PlanId, page: &'a PageRequest) -> RecordFuture<'a, Page<PlanJob>> {
        self.log.plan_jobs(plan, page)
    }

    fn cleanup_action_logs<'a>(
        &'a self,
        older_than: Timestamp,
        max_rows: u32,
        dry_run: bool,
    ) -> RecordFuture<'a, CleanupReport> {
        self.log.cleanup_action_logs(older_than, max_rows, dry_run)
    }
}
