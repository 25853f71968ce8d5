//! `papertape cancel`

use super::failure::no_job;
use super::output::{json, note};
use super::record_access::{RecordAccess, find_job, find_job_remote};
use super::{Common, Outcome, record_access};
use anyhow::bail;
use clap::Args;
use papertape_core::record::JobStatus;
use papertape_protocol::simulate::ChangedResponse;
use papertape_runtime::child_jobs;
use papertape_service::config::Config;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// The job, or `latest`
    job: String,
}

pub(super) async fn cancel(common: &Common, config: Config, args: CancelArgs) -> Outcome {
    let (job, status) = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let job = find_job(&app, &args.job).await?;
            let status = child_jobs::cancel(&app.services, &job).await?;
            let status = status.ok_or_else(|| no_job(job.as_str()))?;
            // Writes the plans' portable files before the process ends.
            app.flush().await;
            (job, status)
        }
        RecordAccess::Remote(server) => {
            let job = find_job_remote(common, &server, &args.job).await?;
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
