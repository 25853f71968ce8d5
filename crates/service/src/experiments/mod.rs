//! Experiments: jobs that run one configuration several times, with other seeds, over other windows of days, or both.
//! They are queued, resumed and cancelled together, and share a budget.

mod estimate;
mod plan;
mod seeds;
mod windows;

use crate::app::App;
use crate::error::ServiceError;
use crate::trigger::{self, Request, new_job};
use crate::view::{experiment_status, no_experiment};
use papertape_core::budget::Limit;
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::json;
use papertape_core::market::MaskKind;
use papertape_core::ports::{Queue as _, RecordError};
use papertape_core::record::{ExperimentJob, JobStatus, NewExperiment};
use papertape_protocol::experiments::{Estimate, ExperimentBody, Manifest, WindowsBody};
use papertape_protocol::fields::JsonObject;
use papertape_runtime::child_jobs;
use plan::Prepared;

/// The version of the manifest's format.
const MANIFEST_VERSION: u32 = 1;
/// How many times an experiment is planned again because a job that it would continue was replaced.
const MAX_REPLANS: u32 = 8;

/// A requested experiment.
#[derive(Clone, Debug)]
pub struct ExperimentRequest {
    /// The simulation that every job runs.
    pub simulation: Request,
    /// How many times each agent runs each window.
    pub trials: u32,
    /// The windows; `None`: one, the whole range.
    pub windows: Option<WindowsBody>,
    /// What will be compared; `None`: all pairs of agents.
    pub compare: Option<String>,
    /// Arms that differ in their mask; empty: one arm, with the mask of the simulation.
    pub masks: Vec<Option<MaskKind>>,
}

