//! `papertape profile export`

use super::super::failure::service_error;
use super::super::output::{json, note, say};
use super::super::record_access::find_job;
use super::super::{Common, Outcome, record_access};
use super::files::Dump;
use clap::Args;
use papertape_service::config::Config;
use papertape_service::view;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The job, or `latest`; it may be running or failed
    job: String,
    /// Directory for the traces
    #[arg(long, value_name = "DIR", default_value = super::DUMP_DIR)]
    dump_dir: PathBuf,
    /// Include the steps of failed runs as raw_events
    #[arg(long)]
    dump_raw_on_failure: bool,
}

pub(super) async fn export(common: &Common, config: Config, args: ExportArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let job = find_job(&app, &args.job).await?;
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
    let count = written.await.map_err(service_error)?;
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
        "{} traces of job {job}: {} failed or unfinished, {} degraded",
        count.traces,
        count.errors,
        count.degraded
    );
    Ok(ExitCode::SUCCESS)
}
