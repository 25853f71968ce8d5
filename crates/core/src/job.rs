//! Jobs and their model-days.

use crate::content::StoredText;
use crate::id::{AgentName, ContentHash, JobId, PlanId};
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// A session's row ID in `trading_sessions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub i64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The right to write for a job or one of its parts, valid while its epoch in the database equals `epoch`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lease {
    /// The job.
    pub job: JobId,
    /// The part, from 1; 0 for a job that is not split.
    pub part: u32,
    /// Incremented by each claim.
    pub epoch: i64,
}

/// What a heartbeat found out about a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// It is valid.
    Held,
    /// It is valid, and cancellation was requested.
    Cancelled,
    /// Another worker has claimed the job, or it was stopped.
    Lost,
}

/// A job's status, as every reader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Waiting for a worker.
    Queued,
    /// Claimed by a worker.
    Running,
    /// All of it is done.
    Completed,
    /// Some of it is done; each unfinished part has its reason. Can be resumed.
    Partial,
    /// Nothing could be done. Can be resumed.
    Failed,
    /// Canceled on request. Can be resumed.
    Cancelled,
}

/// A model-day's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DayStatus {
    /// Not started.
    Queued,
    /// Running.
    Running,
    /// The agent finished its day.
    Completed,
    /// The agent's day ended with an error; fills and marks were booked nevertheless.
    Failed,
    /// Already done by an earlier job, or there was nothing to do.
    Skipped,
}

crate::words!(JobStatus {
    Queued = "queued", Running = "running", Completed = "completed", Partial = "partial",
    Failed = "failed", Cancelled = "cancelled",
});
crate::words!(DayStatus {
    Queued = "queued", Running = "running", Completed = "completed", Failed = "failed",
    Skipped = "skipped",
});

/// How a part of a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartEnd {
    /// Its status; `queued` gives the part back.
    pub status: JobStatus,
    /// Why it stopped, if anything but failed model-days stopped it.
    pub reasons: BTreeSet<String>,
}

/// Why a job is not `completed`: what stopped its agents, or else how many model-days failed.
#[must_use]
pub fn stop_reason(reasons: &BTreeSet<String>, failed_days: usize) -> Option<String> {
    match (reasons.is_empty(), failed_days) {
        (true, 0) => None,
        (true, failed) => Some(format!("{failed} model-day(s) failed")),
        (false, _) => Some(reasons.iter().map(String::as_str).collect::<Vec<_>>().join("; ")),
    }
}

impl JobStatus {
    /// Whether nothing more happens until someone resumes it.
    #[must_use]
    pub const fn is_stopped(self) -> bool {
        matches!(self, Self::Completed | Self::Partial | Self::Failed | Self::Cancelled)
    }
}

/// What a job does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobKind {
    /// Simulates trading days.
    Simulate,
    /// Times one desk on one day.
    Profile,
    /// Replies to a user's message.
    ChatAction,
    /// Decomposes a plan into tasks.
    PlanDecompose,
    /// Runs a plan's tasks.
    PlanExecute,
    /// Tests whether a model recalls the prices of a dataset.
    MemoryProbe,
    /// Another version's kind, or one from an imported action log.
    Unknown(String),
}

impl JobKind {
    /// Every known kind.
    pub const ALL: &[Self] = &[
        Self::Simulate,
        Self::Profile,
        Self::ChatAction,
        Self::PlanDecompose,
        Self::PlanExecute,
        Self::MemoryProbe,
    ];
    /// The assistant's kinds: they wait for other jobs, so other jobs must not keep them waiting.
    pub const ASSISTANT: &[Self] = &[Self::ChatAction, Self::PlanDecompose, Self::PlanExecute];
    /// Kinds of which a plan can have only one running job.
    pub const EXCLUSIVE_PER_PLAN: &[Self] = &[Self::PlanDecompose, Self::PlanExecute];

