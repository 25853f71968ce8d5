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

#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    #[command(subcommand)]
    command: MigrateCommand,
}

#[derive(Debug, Subcommand)]
enum MigrateCommand {
    /// Upgrade plans' portable files, and import their jobs
    ActionLogs(ActionLogsArgs),
}

#[derive(Debug, Args)]
struct ActionLogsArgs {
    /// Report what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn migrate(common: &Common, config: Config, args: MigrateArgs) -> Outcome {
    let MigrateCommand::ActionLogs(ActionLogsArgs { dry_run }) = args.command;
    let reports = match dry_run {
        // A folder of files from another installation may have no database yet.
        true if !record_access::has_database(&config)? && config.data_dir.is_dir() => {
            PortableFiles::preview(&config.data_dir).await?
        }
        true => record_access::open_read_only(common, config).await?.portable_files().migrate(true).await?,
        false => {
            let app = record_access::open_without_portable_files(common, config).await?;
            let reports = app.portable_files().migrate(false).await?;
            // Makes the files agree with the database again.
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
    let verb = if dry_run { "would be upgraded or imported" } else { "upgraded or imported" };
    let skipped: u64 = reports.iter().map(|report| report.rows_left_out).sum();
    let skipped =
        if skipped > 0 { format!("; {skipped} row(s) without an index skipped") } else { String::new() };
    note!("{} file(s): {done} {verb}, {failed} failed and unchanged{skipped}", reports.len());
    Ok(if failed > 0 { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn print_reports(reports: &[FileReport]) -> Result<()> {
    if reports.is_empty() {
        return Ok(());
    }
    let mut table = table(["file", ">version", ">jobs", ">rows", "backup", "~error"]);
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
