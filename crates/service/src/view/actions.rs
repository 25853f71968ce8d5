//! The action log of a job, by job and by plan.

use super::jobs::JobResponse;
use super::{Deployment, ViewError, job_id, jobs, page, plain};
use crate::app::App;
use papertape_core::action::{
    ActionKind, ActionRow, ActionStatus, ActionSummary, LogPosition, MAX_ROWS, PlanJob, summarise,
};
use papertape_core::id::JobId;
use papertape_core::language::Language;
use papertape_core::plan::PlanId;
use papertape_core::ports::{ActionLog as _, Plans as _};
use papertape_core::record::{JobStatus, PLAN_DECOMPOSE};
use papertape_core::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The rows that come with a job where no number is asked for.
const WITH_A_JOB: u32 = 50;

/// Which part of the log that comes with a job.
#[derive(Clone, Debug)]
pub struct LogQuery {
    /// `next_cursor` of an earlier answer; absent, and without `before`: the newest rows.
    pub cursor: Option<String>,
    /// `before` of an earlier answer: older rows.
    pub before: Option<String>,
    /// How many at most, 1 to 500.
    pub limit: Option<u32>,
    /// The reader's language.
    pub language: Language,
}

/// Which part of a log.
#[derive(Clone, Debug, Default)]
pub struct ActionsQuery {
    /// `next_cursor` of an earlier answer.
    pub cursor: Option<String>,
    /// `before` of an earlier answer.
    pub before: Option<String>,
    /// How many at most, 1 to 500.
    pub limit: Option<u32>,
}

/// A row of the action log: one state of one action.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LogEntry {
    /// Its id in this record.
    pub id: i64,
    /// The plan that the job belongs to; `null`: none.
    pub plan_id: Option<i64>,
    /// The job.
    pub job_id: String,
    /// The conversation that it comes from.
    pub session_id: Option<String>,
    /// What was asked for, in the asker's words.
    pub user_message: Option<String>,
    /// What the action is about.
    #[schema(schema_with = super::vocabulary::action_kind)]
    pub action_kind: ActionKind,
    /// Which action it is: `run_simulation`.
    pub action_name: String,
    /// How far it is.
    #[schema(schema_with = super::vocabulary::action_status)]
    pub status: ActionStatus,
    /// Did it succeed? `null` until it has ended.
    pub success: Option<bool>,
    /// What came of it, or why it failed.
    pub message: Option<String>,
    /// More, for programs.
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
    /// Its number in the job's log, from 1, without gaps.
    pub sequence: i64,
    /// How many secrets were removed from it before it was written.
    pub redactions: u32,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was changed: where its job got a plan later.
    pub updated_at: Timestamp,
}

impl LogEntry {
    /// A row as the API shows it.
    #[must_use]
    pub fn of(row: ActionRow) -> Self {
        let success = row.success();
        Self {
            id: row.id,
            plan_id: row.row.plan.map(|plan| plan.0),
            job_id: row.job.to_string(),
            session_id: row.row.chat_session.map(|session| session.to_string()),
            user_message: row.row.user_message,
            action_kind: row.row.kind,
            action_name: row.row.name,
            status: row.row.status,
            success,
            message: row.row.message,
            details: row.row.details,
            sequence: row.sequence,
            redactions: row.redactions,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// An action in its last state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SummaryItem {
    /// The how-manieth action of the job it is, from 1.
    pub order: usize,
    /// What it is about.
    #[schema(schema_with = super::vocabulary::action_kind)]
    pub kind: ActionKind,
    /// Which it is.
    pub name: String,
    /// For people.
    #[schema(example = "plan_operation/create_plan → 成功")]
    pub display: String,
    /// Did it succeed? `null`: it has not ended.
    pub success: Option<bool>,
    /// What came of it, or why it failed.
    pub message: Option<String>,
    /// What it has made or started, or was about.
    pub refs: Vec<ActionRefResponse>,
}

/// Something that an action has made or started, or was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ActionRefResponse {
    /// `job` or `plan`.
    #[serde(rename = "type")]
    #[schema(example = "job")]
    pub what: &'static str,
    /// Its id.
    pub id: String,
}

impl From<ActionSummary> for SummaryItem {
    fn from(item: ActionSummary) -> Self {
        let ActionSummary { order, kind, name, display, success, message, refs } = item;
        let refs = refs.into_iter().map(|one| ActionRefResponse { what: one.what, id: one.id }).collect();
        Self { order, kind, name, display, success, message, refs }
    }
}

/// A part of a job's log.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ActionsResponse {
    /// The plan that the job belongs to; `null`: none.
    pub plan_id: Option<i64>,
    /// The job.
    pub job_id: String,
    /// The rows, oldest first.
    pub logs: Vec<LogEntry>,
    /// How many there are on this page.
    pub count: usize,
    /// Send it as `cursor` for newer rows, those that are still to be written included.
    pub next_cursor: String,
    /// Send it as `before` for older rows; `null`: there are none.
    pub before: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A job of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlanJobResponse {
    /// The job.
    pub job_id: String,
    /// `plan_execute`, `plan_decompose`, `chat_action`, `simulate`, …
    pub job_type: String,
    /// Its status.
    #[schema(schema_with = super::vocabulary::job_status)]
    pub status: JobStatus,
    /// How many rows of its action log are kept.
    pub rows: i64,
    /// When it was asked for.
    pub created_at: Timestamp,
}

/// A page of a plan's jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlanJobsResponse {
    /// The plan.
    pub plan_id: i64,
    /// The jobs, newest first.
    pub jobs: Vec<PlanJobResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// What of a job's log comes with the job.
pub(super) struct Log {
    pub(super) logs: Vec<LogEntry>,
    pub(super) next_cursor: String,
    pub(super) before: Option<String>,
    pub(super) actions_summary: Vec<SummaryItem>,
}

impl Log {
    pub(super) async fn of(app: &App, job: &JobId, query: LogQuery) -> Result<Self, ViewError> {
        let limit = Some(query.limit.unwrap_or(WITH_A_JOB));
        let asked = ActionsQuery { cursor: query.cursor, before: query.before, limit };
        let page = app.store.list_action_logs(job, asked.place()?, asked.rows()?).await?;
        let all = app.store.action_log(job).await?;
        let summary = summarise(all.iter().map(|row| &row.row), query.language);
        Ok(Self {
            logs: page.rows.into_iter().map(LogEntry::of).collect(),
            next_cursor: page.cursor,
            before: page.before,
            actions_summary: summary.into_iter().map(SummaryItem::from).collect(),
        })
    }
}

impl ActionsQuery {
    fn place(&self) -> Result<LogPosition, ViewError> {
        plain("cursor", self.cursor.as_ref())?;
        plain("before", self.before.as_ref())?;
        match (&self.cursor, &self.before) {
            (Some(_), Some(_)) => Err(ViewError::bad("before", "give either it or `cursor`")),
            (Some(cursor), None) => Ok(LogPosition::After(cursor.clone())),
            (None, Some(before)) => Ok(LogPosition::Before(before.clone())),
            (None, None) => Ok(LogPosition::Newest),
        }
    }

