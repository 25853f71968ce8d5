//! `papertape migrate`

use super::failure::FAILED;
use super::output::{json, note, say, table, text_of};
use super::{Common, Outcome, record_access};
use anyhow::Result;
use clap::{Args, Subcommand};
use papertape_service::config::Config;
use papertape_store::{FileReport, PortableFiles};
use serde_json::json;
use std::process::ExitCode;

/// What to migrate.
#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    /// What.
    #[command(subcommand)]
    command: MigrateCommand,
}

/// What.
#[derive(Debug, Subcommand)]
enum MigrateCommand {
    /// Bring the plans' portable files to the present form, and take in jobs of other records
    ActionLogs(ActionLogsArgs),
}

/// How.
#[derive(Debug, Args)]
struct ActionLogsArgs {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// Migrates.
pub(super) async fn migrate(common: &Common, config: Config, args: MigrateArgs) -> Outcome {
    let MigrateCommand::ActionLogs(ActionLogsArgs { dry_run }) = args.command;
    let reports = match dry_run {
        // A folder of files that were handed over may have no record yet.
        true if !record_access::has_record(&config)? && config.data_dir.is_dir() => {
            PortableFiles::preview(&config.data_dir).await?
        }
        true => record_access::to_read(common, config).await?.portable_files().migrate(true).await?,
        false => {
            let app = record_access::to_own_alone(common, config).await?;
            let reports = app.portable_files().migrate(false).await?;
            // What the files then lack, or have too much.
            app.with_portable_files().flush().await;
            reports
        }
    };
    if common.json {
        json(&json!({ "dry_run": dry_run, "files": reports }))?;
    } else {
        print_reports(&reports)?;
    }
    let failed = reports.iter().filter(|report| report.error.is_some()).count();
    let done = reports.iter().filter(|report| !report.is_current() && report.error.is_none()).count();
    let verb = if dry_run { "would be brought up or taken in" } else { "brought up or taken in" };
    let lost: u64 = reports.iter().map(|report| report.rows_left_out).sum();
    let lost = if lost > 0 { format!("; {lost} row(s) without an index left out") } else { String::new() };
    note!("{} file(s): {done} {verb}, {failed} left as they are{lost}", reports.len());
    Ok(if failed > 0 { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn print_reports(reports: &[FileReport]) -> Result<()> {
    if reports.is_empty() {
        return Ok(());
    }
    let mut table = table(["file", ">form", ">jobs", ">rows", "copy before", "~why not"]);
    for report in reports {
        table.add_row([
            report.path.display().to_string(),
            report.form.map_or_else(|| "-".to_owned(), |form| form.to_string()),
            report.jobs_imported.to_string(),
            report.rows_imported.to_string(),
            report.backup.as_ref().map_or_else(|| "-".to_owned(), |backup| backup.display().to_string()),
            report.error.clone().unwrap_or_default(),
        ]);
    }
    say(text_of(&table))
}
