//! What a session commits, and what it finds again.

use super::{CloseSession, DayStatus, Implied, Lease, SessionId, VectorRow};
use crate::action::ActionEntry;
use crate::chat::ChatWrite;
use crate::id::{AgentName, ContentHash, JobId};
use crate::message::Usage;
use crate::plan::PlanWrite;
use crate::tape::{Class, OutcomeKind, State, StepPath};
use crate::time::{Date, Timestamp};
use papertape_redact::Clean;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A session to be opened.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// When it is opened, by the worker's clock.
    pub at: Timestamp,
}

/// A session that was found or made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedSession {
    /// Its id.
    pub id: SessionId,
    /// How it ended, and so its tape is whole; `None` while it has not.
    pub ended: Option<DayStatus>,
}

/// A step as the tape keeps it, read back for a re-run.
#[derive(Clone, Debug)]
pub struct TapeRow {
    /// Where it stands.
    pub path: StepPath,
    /// Its class.
    pub class: Class,
    /// Its digest.
    pub digest: ContentHash,
    /// Hash of the document that says what was asked.
    pub request_ref: Option<ContentHash>,
    /// Its state.
    pub state: State,
    /// The outcome's document, as stored (long strings lifted); for external steps and guards, whose
    /// outcomes are returned. Expanded by the reader.
    pub outcome: Option<Value>,
    /// Hash of the outcome's document.
    pub outcome_ref: Option<ContentHash>,
    /// How many attempts have been sent.
    pub attempts: u32,
    /// Its link of the session's chain; `None` while it is open.
    pub hash: Option<ContentHash>,
    /// Of an open step: how many of these a crash has cut off, the last one left out.
    pub interrupted: u32,
    /// Has the last of them ended?
    pub has_ended: bool,
    /// Rows that it implies; given where a branch may copy them ([`crate::ports::Record::implied`]),
    /// empty elsewhere.
    pub implied: Vec<Implied>,
}

/// The state that an agent's next day starts from.
#[derive(Clone, Debug)]
pub struct AgentState {
    /// The day after whose end it was stored; `None`: before the first.
    pub after: Option<Date>,
    /// Hash of the document.
    pub hash: ContentHash,
    /// The document.
    pub state: Value,
}

/// A session that has ended and has neither a summary nor a reason for having none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsummarised {
    /// The session.
    pub session: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
}

/// What one agent has used on one day.
#[derive(Clone, Debug)]
pub struct Spent {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// For summaries, which have a budget line of their own.
    pub detached: bool,
    /// Tokens.
    pub usage: Usage,
    /// USD, of the calls whose price is known.
    pub cost_usd: Decimal,
    /// Calls that are in these sums by an estimate.
    pub estimated_calls: u64,
    /// Calls that used tokens and whose price nobody knows.
    pub unpriced_calls: u64,
}

/// Content, stored once by its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its hash: of the text itself, or of the whole document before long strings were lifted.
    pub hash: ContentHash,
    /// The text; for a document, canonical JSON with long strings lifted.
    pub body: String,
}

/// One transaction of a session.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The fence.
    pub lease: Lease,
    /// The session.
    pub session: SessionId,
    /// The worker's instant of writing; stamps every row.
    pub at: Timestamp,
    /// Summaries' steps: a tape of their own, outside equality.
    pub detached: bool,
    /// What to write, in order.
    pub writes: Vec<Write>,
}

