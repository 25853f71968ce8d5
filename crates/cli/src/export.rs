//! `papertape export`

mod state;

use super::failure::no_job;
use super::output::{Stdout, note};
use super::record_access::job_named;
use super::{Common, Outcome, record_access};
use crate::otlp::write_job;
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use papertape_service::config::Config;
use state::StateArgs;
use std::fs::File;
use std::io::{self, BufWriter, Write};
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
    Canonical(JobArgs),
    /// Write the states of a desk's analyses as TradingAgents logs them, a file each
    State(StateArgs),
    /// Write a job's sessions as OpenTelemetry spans, a line of OTLP/JSON each
    Otlp(JobArgs),
}

#[derive(Debug, Args)]
struct JobArgs {
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
        What::Otlp(args) => spans(config, args).await,
    }
}

async fn canonical(config: Config, args: JobArgs) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let job = job_named(&app, &args.job).await?;
    let mut out = Output::open(args.output)?;
    let written = app.store.canonical_export(&job, &mut out).await;
    let found = written.map_err(anyhow::Error::from);
    if out.finish(found)? { Ok(ExitCode::SUCCESS) } else { Err(no_job(&args.job)) }
}

async fn spans(config: Config, args: JobArgs) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let job = job_named(&app, &args.job).await?;
    let mut out = Output::open(args.output)?;
    let written = write_job(&app, &job, &mut out).await;
    let sessions = out.finish(written)?;
    note!("{sessions} session(s)");
    Ok(ExitCode::SUCCESS)
}

/// Stdout, or a file. Half an export never bears the name of a whole one.
enum Output {
    Stdout(Stdout),
    File { draft: BufWriter<File>, path: PathBuf },
}

impl Output {
    fn open(path: Option<PathBuf>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::Stdout(Stdout::open())) };
        let file = File::create(beside(&path)).with_context(|| unwritable(&path))?;
        Ok(Self::File { draft: BufWriter::new(file), path })
    }

    /// Ends the export with what it came to.
    fn finish<T>(self, written: Result<T>) -> Result<T> {
        match self {
            Self::Stdout(mut out) => {
                let written = written?;
                out.flush().context("stdout cannot be written")?;
                Ok(written)
            }
            Self::File { mut draft, path } => {
                let kept = written.and_then(|written| {
                    draft
                        .flush()
                        .and_then(|()| std::fs::rename(beside(&path), &path))
                        .with_context(|| unwritable(&path))?;
                    Ok(written)
                });
                match &kept {
                    Ok(_) => note!("written to {}", path.display()),
                    Err(_) => drop(std::fs::remove_file(beside(&path))),
                }
                kept
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File { draft, .. } => draft.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File { draft, .. } => draft.flush(),
        }
    }
}

fn unwritable(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

/// Where a file is written until it is whole.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}
