//! One job of a plan.

use super::actions::indexed;
use super::jobs;
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::language::Language;
use papertape_core::record::JobKind;
use papertape_protocol::actions::LogQuery;
use papertape_protocol::jobs::JobResponse;

/// A job of a plan, as [`super::job`] shows it.
///
/// # Errors
/// No such job, or not of the plan; a bad limit or cursor; a database error.
pub async fn plan_job(
    app: &App,
    plan: i64,
    job: &str,
    query: LogQuery,
    language: Language,
) -> Result<JobResponse, ServiceError> {
    indexed(app, Some(plan), job).await?;
    jobs::job(app, job, query, language).await
}

/// A job that decomposes a task, as [`super::job`] shows it.
///
/// # Errors
/// No such job, or of another kind; a bad limit or cursor; a database error.
pub async fn decompose_job(
    app: &App,
    job: &str,
    query: LogQuery,
    language: Language,
) -> Result<JobResponse, ServiceError> {
    let index = indexed(app, None, job).await?;
    if index.job_type != JobKind::PlanDecompose {
        let job = index.job;
        return Err(ServiceError::NotFound(format!("job {job} does not decompose a task")));
    }
    jobs::job(app, job, query, language).await
}
