//! `papertape head`

use super::output::{json, note, say};
use super::record_access::{RecordAccess, find_any_job};
use super::{Common, Outcome, failure, record_access};
use clap::Args;
use papertape_core::record::JobHead;
use papertape_protocol::head::HeadResponse;
use papertape_service::config::Config;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct HeadArgs {
    /// The job, or `latest`
    job: String,
}

/// Prints the document on stdout and its hash on stderr, or both as JSON.
pub(super) async fn head(common: &Common, config: Config, args: HeadArgs) -> Outcome {
    let head: JobHead = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let job = find_any_job(&app, &args.job).await?;
            app.store.publish_job_head(&job).await?.ok_or_else(|| failure::no_job(&args.job))?
        }
        RecordAccess::Remote(server) => {
            let job =
                find_any_job(&record_access::open_read_only(common, server.config.clone()).await?, &args.job)
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
    note!("head {hash}; to verify against it later:\n  papertape verify {} --expect {hash}", head.job);
    Ok(ExitCode::SUCCESS)
}
