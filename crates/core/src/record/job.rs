//! Jobs and their model-days.

use super::{Text, words};
use crate::id::{AgentName, ContentHash, JobId};
use crate::plan::PlanId;
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A session's row id in `trading_sessions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub i64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The right to write for a job: good as long as the job's epoch in the database is this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: JobId,
    /// Counted up at each claim.
    pub epoch: i64,
}

/// A job's status, as every reader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Waits for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// All of it is done.
    Completed,
    /// Some of it is done; what is not has its reason. Can be resumed.
    Partial,
    /// None of it could be done. Can be resumed.
    Failed,
    /// Someone stopped it. Can be resumed.
    Cancelled,
}

/// A model-day's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DayStatus {
    /// Not begun.
    Queued,
    /// Under way.
    Running,
    /// The agent ended its day of its own accord.
    Completed,
    /// The agent's day broke off, with an error; the books went on all the same.
    Failed,
    /// Done already by an earlier job, or nothing to do.
    Skipped,
}

words!(JobStatus {
    Queued = "queued",
    Running = "running",
    Completed = "completed",
    Partial = "partial",
    Failed = "failed",
    Cancelled = "cancelled",
});
words!(DayStatus {
    Queued = "queued",
    Running = "running",
    Completed = "completed",
    Failed = "failed",
    Skipped = "skipped",
});

impl JobStatus {
    /// Will nothing more happen unless somebody resumes it?
    #[must_use]
    pub const fn is_stopped(self) -> bool {
        matches!(self, Self::Completed | Self::Partial | Self::Failed | Self::Cancelled)
    }
}

/// The kind of jobs that answer a person's message.
pub const CHAT_ACTION: &str = "chat_action";
/// The kind of jobs that break a plan into tasks.
pub const PLAN_DECOMPOSE: &str = "plan_decompose";
/// The kind of jobs that run a plan's tasks.
pub const PLAN_EXECUTE: &str = "plan_execute";
/// The assistant's kinds: they wait for other jobs, and are not to be kept waiting by them.
pub const ASSISTANTS: [&str; 3] = [CHAT_ACTION, PLAN_DECOMPOSE, PLAN_EXECUTE];
/// Kinds of which one at a time works on a plan.
pub const ONE_A_PLAN: [&str; 2] = [PLAN_DECOMPOSE, PLAN_EXECUTE];

/// A job to be queued.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// Its id.
    pub id: JobId,
    /// `simulate`, `profile`, `chat_action`, `plan_decompose` or `plan_execute`.
    pub kind: String,
    /// The whole of what it is to do.
    pub config: Value,
    /// Hash of what decides its outcome: config, prompts, dataset, formats; not budgets, URLs,
    /// concurrency or deadlines.
    pub fingerprint: ContentHash,
    /// What the one who started it should know.
    pub warnings: Vec<String>,
    /// Its model-days: `queued`, or `skipped` with where they are done.
    pub days: Vec<NewDay>,
    /// The job that it branched from.
    pub parent: Option<JobId>,
    /// The plan that it works for, where that is known from the start.
    pub plan: Option<PlanId>,
    /// The agents' days in other jobs that this one replaces; nothing of them is deleted.
    pub supersedes: Vec<Supersession>,
    /// The earlier jobs whose accounts its agents continue.
    pub continues: Vec<Continuation>,
    /// Texts that the config refers to (imported states, prompts).
    pub texts: Vec<Text>,
    /// When it was asked for.
    pub created_at: Timestamp,
}

/// One model-day of a job to be queued.
#[derive(Clone, Debug)]
pub struct NewDay {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub agent: AgentName,
    /// Hash of all that decides what the agent does on a day: a day that is done under an equal hash
    /// need not be done again.
    pub agent_hash: ContentHash,
    /// Where the day is done already: it will be skipped.
    pub skipped: Option<SkippedDay>,
}

/// Where a skipped day is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedDay {
    /// The job that ran it, never one that skipped it too.
    pub job: JobId,
    /// The day's session there.
    pub session: SessionId,
}

/// One agent's days of another job, which a job replaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Supersession {
    /// The agent; the job's other agents are left as they are.
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
    /// The last day that counts of it.
    pub date: Date,
}

/// A job as the queue keeps it.
#[derive(Clone, Debug)]
pub struct JobRow {
    /// Its id.
    pub id: JobId,
    /// Its kind.
    pub kind: String,
    /// What it is to do.
    pub config: Value,
    /// See [`NewJob::fingerprint`].
    pub fingerprint: ContentHash,
    /// The version of the rules that it runs under: [`RULES_VERSION`](crate::RULES_VERSION) of the program that
    /// queued it.
    pub rules_version: u32,
    /// Its status.
    pub status: JobStatus,
    /// Why it stopped.
    pub error: Option<String>,
    /// What the one who started it should know.
    pub warnings: Vec<String>,
    /// The job that it branched from.
    pub parent: Option<JobId>,
    /// The job that replaced the last of its agents; `None` while one of them still counts.
    pub superseded_by: Option<JobId>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When a worker first took it.
    pub started_at: Option<Timestamp>,
    /// When it stopped.
    pub completed_at: Option<Timestamp>,
    /// How many times in a row its process has died without any progress of the job.
    pub crashes: u32,
}
