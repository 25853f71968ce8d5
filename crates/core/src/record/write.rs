//! What a session writes and reads back.

use super::{CloseSession, DerivedRow, EmbeddingRow};
use crate::action::ActionEntry;
use crate::chat::ChatWrite;
use crate::content::StoredText;
use crate::id::{AgentName, ContentHash, JobId};
use crate::job::{DayStatus, Lease, SessionId};
use crate::message::Usage;
use crate::plan::PlanWrite;
use crate::step::{OutcomeKind, StepClass, StepPath, StepState};
use crate::time::{Date, Timestamp};
use papertape_redact::Sanitized;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A session to open.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// When it is opened, by the worker's clock.
    pub at: Timestamp,
}

/// A session that was found or created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedSession {
    /// Its ID.
    pub id: SessionId,
    /// How it ended, which means that its tape is complete; `None` while it has not.
    pub ended: Option<DayStatus>,
    /// Whether it was created just now: its tape is empty.
    pub is_new: bool,
}

/// A stored step of the tape, read back for a re-run.
#[derive(Clone, Debug)]
pub struct TapeRow {
    /// Its path.
    pub path: StepPath,
    /// Its class.
    pub class: StepClass,
    /// Its digest.
    pub digest: ContentHash,
    /// Hash of the request document.
    pub request_ref: Option<ContentHash>,
    /// Its state.
    pub state: StepState,
    /// The outcome's document, as stored (long strings extracted); for external steps and guards, whose
    /// outcomes are returned. The reader expands it.
    pub outcome: Option<Value>,
    /// Hash of the outcome's document.
    pub outcome_ref: Option<ContentHash>,
    /// How many attempts were sent.
    pub attempts: u32,
    /// Its link of the session's chain; `None` while the step is open.
    pub hash: Option<ContentHash>,
    /// For an open step: how many of these attempts a crash cut off, not counting the last.
    pub interrupted: u32,
    /// Whether the last attempt has ended.
    pub has_ended: bool,
    /// The rows derived from it; set where a branch may copy them ([`crate::ports::RecordStore::load_derived_rows`]), empty
    /// elsewhere.
    pub implied: Vec<DerivedRow>,
}

/// The state that an agent's next day starts with.
#[derive(Clone, Debug)]
pub struct AgentState {
    /// The day at whose end it was stored; `None`: before the first day.
    pub after: Option<Date>,
    /// Hash of the document.
    pub hash: ContentHash,
    /// The document.
    pub state: Value,
}

/// An ended session with neither a summary nor a reason for not having one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionWithoutSummary {
    /// The session.
    pub session: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
}

/// A model call that was sent and has no outcome: its process died, or is about to store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// Its step.
    pub path: StepPath,
    /// Hash of the request's document.
    pub request_ref: ContentHash,
}

/// One agent's usage on one day.
#[derive(Clone, Debug)]
pub struct UsageTotal {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// For summaries, which have their own budget line.
    pub detached: bool,
    /// Tokens.
    pub usage: Usage,
    /// USD, for the calls whose price is known.
    pub cost_usd: Decimal,
    /// Calls that these sums count by an estimate.
    pub estimated_calls: u64,
    /// Calls that used tokens and have no known price.
    pub unpriced_calls: u64,
}

/// Writes of a session that are made durable together. Neighbors may share a transaction.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The lease that fences the write.
    pub lease: Lease,
    /// The session.
    pub session: SessionId,
    /// When the worker writes; the timestamp of every row.
    pub at: Timestamp,
    /// Whether it is for the summaries' steps: a tape of their own, excluded from comparisons.
    pub detached: bool,
    /// The writes, in order.
    pub writes: Vec<Write>,
}

/// One write of a commit.
#[derive(Clone, Debug)]
pub enum Write {
    /// A text; storing it again has no effect.
    Text(StoredText),
    /// Announces an external step: its row in state `intent`, and its first attempt.
    Intent(Intent),
    /// An attempt of an open step has ended; when `next` is set, another is about to be sent.
    Attempt {
        /// The step.
        path: StepPath,
        /// The attempt that ended.
        ended: AttemptEnd,
        /// Number of the attempt that follows immediately.
        next: Option<u32>,
    },
    /// Sends an open step again that has no attempt in progress: the session had stopped because of how the
    /// last one ended.
    SendAgain {
        /// The step.
        path: StepPath,
        /// Number of the attempt.
        attempt: u32,
    },
    /// The session stops early, and something must be fixed before it can be resumed: until then its
    /// model-day counts as failed.
    FailDay {
        /// What must be fixed.
        error: String,
    },
    /// Completes a step: closes an open intent, or adds a local, order or guard step as done. If an external
    /// step is no longer open (its guard closed in the meantime), only the attempt's cost is recorded.
    End(StepEnd),
    /// A step that a branch copies together with the verdict of its guard: abandoned from the start, without
    /// an attempt of its own.
    Abandoned {
        /// The step.
        step: Intent,
        /// The step that it was copied from.
        reused_from: ReusedFrom,
    },
    /// A guard closed: all open intents at or below this scope become `abandoned`.
    CloseScope {
        /// The scope.
        scope: String,
    },
    /// The session's instructions (the system prompt, or a node's), by content hash.
    Instructions {
        /// The node's scope, `solo#1`.
        node: String,
        /// Hash of the text.
        hash: ContentHash,
    },
    /// The summary of a message or (`path` absent) of the session, or why there is none.
    Summary {
        /// The message's step.
        path: Option<StepPath>,
        /// The summary, or the reason for `summary_error`.
        summary: Result<String, String>,
    },
    /// The embedding of a reflection of the session's job and agent; replaces the previous one.
    Vector(EmbeddingRow),
    /// A row of the action log. It belongs to the job and is not part of the session's chain.
    Action(Box<ActionEntry>),
    /// A change to a plan or its tasks, in the order of the writes. A change that the plan's rules reject
    /// rolls back the whole commit: [`crate::ports::RecordError::Refused`].
    Plan(Box<Sanitized<PlanWrite>>),
    /// A change to a chat session.
    Chat(Box<Sanitized<ChatWrite>>),
    /// Ends the session.
    CloseSession(Box<CloseSession>),
}

