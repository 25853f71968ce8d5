//! Counts action log rows that could not be written together with the data they describe.

use super::Metrics;
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::ports::{RecordError, RecordFuture, RecordStore};
use papertape_core::record::{
    AgentState, Commit, DayStatus, DerivedRow, Lease, NewSession, OpenCall, OpenedSession, SessionId,
    SessionWithoutSummary, TapeRow, UsageTotal, Write,
};
use papertape_core::tape::StepPath;
use papertape_core::time::Date;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A record whose failed commits are counted if they contain action log rows. A lost lease is not a failure,
/// nor is a write that a plan's rules reject: it is committed again as rejected.
pub(super) struct InstrumentedRecord {
    pub(super) record: Arc<dyn RecordStore>,
    pub(super) metrics: Arc<Metrics>,
}

/// Whether the error is a write failure.
pub(super) fn is_failure(error: &RecordError) -> bool {
    !matches!(error, RecordError::LostLease | RecordError::Refused(_))
}

impl RecordStore for InstrumentedRecord {
    fn append<'a>(&'a self, commits: Vec<Commit>) -> RecordFuture<'a, ()> {
        let writes = commits.iter().flat_map(|commit| &commit.writes);
        let rows = writes.filter(|write| matches!(write, Write::Action(_))).count();
        // The commit has started when this returns, whether it is awaited or dropped.
        let committing = self.record.append(commits);
        async move {
            let committed = committing.await;
            if committed.as_ref().is_err_and(is_failure) {
                self.metrics.action_log_write_errors.add(rows as u64);
            }
            committed
        }
        .boxed()
    }

    fn open_session<'a>(&'a self, lease: &'a Lease, new: NewSession) -> RecordFuture<'a, OpenedSession> {
        self.record.open_session(lease, new)
    }

    fn load_tape<'a>(&'a self, session: SessionId, detached: bool) -> RecordFuture<'a, Vec<TapeRow>> {
        self.record.load_tape(session, detached)
    }

    fn load_derived_rows<'a>(
        &'a self,
        session: SessionId,
    ) -> RecordFuture<'a, BTreeMap<StepPath, Vec<DerivedRow>>> {
        self.record.load_derived_rows(session)
    }

    fn texts<'a>(&'a self, hashes: Vec<ContentHash>) -> RecordFuture<'a, BTreeMap<ContentHash, String>> {
        self.record.texts(hashes)
    }

    fn agent_state<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        until: Option<Date>,
    ) -> RecordFuture<'a, Option<AgentState>> {
        self.record.agent_state(job, agent, until)
    }

    fn find_session<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        date: Date,
    ) -> RecordFuture<'a, Option<OpenedSession>> {
        self.record.find_session(job, agent, date)
    }

    fn ended_days<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
    ) -> RecordFuture<'a, BTreeMap<Date, DayStatus>> {
        self.record.ended_days(job, agent)
    }

    fn unsummarized<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<SessionWithoutSummary>> {
        self.record.unsummarized(job)
    }

    fn load_usage<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<UsageTotal>> {
        self.record.load_usage(job)
    }

    fn open_calls<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<OpenCall>> {
        self.record.open_calls(job)
    }
}
