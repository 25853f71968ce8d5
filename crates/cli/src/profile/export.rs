//! `papertape profile export`

use super::super::failure::of_view;
use super::super::output::{json, note, say};
use super::super::record_access::job_named;
use super::super::{Common, Outcome, record_access};
use super::files::Dump;
use clap::Args;
use papertape_service::config::Config;
use papertape_service::view;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Which job's traces, and where to.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The job, or `latest`; it may still be running, or have failed
    job: String,
    /// The directory to write to, a file a ticker-day
    #[arg(long, value_name = "DIR", default_value = super::DUMP_DIR)]
    dump_dir: PathBuf,
    /// Put the steps of runs that broke off into their traces as raw_events
    #[arg(long)]
    dump_raw_on_failure: bool,
}

/// Writes them.
pub(super) async fn export(common: &Common, config: Config, args: ExportArgs) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let job = job_named(&app, &args.job).await?;
    let dump = Dump::new(args.dump_dir)?;
    let mut files = Vec::new();
    let written = view::traces(&app, &job, args.dump_raw_on_failure, |mut trace| {
        let path = dump.write(&mut trace)?;
        if common.json {
            files.push(path);
            Ok(())
        } else {
            say(path)
        }
    });
    let count = written.await.map_err(of_view)?;
    if common.json {
        json(&json!({
            "job_id": job,
            "trace_count": count.traces,
            "error_count": count.errors,
            "degraded_count": count.degraded,
            "files": files,
        }))?;
    }
    note!(
        "{} traces of job {job}: {} of runs that broke off or go on, {} degraded",
        count.traces,
        count.errors,
        count.degraded
    );
    Ok(ExitCode::SUCCESS)
}
