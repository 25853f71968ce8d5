//! Jobs: what they run, their progress and their usage.

use crate::actions::{LogEntry, SummaryItem};
use crate::agent::KindBody;
use crate::deployment::Deployment;
use crate::fields::maybe_day;
use crate::job_result::JobResult;
use crate::labels::Labels;
use crate::masking::MaskedResponse;
use crate::number::Number;
use crate::progress::Progress;
use crate::quality::{DayQualityResponse, JobQuality};
use crate::query::{parsed, rows};
use crate::usage::UsageSummary;
use papertape_core::job_list::{JobOrder, ListQuality};
use papertape_core::record::{DayStatus, JobStatus};
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// What to delete with a job.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteQuery {
    /// Also delete the jobs that depend on it: branches, jobs that continue its accounts, skip days that it ran, received
    /// its memory or were started by it. Absent: a job with dependents is not deleted.
    #[serde(default)]
    pub dependents: bool,
}

/// Filters of `details`. `progress` always counts all model-days.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StatusQuery {
    /// Only this trading day.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    pub date: Option<Date>,
    /// Only this agent.
    pub model: Option<String>,
}

/// Which jobs, and in which order. Conditions are ANDed.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JobsQuery {
    /// Words that all occur, without regard to case, in the ID, the name, a tag, the note, the dataset, or an agent's name
    /// or model.
    #[param(max_length = 200)]
    pub search: Option<String>,
    /// Only jobs of this kind.
    #[param(schema_with = crate::vocabulary::job_kind)]
    pub kind: Option<String>,
    /// Only jobs with this status.
    #[param(schema_with = crate::vocabulary::job_status)]
    pub status: Option<JobStatus>,
    /// Only jobs with this tag.
    pub tag: Option<String>,
    /// Only jobs with an agent of this name, or of this model.
    #[param(example = "house::momentum")]
    pub model: Option<String>,
    /// Only jobs on this dataset, by name or hash.
    pub dataset: Option<String>,
    /// `ok`: only jobs without a failed or degraded model-day; `degraded`: only the others.
    #[param(schema_with = crate::vocabulary::list_quality)]
    pub quality: Option<ListQuality>,
    /// Only jobs requested on this day (UTC) or later.
    #[serde(default, deserialize_with = "maybe_day")]
    pub from: Option<Date>,
    /// Only jobs requested on this day (UTC) or earlier.
    #[serde(default, deserialize_with = "maybe_day")]
    pub to: Option<Date>,
    /// `created`, `name`, `status`, `dataset`, `model`, `start_date` or `quality` (the number of failed and degraded
    /// model-days); with `-` in front, in descending order. Default: `-created`.
    #[serde(default, deserialize_with = "parsed")]
    #[param(schema_with = crate::vocabulary::job_order)]
    pub sort: Option<JobOrder>,
    /// Max jobs.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page, which was requested with the same `sort` within a day.
    pub cursor: Option<String>,
}

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
    /// Why it is degraded or failed; `null` otherwise.
    pub quality: Option<DayQualityResponse>,
    /// When its session was opened.
    pub started_at: Option<Timestamp>,
    /// When its session was closed.
    pub completed_at: Option<Timestamp>,
    /// The time between the two.
    pub duration_seconds: Option<f64>,
}

/// The status of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatusResponse {
    /// The job.
    pub job_id: String,
    /// `queued`, `running`, `completed`, `partial`, `failed` or `cancelled`.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Model-days by status.
    pub progress: Progress,
    /// Parts by status, if it is split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<BTreeMap<String, u64>>,
    /// Its trading days, oldest first.
    pub date_range: Vec<Date>,
    /// Its agents.
    pub models: Vec<String>,
    /// Its model-days, by date and model: all, or those that were requested.
    pub details: Vec<DayDetail>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// When a worker first picked it up.
    pub started_at: Option<Timestamp>,
    /// When it stopped.
    pub completed_at: Option<Timestamp>,
    /// The time between the two, pauses included.
    pub total_duration_seconds: Option<f64>,
    /// The number of degraded and failed model-days, and the first of them.
    pub quality: JobQuality,
    /// Its usage, summaries included.
    pub usage: UsageSummary,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Why it stopped early.
    pub error: Option<String>,
    /// Whether its cancellation was requested.
    pub cancel_requested: bool,
    /// The job that it branched from.
    pub parent: Option<String>,
    /// The job that superseded its last agent; `null` while any of its days still count.
    pub superseded_by: Option<String>,
    /// By model: the job that superseded its days.
    pub superseded: BTreeMap<String, String>,
    /// The rules version that it runs under.
    pub rules_version: u32,
    /// The mark of a masked job; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<MaskedResponse>,
    /// The mode that the server runs in.
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
    /// Whether `POST /simulate/{job_id}/resume` continues it: it stopped before its end, and has more than its log.
    pub can_resume: bool,
    /// Why it stopped early.
    pub error: Option<String>,
    /// Model-days by status.
    pub progress: Progress,
    /// When it was requested.
    pub created_at: Timestamp,
    /// When a worker first picked it up.
    pub started_at: Option<Timestamp>,
    /// When it stopped.
    pub completed_at: Option<Timestamp>,
    /// The time between the two, pauses included.
    pub total_duration_seconds: Option<f64>,
    /// The number of degraded and failed model-days, and the first of them.
    pub quality: JobQuality,
    /// Its usage, summaries included.
    pub usage: UsageSummary,
    /// Warnings.
    pub warnings: Vec<String>,
    /// The job that it branched from.
    pub parent: Option<String>,
    /// The job that superseded its last agent; `null` while any of its days still count.
    pub superseded_by: Option<String>,
    /// By model: the job that superseded its days.
    pub superseded: BTreeMap<String, String>,
    /// The rules version that it runs under.
    pub rules_version: u32,
    /// Its name, tags and note.
    pub labels: Labels,
    /// The experiment that it belongs to; `null`: none.
    pub experiment: Option<JobExperiment>,
    /// Its configuration; `null` for other kinds of jobs.
    pub simulation: Option<SimulationSummary>,
}

