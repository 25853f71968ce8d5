//! Narrow traits for everything outside this crate. All of them are object-safe.

use crate::budget::{Limit, ShareOutcome, ShareRequest};
use crate::external::{DoorProtocol, ModelDoorRequest, ModelDoorResponse};
use crate::id::{AgentName, ContentHash, ExperimentId, JobId};
use crate::job::stop_reason;
use crate::message::{CallFailure, FailureKind, ModelName, ModelReply, ModelRequest, ToolSpec, Usage};
use crate::plan::PlanError;
use crate::record::{
    AgentState, Commit, DayStatus, DerivedRow, JobKind, JobRow, JobStatus, Lease, LeaseState, NewJob,
    NewSession, OpenCall, OpenedSession, PartEnd, SessionId, SessionWithoutSummary, TapeRow,
};
use crate::step::StepPath;
use crate::time::{Date, Timestamp};
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

mod assistant;

pub use assistant::{ActionLog, Chats, JobControl, JobTool, Plans, ToolCaller};
pub use futures::future::BoxFuture;

/// A future of the record's.
pub type RecordFuture<'a, T> = BoxFuture<'a, Result<T, RecordError>>;

/// Time, for code that may read a clock.
pub trait Clock: Send + Sync {
    /// The current instant.
    fn now(&self) -> Timestamp;
    /// Resolves after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The result of one successful attempt at a model call.
#[derive(Clone, Debug)]
pub struct ModelResponse {
    /// The model's response.
    pub reply: ModelReply,
    /// Token usage; `None` when the provider does not report it.
    pub usage: Option<Usage>,
}

/// Why one attempt failed.
#[derive(Clone, Debug)]
pub struct AttemptFailure {
    /// The failure to record if this is the last attempt.
    pub failure: CallFailure,
    /// The delay that the provider requests (`Retry-After`).
    pub retry_after: Option<Duration>,
    /// Tokens that the failed attempt used.
    pub usage: Option<Usage>,
}

/// Receives the text of a streamed response as it arrives. Deltas may be lost; only the reply is
/// authoritative.
pub type DeltaSink<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Models of any provider. One call is one attempt: the caller retries and records each attempt.
pub trait ModelClient: Send + Sync {
    /// Sends the request once. Dropping the future closes the connection.
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelResponse, AttemptFailure>>;

    /// Checks that the model is known and can be called. The error says what is missing and who must act.
    ///
    /// # Errors
    /// An unknown provider or model, or a key that is not set.
    fn check(&self, model: &ModelName) -> Result<(), String>;

    /// The house model's version, part of the digest; `None` for a real model.
    fn house_version(&self, model: &ModelName) -> Option<u32>;

    /// Sends a request of a session's model endpoint once, in the protocol in which it came in. The default serves no
    /// such requests.
    fn forward<'a>(
        &'a self,
        request: &'a ModelDoorRequest,
        _delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelDoorResponse, AttemptFailure>> {
        let message = format!("{} serves no requests of {}", request.model, request.protocol.as_str());
        let failure = CallFailure { kind: FailureKind::BadRequest, message };
        Box::pin(async move { Err(AttemptFailure { failure, retry_after: None, usage: None }) })
    }

    /// The protocols in which requests for this model can be forwarded, the provider's own first.
    fn protocols(&self, _model: &ModelName) -> Vec<DoorProtocol> {
        Vec::new()
    }

    /// The cost of `usage` of this model in USD; `None` when no price is known.
    fn cost(&self, model: &ModelName, usage: &Usage) -> Option<Decimal>;
}

/// Models that come with the program, named `house::NAME`. Their responses depend on the request alone.
pub trait BuiltInModels: Send + Sync {
    /// Checks that there is a model of this name (without `house::`).
    ///
    /// # Errors
    /// A sentence that lists the existing ones.
    fn check(&self, name: &str) -> Result<(), String>;

    /// The version of their rules, part of a step's digest.
    fn version(&self) -> u32;

    /// The model's response.
    ///
    /// # Errors
    /// An unknown model, as for [`Self::check`].
    fn respond(&self, request: &ModelRequest) -> Result<ModelResponse, String>;
}

/// A call to an external tool.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ExternalCall {
    /// The server's name in the config.
    pub server: String,
    /// The tool's name on that server.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Value,
}

