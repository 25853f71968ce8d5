//! `papertape verify`

use super::failure::FAILED;
use super::output::{count, json, note, say, table, text_of};
use super::way::job_named;
use super::{Common, Outcome, way};
use crate::config::Config;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;

/// What to verify.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The job, or `latest`
    job: String,
}

/// Verifies it.
pub(super) async fn verify(common: &Common, config: Config, args: VerifyArgs) -> Outcome {
    let app = way::to_read(config).await?;
    let job = job_named(&app, &args.job).await?;
    let report = app.store.verify_chain(&job).await?;
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
    Ok(ExitCode::SUCCESS)
}
