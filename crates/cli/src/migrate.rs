//! `papertape migrate`

use super::failure::{FAILED, not_found};
use super::output::{bytes, json, note, say, table, text_of};
use super::{Common, Outcome, record_access};
use anyhow::Result;
use clap::{Args, Subcommand};
use papertape_service::app::database_file;
use papertape_service::config::Config;
use papertape_store::{FileReport, PortableFiles, upgrade_file};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    #[command(subcommand)]
    command: MigrateCommand,
}

#[derive(Debug, Subcommand)]
enum MigrateCommand {
    /// Upgrade plans' portable files, and import their jobs
    ActionLogs(ActionLogsArgs),
    /// Upgrade the database and show its size
    Database(DatabaseArgs),
}

#[derive(Debug, Args)]
struct DatabaseArgs {
    /// Rewrite the SQLite file without unused space
    #[arg(long)]
    compact: bool,
}

#[derive(Debug, Args)]
struct ActionLogsArgs {
    /// Report what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn migrate(common: &Common, config: Config, args: MigrateArgs) -> Outcome {
    match args.command {
        MigrateCommand::ActionLogs(ActionLogsArgs { dry_run }) => action_logs(common, config, dry_run).await,
        MigrateCommand::Database(DatabaseArgs { compact }) => database(common, config, compact).await,
    }
}

/// Opening the database for writing upgrades it.
async fn database(common: &Common, config: Config, compact: bool) -> Outcome {
    let started = Instant::now();
    if config.database_url.is_some() {
        drop(record_access::open_without_portable_files(common, config).await?);
        if compact {
            note!("PostgreSQL reuses free space itself; to return it to the disk, run `VACUUM FULL` in psql");
        }
        if common.json {
            json(&json!({ "elapsed_ms": elapsed_ms(started) }))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let path = database_file(&config.data_dir, config.mode);
    if !path.exists() {
        return Err(not_found(format!("no database in {}", config.data_dir.display())));
    }
    let before = path.metadata()?.len();
    let file = path.clone();
    let space = tokio::task::spawn_blocking(move || upgrade_file(&file, compact)).await??;
    let free_bytes = space.free_bytes;
    if common.json {
        json(&json!({
            "file": path, "bytes_before": before, "bytes": space.bytes, "free_bytes": free_bytes,
            "elapsed_ms": elapsed_ms(started),
        }))?;
    }
    note!(
        "{}: {} before, {} now, {} of it free, in {:.1} s",
        path.display(),
        bytes(before),
        bytes(space.bytes),
        bytes(free_bytes),
        started.elapsed().as_secs_f64()
    );
    if !compact {
        note!(
            "to make the file smaller after an upgrade or a deletion: papertape migrate database --compact"
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

async fn action_logs(common: &Common, config: Config, dry_run: bool) -> Outcome {
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
