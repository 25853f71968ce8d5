//! Runs the jobs of one kind, and the registry of all kinds.

use crate::cancellation::CancelToken;
use crate::services::Services;
use papertape_core::action::ActionKind;
use papertape_core::id::AgentName;
use papertape_core::money::Money;
use papertape_core::ports::BoxFuture;
use papertape_core::record::{DayStatus, JobKind, JobRow, JobStatus, Lease};
use papertape_core::tape::SessionStop;
use papertape_core::time::Date;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Notified of progress, for progress bars. Has no influence on the run.
pub trait Observer: Send + Sync {
    /// Called after an agent's day.
    fn day_ended(&self, agent: &AgentName, date: Date, status: DayStatus, portfolio_value: Money);
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn day_ended(&self, _: &AgentName, _: Date, _: DayStatus, _: Money) {}
}

/// How the action log calls a job: its kind of action, and its name.
pub type JobAction<'a> = (ActionKind, &'a str);

/// How a job ended, or stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutcome {
    /// Its status now.
    pub status: JobStatus,
    /// Why it is not `completed`.
    pub error: Option<String>,
    /// The reasons in `error`, one by one; empty if only model-days failed.
    pub reasons: BTreeSet<String>,
    /// A sentence on the result, if there is more to say than its status.
    pub note: Option<String>,
    /// Structured details: fields of the details of the job's last log row.
    pub details: Map<String, Value>,
}

impl JobOutcome {
    pub(crate) fn of(status: JobStatus, error: Option<String>) -> Self {
        let reasons = error.iter().cloned().collect();
        Self { status, error, reasons, note: None, details: Map::new() }
    }

    pub(crate) fn failed(error: String) -> Self {
        Self::of(JobStatus::Failed, Some(error))
    }
}

/// A claimed job, and what it runs with.
#[derive(Clone, Copy)]
pub struct ClaimedJob<'a> {
    /// The process's services.
    pub services: &'a Services,
    /// The right to write for it.
    pub lease: &'a Lease,
    /// The job as it was claimed.
    pub row: &'a JobRow,
    /// Stops it after its current step.
    pub cancel: &'a CancelToken,
    /// Notified of its progress.
    pub observer: &'a dyn Observer,
}

/// What a worker knows of a kind of jobs.
pub struct JobSpec {
    /// The kind.
    pub kind: JobKind,
    /// What the action log calls such a job.
    pub action: JobAction<'static>,
    /// Whether such a job counts toward the worker's `parallel_jobs`. One that waits for other jobs must not.
    pub needs_slot: bool,
}

/// Runs the jobs of one kind.
pub trait JobRunner: Send + Sync {
    /// The kind.
    fn spec(&self) -> JobSpec;

    /// Runs a job until it ends or stops. Writes everything except the job's own status.
    ///
    /// # Errors
    /// [`SessionStop::LostLease`] if another worker has claimed the job; nothing more may be written for it.
    fn run<'a>(&'a self, job: ClaimedJob<'a>) -> BoxFuture<'a, Result<JobOutcome, SessionStop>>;
}

/// The runners of a process, by kind.
#[derive(Clone, Default)]
pub struct JobRunners(BTreeMap<JobKind, Arc<dyn JobRunner>>);

impl JobRunners {
    /// The runner of a kind; `None`: this process cannot run it.
    pub(crate) fn get(&self, kind: &JobKind) -> Option<&dyn JobRunner> {
        self.0.get(kind).map(|runner| &**runner)
    }

    /// The kinds that need no slot.
    pub(crate) fn without_slot(&self) -> Vec<JobKind> {
        let specs = self.0.values().map(|runner| runner.spec());
        specs.filter(|spec| !spec.needs_slot).map(|spec| spec.kind).collect()
    }
}

impl Extend<Arc<dyn JobRunner>> for JobRunners {
    fn extend<T: IntoIterator<Item = Arc<dyn JobRunner>>>(&mut self, runners: T) {
        self.0.extend(runners.into_iter().map(|runner| (runner.spec().kind, runner)));
    }
}
