//! The rows that a running job writes, as data. Who keeps them, and how, is the store's business;
//! ids that a database gives and instants of writing are not known here.

use crate::id::{AgentName, ContentHash, JobId, Symbol};
use crate::message::{Role, Usage};
use crate::money::{Money, Price, Quantity};
use crate::tape::{Class, OutcomeKind, State, StepPath};
use crate::time::{Date, Timestamp};
use rust_decimal::Decimal;
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

macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            /// As the record and the API spell it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    other => Err(format!("`{other}` is none of: {}", [$($word),+].join(", "))),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

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

/// A job to be queued.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// Its id.
    pub id: JobId,
    /// `simulate`; later also `plan_decompose`, `plan_execute`, `chat_action`, `profile`.
    pub kind: String,
    /// The whole of what it is to do.
    pub config: Value,
    /// Hash of what decides its outcome: config, prompts, dataset, formats; not budgets, URLs,
    /// concurrency or deadlines.
    pub fingerprint: ContentHash,
    /// What the one who started it should know.
    pub warnings: Vec<String>,
    /// Its model-days: `queued`, or `skipped` with the reason.
    pub days: Vec<NewDay>,
    /// The job that it branched from.
    pub parent: Option<JobId>,
    /// Jobs that this one replaces: they are marked as superseded, nothing of them is deleted.
    pub supersedes: Vec<JobId>,
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
    /// `Some(reason)`: it will be skipped.
    pub skipped: Option<String>,
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
    /// Its status.
    pub status: JobStatus,
    /// Why it stopped.
    pub error: Option<String>,
    /// What the one who started it should know.
    pub warnings: Vec<String>,
    /// The job that it branched from.
    pub parent: Option<JobId>,
    /// The job that replaced it.
    pub superseded_by: Option<JobId>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When a worker first took it.
    pub started_at: Option<Timestamp>,
    /// When it stopped.
    pub completed_at: Option<Timestamp>,
}

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
    /// It has ended; its tape is whole.
    pub completed: bool,
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
    /// USD.
    pub cost_usd: Decimal,
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
    /// A step is done: an open intent ends, or a local, order or guard step is added as done. Where
    /// an external step is no longer open (its guard closed meanwhile), only the attempt's cost is
    /// kept.
    End(StepEnd),
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
    /// `job/session/path` that it was copied from.
    pub reused_from: Option<String>,
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

/// A row that exists because of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub enum Implied {
    /// `reasoning_logs`.
    Message(MessageRow),
    /// The exposure record: what of the market was read.
    Exposure(ExposureRow),
    /// `positions`.
    Position(PositionRow),
    /// `orders`.
    Order(OrderRow),
    /// `position_snapshots`.
    Snapshot(SnapshotRow),
}

/// A row of `reasoning_logs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRow {
    /// Who speaks.
    pub role: Role,
    /// Hash of the text, which is in the same commit or there already.
    pub content: ContentHash,
    /// The tool that answers.
    pub tool_name: Option<String>,
    /// The arguments that it was called with.
    pub tool_input: Option<Value>,
}

/// What one read of the market view showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExposureRow {
    /// The dataset.
    pub dataset: ContentHash,
    /// Which series of it, as `AAPL/bars`.
    pub series: String,
    /// First day shown.
    pub first: Option<Date>,
    /// Last day shown.
    pub last: Option<Date>,
    /// How many rows.
    pub rows: u64,
    /// When the newest of them became known.
    pub latest_known_at: Option<Timestamp>,
}

/// A row of `positions`: one action and what it left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PositionRow {
    /// From 1 in a session.
    pub action_id: u64,
    /// `buy`, `sell`, `short`, `cover`, `stop`, `target`, `liquidation`, `split`, `dividend` or
    /// `no_trade`.
    pub action_type: String,
    /// The instrument; `None` for `no_trade`.
    pub symbol: Option<Symbol>,
    /// Units traded, or the holding that a split or dividend met; never negative.
    pub amount: Quantity,
    /// Price of one unit, the dividend of one share, or a split's ratio; `None` for `no_trade`.
    pub price: Option<Price>,
    /// Cash after it.
    pub cash: Money,
    /// Cash + sum of quantity x price then.
    pub portfolio_value: Money,
    /// On the session's last row: this close against the previous session's.
    pub daily_profit: Option<Money>,
    /// The same in percent.
    pub daily_return_pct: Option<Decimal>,
}

/// A row of `orders`: what became of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderRow {
    /// Unique within job and agent.
    pub order_id: String,
    /// The instrument as it was asked for.
    pub symbol: Symbol,
    /// `buy`, `sell`, `short` or `cover`.
    pub side: String,
    /// Units asked for.
    pub quantity: Quantity,
    /// `filled`, `rejected`, `pending` or `expired`.
    pub status: String,
    /// Reason code of a rejection or an expiry.
    pub code: Option<String>,
    /// The reason as a sentence.
    pub message: Option<String>,
    /// The numbers that decided.
    pub numbers: Option<Value>,
    /// Price of the fill, slippage included.
    pub price: Option<Price>,
    /// Fee of the fill.
    pub fee: Option<Money>,
    /// Cost of the slippage, in money.
    pub slippage: Option<Money>,
    /// What the fill realised.
    pub realised_pnl: Option<Money>,
    /// Stop that goes with it.
    pub stop: Option<Price>,
    /// Target that goes with it.
    pub target: Option<Price>,
    /// Leverage asked for.
    pub leverage: Option<Decimal>,
}

/// A row of `position_snapshots`: an open position at a close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotRow {
    /// The instrument.
    pub symbol: Symbol,
    /// The position.
    pub position_id: String,
    /// Units, below zero when short.
    pub quantity: Quantity,
    /// Average price of entry.
    pub avg_price: Price,
    /// The mark.
    pub close: Price,
    /// (close - average) x quantity.
    pub unrealised_pnl: Money,
    /// The stop in force.
    pub stop: Option<Price>,
    /// Its leverage.
    pub leverage: Decimal,
}

/// A row of `holdings`: what is held at a session's end, marked at the close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldingRow {
    /// The instrument.
    pub symbol: Symbol,
    /// Units, below zero when short.
    pub quantity: Quantity,
    /// The mark.
    pub price: Price,
}

/// What a session leaves.
#[derive(Clone, Debug)]
pub struct CloseSession {
    /// `completed` or `failed`.
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// `metadata`, `provenance` and whatever else readers are told of it.
    pub metadata: Value,
    /// Hash and body of the state that the next day starts from.
    pub state: Text,
    /// What is held.
    pub holdings: Vec<HoldingRow>,
    /// What was held, the cash and the value before the day.
    pub starting: StartingPosition,
    /// Cash at the close.
    pub cash: Money,
    /// Value at the close.
    pub portfolio_value: Money,
    /// Value against the previous session's close; goes to the session's last row of `positions`
    /// (outside of the chain, which has it in `metadata.books`).
    pub daily_profit: Money,
    /// The same in percent; `None` where the previous value was not above zero.
    pub daily_return_pct: Option<Decimal>,
}

/// An agent's position before a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartingPosition {
    /// What is held.
    pub holdings: Vec<(Symbol, Quantity)>,
    /// Cash.
    pub cash: Money,
    /// Value at the previous session's close (the first: the initial cash).
    pub portfolio_value: Money,
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
