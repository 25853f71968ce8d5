//! `papertape cancel`

use super::failure::{no_job, service_error};
use super::output::{json, note};
use super::record_access::{RecordAccess, Target, find_target, find_target_remote};
use super::{Common, Outcome, record_access};
use anyhow::bail;
use clap::Args;
use papertape_core::id::ExperimentId;
use papertape_core::record::JobStatus;
use papertape_protocol::experiments::ChangedExperimentResponse;
use papertape_protocol::simulate::ChangedResponse;
use papertape_runtime::child_jobs;
use papertape_service::config::Config;
use papertape_service::experiments;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// The job or experiment, or `latest`
    job: String,
}

pub(super) async fn cancel(common: &Common, config: Config, args: CancelArgs) -> Outcome {
    let (job, status) = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let job = match find_target(&app, &args.job).await? {
                Target::Job(job) => job,
                Target::Experiment(id) => {
                    let (status, jobs) = experiments::cancel(&app, &id).await.map_err(service_error)?;
                    app.flush().await;
                    return report(common, &id, status, jobs);
                }
            };
            let status = child_jobs::cancel(&app.services, &job).await?;
            let status = status.ok_or_else(|| no_job(job.as_str()))?;
            // Writes the plans' portable files before the process ends.
            app.flush().await;
            (job, status)
        }
        RecordAccess::Remote(server) => {
            let job = match find_target_remote(common, &server, &args.job).await? {
                Target::Job(job) => job,
                Target::Experiment(id) => {
                    let changed: ChangedExperimentResponse =
                        server.post(&["experiments", id.as_str(), "cancel"], &json!({})).await?;
                    return report(common, &id, changed.status, changed.jobs);
                }
            };
            let changed: ChangedResponse =
                server.post(&["simulate", job.as_str(), "cancel"], &json!({})).await?;
            (job, changed.status)
        }
    };
    if common.json {
        json(&json!({ "job_id": job, "status": status }))?;
    }
    match status {
        JobStatus::Cancelled => note!("job {job} is cancelled; to resume it:\n  papertape resume {job}"),
        JobStatus::Running | JobStatus::Queued => note!("job {job} stops after its current step"),
        other => bail!("job {job} is already {other}"),
    }
    Ok(ExitCode::SUCCESS)
}

fn report(common: &Common, id: &ExperimentId, status: JobStatus, jobs: usize) -> Outcome {
    if common.json {
        json(&json!({ "experiment_id": id, "status": status, "jobs": jobs }))?;
    }
    if status.is_stopped() {
        note!("{jobs} jobs of experiment {id} are cancelled; to resume it:\n  papertape resume {id}");
    } else {
        note!("{jobs} jobs of experiment {id} are cancelled, or stop after their current steps");
    }
    Ok(ExitCode::SUCCESS)
}
