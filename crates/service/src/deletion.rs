//! Deletes jobs for a user, or says why not.

use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::JobId;
use papertape_store::{Deleted, Deletion, StoreError};

/// The maximum number of jobs named in a sentence.
const MAX_NAMED: usize = 20;

/// What [`delete`] would delete: the job, then its dependents.
///
/// # Errors
/// As [`delete`].
pub async fn preview(app: &App, job: &JobId, with_dependents: bool) -> Result<Vec<JobId>, ServiceError> {
    let jobs = to_result(job, app.store.deletion_of(job, with_dependents).await);
    jobs.map(|deleted| deleted.jobs)
}

/// Deletes a job that has stopped: its rows in all tables, and the texts that nothing else uses. With
/// `with_dependents`, jobs that depend on it are deleted too.
///
/// # Errors
/// No such job; it or a dependent that would be deleted has not stopped; it has dependents but
/// `with_dependents` is not set; a database error.
pub async fn delete(app: &App, job: &JobId, with_dependents: bool) -> Result<Deleted, ServiceError> {
    to_result(job, app.store.delete_job(job, with_dependents).await)
}

fn to_result(job: &JobId, deletion: Result<Deletion, StoreError>) -> Result<Deleted, ServiceError> {
    match deletion? {
        Deletion::Deleted(deleted) => Ok(deleted),
        Deletion::NotFound => Err(ServiceError::UnknownJob(job.to_string())),
        Deletion::Unfinished(unfinished, status) => {
            Err(ServiceError::Conflict(format!("job {unfinished} is {status}: cancel it first")))
        }
        Deletion::InUse(jobs) => {
            let named: Vec<&str> = jobs.iter().take(MAX_NAMED).map(JobId::as_str).collect();
            let more = match jobs.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Err(ServiceError::Conflict(format!(
                "{} job(s) depend on job {job}: {}{more}; delete them first, or delete them too \
                 (`--with-dependents`; in the API, `dependents=true`)",
                jobs.len(),
                named.join(", ")
            )))
        }
    }
}
