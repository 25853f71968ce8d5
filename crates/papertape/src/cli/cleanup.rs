//! `papertape cleanup`

use super::output::{count, json, note};
use super::{Common, Outcome, way};
use crate::app::Access;
use crate::config::Config;
use crate::retention::{self, MOST_ROWS};
use clap::{Args, Subcommand};
use serde_json::json;
use std::process::ExitCode;

/// What to clean up.
#[derive(Debug, Args)]
pub(super) struct CleanupArgs {
    /// What.
    #[command(subcommand)]
    command: CleanupCommand,
}

/// What.
#[derive(Debug, Subcommand)]
enum CleanupCommand {
    /// Remove rows of the action log that are too old or too many, of jobs that have stopped
    Jobs(JobsArgs),
}

/// How.
#[derive(Debug, Args)]
struct JobsArgs {
    /// Say what would go, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

/// Cleans up.
pub(super) async fn cleanup(common: &Common, config: Config, args: CleanupArgs) -> Outcome {
    let CleanupCommand::Jobs(JobsArgs { dry_run }) = args.command;
    let app = match dry_run {
        true => way::to_read(config).await?,
        false => way::to_own(config, Access::Own).await?,
    };
    let removed = retention::clean_up(&app, dry_run).await?;
    app.settle().await;
    let days = app.config.settings.jobs.log_retention_days;
    if common.json {
        json(&json!({
            "dry_run": dry_run,
            "log_retention_days": days,
            "most_rows": MOST_ROWS,
            "rows_removed_by_age": removed.by_age,
            "rows_removed_by_count": removed.by_count,
            "jobs": removed.jobs,
        }))?;
    }
    let verb = if dry_run { "would be removed" } else { "removed" };
    note!(
        "{verb}: {} row(s) older than {days} days and {} beyond {} a job, of {} job(s)",
        count(removed.by_age),
        count(removed.by_count),
        count(u64::from(MOST_ROWS)),
        count(removed.jobs)
    );
    Ok(ExitCode::SUCCESS)
}
