//! `papertape export`

mod state;
mod tables;

use super::failure::no_job;
use super::output::{Stdout, note};
use super::record_access::find_job;
use super::{Common, Outcome, record_access};
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use papertape_service::config::Config;
use state::StateArgs;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tables::TablesArgs;

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    #[command(subcommand)]
    command: ExportCommand,
}

#[derive(Debug, Subcommand)]
enum ExportCommand {
    /// Export a job as canonical JSON, to compare runs
    Canonical(JobArgs),
    /// Export a desk's states in TradingAgents' format
    State(StateArgs),
    /// Export a job's sessions as OpenTelemetry spans (OTLP/JSON)
    Otlp(JobArgs),
    /// Export jobs as Parquet tables, for analysis
    Tables(TablesArgs),
}

#[derive(Debug, Args)]
struct JobArgs {
    /// The job, or `latest`
    job: String,
    /// File to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) async fn export(common: &Common, config: Config, args: ExportArgs) -> Outcome {
    match args.command {
        ExportCommand::Canonical(args) => canonical(common, config, args).await,
        ExportCommand::State(args) => state::export(common, config, args).await,
        ExportCommand::Otlp(args) => spans(common, config, args).await,
        ExportCommand::Tables(args) => tables::export(common, config, args).await,
    }
}

async fn canonical(common: &Common, config: Config, args: JobArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let job = find_job(&app, &args.job).await?;
    let mut out = Output::open(args.output)?;
    let written = app.store.canonical_export(&job, &mut out).await;
    let found = written.map_err(anyhow::Error::from);
    if out.finish(found)? { Ok(ExitCode::SUCCESS) } else { Err(no_job(&args.job)) }
}

async fn spans(common: &Common, config: Config, args: JobArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let job = find_job(&app, &args.job).await?;
    let mut out = Output::open(args.output)?;
    let written = common.product.write_spans(&app, &job, &mut out).await;
    let sessions = out.finish(written)?;
    note!("exported {sessions} session(s)");
    Ok(ExitCode::SUCCESS)
}

/// Stdout, or a file that appears under its name only once it is complete.
pub(crate) enum Output {
    Stdout(Stdout),
    File { draft: BufWriter<File>, path: PathBuf },
}

impl Output {
    pub(crate) fn open(path: Option<PathBuf>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::Stdout(Stdout::open())) };
        let file = File::create(draft_path(&path)).with_context(|| unwritable(&path))?;
        Ok(Self::File { draft: BufWriter::new(file), path })
    }

    /// Completes the file, or after an error removes it.
    pub(crate) fn finish<T>(self, result: Result<T>) -> Result<T> {
        match self {
            Self::Stdout(mut out) => {
                let value = result?;
                out.flush().context("cannot write to stdout")?;
                Ok(value)
            }
            Self::File { mut draft, path } => {
                let result = result.and_then(|value| {
                    draft
                        .flush()
                        .and_then(|()| std::fs::rename(draft_path(&path), &path))
                        .with_context(|| unwritable(&path))?;
                    Ok(value)
                });
                match &result {
                    Ok(_) => note!("written to {}", path.display()),
                    Err(_) => drop(std::fs::remove_file(draft_path(&path))),
                }
                result
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
    format!("cannot write {}", path.display())
}

/// Where a file is written until it is complete.
pub(super) fn draft_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}