impl Write {
    /// Whether it writes only rows of its session that become visible with the session: not the action log, a
    /// plan, a chat, or the end of the session or of its model-day.
    #[must_use]
    pub const fn is_only_of_session(&self) -> bool {
        match self {
            Self::Text(_)
            | Self::Intent(_)
            | Self::Attempt { .. }
            | Self::SendAgain { .. }
            | Self::End(_)
            | Self::Abandoned { .. }
            | Self::CloseScope { .. }
            | Self::Instructions { .. }
            | Self::Vector(_) => true,
            Self::FailDay { .. }
            | Self::Summary { .. }
            | Self::Action(_)
            | Self::Plan(_)
            | Self::Chat(_)
            | Self::CloseSession(_) => false,
        }
    }
}

/// An external step about to run.
#[derive(Clone, Debug)]
pub struct Intent {
    /// Its path.
    pub path: StepPath,
    /// Its digest.
    pub digest: ContentHash,
    /// Hash of the request document.
    pub request_ref: ContentHash,
}

/// The estimated usage of an attempt whose provider reports none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Tokens.
    pub usage: Usage,
    /// Their cost in USD; `None` when no price is known.
    pub cost_usd: Option<Decimal>,
}

/// How an attempt ended.
#[derive(Clone, Debug, Default)]
pub struct AttemptEnd {
    /// Its number, from 1.
    pub number: u32,
    /// Why it failed; `None` if it did not.
    pub error: Option<String>,
    /// Its token usage.
    pub usage: Option<Usage>,
    /// Its cost in USD; `None` when no price is known.
    pub cost_usd: Option<Decimal>,
    /// Counts for sums and budgets when the usage is unknown.
    pub estimate: Option<Estimate>,
}

impl AttemptEnd {
    /// Whether it used tokens and has no known price.
    #[must_use]
    pub fn is_unpriced(&self) -> bool {
        let counted = match (self.usage, self.estimate) {
            (Some(usage), _) => Some((usage, self.cost_usd)),
            (None, estimate) => estimate.map(|estimate| (estimate.usage, estimate.cost_usd)),
        };
        counted.is_some_and(|(usage, cost)| usage.input_tokens + usage.output_tokens > 0 && cost.is_none())
    }
}

/// The session of a branch's parent that steps are copied from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReusedSession {
    /// The parent.
    pub job: JobId,
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
}

impl ReusedSession {
    /// The origin of one of its steps.
    #[must_use]
    pub fn step(&self, row: &TapeRow) -> ReusedFrom {
        let Self { job, agent, date } = self.clone();
        ReusedFrom { job, agent, date, path: row.path.clone(), hash: row.hash }
    }
}

/// The step that another was copied from. It contains nothing that depends on the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReusedFrom {
    /// The parent job.
    pub job: JobId,
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// The step's path.
    pub path: StepPath,
    /// Its link of its session's chain; `None` for a step that was still open.
    pub hash: Option<ContentHash>,
}

impl fmt::Display for ReusedFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.job, self.agent, self.date, self.path)
    }
}

/// A completed step.
#[derive(Clone, Debug)]
pub struct StepEnd {
    /// Its path.
    pub path: StepPath,
    /// Its class.
    pub class: StepClass,
    /// Its digest.
    pub digest: ContentHash,
    /// Hash of the request document.
    pub request_ref: ContentHash,
    /// How it ended.
    pub outcome_kind: OutcomeKind,
    /// Hash of the outcome's document.
    pub outcome_ref: ContentHash,
    /// The last attempt; `None` for local and order steps, guards and copied steps.
    pub attempt: Option<AttemptEnd>,
    /// The step that it was copied from.
    pub reused_from: Option<ReusedFrom>,
    /// The rows derived from the step.
    pub implied: Vec<DerivedRow>,
}

impl StepEnd {
    /// Hash of the derived rows' canonical JSON, part of the session's chain.
    #[must_use]
    pub fn implied_hash(&self) -> ContentHash {
        crate::json::hash(&crate::json::to_value(&self.implied))
    }
}

impl fmt::Display for StepState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Intent => f.write_str("intent"),
            Self::Done(kind) => write!(f, "done({})", kind.as_str()),
            Self::Abandoned => f.write_str("abandoned"),
        }
    }
}
