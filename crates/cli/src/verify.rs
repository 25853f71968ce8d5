//! `papertape verify`

use super::failure::FAILED;
use super::output::{count, json, note, say, table, text_of};
use super::record_access::job_named;
use super::{Common, Outcome, record_access};
use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::record::JobHead;
use papertape_service::app::App;
use papertape_service::config::Config;
use serde_json::{Value, json};
use std::process::ExitCode;

/// What to verify.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The job, or `latest`
    job: String,
    /// Require that the record extends a head printed by `papertape head`: its hash, or a file with the document
    #[arg(long, value_name = "HEAD")]
    expect: Option<String>,
}

/// Verifies it.
pub(super) async fn verify(common: &Common, config: Config, args: VerifyArgs) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let job = job_named(&app, &args.job).await?;
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
        note!("broken: {broken}");
        return Ok(ExitCode::from(FAILED));
    }
    let sessions = count(report.heads.len() as u64);
    note!("the chains of {sessions} sessions are whole, {} links", count(report.links));
    if let (Some(published), Some(head)) = (&published, &report.head) {
        let grown = if published.hash() == head.hash() { "is" } else { "extends" };
        note!("the record {grown} the published head");
    }
    Ok(ExitCode::SUCCESS)
}

/// The head that was published: of a file with the document, or by its hash as it is now or was stored.
async fn published(app: &App, job: &JobId, expected: &str) -> Result<JobHead> {
    let Some(hash) = ContentHash::from_hex(expected) else {
        let text = std::fs::read_to_string(expected).with_context(|| {
            format!("--expect: `{expected}` is neither a hash nor a file that can be read")
        })?;
        let head: Value = serde_json::from_str(&text)
            .with_context(|| format!("--expect: {expected} is not a document of `papertape head`"))?;
        // With --json, the command prints the document beside its hash.
        let head = head.get("document").cloned().unwrap_or(head);
        return serde_json::from_value(head)
            .with_context(|| format!("--expect: {expected} is not a document of `papertape head`"));
    };
    if let Ok(Some(head)) = app.store.job_head(job).await
        && head.hash() == hash
    {
        return Ok(head);
    }
    app.store.stored_job_head(hash).await?.ok_or_else(|| {
        anyhow!(
            "this record is not at the head {hash}, and does not hold that head's document: give a file with the \
             document that `papertape head` printed"
        )
    })
}
