//! The narrow traits behind which the outside lives. Everything here is object-safe.

use crate::id::{AgentName, ContentHash, JobId};
use crate::message::{CallFailure, ModelName, ModelReply, ModelRequest, ToolSpec, Usage};
use crate::plan::PlanRefusal;
use crate::record::{
    AgentState, Commit, Implied, JobRow, JobStatus, Lease, NewJob, NewSession, OpenedSession, SessionId,
    TapeRow, Unsummarised,
};
use crate::tape::StepPath;
use crate::time::{Date, Timestamp};
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

mod assistant;

pub use assistant::{ActionLog, Caller, Chats, JobControl, JobTool, Plans};
pub use futures::future::BoxFuture;

/// Time, for the parts of the product that may read it.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
    /// Resolves after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// What one attempt at a model call came to.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the model said.
    pub reply: ModelReply,
    /// What it used; `None` where the provider does not tell.
    pub usage: Option<Usage>,
}

/// Why one attempt failed.
#[derive(Clone, Debug)]
pub struct AttemptFailure {
    /// What is kept, should it be the last attempt.
    pub failure: CallFailure,
    /// How long the provider asks to wait (`Retry-After`).
    pub retry_after: Option<Duration>,
    /// What was used all the same.
    pub usage: Option<Usage>,
}

/// Receives a streamed answer's text as it arrives. Deltas may be lost; the reply is what counts.
pub type DeltaSink<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Models of any provider. One call is one attempt: retries belong to the caller, who records them.
pub trait Models: Send + Sync {
    /// Sends the request once. Dropping the future closes the connection.
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<Answer, AttemptFailure>>;

    /// Is the model known, and can it be called? The error says what is missing and who must act.
    ///
    /// # Errors
    /// An unknown provider or model, or a key that is not set.
    fn check(&self, model: &ModelName) -> Result<(), String>;

    /// The house model's version, part of the digest; `None` for a real model.
    fn house_version(&self, model: &ModelName) -> Option<u32>;

    /// What `usage` of this model costs in USD; `None` where no price is known.
    fn cost(&self, model: &ModelName, usage: &Usage) -> Option<Decimal>;
}

/// A call to a tool outside of the process.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ExternalCall {
    /// The configured server's name.
    pub server: String,
    /// The tool's name there.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Value,
}

/// What an outside tool answered.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ExternalReply {
    /// The answer's text.
    pub text: String,
    /// The tool itself calls it an error.
    pub is_error: bool,
}

/// A tool on offer from outside.
#[derive(Clone, Debug)]
pub struct ExternalTool {
    /// The configured server's name.
    pub server: String,
    /// The tool, as the model is told of it.
    pub spec: ToolSpec,
    /// May a call whose outcome is unknown be sent again (read-only or idempotent)?
    pub repeatable: bool,
}

/// Tools outside of the process, MCP servers first of all. What they answer is not bounded in time.
pub trait Tools: Send + Sync {
    /// All that the configured servers offer, sorted by server and name.
    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ExternalTool>, CallFailure>>;
    /// Calls one once.
    fn call<'a>(&'a self, call: &'a ExternalCall) -> BoxFuture<'a, Result<ExternalReply, CallFailure>>;
}

/// Why the record did not take or give something.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordError {
    /// Another worker has the job now: whoever gets this must stop and write nothing more.
    #[error("the job's lease was lost")]
    LostLease,
    /// A row is there but makes no sense.
    #[error("the record is inconsistent: {0}")]
    Inconsistent(String),
    /// A plan's rules refuse the change; nothing of its transaction was written.
    #[error("{0}")]
    Refused(PlanRefusal),
    /// There is one job at a time of this kind for a plan or a conversation, and this one is it; nothing was
    /// written.
    #[error("job {0} is at work on it already")]
    Busy(JobId),
    /// The account that a job was to continue has been replaced meanwhile; nothing was written.
    #[error("the days of {agent} in job {job} were replaced meanwhile: trigger it again")]
    Superseded {
        /// The job that was to be continued.
        job: JobId,
        /// The agent.
        agent: AgentName,
    },
    /// A cursor that no page has given.
    #[error("the cursor is not one that an earlier page has given")]
    BadCursor,
    /// There is no room to write to; the sentence says what to do.
    #[error("{0}")]
    Full(String),
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(String),
}

