//! What an audit reports.

use papertape_core::id::{AgentName, JobId};
use papertape_core::point_in_time::Unverified;
use papertape_core::record::{MemoryKind, SessionId};
use papertape_core::tape::StepPath;
use papertape_core::time::{Date, Timestamp};

/// A session's result.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionAudit {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// The session.
    pub session: Option<SessionId>,
    /// The result.
    pub verdict: Verdict,
    /// Number of steps on its tape.
    pub steps: usize,
    /// The market data that it read.
    pub reads: Reads,
    /// What is wrong; empty unless the verdict is [`Verdict::Failed`].
    pub findings: Vec<Finding>,
}

/// Whether a session stayed within its instant.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Every phase reached the same result over data that end at its instant, and over data with another future.
    Verified,
    /// There are findings.
    Failed,
    /// The session cannot be audited.
    Unverifiable(Reason),
    /// The session has not ended.
    Unfinished,
}

/// Why a session cannot be audited.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// It, or a session that its account or memory came from, had access to more than the market view.
    PointInTime(Unverified),
    /// It was recorded under another version of the rules.
    RulesVersion(u32),
    /// Its dataset is not available, for this reason.
    Dataset(String),
    /// The record of the session cannot be read.
    Record(String),
}

/// The market data that a session read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Number of reads.
    pub count: u64,
    /// Number of rows.
    pub rows: u64,
    /// The newest fact of the phases at the open: pre and session.
    pub at_open: Option<NewestRead>,
    /// The newest fact of the phases at the close: bar, close and post.
    pub at_close: Option<NewestRead>,
}

/// The newest fact of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestRead {
    /// The first step that read it.
    pub path: StepPath,
    /// The series, such as `AAPL/bars`.
    pub series: String,
    /// Day of the newest row.
    pub date: Option<Date>,
    /// When it became known.
    pub known_at: Timestamp,
}

/// How the data of a run differ from the job's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Nothing follows the instant.
    Cut,
    /// Another future follows.
    Poisoned,
}

/// A phase of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Corporate actions and pending fills, at the open.
    Pre,
    /// The agent's session, at the open.
    Session,
    /// Stops and targets within the bar, at the close.
    Bar,
    /// Close fills and marks, at the close.
    Close,
    /// Memories, at the close.
    Post,
}

impl Phase {
    /// The phase of a step.
    #[must_use]
    pub fn of(path: &StepPath) -> Self {
        let node = path.as_str().split(['#', '/']).next().unwrap_or_default();
        match node {
            "pre" => Self::Pre,
            "bar" => Self::Bar,
            "close" => Self::Close,
            "post" => Self::Post,
            _ => Self::Session,
        }
    }

    /// Whether its instant is the open.
    #[must_use]
    pub fn is_at_open(self) -> bool {
        matches!(self, Self::Pre | Self::Session)
    }
}

/// A problem of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The runs that found it; empty if no run was needed.
    pub variants: Vec<Variant>,
    /// The phase; `None` for the whole day.
    pub phase: Option<Phase>,
    /// The step; `None` for the start or end of the day.
    pub path: Option<StepPath>,
    /// What differs: `request`, `outcome`, `state`, or nothing.
    pub part: Option<&'static str>,
    /// The JSON pointer of the first difference.
    pub pointer: Option<String>,
    /// An excerpt of the recorded value.
    pub recorded: Option<String>,
    /// An excerpt of the value of the first run that found it.
    pub recomputed: Option<String>,
    /// The facts from after the instant, as far as they can be named.
    pub items: Vec<Item>,
    /// The finding in a sentence.
    pub message: String,
}

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// A step depends on data from after its instant.
    LookAhead,
    /// A step read data from after its instant, whether or not it depends on them.
    LateRead,
    /// The session started with, or recalled, a memory from after its instant.
    LateMemory,
    /// The session also differs over the job's own data: the program, the prompts or the record have changed.
    NotReproducible,
}

/// A fact from after an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Market data.
    Market {
        /// The series, such as `AAPL/bars`; `None` if only the instant is known.
        series: Option<String>,
        /// Day of the newest row.
        date: Option<Date>,
        /// When it became known.
        known_at: Timestamp,
    },
    /// A symbol that was not listed yet.
    Listing {
        /// The symbol.
        symbol: String,
        /// When its first bar opened.
        known_at: Timestamp,
    },
    /// A memory.
    Memory {
        /// Its kind.
        kind: MemoryKind,
        /// Its ID.
        id: String,
        /// The job that it was carried over from.
        job: Option<JobId>,
        /// When it became known.
        known_at: Timestamp,
    },
}
