//! The documents in a bundle. `docs/bundle.md` specifies them.

use super::archive::PartEntry;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::ledger::{Account, Insolvency};
use papertape_core::money::Money;
use papertape_core::record::{
    DayStatus, HoldingRow, JobHead, JobRecord, JobStatus, OrderRow, PositionRow, SnapshotRow,
    StartingPosition,
};
use papertape_core::time::Date;
use papertape_protocol::audit::AuditResponse;
pub use papertape_protocol::bundle::TapeForm;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The value of [`Manifest::format`].
pub const FORMAT: &str = "papertape.bundle.v1";

/// The first part: what the bundle contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// The version of the program that wrote it.
    pub program_version: String,
    /// What it is about.
    pub about: About,
    /// How much of the tape it contains.
    pub tape: TapeForm,
    /// Its jobs.
    pub jobs: Vec<BundledJob>,
    /// What a reader must know before using the results, in sentences.
    pub limitations: Vec<String>,
    /// Every other part, in the order of the file.
    pub parts: Vec<PartEntry>,
}

/// What a bundle is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "id")]
pub enum About {
    /// One job.
    Job(String),
    /// An experiment with all its jobs.
    Experiment(String),
}

/// A job of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundledJob {
    /// Its ID.
    pub job_id: String,
    /// The folder of its parts.
    pub folder: String,
    /// The hash of its head, as `papertape head` prints it.
    pub head: ContentHash,
}

/// `job.json`: what is not in the config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobDocument {
    /// The job.
    pub job_id: JobId,
    /// Its kind.
    pub kind: String,
    /// Its status.
    pub status: JobStatus,
    /// The rules version that it was recorded under.
    pub rules_version: u32,
    /// The number of parts that it ran in; 1: not in parts.
    pub parts: u32,
    /// Whether texts of the config were replaced by their hashes.
    pub is_config_redacted: bool,
    /// Its model calls, summaries included.
    pub model_calls: Vec<ModelUsage>,
}

/// What an agent's model calls used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelUsage {
    /// The agent.
    pub agent: AgentName,
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// In US dollars, of the calls whose price is known.
    pub cost_usd: Decimal,
    /// Calls without a known price.
    pub unpriced_calls: u64,
    /// Calls whose usage is estimated.
    pub estimated_calls: u64,
}

/// `datasets.json`: the data that the job used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetDocument {
    /// Its name.
    pub name: String,
    /// Its content hash.
    pub hash: ContentHash,
    /// Whether it was available when the bundle was written. If not, there are no baselines and no audit.
    pub is_available: bool,
}

/// `heads.json`: what the hash chains above the sessions are computed from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadsDocument {
    /// The job's head, as `papertape head` prints it.
    pub head: JobHead,
    /// What it is computed from, without the config.
    pub record: JobRecord,
}

/// A line of `ledger.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "row")]
pub enum LedgerLine {
    /// An account as it was before an agent's first day in a job.
    Account(Box<AccountLine>),
    /// A closed day.
    Day(Box<DayLine>),
}

/// An opening account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountLine {
    /// The agent.
    pub agent: AgentName,
    /// The job that the following days belong to. Days may belong to an earlier job.
    pub job: JobId,
    /// The first of these days.
    pub date: Date,
    /// The account.
    pub account: Account,
}

/// A closed day of an agent: its books except for fills and orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DayLine {
    /// The agent.
    pub agent: AgentName,
    /// The job.
    pub job: JobId,
    /// The trading day.
    pub date: Date,
    /// How it ended.
    pub status: DayStatus,
    /// The position before the day.
    pub starting: StartingPosition,
    /// Corporate actions, financing, and days without a trade.
    pub actions: Vec<PositionRow>,
    /// Cash at the close.
    pub cash: Money,
    /// Value at the close.
    pub portfolio_value: Money,
    /// Value less the value before.
    pub daily_profit: Option<Decimal>,
    /// The same in percent.
    pub daily_return_pct: Option<Decimal>,
    /// What is held at the close, at its price.
    pub holdings: Vec<HoldingRow>,
    /// Every open position at the close.
    pub snapshots: Vec<SnapshotRow>,
    /// Since when the account is insolvent.
    pub insolvent: Option<Insolvency>,
    /// Whether no research used a fallback.
    pub full_research: bool,
    /// Whether the session saw only the market view.
    pub point_in_time: bool,
}

/// A line of `fills.jsonl`: the fills and orders of a day that has any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillsLine {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// Its fills. Their `action_id`s and those of the day's actions are one sequence.
    pub fills: Vec<PositionRow>,
    /// Its orders with their outcomes.
    pub orders: Vec<OrderRow>,
}

/// `audit.json`: the audit that was run when the bundle was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditDocument {
    /// Its report, as `GET /jobs/{job_id}/audit` returns it.
    Report(Box<AuditResponse>),
    /// Why there is none.
    NotRun(String),
}

/// A line of `tape.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "row")]
pub enum TapeLine {
    /// A session begins; its links follow.
    Session(SessionLine),
    /// A link of its chains.
    Link(Box<LinkLine>),
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionLine {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// The newest link of its chain.
    pub head: ContentHash,
    /// The number of its links.
    pub links: u64,
    /// The newest link of its summaries' chain.
    pub summaries_head: Option<ContentHash>,
    /// The number of links of its summaries.
    pub summaries_links: u64,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkLine {
    /// Whether it belongs to the summaries' chain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub summary: bool,
    /// The link. `null` in the redacted form if it contains texts; [`Self::hash`] is then given.
    pub link: Value,
    /// The hash of the link, where it cannot be computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<ContentHash>,
    /// A step's derived rows. Absent in the redacted form if any of them can contain a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Value>,
}

/// A line of `texts.jsonl`: a text that the tape references.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextLine {
    /// Its hash: BLAKE3 of the text.
    pub hash: ContentHash,
    /// The text. A document is `json`, a line feed, and its canonical JSON.
    pub text: String,
}

/// `experiment.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentDocument {
    /// The experiment.
    pub experiment_id: String,
    /// Its plan.
    pub manifest: Value,
    /// BLAKE3 of the plan's canonical JSON.
    pub manifest_hash: ContentHash,
    /// Whether texts of the plan were replaced by their hashes.
    pub is_redacted: bool,
    /// Its jobs.
    pub jobs: Vec<ExperimentJobDocument>,
}

/// A job of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentJobDocument {
    /// The job.
    pub job_id: String,
    /// Its window, from 1.
    pub window: u32,
    /// Its trial, from 1.
    pub trial: u32,
}

/// The folder of a job's parts.
#[must_use]
pub(super) fn folder(job: &JobId) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let id = job.as_str();
    match !id.is_empty() && id.len() <= 64 && id.chars().all(is_plain) {
        true => format!("jobs/{id}"),
        false => format!("jobs/{}", ContentHash::of(id.as_bytes())),
    }
}
