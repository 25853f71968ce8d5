//! The command line: one file a subcommand. Data goes to stdout, progress and warnings to stderr.
//!
//! Exit codes: 0 well, 1 failed, 2 wrongly asked, 3 stopped before the end and can be resumed, 4 nothing
//! of that name.

mod actions;
mod api_client;
mod auth;
mod backup;
mod benchmark;
mod branch;
mod cancel;
mod chat;
mod cleanup;
mod completions;
mod config;
mod data;
mod delete;
mod doctor;
mod execute;
mod export;
mod failure;
mod head;
mod import;
mod jobs;
mod logging;
mod memory;
mod migrate;
mod output;
mod plans;
mod profile;
mod progress;
mod reasoning;
mod record_access;
mod replay;
mod results;
mod resume;
mod run;
mod serve;
mod shown;
mod signals;
mod summary;
mod verify;
mod worker;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use papertape_service::config::Config;
use std::path::PathBuf;
use std::process::ExitCode;

/// Below the help.
const AFTER: &str = "Begin with `papertape run --demo`: no key, no network, no configuration.\n\n\
    Exit codes: 0 well, 1 failed, 2 wrongly asked, 3 stopped and can be resumed, 4 nothing of that name.";

/// Paper-trades desks of LLM agents and keeps everything on one durable tape
#[derive(Debug, Parser)]
#[command(name = "papertape", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = AFTER, disable_help_subcommand = true)]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    common: Common,
    /// The command.
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
struct Common {
    /// Config file [default: papertape.toml here, if there is one]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    config: Option<PathBuf>,
    /// Data directory [default: ./papertape-data]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    data_dir: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long, global = true, help_heading = "Everywhere")]
    json: bool,
    /// Log more to stderr; twice for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Everywhere")]
    verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
enum Command {
    /// Run a simulation here and now
    Run(Box<run::RunArgs>),
    /// Talk with the assistant
    Chat(chat::ChatArgs),
    /// Serve the API, and run jobs
    Serve(serve::ServeArgs),
    /// Run jobs that others queue, without an API
    Worker,
    /// List jobs, or show one
    Jobs(jobs::JobsArgs),
    /// Bring runs that were recorded elsewhere into the record
    Import(import::ImportArgs),
    /// Show what a job has done, action by action
    Actions(actions::ActionsArgs),
    /// List plans, show one, or delete one
    Plans(plans::PlansArgs),
    /// Show what trading came to
    Results(results::ResultsArgs),
    /// Show what agents said and did
    Reasoning(reasoning::ReasoningArgs),
    /// Show which sessions were shown a bar, a news item, a figure or a memory
    Shown(shown::ShownArgs),
    /// Show what traders remember, fold it, or compare runs with and without it
    Memory(memory::MemoryArgs),
    /// Run a job again on its tape, calling nothing, and compare
    Replay(replay::ReplayArgs),
    /// Go on with a job that has stopped, at the very step
    Resume(resume::ResumeArgs),
    /// Take a job's past up to a point, change something, and run what follows
    Branch(branch::BranchArgs),
    /// Stop a job after the step under way
    Cancel(cancel::CancelArgs),
    /// Delete a job with its whole record
    Delete(delete::DeleteArgs),
    /// Write a job in a form that two runs can be compared by
    Export(export::ExportArgs),
    /// Time a desk's nodes, and compare such timings
    Profile(profile::ProfileArgs),
    /// Check that a job's record is as it was written
    Verify(verify::VerifyArgs),
    /// Store and print the head of a job's hash chains
    Head(head::HeadArgs),
    /// Copy the record and its datasets, and check the copy
    Backup(backup::BackupArgs),
    /// Check a backup and put it into an empty data directory
    Restore(backup::BackupArgs),
    /// Remove what need not be kept
    Cleanup(cleanup::CleanupArgs),
    /// Bring what older versions have left to the present form
    Migrate(migrate::MigrateArgs),
    /// Look whether everything is there that is needed
    Doctor,
    /// Make tokens that let programs and people use the server
    Auth(auth::AuthArgs),
    /// Show the configuration
    Config(config::ConfigArgs),
    /// Import or download market data, and look at it
    Data(data::DataArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
}

/// How a command ended: its exit code, or what went wrong.
type Outcome = Result<ExitCode>;

/// Runs the command.
#[must_use]
pub fn main(cli: Cli) -> ExitCode {
    let as_json = cli.common.json;
    logging::redact_panics();
    let result = prepare(&cli).and_then(|config| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(dispatch(cli, config))
    });
    result.unwrap_or_else(|error| failure::report(&error, as_json))
}

async fn dispatch(cli: Cli, config: Config) -> Outcome {
    let common = &cli.common;
    match cli.command {
        Command::Run(args) => Box::pin(run::run(common, config, *args)).await,
        Command::Chat(args) => Box::pin(chat::chat(common, config, args)).await,
        Command::Serve(args) => Box::pin(serve::serve(common, config, args)).await,
        Command::Import(args) => Box::pin(import::import(common, config, args)).await,
        Command::Worker => Box::pin(worker::worker(common, config)).await,
        Command::Jobs(args) => Box::pin(jobs::jobs(common, config, args)).await,
        Command::Actions(args) => Box::pin(actions::actions(common, config, args)).await,
        Command::Plans(args) => Box::pin(plans::plans(common, config, args)).await,
        Command::Cleanup(args) => Box::pin(cleanup::cleanup(common, config, args)).await,
        Command::Migrate(args) => Box::pin(migrate::migrate(common, config, args)).await,
        Command::Results(args) => Box::pin(results::results(common, config, args)).await,
        Command::Reasoning(args) => Box::pin(reasoning::reasoning(common, config, args)).await,
        Command::Shown(args) => Box::pin(shown::shown(common, config, args)).await,
        Command::Memory(args) => Box::pin(memory::memory(common, config, args)).await,
        Command::Replay(args) => Box::pin(replay::replay(common, config, args)).await,
        Command::Resume(args) => Box::pin(resume::resume(common, config, args)).await,
        Command::Branch(args) => Box::pin(branch::branch(common, config, args)).await,
        Command::Cancel(args) => Box::pin(cancel::cancel(common, config, args)).await,
        Command::Delete(args) => Box::pin(delete::delete(common, config, args)).await,
        Command::Export(args) => Box::pin(export::export(common, config, args)).await,
        Command::Profile(args) => Box::pin(profile::profile(common, config, args)).await,
        Command::Head(args) => Box::pin(head::head(common, config, args)).await,
        Command::Verify(args) => Box::pin(verify::verify(common, config, args)).await,
        Command::Backup(args) => Box::pin(backup::backup(common, config, args)).await,
        Command::Restore(args) => Box::pin(backup::restore(common, config, args)).await,
        Command::Doctor => Box::pin(doctor::doctor(common, config)).await,
        Command::Auth(args) => auth::auth(common, &config, &args),
        Command::Config(args) => config::config(common, &config, &args),
        Command::Data(args) => Box::pin(data::data(common, config, args)).await,
        Command::Completions(args) => completions::completions(&args),
    }
}

/// Reads the config, with the command line over it, and starts the log.
fn prepare(cli: &Cli) -> Result<Config> {
    let mut config = match cli.command {
        // A script for the shell depends on nothing.
        Command::Completions(_) => Config::default(),
        _ => Config::load(cli.common.config.as_deref())
            .map_err(|error| failure::usage(format!("{error:#}")))?,
    };
    if let Some(dir) = &cli.common.data_dir {
        config.data_dir.clone_from(dir);
    }
    let usual = match cli.command {
        Command::Serve(_) | Command::Worker => "info",
        _ => "warn",
    };
    logging::start(&cli.common, &config, usual)?;
    Ok(config)
}
