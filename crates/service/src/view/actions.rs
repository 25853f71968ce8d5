//! The action log of a job, by job and by plan.

use super::{job_id, page, plain, rows};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use papertape_core::action::{LogPage, LogPosition, MAX_ROWS, PlanJob, summarize};
use papertape_core::id::JobId;
use papertape_core::language::Language;
use papertape_core::plan::PlanId;
use papertape_core::ports::{ActionLog as _, Plans as _};
use papertape_protocol::actions::{
    ActionsQuery, ActionsResponse, LogEntry, LogQuery, PlanJobResponse, PlanJobsResponse, SummaryItem,
};
use papertape_protocol::query::PageQuery;

/// The default number of rows that come with a job.
const WITH_A_JOB: u32 = 50;

/// The part of a job's log that comes with the job.
pub(super) struct Log {
    pub(super) logs: Vec<LogEntry>,
    pub(super) next_cursor: String,
    pub(super) before: Option<String>,
    pub(super) actions_summary: Vec<SummaryItem>,
}

impl Log {
    pub(super) async fn of(
        app: &App,
        job: &JobId,
        query: LogQuery,
        language: Language,
    ) -> Result<Self, ServiceError> {
        let limit = Some(query.limit.unwrap_or(WITH_A_JOB));
        let query = ActionsQuery { cursor: query.cursor, before: query.before, limit };
        let page = log_page(app, job, query).await?;
        let all = app.store.action_log(job).await?;
        let summary = summarize(all.iter().map(|row| &row.row), language);
        Ok(Self {
            logs: page.rows.into_iter().map(LogEntry::from).collect(),
            next_cursor: page.cursor,
            before: page.before,
            actions_summary: summary.into_iter().map(SummaryItem::from).collect(),
        })
    }
}

/// A page of a log; without a limit, of the store's default length.
async fn log_page(app: &App, job: &JobId, query: ActionsQuery) -> Result<LogPage, ServiceError> {
    plain("cursor", query.cursor.as_ref())?;
    plain("before", query.before.as_ref())?;
    let position = match (query.cursor, query.before) {
        (Some(_), Some(_)) => return Err(ServiceError::invalid("before", "give either it or `cursor`")),
        (Some(cursor), None) => LogPosition::After(cursor),
        (None, Some(before)) => LogPosition::Before(before),
        (None, None) => LogPosition::Newest,
    };
    Ok(app.store.list_action_logs(job, position, rows(query.limit, 0, MAX_ROWS)?).await?)
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
) -> Result<ActionsResponse, ServiceError> {
    let index = indexed(app, plan, job).await?;
    let page = log_page(app, &index.job, query).await?;
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
pub async fn plan_jobs(app: &App, plan: i64, query: PageQuery) -> Result<PlanJobsResponse, ServiceError> {
    let is_first = query.cursor.is_none();
    let found = app.store.plan_jobs(PlanId(plan), &page(query.limit, query.cursor)?).await?;
    // A deleted plan, or one from a file, may still have jobs.
    if is_first && found.items.is_empty() && app.store.plan(PlanId(plan)).await?.is_none() {
        return Err(ServiceError::no_plan(PlanId(plan)));
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

pub(super) async fn indexed(app: &App, plan: Option<i64>, job: &str) -> Result<PlanJob, ServiceError> {
    let index = app.store.plan_job(&job_id(job)?).await?.ok_or_else(|| super::no_job(job))?;
    match plan {
        Some(plan) if index.plan != Some(PlanId(plan)) => {
            Err(ServiceError::NotFound(format!("plan {plan} has no job {}", job.escape_default())))
        }
        _ => Ok(index),
    }
}