/// An external tool's result.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ExternalReply {
    /// The result's text.
    pub text: String,
    /// The tool itself reports an error.
    pub is_error: bool,
}

/// An external tool that is available.
#[derive(Clone, Debug)]
pub struct ExternalTool {
    /// The server's name in the config.
    pub server: String,
    /// The tool as described to the model.
    pub spec: ToolSpec,
    /// Whether a call with an unknown outcome may be sent again (read-only or idempotent).
    pub repeatable: bool,
}

/// External tools, mainly MCP servers. Their results are not bounded in time.
pub trait ToolClient: Send + Sync {
    /// All tools of the configured servers, sorted by server and name.
    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ExternalTool>, CallFailure>>;
    /// Calls a tool once, without retries.
    fn call<'a>(&'a self, call: &'a ExternalCall) -> BoxFuture<'a, Result<ExternalReply, CallFailure>>;
}

/// Why the record could not be read or written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordError {
    /// Another worker now holds the job: the caller must stop and write nothing more.
    #[error("the job's lease was lost")]
    LostLease,
    /// A stored row is invalid.
    #[error("the record is inconsistent: {0}")]
    Inconsistent(String),
    /// A plan's rules reject the change; nothing of its transaction was written.
    #[error("{0}")]
    Refused(PlanError),
    /// Only one job of this kind may run per plan or chat session, and this one already does; nothing was
    /// written.
    #[error("job {0} is already running")]
    Busy(JobId),
    /// The account that a job was to continue has been replaced in the meantime; nothing was written.
    #[error("the days of {agent} in job {job} have been replaced: trigger it again")]
    Superseded {
        /// The job to continue.
        job: JobId,
        /// The agent.
        agent: AgentName,
    },
    /// The cursor does not come from an earlier page.
    #[error("invalid cursor")]
    BadCursor,
    /// The disk is full; the sentence says what to do.
    #[error("{0}")]
    Full(String),
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(String),
}

/// The parts of the record that a running job needs.
pub trait RecordStore: Send + Sync {
    /// Finds or creates the session of (job, date, agent).
    fn open_session<'a>(&'a self, lease: &'a Lease, new: NewSession) -> RecordFuture<'a, OpenedSession>;

    /// The steps of a session in the order of their first commit. `detached` selects the summaries' own tape.
    fn load_tape<'a>(&'a self, session: SessionId, detached: bool) -> RecordFuture<'a, Vec<TapeRow>>;

    /// The rows derived from a session's steps, by path; steps without any are absent. A branch uses it to
    /// copy the rows of steps that it does not run again.
    fn load_derived_rows<'a>(
        &'a self,
        session: SessionId,
    ) -> RecordFuture<'a, BTreeMap<StepPath, Vec<DerivedRow>>>;

    /// Applies the commits, all of one session, in their order in one transaction fenced by the lease, and
    /// returns when they are durable. Dropping the future does not undo the writes.
    fn append<'a>(&'a self, commits: Vec<Commit>) -> RecordFuture<'a, ()>;

    /// [`Self::append`] with one commit.
    fn commit<'a>(&'a self, commit: Commit) -> RecordFuture<'a, ()> {
        self.append(vec![commit])
    }

    /// The texts with these hashes; missing ones are left out.
    fn texts<'a>(&'a self, hashes: Vec<ContentHash>) -> RecordFuture<'a, BTreeMap<ContentHash, String>>;

    /// An agent's latest stored state at or before `until` (`None`: the latest of all).
    fn agent_state<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        until: Option<Date>,
    ) -> RecordFuture<'a, Option<AgentState>>;

    /// The session of (job, date, agent); `None` when it does not exist.
    fn find_session<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        date: Date,
    ) -> RecordFuture<'a, Option<OpenedSession>>;

    /// How each of an agent's days in a job ended, by date; days that have not ended are left out.
    fn ended_days<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
    ) -> BoxFuture<'a, Result<BTreeMap<Date, DayStatus>, RecordError>>;

    /// The job's completed sessions that have neither a summary nor a reason for not having one.
    fn unsummarized<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<SessionWithoutSummary>>;

    /// The job's usage so far by (agent, date, detached), for restoring budgets.
    fn load_usage<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<crate::record::UsageTotal>>;

    /// The model calls of the job's open sessions that have no outcome, summaries excepted: if their process died, they
    /// may have been paid for.
    fn open_calls<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<OpenCall>>;
}

