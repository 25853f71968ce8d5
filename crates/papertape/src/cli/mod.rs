//! The command line: one file a subcommand. Data goes to stdout, progress and warnings to stderr.

mod run;

use crate::config::{Config, LogFormat};
use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// Paper-trades desks of LLM agents and keeps everything on one durable tape
#[derive(Debug, Parser)]
#[command(name = "papertape", version, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub common: Common,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Config file [default: papertape.toml here, if there is one]
    #[arg(long, global = true, value_name = "FILE", env = "PAPERTAPE_CONFIG")]
    pub config: Option<PathBuf>,
    /// Data directory [default: ./papertape-data]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Print machine-readable JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Log more to stderr; twice for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a simulation here and now
    Run(run::RunArgs),
}

/// How a command ended: 0 well, 1 with a failure, 2 wrongly asked, 3 stopped and resumable.
pub type Outcome = Result<ExitCode>;

/// Ended with a failure that has been told.
pub const FAILED: u8 = 1;
/// Stopped before its end, and can be resumed.
pub const STOPPED: u8 = 3;

/// Runs the command.
#[must_use]
pub fn main(cli: Cli) -> ExitCode {
    let result = prepare(&cli.common).and_then(|config| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(dispatch(cli, config))
    });
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(FAILED)
    })
}

async fn dispatch(cli: Cli, config: Config) -> Outcome {
    let common = cli.common;
    match cli.command {
        Command::Run(args) => run::run(&common, config, args).await,
    }
}

/// Reads the config, with the command line over it, and starts the log.
fn prepare(common: &Common) -> Result<Config> {
    let mut config = Config::load(common.config.as_deref())?;
    if let Some(dir) = &common.data_dir {
        config.data_dir.clone_from(dir);
    }
    let filter = match common.verbose {
        0 => EnvFilter::try_new(&config.log)?,
        1 => EnvFilter::new("papertape=debug,info"),
        _ => EnvFilter::new("trace"),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match config.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
    Ok(config)
}
