//! `papertape branch`

use super::failure::{of_trigger, usage};
use super::output::{json, note};
use super::record_access::{RecordAccess, job_named};
use super::{Common, Outcome, execute, record_access};
use anyhow::Result;
use clap::Args;
use papertape_core::id::JobId;
use papertape_core::time::{Date, parse_date};
use papertape_protocol::simulate::{BranchBody, QueuedResponse};
use papertape_service::config::Config;
use papertape_service::trigger::{self, BranchRequest};
use serde_json::json;
use std::process::ExitCode;

/// Where to branch off, and what to change.
#[derive(Debug, Args)]
pub(super) struct BranchArgs {
    /// The job to branch from, or `latest`
    job: String,
    /// The agent; needed where the job has several
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The day in which the cut lies
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    date: Date,
    /// The cut within the day: a node (solo#1, AAPL/Trader#1), a desk's symbol, or a step as
    /// solo#1/model#3 [default: before all that the agent thinks]
    #[arg(long, value_name = "PLACE")]
    at: Option<String>,
    /// Another model from the cut on
    #[arg(long, value_name = "PROVIDER::MODEL")]
    model: Option<String>,
    /// Other instructions from the cut on; @FILE reads them from a file
    #[arg(long, value_name = "TEXT|@FILE")]
    instructions: Option<String>,
    /// Queue the branch, and do not run it here
    #[arg(long)]
    no_run: bool,
}

/// Makes the branch and runs it.
pub(super) async fn branch(common: &Common, config: Config, args: BranchArgs) -> Outcome {
    let instructions = args.instructions.as_deref().map(text).transpose()?;
    match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let parent = job_named(&app, &args.job).await?;
            let request = BranchRequest {
                agent: args.agent,
                date: args.date,
                at: args.at,
                model: args.model,
                instructions,
                sampling: None,
            };
            let queued = trigger::branch(&app, &parent, request).await.map_err(of_trigger)?;
            if args.no_run {
                return print_queued(common, &queued.job);
            }
            execute::run_local(&app, common, &queued.job).await
        }
        RecordAccess::Remote(server) => {
            let parent = server.job_named(&args.job).await?;
            let body = BranchBody {
                date: args.date,
                agent: args.agent,
                node: args.at,
                model: args.model,
                instructions,
                sampling: None,
            };
            let queued: QueuedResponse = server.post(&["simulate", parent.as_str(), "branch"], &body).await?;
            let job = JobId::new(queued.job_id);
            if args.no_run {
                return print_queued(common, &job);
            }
            execute::run_remote(&server, common, &job).await
        }
    }
}

fn print_queued(common: &Common, job: &JobId) -> Outcome {
    if common.json {
        json(&json!({ "job_id": job, "status": "queued" }))?;
    } else {
        super::output::say(job)?;
    }
    note!("job {job} is queued: a server runs it, or `papertape resume {job}`");
    Ok(ExitCode::SUCCESS)
}

/// A text, or what the file has that `@` names.
fn text(given: &str) -> Result<String> {
    match given.strip_prefix('@') {
        None => Ok(given.to_owned()),
        Some(path) => {
            std::fs::read_to_string(path).map_err(|error| usage(format!("--instructions: {path}: {error}")))
        }
    }
}
