//! `papertape head`

use super::output::{json, note, say};
use super::record_access::{RecordAccess, any_job_named};
use super::{Common, Outcome, failure, record_access};
use clap::Args;
use papertape_core::record::JobHead;
use papertape_protocol::head::HeadResponse;
use papertape_service::config::Config;
use serde_json::json;
use std::process::ExitCode;

/// Whose head.
#[derive(Debug, Args)]
pub(super) struct HeadArgs {
    /// The job, or `latest`
    job: String,
}

/// Stores and prints it: the document on stdout, its hash on stderr, or both as JSON.
pub(super) async fn head(common: &Common, config: Config, args: HeadArgs) -> Outcome {
    let head: JobHead = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let job = any_job_named(&app, &args.job).await?;
            app.store.publish_job_head(&job).await?.ok_or_else(|| failure::no_job(&args.job))?
        }
        RecordAccess::Remote(server) => {
            let job = any_job_named(&record_access::to_read(common, server.config.clone()).await?, &args.job)
                .await?;
            let published: HeadResponse = server.post(&["jobs", job.as_str(), "head"], &json!({})).await?;
            serde_json::from_value(published.document)?
        }
    };
    let hash = head.hash();
    if common.json {
        json(&json!({ "job_id": head.job, "hash": hash, "document": head }))?;
    } else {
        say(head.to_text())?;
    }
    note!("head {hash}; later: papertape verify {} --expect {hash}", head.job);
    Ok(ExitCode::SUCCESS)
}