/// The limits that the jobs of an experiment, or the parts of a job, share in any number of processes. Each job or part
/// that runs has a share, which includes its usage. The shares under a limit never add up to more than the limit, unless
/// a call has used more than was reserved for it.
pub trait SharedBudgets: Send + Sync {
    /// The experiment that a job belongs to, and its limit; `None` if it belongs to none, or to one without a limit.
    fn experiment_limit<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<(ExperimentId, Limit)>>;

    /// Replaces the share of a claimed job or part by what it holds and needs, if that is left, or by what it holds. A
    /// share outlives its worker, until the next worker replaces it or the job or part ends.
    fn request_share<'a>(&'a self, lease: &'a Lease, request: ShareRequest)
    -> RecordFuture<'a, ShareOutcome>;
}

/// The job queue.
pub trait Queue: Send + Sync {
    /// Adds a job. A plan can have only one queued or running job of the kinds in
    /// [`JobKind::EXCLUSIVE_PER_PLAN`]; a second one is [`RecordError::Busy`].
    fn enqueue<'a>(&'a self, job: NewJob) -> RecordFuture<'a, ()>;

    /// Claims the given job, or the oldest one that is queued, or running under an expired lease. `None` when
    /// there is none to claim.
    fn claim<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        only: Option<&'a JobId>,
    ) -> RecordFuture<'a, Option<(Lease, JobRow)>>;

    /// Like [`Queue::claim`], limited to these kinds of jobs.
    fn claim_of<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        kinds: &'a [JobKind],
    ) -> RecordFuture<'a, Option<(Lease, JobRow)>>;

    /// Extends the lease. The result says whether cancellation of the job was requested.
    fn renew<'a>(&'a self, lease: &'a Lease, lease_for: Duration) -> RecordFuture<'a, bool>;

    /// Extends all leases of a worker at once, and reports the state of each, in their order. A lease that the
    /// worker has and does not name ends: it is not working on that job.
    fn heartbeat<'a>(
        &'a self,
        _owner: &'a str,
        leases: &'a [Lease],
        lease_for: Duration,
    ) -> RecordFuture<'a, Vec<LeaseState>> {
        Box::pin(async move {
            let mut states = Vec::with_capacity(leases.len());
            for lease in leases {
                states.push(match self.renew(lease, lease_for).await {
                    Ok(false) => LeaseState::Held,
                    Ok(true) => LeaseState::Cancelled,
                    Err(RecordError::LostLease) => LeaseState::Lost,
                    Err(error) => return Err(error),
                });
            }
            Ok(states)
        })
    }

    /// Reports that the lease's holder is alive and only lost the lease, so this does not count as a crash.
    fn survived<'a>(&'a self, _lease: &'a Lease) -> RecordFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Ends the lease with the job's new status (`queued` gives the job back) and the reason.
    fn finish<'a>(
        &'a self,
        lease: &'a Lease,
        status: JobStatus,
        error: Option<String>,
    ) -> RecordFuture<'a, ()>;

    /// Ends the lease of a part. The last part that ends also ends the job.
    fn finish_part<'a>(&'a self, lease: &'a Lease, end: PartEnd) -> RecordFuture<'a, ()> {
        self.finish(lease, end.status, stop_reason(&end.reasons, 0))
    }

    /// Puts a stopped job (failed, partial, canceled) back into the queue. A job whose cancellation is in
    /// progress is queued as soon as its worker releases it. `false` when it does not exist, is completed, or
    /// is queued or running without a requested cancellation; [`RecordError::Busy`] when another job is
    /// working on its plan or answering in its chat session.
    fn requeue<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, bool>;

    /// Requests cancellation: a queued job is canceled at once, a running one after its current step. Returns
    /// the job's status now; `None` when there is no such job.
    fn cancel<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<JobStatus>>;

    /// Like [`Self::cancel`], but a job without a worker is left to the next worker that claims it, which
    /// first cancels the jobs it has started. The returned status of such a job is `queued`, even if it was
    /// running under a worker that has died.
    fn request_cancel<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<JobStatus>> {
        self.cancel(job)
    }

    /// The job; `None` when there is none.
    fn get_job<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<JobRow>>;
}