/// A queued experiment.
#[derive(Clone, Debug)]
pub struct QueuedExperiment {
    /// Its ID.
    pub id: ExperimentId,
    /// Its jobs, by window and trial.
    pub jobs: Vec<JobId>,
    /// All model-days of its jobs, including skipped ones.
    pub total_model_days: usize,
    /// The plan.
    pub manifest: Manifest,
    /// Its estimated usage.
    pub estimate: Estimate,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

impl ExperimentRequest {
    /// The request in a body.
    ///
    /// # Errors
    /// An invalid field, by name.
    pub fn of(body: ExperimentBody) -> Result<Self, ServiceError> {
        let JsonObject(simulation) = body.simulation;
        Ok(Self {
            simulation: trigger::request_of(simulation)?,
            trials: body.trials.unwrap_or(1),
            windows: body.windows.map(|JsonObject(windows)| windows),
            compare: body.compare,
            masks: body
                .masks
                .into_iter()
                .flatten()
                .map(|mask| trigger::mask_of("masks", &mask))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The body of `POST /experiments` for this request.
    ///
    /// # Errors
    /// The simulation has no last day.
    pub fn to_body(&self) -> Result<ExperimentBody, ServiceError> {
        let end = self.simulation.end_date;
        let end = end.ok_or_else(|| ServiceError::invalid("end_date", "it is missing"))?;
        Ok(ExperimentBody {
            simulation: JsonObject(self.simulation.to_body(end)),
            trials: Some(self.trials),
            windows: self.windows.map(JsonObject),
            compare: self.compare.clone(),
            masks: (!self.masks.is_empty()).then(|| self.masks.iter().map(|mask| mask_name(*mask)).collect()),
        })
    }
}

/// A mask as requests and results name it.
fn mask_name(mask: Option<MaskKind>) -> String {
    mask.map_or("none", MaskKind::as_str).to_owned()
}

/// Plans an experiment and estimates its usage. Queues nothing.
///
/// # Errors
/// An invalid field, or a database error.
pub async fn estimate(
    app: &App,
    request: &ExperimentRequest,
) -> Result<(Manifest, Estimate, Vec<String>), ServiceError> {
    let prepared = plan::plan(app, request).await?;
    let estimate = estimate::estimate(app, &prepared).await?;
    let warnings = warnings(&prepared, &estimate);
    Ok((prepared.manifest, estimate, warnings))
}

/// Checks a request as if it were queued: as an experiment, or as a single job if it is one.
///
/// # Errors
/// An invalid field, or a database error.
pub async fn check(app: &App, request: &ExperimentRequest) -> Result<(), ServiceError> {
    let is_single = request.trials == 1
        && request.windows.is_none()
        && request.compare.is_none()
        && request.masks.is_empty();
    if is_single {
        trigger::prepare(app, &request.simulation).await?;
    } else {
        plan::plan(app, request).await?;
    }
    Ok(())
}

/// Plans an experiment and queues all its jobs, or none.
///
/// # Errors
/// As [`estimate`].
pub async fn create(app: &App, request: &ExperimentRequest) -> Result<QueuedExperiment, ServiceError> {
    let mut replans = 0;
    loop {
        let prepared = plan::plan(app, request).await?;
        let estimate = estimate::estimate(app, &prepared).await?;
        let id = ExperimentId::new(uuid::Uuid::now_v7().to_string());
        let created_at = app.services.clock.now();
        // Trials run side by side already: only a split that is requested applies.
        let parts = request.simulation.parts.unwrap_or(1);
        let jobs: Vec<ExperimentJob> = prepared
            .jobs
            .iter()
            .map(|one| {
                let job = JobId::new(uuid::Uuid::now_v7().to_string());
                let agents = one.job.config.agents.iter().map(|agent| agent.name.clone()).collect();
                let job = new_job(app, job, &one.job, None);
                ExperimentJob { job, window: one.window, trial: one.trial, parts, agents }
            })
            .collect();
        let ids: Vec<JobId> = jobs.iter().map(|one| one.job.id.clone()).collect();
        let new = NewExperiment {
            id: id.clone(),
            created_at,
            manifest: json::to_value(&prepared.manifest),
            limit: prepared.limit,
            jobs,
        };
        match app.store.add_experiment(new).await.map_err(RecordError::from) {
            // A job that it would continue has been replaced since the plan was made.
            Err(RecordError::Superseded { .. }) if replans < MAX_REPLANS => replans += 1,
            queued => {
                queued?;
                app.notify_workers();
                return Ok(QueuedExperiment {
                    id,
                    jobs: ids,
                    total_model_days: prepared.jobs.iter().map(|one| one.job.days.len()).sum(),
                    warnings: warnings(&prepared, &estimate),
                    manifest: prepared.manifest,
                    estimate,
                });
            }
        }
    }
}

fn warnings(prepared: &Prepared, estimate: &Estimate) -> Vec<String> {
    let mut warnings = prepared.warnings.clone();
    if estimate.exceeds_budget {
        warnings.push(
            "the estimate exceeds the budget: jobs will stop early, and can be resumed with a larger one"
                .to_owned(),
        );
    }
    warnings
}

/// Cancels every job that has not stopped. Returns the experiment's status and the number of those jobs.
///
/// # Errors
/// No such experiment; no job that could be cancelled; a database error.
pub async fn cancel(app: &App, id: &ExperimentId) -> Result<(JobStatus, usize), ServiceError> {
    let mut changed = 0;
    for one in jobs(app, id).await? {
        if !one.status.is_stopped() {
            child_jobs::cancel(&app.services, &one.job).await?;
            changed += 1;
        }
    }
    let status = experiment_status(app, id).await?;
    match changed {
        0 => Err(ServiceError::Conflict(format!("experiment {id} is already {status}"))),
        changed => Ok((status, changed)),
    }
}

/// Queues every stopped job that is not completed again, with a new limit if there is one. Returns the experiment's
/// status and the number of those jobs.
///
/// # Errors
/// No such experiment; no job that could be resumed; an invalid limit; a database error.
pub async fn resume(
    app: &App,
    id: &ExperimentId,
    limit: Option<Limit>,
) -> Result<(JobStatus, usize), ServiceError> {
    let row = app.store.experiment(id).await?.ok_or_else(|| no_experiment(id))?;
    let jobs = jobs(app, id).await?;
    if let Some(limit) = limit {
        let merged = Limit { tokens: limit.tokens.or(row.limit.tokens), usd: limit.usd.or(row.limit.usd) };
        // The first job has all agents.
        if let Some(first) = jobs.first() {
            trigger::check_limit(app, &first.job, merged).await?;
        }
        if !app.store.set_experiment_limit(id, merged).await? {
            return Err(ServiceError::Conflict(format!(
                "experiment {id} began without a limit, and its running jobs would not keep to one; cancel it first, \
                 then resume it with the limit"
            )));
        }
    }
    let mut changed = 0;
    for one in jobs.iter().filter(|one| one.status != JobStatus::Completed) {
        // A job that is still being cancelled is queued again once it has stopped.
        app.store.requeue(&one.job).await?;
        changed += 1;
    }
    app.notify_workers();
    match changed {
        0 => Err(ServiceError::Conflict(format!("experiment {id} is completed"))),
        changed => Ok((experiment_status(app, id).await?, changed)),
    }
}

async fn jobs(
    app: &App,
    id: &ExperimentId,
) -> Result<Vec<papertape_store::ExperimentJobOverview>, ServiceError> {
    let jobs = app.store.experiment_jobs(id).await?;
    if jobs.is_empty() { Err(no_experiment(id)) } else { Ok(jobs) }
}
