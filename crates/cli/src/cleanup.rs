//! `papertape cleanup`

use super::output::{count, json, note};
use super::{Common, Outcome, record_access};
use clap::{Args, Subcommand};
use papertape_service::app::Access;
use papertape_service::config::Config;
use papertape_service::retention::{self, MAX_ROWS};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct CleanupArgs {
    #[command(subcommand)]
    command: CleanupCommand,
}

#[derive(Debug, Subcommand)]
enum CleanupCommand {
    /// Remove old and excess action log rows of stopped jobs
    Jobs(JobsArgs),
    /// Back up and remove AI-Trader's logs that were imported
    Jsonl(JsonlArgs),
}

/// Arguments of `papertape cleanup jsonl`.
#[derive(Debug, Args)]
pub struct JsonlArgs {
    /// AI-Trader's data folder. Removes only AGENT/log/**/*.jsonl and folders that become empty
    pub dir: PathBuf,
    /// Backup file (tar.gz) [default: in backups/ of the data directory]
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
    /// Report what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
struct JobsArgs {
    /// Report what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn cleanup(common: &Common, config: Config, args: CleanupArgs) -> Outcome {
    let dry_run = match args.command {
        CleanupCommand::Jobs(JobsArgs { dry_run }) => dry_run,
        CleanupCommand::Jsonl(args) => {
            return common.product.remove_ai_trader_logs(common, config, args).await;
        }
    };
    let app = match dry_run {
        true => record_access::open_read_only(common, config).await?,
        false => record_access::open_exclusive(common, config, Access::Own).await?,
    };
    let removed = retention::clean_up(&app, dry_run).await?;
    app.flush().await;
    let days = app.config.settings.jobs.log_retention_days;
    if common.json {
        json(&json!({
            "dry_run": dry_run,
            "log_retention_days": days,
            "max_rows": MAX_ROWS,
            "rows_removed_by_age": removed.by_age,
            "rows_removed_by_count": removed.by_count,
            "jobs": removed.jobs,
        }))?;
    }
    let verb = if dry_run { "would be removed" } else { "removed" };
    note!(
        "{verb}: {} row(s) older than {days} days and {} beyond {} per job, of {} job(s)",
        count(removed.by_age),
        count(removed.by_count),
        count(u64::from(MAX_ROWS)),
        count(removed.jobs)
    );
    Ok(ExitCode::SUCCESS)
}
