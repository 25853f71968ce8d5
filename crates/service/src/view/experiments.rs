//! Experiments: their plan, their jobs, and how far they are.

use super::progress::progress;
use super::usage::usage;
use super::{deployment, page};
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::ExperimentId;
use papertape_core::record::JobStatus;
use papertape_protocol::experiments::{
    ExperimentJobResponse, ExperimentResponse, ExperimentSummary, ExperimentsQuery, ExperimentsResponse,
    Manifest,
};
use papertape_protocol::progress::Progress;
use papertape_store::{ExperimentJobOverview, ExperimentRow, UsageCost};

/// Experiments, newest first.
///
/// # Errors
/// A limit out of range, a bad cursor; a database error.
pub async fn experiments(app: &App, query: ExperimentsQuery) -> Result<ExperimentsResponse, ServiceError> {
    let found = app.store.experiments(&page(query.limit, query.cursor)?).await?;
    let mut experiments = Vec::new();
    for row in &found.items {
        let jobs = app.store.experiment_jobs(&row.id).await?;
        experiments.push(summary(row, &manifest(row)?, &jobs));
    }
    Ok(ExperimentsResponse {
        count: experiments.len(),
        experiments,
        next_cursor: found.next,
        deployment: deployment(app),
    })
}

/// One experiment, with its jobs.
///
/// # Errors
/// No such experiment; a database error.
pub async fn experiment(app: &App, id: &str) -> Result<ExperimentResponse, ServiceError> {
    let Stored { row, manifest, jobs } = stored(app, id).await?;
    let summary = summary(&row, &manifest, &jobs);
    let response = |one: &ExperimentJobOverview| ExperimentJobResponse {
        job_id: one.job.to_string(),
        window: manifest.place_of(one.window).0,
        mask: manifest.place_of(one.window).1.map(str::to_owned),
        trial: one.trial,
        seed: seed(&manifest, one.trial),
        status: one.status,
        error: one.error.clone(),
        progress: progress(one.days),
        usage: usage(one.used.and(one.used_by_summaries)),
        started_at: one.started_at,
        completed_at: one.completed_at,
    };
    Ok(ExperimentResponse {
        experiment: summary,
        manifest_hash: row.hash.to_hex(),
        budget: row.limit.into(),
        jobs: jobs.iter().map(response).collect(),
        manifest,
        deployment: deployment(app),
    })
}

/// An experiment's status.
///
/// # Errors
/// A database error.
pub(crate) async fn experiment_status(app: &App, id: &ExperimentId) -> Result<JobStatus, ServiceError> {
    Ok(status(&app.store.experiment_jobs(id).await?))
}

/// An experiment as it is stored.
pub(super) struct Stored {
    pub(super) row: ExperimentRow,
    pub(super) manifest: Manifest,
    pub(super) jobs: Vec<ExperimentJobOverview>,
}

pub(super) async fn stored(app: &App, id: &str) -> Result<Stored, ServiceError> {
    let id = ExperimentId::new(id);
    let row = match id.as_str().contains('\0') {
        true => None,
        false => app.store.experiment(&id).await?,
    };
    let row = row.ok_or_else(|| no_experiment(&id))?;
    let jobs = app.store.experiment_jobs(&id).await?;
    Ok(Stored { manifest: manifest(&row)?, row, jobs })
}

pub(crate) fn no_experiment(id: &ExperimentId) -> ServiceError {
    ServiceError::NotFound(format!("there is no experiment {}", id.as_str().escape_default()))
}

fn manifest(row: &ExperimentRow) -> Result<Manifest, ServiceError> {
    serde_json::from_value(row.manifest.clone())
        .map_err(|error| anyhow::anyhow!("cannot read the manifest of experiment {}: {error}", row.id).into())
}

/// The seed of a trial.
pub(super) fn seed(manifest: &Manifest, trial: u32) -> u64 {
    let at = usize::try_from(trial).ok().and_then(|trial| trial.checked_sub(1));
    at.and_then(|at| manifest.seeds.get(at)).copied().unwrap_or_default()
}

fn summary(row: &ExperimentRow, manifest: &Manifest, jobs: &[ExperimentJobOverview]) -> ExperimentSummary {
    let mut total = Progress { total_model_days: 0, completed: 0, failed: 0, skipped: 0, pending: 0 };
    let mut used = UsageCost::default();
    for one in jobs {
        let own = progress(one.days);
        total.total_model_days += own.total_model_days;
        total.completed += own.completed;
        total.failed += own.failed;
        total.skipped += own.skipped;
        total.pending += own.pending;
        used = used.and(one.used).and(one.used_by_summaries);
    }
    let completed = jobs.iter().filter(|one| one.status == JobStatus::Completed).count();
    ExperimentSummary {
        experiment_id: row.id.to_string(),
        status: status(jobs),
        interim: interim(manifest, jobs),
        progress: total,
        planned_jobs: manifest.planned_jobs,
        completed_jobs: u32::try_from(completed).unwrap_or(u32::MAX),
        agents: manifest.agents.iter().map(|agent| agent.name.clone()).collect(),
        trials: manifest.trials,
        windows: u32::try_from(manifest.windows.len()).unwrap_or(u32::MAX),
        start_date: manifest.windows.first().map_or(manifest.planned_last_day, |window| window.start_date),
        planned_last_day: manifest.planned_last_day,
        usage: usage(used),
        created_at: row.created_at,
    }
}

/// Why an experiment is interim; `None`: every planned job has closed every planned day.
pub(super) fn interim(manifest: &Manifest, jobs: &[ExperimentJobOverview]) -> Option<String> {
    let planned = usize::try_from(manifest.planned_jobs).unwrap_or(usize::MAX);
    let is_done = |one: &&ExperimentJobOverview| one.days.queued + one.days.running == 0;
    let done = jobs.iter().filter(is_done).count();
    (done < planned).then(|| {
        format!(
            "{done} of {planned} planned runs have reached their planned last day ({} for the last window)",
            manifest.planned_last_day
        )
    })
}

/// The status of all jobs as one.
fn status(jobs: &[ExperimentJobOverview]) -> JobStatus {
    let any = |status: JobStatus| jobs.iter().any(|one| one.status == status);
    let all = |status: JobStatus| jobs.iter().all(|one| one.status == status);
    if any(JobStatus::Running) {
        JobStatus::Running
    } else if any(JobStatus::Queued) {
        JobStatus::Queued
    } else {
        let one_word = [JobStatus::Completed, JobStatus::Cancelled, JobStatus::Failed];
        one_word.into_iter().find(|status| all(*status)).unwrap_or(JobStatus::Partial)
    }
}