    fn rows(&self) -> Result<u32, ViewError> {
        match self.limit {
            Some(limit) if limit == 0 || limit > MAX_ROWS => {
                Err(ViewError::bad("limit", format!("{limit} is not from 1 to {MAX_ROWS}")))
            }
            limit => Ok(limit.unwrap_or_default()),
        }
    }
}

/// A part of a job's log. `plan`: the job must be this plan's.
///
/// # Errors
/// No such job, or not of the plan; a bad limit or cursor; the record's.
pub async fn actions(
    app: &App,
    plan: Option<i64>,
    job: &str,
    query: ActionsQuery,
) -> Result<ActionsResponse, ViewError> {
    let index = indexed(app, plan, job).await?;
    let page = app.store.list_action_logs(&index.job, query.place()?, query.rows()?).await?;
    let logs: Vec<LogEntry> = page.rows.into_iter().map(LogEntry::of).collect();
    Ok(ActionsResponse {
        plan_id: index.plan.map(|plan| plan.0),
        job_id: index.job.to_string(),
        count: logs.len(),
        logs,
        next_cursor: page.cursor,
        before: page.before,
        deployment: Deployment::of(app),
    })
}

/// The jobs of a plan, newest first. A plan that was deleted keeps its jobs.
///
/// # Errors
/// A bad limit or cursor; the record's.
pub async fn plan_jobs(
    app: &App,
    plan: i64,
    limit: Option<u32>,
    cursor: Option<String>,
) -> Result<PlanJobsResponse, ViewError> {
    let is_first = cursor.is_none();
    let found = app.store.plan_jobs(PlanId(plan), &page(limit, cursor)?).await?;
    // Of one that is deleted, or that came with a file, there may be jobs all the same.
    if is_first && found.items.is_empty() && app.store.plan(PlanId(plan)).await?.is_none() {
        return Err(ViewError::NotFound(format!("there is no plan {plan}")));
    }
    let jobs: Vec<PlanJobResponse> = found
        .items
        .into_iter()
        .map(|job| PlanJobResponse {
            job_id: job.job.to_string(),
            job_type: job.job_type,
            status: job.status,
            rows: job.rows_kept,
            created_at: job.created_at,
        })
        .collect();
    let count = jobs.len();
    Ok(PlanJobsResponse {
        plan_id: plan,
        jobs,
        count,
        next_cursor: found.next,
        deployment: Deployment::of(app),
    })
}

/// A job of a plan, as [`super::job`] shows it.
///
/// # Errors
/// No such job, or not of the plan; a bad limit or cursor; the record's.
pub async fn plan_job(app: &App, plan: i64, job: &str, query: LogQuery) -> Result<JobResponse, ViewError> {
    indexed(app, Some(plan), job).await?;
    jobs::job(app, job, query).await
}

/// A job that decomposes a task, as [`super::job`] shows it.
///
/// # Errors
/// No such job, or of another kind; a bad limit or cursor; the record's.
pub async fn decompose_job(app: &App, job: &str, query: LogQuery) -> Result<JobResponse, ViewError> {
    let index = indexed(app, None, job).await?;
    if index.job_type != PLAN_DECOMPOSE {
        let job = index.job;
        return Err(ViewError::NotFound(format!("the job {job} decomposes no task")));
    }
    jobs::job(app, job, query).await
}

async fn indexed(app: &App, plan: Option<i64>, job: &str) -> Result<PlanJob, ViewError> {
    let index = app.store.plan_job(&job_id(job)?).await?.ok_or_else(|| super::no_job(job))?;
    match plan {
        Some(plan) if index.plan != Some(PlanId(plan)) => {
            Err(ViewError::NotFound(format!("plan {plan} has no job {}", job.escape_default())))
        }
        _ => Ok(index),
    }
}
