//! `papertape resume`

use super::failure::of_trigger;
use super::way::{Way, job_named};
use super::{Common, Outcome, execute, way};
use crate::config::Config;
use crate::trigger;
use clap::Args;
use serde_json::json;

/// What to resume.
#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// The job, or `latest`
    job: String,
}

/// Resumes it.
pub(super) async fn resume(common: &Common, config: Config, args: ResumeArgs) -> Outcome {
    match way::to_change(config).await? {
        Way::Here(app) => {
            let job = job_named(&app, &args.job).await?;
            trigger::resume(&app, &job).await.map_err(of_trigger)?;
            execute::here(&app, common, &job).await
        }
        Way::There(server) => {
            let job = server.job_named(&args.job).await?;
            server.post(&["simulate", job.as_str(), "resume"], &json!({})).await?;
            execute::there(&server, common, &job).await
        }
    }
}
