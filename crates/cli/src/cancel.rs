//! `papertape cancel`

use super::failure::no_job;
use super::output::{json, note};
use super::record_access::{RecordAccess, job_named};
use super::{Common, Outcome, record_access};
use anyhow::bail;
use clap::Args;
use papertape_core::record::JobStatus;
use papertape_protocol::simulate::ChangedResponse;
use papertape_runtime::assistant_job;
use papertape_service::config::Config;
use serde_json::json;
use std::process::ExitCode;

/// What to cancel.
#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// The job, or `latest`
    job: String,
}

/// Cancels it.
pub(super) async fn cancel(common: &Common, config: Config, args: CancelArgs) -> Outcome {
    let (job, status) = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let job = job_named(&app, &args.job).await?;
            let status = assistant_job::cancel(&app.services, &job).await?;
            let status = status.ok_or_else(|| no_job(job.as_str()))?;
            // What is kept beside the record follows before the process ends.
            app.flush().await;
            (job, status)
        }
        RecordAccess::Remote(server) => {
            let job = server.job_named(&args.job).await?;
            let changed: ChangedResponse =
                server.post(&["simulate", job.as_str(), "cancel"], &json!({})).await?;
            (job, changed.status)
        }
    };
    if common.json {
        json(&json!({ "job_id": job, "status": status }))?;
    }
    match status {
        JobStatus::Cancelled => note!("job {job} is cancelled; `papertape resume {job}` takes it up again"),
        JobStatus::Running | JobStatus::Queued => note!("job {job} stops after the step under way"),
        other => bail!("job {job} is {other} already"),
    }
    Ok(ExitCode::SUCCESS)
}
