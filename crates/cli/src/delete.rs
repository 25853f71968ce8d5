//! `papertape delete`

use super::failure::{of_trigger, usage};
use super::output::{json, note};
use super::record_access::{self, RecordAccess, any_job_named};
use super::{Common, Outcome};
use anyhow::{Context as _, Result};
use clap::Args;
use papertape_protocol::jobs::DeletedResponse;
use papertape_service::config::Config;
use papertape_service::deletion;
use serde_json::json;
use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

/// What to delete.
#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    /// The job, or `latest`
    job: String,
    /// Delete the jobs that were built on it too
    #[arg(long)]
    with_dependents: bool,
    /// Delete without asking
    #[arg(long)]
    yes: bool,
}

/// Deletes it.
pub(super) async fn delete(common: &Common, config: Config, args: DeleteArgs) -> Outcome {
    let reader = record_access::to_read(common, config.clone()).await?;
    let job = any_job_named(&reader, &args.job).await?;
    let jobs = deletion::preview(&reader, &job, args.with_dependents).await.map_err(of_trigger)?;
    drop(reader);
    let others = match jobs.len() - 1 {
        0 => String::new(),
        others => {
            let names: Vec<String> = jobs.iter().skip(1).map(ToString::to_string).collect();
            format!(" and {others} job(s) that were built on it ({})", names.join(", "))
        }
    };
    if !args.yes && !is_confirmed(&format!("job {job}{others} would go with the whole record of it"))? {
        note!("nothing is deleted");
        return Ok(ExitCode::SUCCESS);
    }
    let (jobs, texts): (Vec<String>, u64) = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let deleted = deletion::delete(&app, &job, args.with_dependents).await.map_err(of_trigger)?;
            // What is kept beside the record follows before the process ends.
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
    note!("{count} job(s) deleted, with {texts} text(s) that nothing else used");
    Ok(ExitCode::SUCCESS)
}

/// Asks the person. Where nobody can be asked, it is a usage error.
fn is_confirmed(what: &str) -> Result<bool> {
    let mut input = std::io::stdin();
    if !input.is_terminal() {
        return Err(usage(format!("{what}; --yes deletes it")));
    }
    note!("{what}; delete? [y/N]");
    let mut answer = String::new();
    std::io::BufReader::new(&mut input).read_line(&mut answer).context("the answer cannot be read")?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
