//! Counts action log rows that could not be written together with the data they describe.

use super::Metrics;
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::ports::{BoxFuture, RecordError, RecordStore};
use papertape_core::record::{
    AgentState, Commit, DayStatus, DerivedRow, Lease, NewSession, OpenedSession, SessionId,
    SessionWithoutSummary, TapeRow, UsageTotal, Write,
};
use papertape_core::tape::StepPath;
use papertape_core::time::Date;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A record whose failed commits are counted if they contain action log rows. A lost lease is not a failure,
/// nor is a write that a plan's rules reject: it is committed again as rejected.
pub(super) struct InstrumentedRecord {
    record: Arc<dyn RecordStore>,
    metrics: Arc<Metrics>,
}

impl InstrumentedRecord {
    /// Counts the failures of this record.
    #[must_use]
    pub(super) fn new(record: Arc<dyn RecordStore>, metrics: Arc<Metrics>) -> Self {
        Self { record, metrics }
    }
}

/// Whether the error is a write failure.
pub(super) fn is_failure(error: &RecordError) -> bool {
    !matches!(error, RecordError::LostLease | RecordError::Refused(_))
}

impl RecordStore for InstrumentedRecord {
    fn commit<'a>(&'a self, commit: Commit) -> BoxFuture<'a, Result<(), RecordError>> {
        let rows = commit.writes.iter().filter(|write| matches!(write, Write::Action(_))).count();
        // The commit has started when this returns, whether it is awaited or dropped.
        let committing = self.record.commit(commit);
        async move {
            let committed = committing.await;
            if committed.as_ref().is_err_and(is_failure) {
                self.metrics.action_log_write_errors.add(rows as u64);
            }
            committed
        }
        .boxed()
    }

    fn open_session<'a>(
        &'a self,
        lease: &'a Lease,
        new: NewSession,
    ) -> BoxFuture<'a, Result<OpenedSession, RecordError>> {
        self.record.open_session(lease, new)
    }

    fn load_tape<'a>(
        &'a self,
        session: SessionId,
        detached: bool,
    ) -> BoxFuture<'a, Result<Vec<TapeRow>, RecordError>> {
        self.record.load_tape(session, detached)
    }

    fn load_derived_rows<'a>(
        &'a self,
        session: SessionId,
    ) -> BoxFuture<'a, Result<BTreeMap<StepPath, Vec<DerivedRow>>, RecordError>> {
        self.record.load_derived_rows(session)
    }

    fn texts<'a>(
        &'a self,
        hashes: Vec<ContentHash>,
    ) -> BoxFuture<'a, Result<BTreeMap<ContentHash, String>, RecordError>> {
        self.record.texts(hashes)
    }

    fn agent_state<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        until: Option<Date>,
    ) -> BoxFuture<'a, Result<Option<AgentState>, RecordError>> {
        self.record.agent_state(job, agent, until)
    }

    fn find_session<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        date: Date,
    ) -> BoxFuture<'a, Result<Option<OpenedSession>, RecordError>> {
        self.record.find_session(job, agent, date)
    }

    fn ended_days<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
    ) -> BoxFuture<'a, Result<BTreeMap<Date, DayStatus>, RecordError>> {
        self.record.ended_days(job, agent)
    }

    fn unsummarized<'a>(
        &'a self,
        job: &'a JobId,
    ) -> BoxFuture<'a, Result<Vec<SessionWithoutSummary>, RecordError>> {
        self.record.unsummarized(job)
    }

    fn load_usage<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Vec<UsageTotal>, RecordError>> {
        self.record.load_usage(job)
    }
}
