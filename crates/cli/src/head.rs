//! `papertape head`

use super::output::{json, note, say};
use super::record_access::{RecordAccess, find_any_job};
use super::{Common, Outcome, failure, record_access};
use anyhow::{Context as _, Result};
use clap::Args;
use papertape_core::record::JobHead;
use papertape_protocol::head::HeadResponse;
use papertape_service::config::Config;
use serde_json::{Value, json};
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

/// The published head in a file that `papertape head` printed.
pub(super) fn published_document(file: &str) -> Result<JobHead> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("--expect: `{file}` is neither a hash nor a readable file"))?;
    let wrong = || format!("--expect: {file} is not a document of `papertape head`");
    let head: Value = serde_json::from_str(&text).with_context(wrong)?;
    // With --json, `papertape head` prints the document next to its hash.
    let head = head.get("document").cloned().unwrap_or(head);
    serde_json::from_value(head).with_context(wrong)
}
