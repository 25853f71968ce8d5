//! Jobs: what they are to do, how far they are, what they have used.

use super::actions::{Log, LogEntry, LogQuery, SummaryItem};
use super::job_result::{JobResult, job_result};
use super::progress::{count, progress};
use super::quality;
use super::{
    DayQualityResponse, Deployment, JobQuality, Number, Progress, UsageSummary, ViewError, is_llm, job_id,
    no_job, number, page,
};
use crate::app::App;
use papertape_agents::config::AgentKind;
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::{DayStatus, JobKind, JobStatus};
use papertape_core::time::{Date, Timestamp};
use papertape_runtime::config::SimulationConfig;
use papertape_store::{DayRow, DegradedDay, JobFilter, JobOverview};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;

/// Which jobs.
#[derive(Clone, Debug, Default)]
pub struct JobsQuery {
    /// Of this kind.
    pub kind: Option<String>,
    /// In this status.
    pub status: Option<JobStatus>,
    /// How many at most, 1 to 200.
    pub limit: Option<u32>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// A model-day.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DayDetail {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// `queued`, `running`, `completed`, `failed` or `skipped`.
    #[schema(schema_with = super::vocabulary::day_status)]
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

/// Which model-days of a job are told one by one.
#[derive(Clone, Debug, Default)]
pub struct StatusQuery {
    /// Those of this day; `None`: of all.
    pub date: Option<Date>,
    /// Those of this agent; `None`: of all.
    pub model: Option<String>,
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct StatusResponse {
    /// The job.
    pub job_id: String,
    /// `queued`, `running`, `completed`, `partial`, `failed` or `cancelled`.
    #[schema(schema_with = super::vocabulary::job_status)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct JobSummary {
    /// The job.
    pub job_id: String,
    /// `simulate`.
    pub kind: String,
    /// `queued`, `running`, `completed`, `partial`, `failed` or `cancelled`.
    #[schema(schema_with = super::vocabulary::job_status)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
    pub memory: &'static str,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ImportedFrom {
    /// What wrote its logs: `ai-trader`.
    pub format: String,
    /// Where they were read from, as it was written then.
    pub source: String,
    /// `provider::model`: who wrote memories and summaries of these days.
    pub writer: String,
}

/// A dataset by name and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DatasetSummary {
    /// Its name.
    pub name: String,
    /// Its content hash, 64 hex digits.
    pub hash: String,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct AgentSummary {
    /// Its name: `model` elsewhere.
    pub name: String,
    /// How it works: `solo` or `desk`.
    #[schema(schema_with = super::vocabulary::agent_kind)]
    pub kind: AgentKind,
    /// `provider::model`; from a branch's cut on, the branch's.
    pub model: String,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: bool,
}

/// The day of an earlier job after which an agent goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ContinuesFrom {
    /// The job.
    pub job: String,
    /// The last day that counts of it.
    pub date: Date,
}

/// Where a job branched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct BranchPoint {
    /// The parent.
    pub job_id: String,
    /// The day of the cut.
    pub date: Date,
    /// The cut within the day: a node or a step.
    pub at: String,
}

/// Jobs, newest first.
///
/// # Errors
/// A limit out of range, a bad cursor; the record's.
pub async fn jobs(app: &App, query: JobsQuery) -> Result<JobsResponse, ViewError> {
    let kind = query.kind.map(JobKind::from);
    if let Some(JobKind::Unknown(kind)) = &kind {
        let known = JobKind::ALL.iter().map(JobKind::as_str).collect::<Vec<_>>().join(", ");
        return Err(ViewError::bad(
            "kind",
            format!("unknown kind `{}`; expected one of {known}", kind.escape_default()),
        ));
    }
    let page = page(query.limit, query.cursor)?;
    let filter = JobFilter { kind, status: query.status };
    let found = app.store.jobs(&filter, &page).await?;
    let ids: Vec<JobId> = found.items.iter().map(|item| item.job.id.clone()).collect();
    let degraded = app.store.degraded_counts(&ids).await?;
    let of = |job: &JobId| degraded.get(job).map(JobQuality::from).unwrap_or_default();
    let jobs: Vec<JobSummary> = found
        .items
        .into_iter()
        .map(|item| {
            let quality = of(&item.job.id);
            summary(item, quality)
        })
        .collect();
    Ok(JobsResponse { count: jobs.len(), jobs, next_cursor: found.next, deployment: Deployment::of(app) })
}

/// One job.
///
/// # Errors
/// No such job; the record's.
pub async fn job_summary(app: &App, job: &str) -> Result<JobSummary, ViewError> {
    let found = app.store.job_overview(&job_id(job)?).await?.ok_or_else(|| no_job(job))?;
    let degraded = app.store.degraded_counts(std::slice::from_ref(&found.job.id)).await?;
    let quality = degraded.get(&found.job.id).map(JobQuality::from).unwrap_or_default();
    Ok(summary(found, quality))
}

/// One job, with the newest of its action log.
///
/// # Errors
/// No such job; a bad limit or cursor; the record's.
pub async fn job(app: &App, job: &str, query: LogQuery) -> Result<JobResponse, ViewError> {
    let summary = job_summary(app, job).await?;
    let log = Log::of(app, &job_id(job)?, query).await?;
    let result = job_result(app, &job_id(job)?, &summary.kind.as_str().into()).await?;
    Ok(JobResponse {
        result,
        job: summary,
        logs: log.logs,
        next_cursor: log.next_cursor,
        before: log.before,
        actions_summary: log.actions_summary,
        deployment: Deployment::of(app),
    })
}

