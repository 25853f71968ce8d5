//! `papertape cancel`

use super::failure::no_job;
use super::output::{json, note};
use super::way::{Way, job_named};
use super::{Common, Outcome, way};
use crate::app::App;
use crate::config::Config;
use anyhow::{Result, bail};
use clap::Args;
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

/// What to cancel.
#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// The job, or `latest`
    job: String,
}

/// Cancels it.
pub(super) async fn cancel(common: &Common, config: Config, args: CancelArgs) -> Outcome {
    let (job, status) = match way::to_change(config).await? {
        Way::Here(app) => {
            let job = job_named(&app, &args.job).await?;
            let status = cancel_here(&app, &job).await?;
            // What is kept beside the record follows before the process ends.
            app.settle().await;
            (job, status)
        }
        Way::There(server) => {
            let job = server.job_named(&args.job).await?;
            let answer = server.post(&["simulate", job.as_str(), "cancel"], &json!({})).await?;
            let status = answer["status"].as_str().unwrap_or_default().parse();
            (job, status.map_err(anyhow::Error::msg)?)
        }
    };
    if common.json {
        json(&json!({ "job_id": job, "status": status }))?;
    }
    match status {
        JobStatus::Cancelled => note!("job {job} is cancelled; `papertape resume {job}` takes it up again"),
        JobStatus::Running => note!("job {job} stops after the step under way"),
        other => bail!("job {job} is {other} already"),
    }
    Ok(ExitCode::SUCCESS)
}

async fn cancel_here(app: &App, job: &JobId) -> Result<JobStatus> {
    let Some(status) = app.store.cancel(job).await? else { return Err(no_job(job.as_str())) };
    if status != JobStatus::Running {
        return Ok(status);
    }
    // A job whose worker is gone has nobody to tell: whoever can claim it can end it.
    let claimed = app.store.claim("papertape cancel", Duration::from_secs(30), Some(job)).await?;
    let Some((lease, _)) = claimed else { return Ok(status) };
    app.store.finish(&lease, JobStatus::Cancelled, None).await?;
    Ok(JobStatus::Cancelled)
}