/// One write of a commit.
#[derive(Clone, Debug)]
pub enum Write {
    /// Content; storing it twice is storing it once.
    Text(Text),
    /// An external step is about to be performed: its row in state `intent`, and its first attempt.
    Intent(Intent),
    /// An attempt of an open step has ended and, where `next` is set, another is about to be sent.
    Attempt {
        /// The step.
        path: StepPath,
        /// The attempt that ended.
        ended: AttemptEnd,
        /// Number of the attempt that follows at once.
        next: Option<u32>,
    },
    /// An open step none of whose attempts is under way is about to be sent again: the session had stopped
    /// on how the last one ended.
    SendAgain {
        /// The step.
        path: StepPath,
        /// Number of the attempt.
        attempt: u32,
    },
    /// The session stops before its end, and somebody has to fix something before it can be resumed: its
    /// model-day counts as failed until then.
    FailDay {
        /// What to fix.
        error: String,
    },
    /// A step is done: an open intent ends, or a local, order or guard step is added as done. Where
    /// an external step is no longer open (its guard closed meanwhile), only the attempt's cost is
    /// kept.
    End(StepEnd),
    /// A step that a branch copies together with the verdict that closed on it: abandoned from the start,
    /// without an attempt of its own.
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
    /// A message's or (`path` absent) the session's summary, or why there is none.
    Summary {
        /// The message's step.
        path: Option<StepPath>,
        /// The summary, or the reason that stands in `summary_error`.
        summary: Result<String, String>,
    },
    /// What a reflection of the session's job and agent means; takes the place of what was there.
    Vector(VectorRow),
    /// A row of the action log. It belongs to the job and is no part of the session's chain.
    Action(Box<ActionEntry>),
    /// A change to a plan or its tasks, in the order of the writes. One that the plan's rules refuse takes
    /// the whole commit back: [`crate::ports::RecordError::Refused`].
    Plan(Box<Clean<PlanWrite>>),
    /// A change to a conversation.
    Chat(Box<Clean<ChatWrite>>),
    /// The session is over.
    CloseSession(Box<CloseSession>),
}

/// An external step about to be performed.
#[derive(Clone, Debug)]
pub struct Intent {
    /// Where it stands.
    pub path: StepPath,
    /// Its digest.
    pub digest: ContentHash,
    /// Hash of the document that says what is asked.
    pub request_ref: ContentHash,
}

/// What an attempt is thought to have used, where its provider reports nothing that can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Tokens.
    pub usage: Usage,
    /// What these cost in USD; `None` where no price is known.
    pub cost_usd: Option<Decimal>,
}

/// How an attempt ended.
#[derive(Clone, Debug, Default)]
pub struct AttemptEnd {
    /// Its number, from 1.
    pub number: u32,
    /// Why it failed; `None`: it did not.
    pub error: Option<String>,
    /// What it used.
    pub usage: Option<Usage>,
    /// What that cost; `None` where no price is known.
    pub cost_usd: Option<Decimal>,
    /// What counts in its place for sums and budgets, where the usage is not known.
    pub estimate: Option<Estimate>,
}

impl AttemptEnd {
    /// Did it use tokens whose price nobody knows?
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
    /// A step of it.
    #[must_use]
    pub fn step(&self, row: &TapeRow) -> ReusedFrom {
        let Self { job, agent, date } = self.clone();
        ReusedFrom { job, agent, date, path: row.path.clone(), hash: row.hash }
    }
}

/// The step that another was copied from. Nothing in it depends on the database that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReusedFrom {
    /// The parent.
    pub job: JobId,
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// The step's path.
    pub path: StepPath,
    /// Its link of its session's chain; `None` for one that was still open.
    pub hash: Option<ContentHash>,
}

impl fmt::Display for ReusedFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.job, self.agent, self.date, self.path)
    }
}

/// A step that is done.
#[derive(Clone, Debug)]
pub struct StepEnd {
    /// Where it stands.
    pub path: StepPath,
    /// Its class.
    pub class: Class,
    /// Its digest.
    pub digest: ContentHash,
    /// Hash of the document that says what was asked.
    pub request_ref: ContentHash,
    /// How it ended.
    pub outcome_kind: OutcomeKind,
    /// Hash of the outcome's document.
    pub outcome_ref: ContentHash,
    /// The last attempt; `None` for local and order steps, guards and reused steps.
    pub attempt: Option<AttemptEnd>,
    /// The step that it was copied from.
    pub reused_from: Option<ReusedFrom>,
    /// Rows that the step implies.
    pub implied: Vec<Implied>,
}

impl StepEnd {
    /// Hash of the implied rows' canonical JSON, part of the session's chain.
    #[must_use]
    pub fn implied_hash(&self) -> ContentHash {
        crate::json::hash(&crate::json::to_value(&self.implied))
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Intent => f.write_str("intent"),
            Self::Done(kind) => write!(f, "done({})", kind.as_str()),
            Self::Abandoned => f.write_str("abandoned"),
        }
    }
}
