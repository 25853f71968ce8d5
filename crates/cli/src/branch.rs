//! `papertape branch`

use super::failure::{service_error, usage};
use super::output::{json, note};
use super::record_access::{RecordAccess, find_job, find_job_remote};
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

#[derive(Debug, Args)]
pub(super) struct BranchArgs {
    /// The job to branch from, or `latest`
    job: String,
    /// The agent; required if the job has several
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The day to branch on
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    date: Date,
    /// Point in the day: a node (solo#1, AAPL/Trader#1), a desk's symbol or a step (solo#1/model#3) [default: the
    /// agent's first call]
    #[arg(long, value_name = "POINT")]
    at: Option<String>,
    /// Use another model from this point on
    #[arg(long, value_name = "PROVIDER::MODEL")]
    model: Option<String>,
    /// Use different instructions from this point on; @FILE reads a file
    #[arg(long, value_name = "TEXT|@FILE")]
    instructions: Option<String>,
    /// Queue the branch without running it
    #[arg(long)]
    no_run: bool,
}

pub(super) async fn branch(common: &Common, config: Config, args: BranchArgs) -> Outcome {
    let instructions = args.instructions.as_deref().map(text_or_file).transpose()?;
    match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let parent = find_job(&app, &args.job).await?;
            let request = BranchRequest {
                agent: args.agent,
                date: args.date,
                at: args.at,
                model: args.model,
                instructions,
                sampling: None,
            };
            let queued = trigger::branch(&app, &parent, request).await.map_err(service_error)?;
            if args.no_run {
                return print_queued(common, &queued.job);
            }
            execute::run_local(&app, common, &queued.job).await
        }
        RecordAccess::Remote(server) => {
            let parent = find_job_remote(common, &server, &args.job).await?;
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
    note!("job {job} is queued; a server runs it, or run it with:\n  papertape resume {job}");
    Ok(ExitCode::SUCCESS)
}

/// The argument itself, or for `@FILE` the file's content.
fn text_or_file(arg: &str) -> Result<String> {
    match arg.strip_prefix('@') {
        None => Ok(arg.to_owned()),
        Some(path) => {
            std::fs::read_to_string(path).map_err(|error| usage(format!("--instructions: {path}: {error}")))
        }
    }
}
