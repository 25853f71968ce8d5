//! Deletes a job: its rows in all tables, and the texts that nothing else uses, in one transaction.
//!
//! A job that others build on is deleted together with them or not at all: whatever remains still verifies, and
//! exports as before.

mod dependents;
mod texts;

use crate::db::{Backend, Db};
use crate::error::Result;
use crate::lineage;
use crate::store::Store;
use crate::value::params;
use futures::FutureExt as _;
use papertape_core::id::JobId;
use papertape_core::record::JobStatus;
use std::collections::BTreeSet;
use texts::Candidates;

/// Outcome of a request to delete a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// There is no such job.
    NotFound,
    /// It, or a dependent to be deleted with it, has not stopped.
    Unfinished(JobId, JobStatus),
    /// These other jobs build on it and were not to be deleted.
    InUse(Vec<JobId>),
    /// It is deleted.
    Deleted(Deleted),
}

/// What a deletion removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The jobs: the requested one, then those that build on it.
    pub jobs: Vec<JobId>,
    /// Number of texts that nothing else used.
    pub texts: u64,
}

impl Store {
    /// A dry run of [`Self::delete_job`]: [`Deletion::Deleted`] names the jobs, with 0 texts.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn deletion_of(&self, job: &JobId, with_dependents: bool) -> Result<Deletion> {
        self.read_with(job.clone(), move |db, job| {
            async move {
                let jobs = match jobs_to_delete(db, job, with_dependents, "").await? {
                    Ok(jobs) => jobs,
                    Err(refused) => return Ok(refused),
                };
                Ok(Deletion::Deleted(Deleted { jobs, texts: 0 }))
            }
            .boxed()
        })
        .await
    }

    /// Deletes a stopped job, all its data and the texts that nothing else uses, in one transaction. If other
    /// jobs build on it ([`Deletion::InUse`]), they are deleted too if `with_dependents`; otherwise nothing is.
    /// Jobs that it had superseded are reinstated. Its event streams end.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn delete_job(&self, job: &JobId, with_dependents: bool) -> Result<Deletion> {
        let done = self
            .write_for_with(job, job.clone(), move |db, job| delete(db, job, with_dependents).boxed())
            .await?;
        if let Deletion::Deleted(deleted) = &done {
            for job in &deleted.jobs {
                self.notifier().committed(job);
            }
        }
        Ok(done)
    }
}

async fn delete(db: &mut dyn Db, job: &JobId, with_dependents: bool) -> Result<Deletion> {
    if db.backend() == Backend::Postgres {
        // No other transaction can add a reference to a text, or have an uncommitted one: see `texts`.
        db.execute("LOCK TABLE texts IN SHARE ROW EXCLUSIVE MODE", &[]).await?;
    }
    let lock = match db.backend() {
        Backend::Postgres => "FOR UPDATE",
        Backend::Sqlite => "",
    };
    let jobs = match jobs_to_delete(db, job, with_dependents, lock).await? {
        Ok(jobs) => jobs,
        Err(refused) => return Ok(refused),
    };
    let candidates = Candidates::of(db, &jobs).await?;
    for job in &jobs {
        db.execute("DELETE FROM jobs WHERE job_id = $1", params![job]).await?;
    }
    // An experiment ends with its last job.
    let empty = "DELETE FROM experiments WHERE NOT EXISTS (
        SELECT 1 FROM experiment_jobs j WHERE j.experiment_id = experiments.experiment_id)";
    db.execute(empty, &[]).await?;
    lineage::reinstate(db).await?;
    let texts = candidates.collect(db, &jobs).await?;
    Ok(Deletion::Deleted(Deleted { jobs, texts }))
}

/// The job and, if `with_dependents`, those that build on it; or why it cannot be deleted.
async fn jobs_to_delete(
    db: &mut dyn Db,
    job: &JobId,
    with_dependents: bool,
    lock: &str,
) -> Result<Result<Vec<JobId>, Deletion>> {
    let Some(status) = stop_status(db, job, lock).await? else { return Ok(Err(Deletion::NotFound)) };
    if !status.is_stopped() {
        return Ok(Err(Deletion::Unfinished(job.clone(), status)));
    }
    let (mut jobs, mut seen) = (vec![job.clone()], BTreeSet::from([job.clone()]));
    let mut at = 0;
    while let Some(job) = jobs.get(at).cloned() {
        for dependent in dependents::of(db, &job).await? {
            if seen.insert(dependent.clone()) {
                jobs.push(dependent);
            }
        }
        at += 1;
    }
    if jobs.len() > 1 && !with_dependents {
        return Ok(Err(Deletion::InUse(jobs.split_off(1))));
    }
    for dependent in jobs.iter().skip(1) {
        match stop_status(db, dependent, lock).await? {
            Some(status) if !status.is_stopped() => {
                return Ok(Err(Deletion::Unfinished(dependent.clone(), status)));
            }
            _ => {}
        }
    }
    Ok(Ok(jobs))
}

async fn stop_status(db: &mut dyn Db, job: &JobId, lock: &str) -> Result<Option<JobStatus>> {
    db.first(&format!("SELECT status FROM jobs WHERE job_id = $1 {lock}"), params![job]).await
}