/// How far a job is, by model-day.
///
/// # Errors
/// No such job; the record's.
pub async fn status(app: &App, job: &str, query: &StatusQuery) -> Result<StatusResponse, ViewError> {
    let details = app.store.job_details(&job_id(job)?).await?.ok_or_else(|| no_job(job))?;
    let used = details.used.and(details.used_by_summaries);
    let degraded = app.store.degraded_days(&details.job.id).await?;
    let quality = JobQuality::of(&degraded);
    let degraded: BTreeMap<(Date, &str), &DegradedDay> =
        degraded.iter().map(|day| ((day.date, day.agent.as_str()), day)).collect();
    let dates: BTreeSet<Date> = details.days.iter().map(|day| day.date).collect();
    let models: BTreeSet<&str> = details.days.iter().map(|day| day.agent.as_str()).collect();
    let row = details.job;
    Ok(StatusResponse {
        job_id: row.id.to_string(),
        status: row.status,
        progress: count(&details.days),
        date_range: dates.into_iter().collect(),
        models: models.into_iter().map(str::to_owned).collect(),
        details: details
            .days
            .iter()
            .filter(|day| query.wants(day))
            .map(|day| detail(day, degraded.get(&(day.date, day.agent.as_str())).copied()))
            .collect(),
        quality,
        created_at: row.created_at,
        started_at: row.started_at,
        completed_at: row.completed_at,
        total_duration_seconds: seconds(row.started_at, row.completed_at),
        usage: UsageSummary::of(used),
        warnings: row.warnings,
        error: row.error,
        cancel_requested: details.cancel_requested,
        parent: row.parent.map(|job| job.to_string()),
        superseded_by: row.superseded_by.map(|job| job.to_string()),
        superseded: names(details.superseded),
        rules_version: row.rules_version,
        deployment: Deployment::of(app),
    })
}

impl StatusQuery {
    fn wants(&self, day: &DayRow) -> bool {
        self.date.is_none_or(|date| date == day.date)
            && self.model.as_ref().is_none_or(|model| *model == day.agent.as_str())
    }
}

fn detail(day: &DayRow, degraded: Option<&DegradedDay>) -> DayDetail {
    DayDetail {
        quality: degraded.and_then(quality::quality).map(DayQualityResponse::from),
        date: day.date,
        model: day.agent.to_string(),
        status: day.status,
        error: day.error.clone(),
        started_at: day.started_at,
        completed_at: day.completed_at,
        duration_seconds: seconds(day.started_at, day.completed_at),
    }
}

fn names(superseded: BTreeMap<AgentName, JobId>) -> BTreeMap<String, String> {
    superseded.into_iter().map(|(agent, job)| (agent.to_string(), job.to_string())).collect()
}

fn summary(found: JobOverview, quality: JobQuality) -> JobSummary {
    let JobOverview { job: row, days, used, superseded } = found;
    let progress = progress(days);
    JobSummary {
        quality,
        job_id: row.id.to_string(),
        kind: row.kind.to_string(),
        status: row.status,
        error: row.error,
        progress,
        created_at: row.created_at,
        started_at: row.started_at,
        completed_at: row.completed_at,
        total_duration_seconds: seconds(row.started_at, row.completed_at),
        usage: UsageSummary::of(used),
        warnings: row.warnings,
        parent: row.parent.map(|job| job.to_string()),
        superseded_by: row.superseded_by.map(|job| job.to_string()),
        superseded: names(superseded),
        rules_version: row.rules_version,
        simulation: serde_json::from_value(row.config).ok().map(|config| simulation(&config)),
    }
}

fn simulation(config: &SimulationConfig) -> SimulationSummary {
    let changed = config.branch.as_ref().and_then(|branch| branch.agent.as_ref());
    let agent = |agent: &papertape_agents::config::AgentConfig| {
        let now = changed.filter(|changed| changed.name == agent.name).unwrap_or(agent);
        AgentSummary {
            name: agent.name.to_string(),
            kind: agent.kind,
            model: now.model.to_string(),
            is_llm: is_llm(config, &agent.name).unwrap_or(true),
        }
    };
    let from = |(agent, from): (&AgentName, &papertape_runtime::config::Continuation)| {
        (agent.to_string(), ContinuesFrom { job: from.job.to_string(), date: from.date })
    };
    SimulationSummary {
        dataset: DatasetSummary { name: config.dataset.name.clone(), hash: config.dataset.hash.to_hex() },
        start_date: config.start_date,
        end_date: config.end_date,
        symbols: config.symbols.iter().map(ToString::to_string).collect(),
        universe: config.universe.clone(),
        market: config.market.name.clone(),
        costs: if config.market.is_frictionless() { "frictionless" } else { "market" }.to_owned(),
        initial_cash: number(config.initial_cash.0),
        benchmark: config.benchmark.as_ref().map(ToString::to_string),
        seed: config.seed,
        summaries: config.summaries,
        memory: config.memory.mode.as_str(),
        read_window: config.memory.read_window,
        read_window_after_loss: config.memory.read_window_after_loss,
        memory_from: config.memory_from.as_ref().map(ToString::to_string),
        agents: config.agents.iter().map(agent).collect(),
        continues: config.continues.iter().map(from).collect(),
        branch: config.branch.as_ref().map(|branch| BranchPoint {
            job_id: branch.job.to_string(),
            date: branch.date,
            at: branch.at.clone(),
        }),
        imported: config.imported.as_ref().map(|imported| ImportedFrom {
            format: imported.format.clone(),
            source: imported.source.clone(),
            writer: imported.writer.to_string(),
        }),
    }
}

fn seconds(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<f64> {
    let span = to?.duration_since(from?);
    Some(span.as_secs_f64())
}
