//! Adds experiments: all their jobs, or none.

use crate::db::Db;
use crate::enqueue::{Split, enqueue};
use crate::error::Result;
use crate::store::Store;
use crate::value::{columns, params};
use futures::FutureExt as _;
use papertape_core::budget::Limit;
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::json;
use papertape_core::record::{JobStatus, NewExperiment};

impl Store {
    /// Adds an experiment and queues all its jobs, in one transaction.
    ///
    /// # Errors
    /// Like [`Queue::enqueue`](papertape_core::ports::Queue::enqueue) for each job; then nothing is added.
    pub async fn add_experiment(&self, experiment: NewExperiment) -> Result<()> {
        let jobs: Vec<JobId> = experiment.jobs.iter().map(|one| one.job.id.clone()).collect();
        self.write_with(experiment, |db, experiment| add(db, experiment).boxed()).await?;
        for job in &jobs {
            self.notifier().committed(job);
        }
        Ok(())
    }

    /// Replaces the limit that an experiment's jobs share. The manifest keeps the planned one. Returns `false` and changes
    /// nothing if it would be the first limit and jobs run: a job that began without one does not keep to it.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn set_experiment_limit(&self, experiment: &ExperimentId, limit: Limit) -> Result<bool> {
        self.write_with(experiment.clone(), move |db, experiment| set_limit(db, experiment, limit).boxed())
            .await
    }
}

async fn add(db: &mut dyn Db, experiment: &NewExperiment) -> Result<()> {
    let row = columns! {
        experiment_id: &experiment.id, created_at: experiment.created_at, manifest: &experiment.manifest,
        hash: json::hash(&experiment.manifest), max_tokens: experiment.limit.tokens,
        max_usd: experiment.limit.usd,
    };
    db.insert("experiments", row).await?;
    for one in &experiment.jobs {
        enqueue(db, &one.job, &Split::new(one.parts, &one.agents)).await?;
        let row = columns! {
            job_id: &one.job.id, experiment_id: &experiment.id, window_number: one.window, trial: one.trial,
        };
        db.insert("experiment_jobs", row).await?;
    }
    Ok(())
}

async fn set_limit(db: &mut dyn Db, experiment: &ExperimentId, limit: Limit) -> Result<bool> {
    // Locks the row: a job that is claimed from here on begins with the new limit.
    let sql = "UPDATE experiments SET max_tokens = max_tokens WHERE experiment_id = $1";
    db.execute(sql, params![experiment]).await?;
    let sql = "SELECT 1 FROM experiments x JOIN experiment_jobs e ON e.experiment_id = x.experiment_id
        JOIN jobs j ON j.job_id = e.job_id WHERE x.experiment_id = $1 AND x.max_tokens IS NULL
        AND x.max_usd IS NULL AND j.status = $2 LIMIT 1";
    if db.row(sql, params![experiment, JobStatus::Running.as_str()]).await?.is_some() {
        return Ok(false);
    }
    let sql = "UPDATE experiments SET max_tokens = $1, max_usd = $2 WHERE experiment_id = $3";
    db.execute(sql, params![limit.tokens, limit.usd, experiment]).await?;
    Ok(true)
}
