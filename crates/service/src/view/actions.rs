//! The action log of a job, by job and by plan.

use super::{ViewError, job_id, page, plain};
use crate::app::App;
use crate::view::deployment;
use papertape_core::action::{LogPosition, MAX_ROWS, PlanJob, summarize};
use papertape_core::id::JobId;
use papertape_core::language::Language;
use papertape_core::plan::PlanId;
use papertape_core::ports::{ActionLog as _, Plans as _};
use papertape_protocol::actions::{
    ActionsResponse, LogEntry, PlanJobResponse, PlanJobsResponse, SummaryItem,
};

/// The default number of rows that come with a job.
const WITH_A_JOB: u32 = 50;

/// Which part of the log that comes with a job.
#[derive(Clone, Debug)]
pub struct LogQuery {
    /// `next_cursor` of an earlier response; absent, and without `before`: the newest rows.
    pub cursor: Option<String>,
    /// `before` of an earlier response: older rows.
    pub before: Option<String>,
    /// The maximum number of rows, 1 to 500.
    pub limit: Option<u32>,
    /// The reader's language.
    pub language: Language,
}

/// Which part of a log.
#[derive(Clone, Debug, Default)]
pub struct ActionsQuery {
    /// `next_cursor` of an earlier response.
    pub cursor: Option<String>,
    /// `before` of an earlier response.
    pub before: Option<String>,
    /// The maximum number of rows, 1 to 500.
    pub limit: Option<u32>,
}

/// The part of a job's log that comes with the job.
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
        let summary = summarize(all.iter().map(|row| &row.row), query.language);
        Ok(Self {
            logs: page.rows.into_iter().map(LogEntry::from).collect(),
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
                Err(ViewError::bad("limit", format!("{limit} is out of range; expected 1 to {MAX_ROWS}")))
            }
            limit => Ok(limit.unwrap_or_default()),
        }
    }
}

/// A part of a job's log. `plan`: the job must belong to this plan.
///
/// # Errors
/// No such job, or not of the plan; a bad limit or cursor; a database error.
pub async fn actions(
    app: &App,
    plan: Option<i64>,
    job: &str,
    query: ActionsQuery,
) -> Result<ActionsResponse, ViewError> {
    let index = indexed(app, plan, job).await?;
    let page = app.store.list_action_logs(&index.job, query.place()?, query.rows()?).await?;
    let logs: Vec<LogEntry> = page.rows.into_iter().map(LogEntry::from).collect();
    Ok(ActionsResponse {
        plan_id: index.plan.map(|plan| plan.0),
        job_id: index.job.to_string(),
        count: logs.len(),
        logs,
        next_cursor: page.cursor,
        before: page.before,
        deployment: deployment(app),
    })
}

/// The jobs of a plan, newest first. A plan that was deleted keeps its jobs.
///
/// # Errors
/// A bad limit or cursor; a database error.
pub async fn plan_jobs(
    app: &App,
    plan: i64,
    limit: Option<u32>,
    cursor: Option<String>,
) -> Result<PlanJobsResponse, ViewError> {
    let is_first = cursor.is_none();
    let found = app.store.plan_jobs(PlanId(plan), &page(limit, cursor)?).await?;
    // A deleted plan, or one from a file, may still have jobs.
    if is_first && found.items.is_empty() && app.store.plan(PlanId(plan)).await?.is_none() {
        return Err(ViewError::NotFound(format!("there is no plan {plan}")));
    }
    let jobs: Vec<PlanJobResponse> = found
        .items
        .into_iter()
        .map(|job| PlanJobResponse {
            job_id: job.job.to_string(),
            job_type: job.job_type.to_string(),
            status: job.status,
            rows: job.rows_kept,
            created_at: job.created_at,
        })
        .collect();
    let count = jobs.len();
    Ok(PlanJobsResponse { plan_id: plan, jobs, count, next_cursor: found.next, deployment: deployment(app) })
}

pub(super) async fn indexed(app: &App, plan: Option<i64>, job: &str) -> Result<PlanJob, ViewError> {
    let index = app.store.plan_job(&job_id(job)?).await?.ok_or_else(|| super::no_job(job))?;
    match plan {
        Some(plan) if index.plan != Some(PlanId(plan)) => {
            Err(ViewError::NotFound(format!("plan {plan} has no job {}", job.escape_default())))
        }
        _ => Ok(index),
    }
}
