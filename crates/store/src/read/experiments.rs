//! Experiments and their jobs.

use super::jobs::{DayCounts, UsageCost, day_counts, used};
use crate::db::{Db, Statement};
use crate::error::Result;
use crate::page::{List, Page, PageRequest};
use crate::store::Store;
use crate::value::{FromRow, Row, from_row, params};
use futures::FutureExt as _;
use papertape_core::budget::Limit;
use papertape_core::id::{AgentName, ContentHash, ExperimentId, JobId};
use papertape_core::record::JobStatus;
use papertape_core::time::{Timestamp, to_micros};
use serde_json::Value;

const EXPERIMENTS: List = List::descending("experiments", (50, 200), "created_at, experiment_id");

const COLUMNS: &str = "experiment_id, created_at, manifest, hash, max_tokens, max_usd";

/// An experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentRow {
    /// Its ID.
    pub id: ExperimentId,
    /// When it was requested.
    pub created_at: Timestamp,
    /// What is planned.
    pub manifest: Value,
    /// blake3 of the manifest's canonical JSON.
    pub hash: ContentHash,
    /// The limit that its jobs share now.
    pub limit: Limit,
}

/// A job of an experiment.
#[derive(Clone, Debug)]
pub struct ExperimentJobOverview {
    /// The job.
    pub job: JobId,
    /// Its window, from 1.
    pub window: u32,
    /// Its trial, from 1.
    pub trial: u32,
    /// Its status.
    pub status: JobStatus,
    /// Why it stopped early.
    pub error: Option<String>,
    /// When a worker first claimed it.
    pub started_at: Option<Timestamp>,
    /// When it stopped.
    pub completed_at: Option<Timestamp>,
    /// Its model-days.
    pub days: DayCounts,
    /// Usage of its sessions.
    pub used: UsageCost,
    /// Usage of its summaries.
    pub used_by_summaries: UsageCost,
}

/// What a completed session took, summaries included.
#[derive(Clone, Debug)]
pub struct RecentUsage {
    /// Its job.
    pub job: JobId,
    /// Calls of models.
    pub calls: u64,
    /// Their usage.
    pub used: UsageCost,
}

impl Store {
    /// What the newest completed sessions of an agent took, newest first.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn recent_usage(&self, agent: &AgentName, limit: u32) -> Result<Vec<RecentUsage>> {
        let sql = "SELECT s.job_id, (SELECT count(*) FROM steps p WHERE p.session_id = s.id
                AND p.class = 'external' AND p.kind = 'model' AND p.reused_from IS NULL),
            s.input_tokens, s.cached_tokens, s.output_tokens, s.cost_usd, s.estimated_calls, s.unpriced_calls,
            s.detached_input_tokens, s.detached_cached_tokens, s.detached_output_tokens, s.detached_cost_usd,
            s.detached_estimated_calls, s.detached_unpriced_calls
            FROM trading_sessions s WHERE s.model = $1 AND s.status = 'completed'
            ORDER BY s.started_at DESC, s.id DESC LIMIT $2";
        self.all(sql, params![agent, limit]).await
    }

    /// Experiments, newest first.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn experiments(&self, page: &PageRequest) -> Result<Page<ExperimentRow>> {
        let key = |item: &ExperimentRow| (to_micros(item.created_at), item.id.clone());
        self.read_with(page.clone(), move |db, page| {
            let statement = Statement::new(format!("SELECT {COLUMNS} FROM experiments WHERE 1 = 1"));
            async move { EXPERIMENTS.fetch(db, statement, page, key).await }.boxed()
        })
        .await
    }

    /// One experiment; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn experiment(&self, id: &ExperimentId) -> Result<Option<ExperimentRow>> {
        let sql = format!("SELECT {COLUMNS} FROM experiments WHERE experiment_id = $1");
        self.first(sql, params![id]).await
    }

    /// The jobs of an experiment, by window and trial.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn experiment_jobs(&self, id: &ExperimentId) -> Result<Vec<ExperimentJobOverview>> {
        self.read_with(id.clone(), |db, id| jobs(db, id).boxed()).await
    }

    /// The experiment of a job, with the job's window and trial; `None` if it belongs to none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn experiment_of(&self, job: &JobId) -> Result<Option<(ExperimentId, u32, u32)>> {
        let sql = "SELECT experiment_id, window_number, trial FROM experiment_jobs WHERE job_id = $1";
        self.first(sql, params![job]).await
    }

    /// The experiments whose ID is this text, or begins or ends with it, by ID; at most three, enough to report that
    /// the text is ambiguous.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn experiments_by_short_id(&self, part: &str) -> Result<Vec<ExperimentId>> {
        let length = part.chars().count();
        let sql = "SELECT experiment_id FROM experiments WHERE length(experiment_id) >= $2
            AND (substr(experiment_id, 1, $2) = $1 OR substr(experiment_id, length(experiment_id) - $2 + 1) = $1)
            ORDER BY experiment_id LIMIT 3";
        self.all(sql, params![part, length]).await
    }
}

from_row! { impl row => ExperimentRow {
    id, created_at, manifest, hash, limit: Limit { tokens: row.get()?, usd: row.get()? },
} }

impl FromRow for RecentUsage {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (job, calls, (own, summaries)): (JobId, u64, (UsageCost, UsageCost)) = row.get()?;
        Ok(Self { job, calls, used: own.and(summaries) })
    }
}

// A job whose days and usage are filled in later.
from_row! { impl row => ExperimentJobOverview {
    job, window, trial, status, error, started_at, completed_at, days: DayCounts::default(),
    used: UsageCost::default(), used_by_summaries: UsageCost::default(),
} }

async fn jobs(db: &mut dyn Db, id: &ExperimentId) -> Result<Vec<ExperimentJobOverview>> {
    let sql = "SELECT e.job_id, e.window_number, e.trial, j.status, j.error, j.started_at, j.completed_at
        FROM experiment_jobs e JOIN jobs j ON j.job_id = e.job_id
        WHERE e.experiment_id = $1 ORDER BY e.window_number, e.trial";
    let mut jobs: Vec<ExperimentJobOverview> = db.all(sql, params![id]).await?;
    let ids: Vec<JobId> = jobs.iter().map(|one| one.job.clone()).collect();
    let mut days = day_counts(db, &ids).await?;
    let mut used = used(db, &ids).await?;
    for one in &mut jobs {
        one.days = days.remove(&one.job).unwrap_or_default();
        (one.used, one.used_by_summaries) = used.remove(&one.job).unwrap_or_default();
    }
    Ok(jobs)
}