/// The record, as a running job needs it.
pub trait Record: Send + Sync {
    /// Finds or makes the session of (job, date, agent).
    fn open_session<'a>(
        &'a self,
        lease: &'a Lease,
        new: NewSession,
    ) -> BoxFuture<'a, Result<OpenedSession, RecordError>>;

    /// The steps of a session in the order of their first commit. `detached` chooses the summaries'
    /// own tape.
    fn tape<'a>(
        &'a self,
        session: SessionId,
        detached: bool,
    ) -> BoxFuture<'a, Result<Vec<TapeRow>, RecordError>>;

    /// The rows that the steps of a session imply, by path; steps without any are absent. For a branch,
    /// which copies those of steps that it does not run again.
    fn implied<'a>(
        &'a self,
        session: SessionId,
    ) -> BoxFuture<'a, Result<BTreeMap<StepPath, Vec<Implied>>, RecordError>>;

    /// Applies all writes in one transaction, fenced by the lease, and returns when they are durable.
    /// Dropping the future does not take the writes back.
    fn commit<'a>(&'a self, commit: Commit) -> BoxFuture<'a, Result<(), RecordError>>;

    /// The texts of these hashes; hashes that are not there are absent from the answer.
    fn texts<'a>(
        &'a self,
        hashes: Vec<ContentHash>,
    ) -> BoxFuture<'a, Result<BTreeMap<ContentHash, String>, RecordError>>;

    /// The newest stored state of an agent at or before `until` (`None`: the newest of all).
    fn agent_state<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        until: Option<Date>,
    ) -> BoxFuture<'a, Result<Option<AgentState>, RecordError>>;

    /// The session of (job, date, agent); `None` where there is none.
    fn find_session<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        date: Date,
    ) -> BoxFuture<'a, Result<Option<OpenedSession>, RecordError>>;

    /// The job's completed sessions that have neither a summary nor a reason for having none.
    fn unsummarised<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Vec<Unsummarised>, RecordError>>;

    /// What the job has used so far by (agent, date, detached), for budgets to be rebuilt.
    fn spent<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Vec<crate::record::Spent>, RecordError>>;
}

/// The queue of jobs, the only one.
pub trait Queue: Send + Sync {
    /// Adds a job. Of a kind of [`crate::record::ONE_A_PLAN`] a plan has one at a time that is queued or
    /// running: another one is [`RecordError::Busy`].
    fn enqueue<'a>(&'a self, job: NewJob) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Takes the oldest job that is queued, or running under a lease that has run out; or this very
    /// job. `None` where there is none to take.
    fn claim<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        only: Option<&'a JobId>,
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>>;

    /// As [`Queue::claim`], of jobs of these kinds alone.
    fn claim_of<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        kinds: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>>;

    /// Extends the lease. The answer says whether someone has asked for the job to be cancelled.
    fn renew<'a>(&'a self, lease: &'a Lease, lease_for: Duration)
    -> BoxFuture<'a, Result<bool, RecordError>>;

    /// Reports that the holder of this lease is alive and has only lost it: that was not a crash.
    fn survived<'a>(&'a self, _lease: &'a Lease) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async { Ok(()) })
    }

    /// Ends the lease with the job's new status (`queued` gives it back) and the reason.
    fn finish<'a>(
        &'a self,
        lease: &'a Lease,
        status: JobStatus,
        error: Option<String>,
    ) -> BoxFuture<'a, Result<(), RecordError>>;

    /// Puts a job that has stopped (failed, partial, cancelled) back into the queue. One that is still being
    /// cancelled waits again as soon as its worker has let it go. `false` where it is not there, is completed, or
    /// is queued or running and not being cancelled; [`RecordError::Busy`] where another one is at work on its plan, or
    /// answers in its conversation.
    fn requeue<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<bool, RecordError>>;

    /// Asks for a job to be cancelled: a queued one is at once, a running one after its step.
    /// `None`: no such job; else its status now.
    fn cancel<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobStatus>, RecordError>>;

    /// As [`Self::cancel`], but leaves a job that nobody has to the worker that takes it: it cancels what the job has
    /// started first. Such a job is `queued` in the answer, also where a worker that is gone was running it.
    fn ask_to_stop<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobStatus>, RecordError>> {
        self.cancel(job)
    }

    /// The job; `None` where there is none.
    fn job<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobRow>, RecordError>>;
}