    /// The spelling in the record and the API.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        match self {
            Self::Simulate => "simulate",
            Self::Profile => "profile",
            Self::ChatAction => "chat_action",
            Self::PlanDecompose => "plan_decompose",
            Self::PlanExecute => "plan_execute",
            Self::MemoryProbe => "memory_probe",
            Self::Unknown(kind) => kind.as_str(),
        }
    }

    /// Whether the assistant runs jobs of this kind.
    #[must_use]
    pub fn is_assistant(&self) -> bool {
        Self::ASSISTANT.contains(self)
    }
}

impl From<&str> for JobKind {
    fn from(kind: &str) -> Self {
        Self::ALL
            .iter()
            .find(|known| known.as_str() == kind)
            .cloned()
            .unwrap_or_else(|| Self::Unknown(kind.to_owned()))
    }
}

impl From<String> for JobKind {
    fn from(kind: String) -> Self {
        Self::from(kind.as_str())
    }
}

impl fmt::Display for JobKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A job to enqueue.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// Its ID.
    pub id: JobId,
    /// Its kind.
    pub kind: JobKind,
    /// Its complete config.
    pub config: Value,
    /// Hash of everything that determines its outcome: config, prompts, dataset, formats; not budgets, URLs,
    /// concurrency or deadlines.
    pub fingerprint: ContentHash,
    /// Warnings for the user who started it.
    pub warnings: Vec<String>,
    /// Its model-days: `queued`, or `skipped` with a reference to where they were done.
    pub days: Vec<NewModelDay>,
    /// The job that it branched from.
    pub parent: Option<JobId>,
    /// The plan it works for, if known from the start.
    pub plan: Option<PlanId>,
    /// The agents' days in other jobs that this job replaces; nothing of them is deleted.
    pub supersedes: Vec<Supersession>,
    /// The earlier jobs whose accounts its agents continue.
    pub continues: Vec<Continuation>,
    /// Texts referenced by the config (imported states, prompts).
    pub texts: Vec<StoredText>,
    /// When it was requested.
    pub created_at: Timestamp,
}

/// A model-day of a job to enqueue.
#[derive(Clone, Debug)]
pub struct NewModelDay {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub agent: AgentName,
    /// Hash of everything that determines what the agent does on a day: a day completed under the same hash
    /// need not run again.
    pub agent_hash: ContentHash,
    /// Where the day was already done; if set, the day is skipped.
    pub skipped: Option<SkippedDay>,
}

/// Where a skipped day was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedDay {
    /// The job that ran it; never a job that skipped it too.
    pub job: JobId,
    /// The day's session in that job.
    pub session: SessionId,
}

/// One agent's days in another job, replaced by this job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Supersession {
    /// The agent; other agents of that job are not affected.
    pub agent: AgentName,
    /// The job whose days no longer count.
    pub job: JobId,
}

/// The account that an agent continues in a job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Continuation {
    /// The agent.
    pub agent: AgentName,
    /// The earlier job.
    pub job: JobId,
    /// The last day of that job that counts.
    pub date: Date,
}

/// A job as stored in the queue.
#[derive(Clone, Debug)]
pub struct JobRow {
    /// Its ID.
    pub id: JobId,
    /// Its kind.
    pub kind: JobKind,
    /// Its config.
    pub config: Value,
    /// See [`NewJob::fingerprint`].
    pub fingerprint: ContentHash,
    /// The rules version it runs under: [`RULES_VERSION`](crate::RULES_VERSION) of the program that queued
    /// it.
    pub rules_version: u32,
    /// Its status.
    pub status: JobStatus,
    /// Why it stopped.
    pub error: Option<String>,
    /// Warnings for the user who started it.
    pub warnings: Vec<String>,
    /// The job that it branched from.
    pub parent: Option<JobId>,
    /// The job that replaced the last of its agents; `None` while any of them still counts.
    pub superseded_by: Option<JobId>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// When a worker first claimed it.
    pub started_at: Option<Timestamp>,
    /// When it stopped.
    pub completed_at: Option<Timestamp>,
    /// How many times in a row its process died before the job made progress. Of a claimed part: that part's.
    pub crashes: u32,
    /// The number of parts it is split into; 1: it is not split.
    pub parts: u32,
}
