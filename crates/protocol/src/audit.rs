//! The audit of a job: whether its sessions depend on data from after their instants.

use crate::deployment::Deployment;
use crate::fields::maybe_day;
use crate::query::rows;
use crate::results::point_in_time::PointInTimeReason;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which sessions to audit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only this agent's sessions.
    pub model: Option<String>,
    /// Only this trading day.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    pub date: Option<Date>,
    /// Only from this day on.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    pub from: Option<Date>,
    /// Only until this day, included.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    pub to: Option<Date>,
    /// Max sessions. The request audits the sessions of its page.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of audited sessions, by day and agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditResponse {
    /// The job.
    pub job_id: String,
    /// The version of the rules that the job was recorded under.
    pub rules_version: u32,
    /// The dataset's content hash.
    pub dataset: String,
    /// The results of the sessions on this page.
    pub summary: AuditSummary,
    /// The sessions.
    pub sessions: Vec<AuditedSession>,
    /// The number of sessions on this page.
    pub count: usize,
    /// The number of sessions on all pages.
    pub total: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// Numbers of sessions by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditSummary {
    /// Sessions in which nothing depends on data from after their instants.
    pub verified: usize,
    /// Sessions with findings.
    pub failed: usize,
    /// Sessions that cannot be audited.
    pub unverifiable: usize,
    /// Sessions that have not ended.
    pub unfinished: usize,
}

impl AuditSummary {
    /// Adds a session.
    pub fn add(&mut self, verdict: AuditVerdict) {
        let count = match verdict {
            AuditVerdict::Verified => &mut self.verified,
            AuditVerdict::Failed => &mut self.failed,
            AuditVerdict::Unverifiable => &mut self.unverifiable,
            AuditVerdict::Unfinished => &mut self.unfinished,
        };
        *count += 1;
    }
}

/// The result of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditVerdict {
    /// Nothing in it depends on data from after its instants.
    Verified,
    /// It has findings.
    Failed,
    /// It cannot be audited; `reason` says why.
    Unverifiable,
    /// It has not ended.
    Unfinished,
}

/// An audited session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditedSession {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// The session; `null` if its record was not read.
    pub session_id: Option<i64>,
    /// The verdict.
    pub verdict: AuditVerdict,
    /// Why it cannot be audited; `null` for other verdicts.
    pub reason: Option<UnverifiableReason>,
    /// Number of steps on its tape.
    pub steps: usize,
    /// Number of reads of market data.
    pub reads: u64,
    /// Number of rows read.
    pub rows: u64,
    /// The newest fact read in the phases at the open: pre and session. `null` if nothing was read.
    pub newest_at_open: Option<NewestRead>,
    /// The newest fact read in the phases at the close: bar, close and post. `null` if nothing was read.
    pub newest_at_close: Option<NewestRead>,
    /// What is wrong, in the order of the day.
    pub findings: Vec<AuditFinding>,
}

/// Why a session cannot be audited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnverifiableReason {
    /// `point_in_time`: it, or a session that its account or memory came from, had access to more than the market view;
    /// `rules_version`: recorded under other rules; `dataset`: the data are not available; `record`: the record cannot
    /// be read.
    pub kind: UnverifiableKind,
    /// The reason in a sentence.
    pub message: String,
    /// The origin of the mark; `null` for other kinds.
    pub point_in_time_reason: Option<PointInTimeReason>,
}

/// The kind of an [`UnverifiableReason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnverifiableKind {
    /// The session, or one that it continues, had access to more than the market view.
    PointInTime,
    /// The job was recorded under another version of the rules.
    RulesVersion,
    /// The dataset is not available.
    Dataset,
    /// The record of the session cannot be read.
    Record,
}

/// The newest fact that was read at an instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewestRead {
    /// The first step that read it.
    pub path: String,
    /// The series, such as `AAPL/bars`.
    pub series: String,
    /// Day of the newest row.
    pub date: Option<Date>,
    /// When it became known.
    pub known_at: Timestamp,
}

/// A problem of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditFinding {
    /// What it is.
    pub kind: AuditFindingKind,
    /// The runs that found it: `cut` (data that end at the instant), `poisoned` (data with another future). Empty if
    /// the record shows it without a run.
    pub variants: Vec<AuditVariant>,
    /// The phase: `pre`, `session`, `bar`, `close` or `post`; `null` for the whole day.
    pub phase: Option<AuditPhase>,
    /// The step; `null` for the state before or after the day.
    pub path: Option<String>,
    /// What differs: `request`, `outcome` or `state`; `null` if nothing does.
    pub part: Option<String>,
    /// JSON pointer of the first difference.
    pub pointer: Option<String>,
    /// An excerpt of the recorded value. The record has the full value.
    pub recorded: Option<String>,
    /// An excerpt of the value of the first run that found it.
    pub recomputed: Option<String>,
    /// The facts from after the instant, as far as they can be named.
    pub items: Vec<AuditItem>,
    /// The finding in a sentence.
    pub message: String,
}

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditFindingKind {
    /// A step depends on data from after its instant.
    LookAhead,
    /// A step read data from after its instant, whether or not it depends on them.
    LateRead,
    /// The session started with, or recalled, a memory from after its instant.
    LateMemory,
    /// The session also differs over the job's own data: the program, the prompts or the record have changed.
    NotReproducible,
}

/// How the data of a run differ from the job's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditVariant {
    /// Nothing follows the instant.
    Cut,
    /// Another future follows.
    Poisoned,
}

impl AuditVariant {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::Poisoned => "poisoned",
        }
    }
}

/// A phase of an agent's day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditPhase {
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

/// A fact from after an instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditItem {
    /// `market`: market data; `listing`: a symbol that was not listed yet; `trader_round`, `open_position_context` and
    /// `trade`: a memory.
    pub kind: String,
    /// The series, the symbol, or the memory's ID; `null` if only the instant is known.
    pub name: Option<String>,
    /// Day of the newest row of market data.
    pub date: Option<Date>,
    /// The job that a memory was carried over from; `null`: the job itself.
    pub job_id: Option<String>,
    /// When it became known.
    pub known_at: Timestamp,
}

impl AuditItem {
    /// In words.
    #[must_use]
    pub fn describe(&self) -> String {
        let name = self.name.as_deref().unwrap_or("data");
        let what = match self.kind.as_str() {
            "market" => name.to_owned(),
            "listing" => format!("the listing of {name}"),
            "trader_round" => format!("the memory of round {name}"),
            "open_position_context" => format!("the thesis of position {name}"),
            _ => format!("the lesson of trade {name}"),
        };
        let date = self.date.map_or_else(String::new, |date| format!(" of {date}"));
        let job = self.job_id.as_ref().map_or_else(String::new, |job| format!(" from job {job}"));
        format!("{what}{date}{job}, known at {}", self.known_at)
    }
}
