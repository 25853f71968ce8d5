//! Jobs: what they run, their progress and their usage.

use crate::actions::{LogEntry, SummaryItem};
use crate::agent::KindBody;
use crate::deployment::Deployment;
use crate::job_result::JobResult;
use crate::number::Number;
use crate::progress::Progress;
use crate::quality::{DayQualityResponse, JobQuality};
use crate::usage::UsageSummary;
use papertape_core::record::{DayStatus, JobStatus};
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A model-day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DayDetail {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// `queued`, `running`, `completed`, `failed` or `skipped`.
    #[schema(schema_with = crate::vocabulary::day_status)]
    pub status: DayStatus,
    /// Why it failed or was skipped.
    pub error: Option<String>,
    /// How it came about where it is degraded or failed; `null` of all others.
    pub quality: Option<DayQualityResponse>,
    /// When its session was opened.
    pub started_at: Option<Timestamp>,
    /// When its session was closed.
    pub completed_at: Option<Timestamp>,
    /// Between the two.
    pub duration_seconds: Option<f64>,
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatusResponse {
    /// The job.
    pub job_id: String,
    /// `queued`, `running`, `completed`, `partial`, `failed` or `cancelled`.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Model-days by status.
    pub progress: Progress,
    /// Its trading days, oldest first.
    pub date_range: Vec<Date>,
    /// Its agents.
    pub models: Vec<String>,
    /// Its model-days, by date and model: all, or those that were asked for.
    pub details: Vec<DayDetail>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When a worker first took it.
    pub started_at: Option<Timestamp>,
    /// When it stopped.
    pub completed_at: Option<Timestamp>,
    /// Between the two, pauses included.
    pub total_duration_seconds: Option<f64>,
    /// How many of its model-days are degraded or failed, and the first of them.
    pub quality: JobQuality,
    /// What it has used, summaries included.
    pub usage: UsageSummary,
    /// What the one who started it should know.
    pub warnings: Vec<String>,
    /// Why it stopped before its end.
    pub error: Option<String>,
    /// Has somebody asked for it to be cancelled?
    pub cancel_requested: bool,
    /// The job that it branched from.
    pub parent: Option<String>,
    /// The job that replaced the last of its agents; `null` while the days of one of them still count.
    pub superseded_by: Option<String>,
    /// By model: the job that replaced its days. Other agents are as they were.
    pub superseded: BTreeMap<String, String>,
    /// The version of the rules that it runs and is verified by.
    pub rules_version: u32,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A job in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobSummary {
    /// The job.
    pub job_id: String,
    /// `simulate`.
    pub kind: String,
    /// `queued`, `running`, `completed`, `partial`, `failed` or `cancelled`.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Why it stopped before its end.
    pub error: Option<String>,
    /// Model-days by status.
    pub progress: Progress,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When a worker first took it.
    pub started_at: Option<Timestamp>,
    /// When it stopped.
    pub completed_at: Option<Timestamp>,
    /// Between the two, pauses included.
    pub total_duration_seconds: Option<f64>,
    /// How many of its model-days are degraded or failed, and the first of them.
    pub quality: JobQuality,
    /// What it has used, summaries included.
    pub usage: UsageSummary,
    /// What the one who started it should know.
    pub warnings: Vec<String>,
    /// The job that it branched from.
    pub parent: Option<String>,
    /// The job that replaced the last of its agents; `null` while the days of one of them still count.
    pub superseded_by: Option<String>,
    /// By model: the job that replaced its days. Other agents are as they were.
    pub superseded: BTreeMap<String, String>,
    /// The version of the rules that it runs and is verified by.
    pub rules_version: u32,
    /// What it simulates; `null` for another kind of job.
    pub simulation: Option<SimulationSummary>,
}

/// A page of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobsResponse {
    /// The jobs, newest first.
    pub jobs: Vec<JobSummary>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One job, with the newest of its action log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobResponse {
    /// The job.
    pub job: JobSummary,
    /// Rows of its action log, oldest first: the newest ones, or those behind `cursor`.
    pub logs: Vec<LogEntry>,
    /// Send it as `cursor` for newer rows, those that are still to be written included.
    pub next_cursor: String,
    /// Send it as `before` for older rows; `null`: there are none.
    pub before: Option<String>,
    /// Each of its actions once, in its last state.
    pub actions_summary: Vec<SummaryItem>,
    /// What a decomposition or an execution of a plan came to; `null` until it has ended, and for every other
    /// kind of job.
    pub result: Option<JobResult>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// What a job simulates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulationSummary {
    /// The data.
    pub dataset: DatasetSummary,
    /// First day.
    pub start_date: Date,
    /// Last day, included.
    pub end_date: Date,
    /// What may be traded; of a job with a universe, all that ever were its members.
    pub symbols: Vec<String>,
    /// The index whose members of each day may be traded on it; absent: all of `symbols`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub universe: Option<String>,
    /// The market profile's name.
    pub market: String,
    /// What trading costs: `market`, as the profile says, or `frictionless`, nothing.
    pub costs: String,
    /// What each agent starts with.
    pub initial_cash: Number,
    /// The symbol or index that results are compared with; `null`: none.
    pub benchmark: Option<String>,
    /// The seed of its randomness.
    pub seed: u64,
    /// Are summaries written?
    pub summaries: bool,
    /// Which of the traders' memories are on: `off`, `rounds`, `rounds+open` or `all`.
    pub memory: String,
    /// How many of its last rounds a trader reads.
    pub read_window: u32,
    /// The same for the session after a losing close.
    pub read_window_after_loss: u32,
    /// The job whose memory the agents began with.
    pub memory_from: Option<String>,
    /// Who trades.
    pub agents: Vec<AgentSummary>,
    /// By model: the job that it goes on from.
    pub continues: BTreeMap<String, ContinuesFrom>,
    /// Where it branched off.
    pub branch: Option<BranchPoint>,
    /// Where its days were traded, of a job that is imported; `null` for one that ran here.
    pub imported: Option<ImportedFrom>,
}

/// Where the days of an imported job were traded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedFrom {
    /// What wrote its logs: `ai-trader`.
    pub format: String,
    /// Where they were read from, as it was written then.
    pub source: String,
    /// `provider::model`: who wrote memories and summaries of these days.
    pub writer: String,
}

/// A dataset by name and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DatasetSummary {
    /// Its name.
    pub name: String,
    /// Its content hash, 64 hex digits.
    pub hash: String,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentSummary {
    /// Its name: `model` elsewhere.
    pub name: String,
    /// How it works: `solo` or `desk`.
    #[schema(schema_with = crate::vocabulary::agent_kind)]
    pub kind: KindBody,
    /// `provider::model`; from a branch's cut on, the branch's.
    pub model: String,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: bool,
}

/// The day of an earlier job after which an agent goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContinuesFrom {
    /// The job.
    pub job: String,
    /// The last day that counts of it.
    pub date: Date,
}

/// Where a job branched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BranchPoint {
    /// The parent.
    pub job_id: String,
    /// The day of the cut.
    pub date: Date,
    /// The cut within the day: a node or a step.
    pub at: String,
}

/// What was deleted.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DeletedResponse {
    /// The job.
    pub job_id: String,
    /// The deleted jobs: this one, then its dependents.
    pub jobs: Vec<String>,
    /// The number of deleted texts that nothing else used.
    pub texts: u64,
    /// Whose data it was.
    #[serde(flatten)]
    pub deployment: Deployment,
}
