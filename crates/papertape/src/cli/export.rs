//! `papertape export`

mod state;

use super::failure::no_job;
use super::output::{Stdout, note};
use super::way::job_named;
use super::{Common, Outcome, way};
use crate::config::Config;
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use state::StateArgs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What to export.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Write a job as lines of canonical JSON: two runs are equal if these are
    Canonical(CanonicalArgs),
    /// Write the states of a desk's analyses as TradingAgents logs them, a file each
    State(StateArgs),
}

#[derive(Debug, Args)]
struct CanonicalArgs {
    /// The job, or `latest`
    job: String,
    /// The file to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Exports it.
pub(super) async fn export(common: &Common, config: Config, args: ExportArgs) -> Outcome {
    match args.what {
        What::Canonical(args) => canonical(config, args).await,
        What::State(args) => state::export(common, config, args).await,
    }
}

async fn canonical(config: Config, args: CanonicalArgs) -> Outcome {
    let app = way::to_read(config).await?;
    let job = job_named(&app, &args.job).await?;
    let found = match &args.output {
        None => {
            let mut out = Stdout::open();
            let found = app.store.canonical_export(&job, &mut out).await?;
            out.flush().context("stdout cannot be written")?;
            found
        }
        Some(path) => {
            // Half an export never bears the name of a whole one.
            let draft = beside(path);
            let failed = || format!("{} cannot be written", path.display());
            let mut out = BufWriter::new(std::fs::File::create(&draft).with_context(failed)?);
            let written = app.store.canonical_export(&job, &mut out).await;
            let kept: Result<bool> = match written {
                Ok(found) => out
                    .flush()
                    .and_then(|()| std::fs::rename(&draft, path))
                    .with_context(failed)
                    .map(|()| found),
                Err(error) => Err(error.into()),
            };
            if kept.is_err() {
                let _ = std::fs::remove_file(&draft);
            }
            note!("written to {}", path.display());
            kept?
        }
    };
    if found { Ok(ExitCode::SUCCESS) } else { Err(no_job(&args.job)) }
}

/// Where a file is written until it is whole.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}
