//! `papertape delete`

use super::failure::{service_error, usage};
use super::output::{json, note};
use super::record_access::{self, RecordAccess, find_any_job};
use super::{Common, Outcome};
use anyhow::{Context as _, Result};
use clap::Args;
use papertape_protocol::jobs::DeletedResponse;
use papertape_service::config::Config;
use papertape_service::deletion;
use serde_json::json;
use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    /// The job, or `latest`
    job: String,
    /// Also delete the jobs that were built on it
    #[arg(long)]
    with_dependents: bool,
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
}

pub(super) async fn delete(common: &Common, config: Config, args: DeleteArgs) -> Outcome {
    let reader = record_access::open_read_only(common, config.clone()).await?;
    let job = find_any_job(&reader, &args.job).await?;
    let jobs = deletion::preview(&reader, &job, args.with_dependents).await.map_err(service_error)?;
    drop(reader);
    let others = match jobs.len() - 1 {
        0 => String::new(),
        others => {
            let names: Vec<String> = jobs.iter().skip(1).map(ToString::to_string).collect();
            format!(" and {others} job(s) that were built on it ({})", names.join(", "))
        }
    };
    if !args.yes && !is_confirmed(&format!("this deletes job {job}{others} and everything recorded for it"))?
    {
        note!("nothing deleted");
        return Ok(ExitCode::SUCCESS);
    }
    let (jobs, texts): (Vec<String>, u64) = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let deleted = deletion::delete(&app, &job, args.with_dependents).await.map_err(service_error)?;
            // Writes the plans' portable files before the process ends.
            app.flush().await;
            (deleted.jobs.iter().map(ToString::to_string).collect(), deleted.texts)
        }
        RecordAccess::Remote(server) => {
            let query = [("dependents", if args.with_dependents { "true" } else { "false" })];
            let deleted: DeletedResponse = server.delete_with(&["jobs", job.as_str()], &query).await?;
            (deleted.jobs, deleted.texts)
        }
    };
    if common.json {
        json(&json!({ "job_id": job, "jobs": jobs, "texts": texts }))?;
    }
    let count = jobs.len();
    note!("deleted {count} job(s) and {texts} text(s) that nothing else uses");
    Ok(ExitCode::SUCCESS)
}

/// Asks for confirmation. Without a terminal, that is a usage error.
fn is_confirmed(warning: &str) -> Result<bool> {
    let mut input = std::io::stdin();
    if !input.is_terminal() {
        return Err(usage(format!("{warning}; confirm with --yes")));
    }
    note!("{warning}. Continue? [y/N]");
    let mut reply = String::new();
    std::io::BufReader::new(&mut input).read_line(&mut reply).context("stdin")?;
    Ok(matches!(reply.trim().to_lowercase().as_str(), "y" | "yes"))
}
