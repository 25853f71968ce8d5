//! `papertape verify`

use super::failure::FAILED;
use super::output::{count, json, note, say, table, text_of};
use super::record_access::find_job;
use super::{Common, Outcome, head, record_access, verify_bundle};
use anyhow::{Result, anyhow};
use clap::Args;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::record::JobHead;
use papertape_service::app::App;
use papertape_service::config::Config;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The job, or `latest`; or the file of a bundle
    target: String,
    /// Also require that the record extends a published head: its hash, or a file with its document
    #[arg(long, value_name = "HEAD")]
    expect: Option<String>,
}

impl VerifyArgs {
    /// Whether the target is a file. IDs have neither a directory nor an extension.
    pub(super) fn is_file(&self) -> bool {
        let path = Path::new(&self.target);
        path.components().count() > 1 || path.extension().is_some() || path.is_file()
    }
}

pub(super) async fn verify(common: &Common, config: Config, args: VerifyArgs) -> Outcome {
    if args.is_file() {
        return verify_bundle::verify_bundle(common, Path::new(&args.target), args.expect.as_deref());
    }
    let app = record_access::open_read_only(common, config).await?;
    let job = find_job(&app, &args.target).await?;
    let published = match &args.expect {
        Some(expected) => Some(published(&app, &job, expected).await?),
        None => None,
    };
    let report = app.store.verify_chain_from(&job, published.as_ref()).await?;
    if common.json {
        let heads: Vec<_> = report
            .heads
            .iter()
            .map(|head| json!({ "date": head.date, "model": head.agent, "session_id": head.session, "head": head.head }))
            .collect();
        let broken = report.broken.as_ref().map(|broken| {
            json!({
                "date": broken.date,
                "model": broken.agent,
                "session_id": broken.session,
                "path": broken.path,
                "tables": broken.tables,
                "reason": broken.why,
            })
        });
        json(&json!({
            "job_id": job,
            "whole": report.broken.is_none(),
            "rules_version": report.rules_version,
            "head": report.head.as_ref().map(JobHead::hash),
            "expected": published.as_ref().map(JobHead::hash),
            "links": report.links,
            "heads": heads,
            "broken": broken,
        }))?;
    } else {
        let mut table = table(["date", "agent", "head"]);
        for head in &report.heads {
            table.add_row([head.date.to_string(), head.agent.to_string(), head.head.to_hex()]);
        }
        if !report.heads.is_empty() {
            say(text_of(&table))?;
        }
    }
    if let Some(broken) = &report.broken {
        note!("verification failed: {broken}");
        return Ok(ExitCode::from(FAILED));
    }
    let sessions = count(report.heads.len() as u64);
    note!("the chains of {sessions} sessions are intact, {} links", count(report.links));
    if let (Some(published), Some(head)) = (&published, &report.head) {
        let relation = if published.hash() == head.hash() { "equals" } else { "extends" };
        note!("the record {relation} the published head");
    }
    Ok(ExitCode::SUCCESS)
}

/// The published head: read from a file, or found by its hash, as the current or a stored head.
async fn published(app: &App, job: &JobId, expected: &str) -> Result<JobHead> {
    let Some(hash) = ContentHash::from_hex(expected) else { return head::published_document(expected) };
    if let Ok(Some(head)) = app.store.job_head(job).await
        && head.hash() == hash
    {
        return Ok(head);
    }
    app.store.stored_job_head(hash).await?.ok_or_else(|| {
        anyhow!(
            "the head {hash} is neither current nor stored in this database; pass a file with the document that \
             `papertape head` printed"
        )
    })
}