/// A job's place in its experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobExperiment {
    /// The experiment.
    pub experiment_id: String,
    /// The window, from 1.
    pub window: u32,
    /// The trial, from 1.
    pub trial: u32,
}

/// A page of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobsResponse {
    /// The jobs, newest first or in the requested order.
    pub jobs: Vec<JobSummary>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One job, with the newest rows of its action log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobResponse {
    /// The job.
    pub job: JobSummary,
    /// Rows of its action log, oldest first: the newest ones, or those after `cursor`.
    pub logs: Vec<LogEntry>,
    /// Send it as `cursor` for newer rows, including those that are not yet written.
    pub next_cursor: String,
    /// Send it as `before` for older rows; `null` if there are none.
    pub before: Option<String>,
    /// Each of its actions once, in its latest state.
    pub actions_summary: Vec<SummaryItem>,
    /// The result of a decomposition or an execution of a plan; `null` until it ends, and for other kinds of
    /// jobs.
    pub result: Option<JobResult>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The configuration of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulationSummary {
    /// The data.
    pub dataset: DatasetSummary,
    /// First day.
    pub start_date: Date,
    /// Last day, included.
    pub end_date: Date,
    /// The tradable symbols; of a job with a universe, all that were ever its members.
    pub symbols: Vec<String>,
    /// The index whose members of each day may be traded on it; absent: all of `symbols`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub universe: Option<String>,
    /// The market profile's name.
    pub market: String,
    /// What trading costs: `market`, as the profile says, or `frictionless`, nothing.
    pub costs: String,
    /// The initial cash of each agent.
    pub initial_cash: Number,
    /// The symbol or index that results are compared with; `null`: none.
    pub benchmark: Option<String>,
    /// The seed of its randomness.
    pub seed: u64,
    /// Whether summaries are written.
    pub summaries: bool,
    /// Which of the traders' memories are on: `off`, `rounds`, `rounds+open` or `all`.
    pub memory: String,
    /// The number of recent rounds that a trader reads.
    pub read_window: u32,
    /// The same for the session after a losing close.
    pub read_window_after_loss: u32,
    /// The job whose memory the agents began with.
    pub memory_from: Option<String>,
    /// The agents.
    pub agents: Vec<AgentSummary>,
    /// By model: the job that it continues.
    pub continues: BTreeMap<String, ContinuesFrom>,
    /// Where it branched off.
    pub branch: Option<BranchPoint>,
    /// The origin of an imported job; `null` otherwise.
    pub imported: Option<ImportedFrom>,
    /// The mark of a masked job; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<MaskedResponse>,
}

/// The origin of an imported job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedFrom {
    /// What wrote its logs: `ai-trader`.
    pub format: String,
    /// Where they were read from.
    pub source: String,
    /// `provider::model`: the model that wrote memories and summaries of these days.
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
    /// How it works: `solo`, `desk` or `external`.
    #[schema(schema_with = crate::vocabulary::agent_kind)]
    pub kind: KindBody,
    /// `provider::model`; from a branch's cut on, the branch's.
    pub model: String,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: bool,
}

/// The day of an earlier job after which an agent continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContinuesFrom {
    /// The job.
    pub job: String,
    /// The last day of it that counts.
    pub date: Date,
}

/// Where a job branched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BranchPoint {
    /// The parent.
    pub job_id: String,
    /// The day of the cut.
    pub date: Date,
    /// The cut in the day: a node or a step.
    pub at: String,
}

/// What was deleted.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DeletedResponse {
    /// The job.
    pub job_id: String,
    /// The deleted jobs: this one, then those that depend on it.
    pub jobs: Vec<String>,
    /// The number of texts that nothing else used, deleted too.
    pub texts: u64,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}
