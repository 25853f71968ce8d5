//! The command line: one file per subcommand. Data goes to stdout, progress and warnings to stderr.
//!
//! It must never know the HTTP API's routes or an integration: what it needs of those is a [`product::Product`].

mod actions;
mod api_client;
mod args;
mod audit;
mod auth;
mod backup;
mod benchmark;
mod branch;
mod bundle;
mod cancel;
mod chat;
pub mod cleanup;
mod compare;
mod completions;
mod config;
pub mod data;
mod delete;
mod doctor;
pub mod execute;
mod experiment_run;
mod experiments;
mod export;
pub mod failure;
mod head;
pub mod import;
mod jobs;
mod label;
mod leaderboard;
mod mcp;
mod memory;
mod migrate;
pub mod output;
mod plans;
mod probe;
pub mod product;
mod profile;
mod progress;
mod reasoning;
pub mod record_access;
mod replay;
mod report;
mod results;
mod resume;
mod review;
mod run;
mod sandbox_forward;
mod seen_by;
mod serve;
mod signals;
mod summary;
pub mod terminal;
mod verify;
mod verify_bundle;
mod worker;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use papertape_service::config::Config;
use product::Product;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const AFTER_HELP: &str = "Start with `papertape run --demo`. It needs no key, no network and no configuration.\n\n\
    Exit codes: 0 success, 1 failure, 2 usage error, 3 stopped and resumable, 4 not found.";

/// Paper-trade LLM agents and record every step
#[derive(Debug, Parser)]
#[command(name = "papertape", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = AFTER_HELP, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Command,
}

const GLOBAL: &str = "Global options";

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Config file [default: papertape.toml, if it exists]
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    config: Option<PathBuf>,
    /// Data directory [default: ./papertape-data]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    data_dir: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,
    /// Log more to stderr; repeat to log everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = GLOBAL)]
    verbose: u8,
}

/// What every command gets: its options, and the product that it acts on.
#[derive(Clone)]
pub struct Common {
    options: Options,
    /// The composed product.
    pub product: Arc<dyn Product>,
}

impl Deref for Common {
    type Target = Options;

    fn deref(&self) -> &Options {
        &self.options
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a simulation
    Run(Box<run::RunArgs>),
    /// Chat with the assistant
    Chat(chat::ChatArgs),
    /// Serve the API and the web UI, and run jobs
    Serve(serve::ServeArgs),
    /// Run queued jobs, without an API
    Worker,
    /// List and search jobs, or show one
    Jobs(jobs::JobsArgs),
    /// Name, tag and annotate a job
    Label(label::LabelArgs),
    /// Score and annotate a session, or list reviews
    Review(review::ReviewArgs),
    /// List experiments, or show one
    Experiments(experiments::ExperimentsArgs),
    /// Import runs from another tool
    Import(import::ImportArgs),
    /// Show a job's action log
    Actions(actions::ActionsArgs),
    /// List, show or delete plans
    Plans(plans::PlansArgs),
    /// Show results compared with buy-and-hold
    Results(results::ResultsArgs),
    /// Compare runs: intervals, tests and verdicts
    Compare(compare::CompareArgs),
    /// Rank agents over comparable runs
    Leaderboard(leaderboard::LeaderboardArgs),
    /// Write a report as one HTML file
    Report(report::ReportArgs),
    /// Show what agents received, said and did
    Reasoning(reasoning::ReasoningArgs),
    /// Show which sessions saw a bar, a news item or a memory
    SeenBy(seen_by::SeenByArgs),
    /// Show, search and compact traders' memories
    Memory(memory::MemoryArgs),
    /// Test whether a model recalls the prices of a dataset
    Probe(probe::ProbeArgs),
    /// Replay a job from its tape, without external calls
    Replay(replay::ReplayArgs),
    /// Check a job's sessions for look-ahead
    Audit(audit::AuditArgs),
    /// Resume a stopped job
    Resume(resume::ResumeArgs),
    /// Copy a job up to a point, change it, and run the rest
    Branch(branch::BranchArgs),
    /// Stop a job after its current step
    Cancel(cancel::CancelArgs),
    /// Delete a job and its whole record
    Delete(delete::DeleteArgs),
    /// Export jobs
    Export(export::ExportArgs),
    /// Write a job's evidence bundle
    Bundle(bundle::BundleArgs),
    /// Time a desk's nodes, and compare timings
    Profile(profile::ProfileArgs),
    /// Verify a job's record, or a bundle
    Verify(verify::VerifyArgs),
    /// Store and print the head of a job's hash chains
    Head(head::HeadArgs),
    /// Back up the database and its datasets
    Backup(backup::BackupArgs),
    /// Restore a backup into a new data directory
    Restore(backup::BackupArgs),
    /// Remove old log rows and imported logs
    Cleanup(cleanup::CleanupArgs),
    /// Migrate old data
    Migrate(migrate::MigrateArgs),
    /// Check the installation
    Doctor,
    /// Serve MCP tools on stdin and stdout
    Mcp(mcp::McpArgs),
    /// Create access tokens
    Auth(auth::AuthArgs),
    /// Show the configuration
    Config(config::ConfigArgs),
    /// Import, download and inspect market data
    Data(data::DataArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Start an external agent inside its sandbox
    #[command(hide = true)]
    SandboxForward(sandbox_forward::ForwardArgs),
}

/// A command's exit code, or its error.
pub type Outcome = Result<ExitCode>;

/// Runs the command and reports its error, if any.
#[must_use]
pub fn main(cli: Cli, product: Arc<dyn Product>) -> ExitCode {
    let common = Common { options: cli.options, product };
    let result = prepare(&common, &cli.command).and_then(|config| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(dispatch(&common, cli.command, config))
    });
    result.unwrap_or_else(|error| failure::report(&error, common.json))
}

async fn dispatch(common: &Common, command: Command, config: Config) -> Outcome {
    match command {
        Command::Run(args) => Box::pin(run::run(common, config, *args)).await,
        Command::Chat(args) => Box::pin(chat::chat(common, config, args)).await,
        Command::Serve(args) => Box::pin(serve::serve(common, config, args)).await,
        Command::Import(args) => Box::pin(import::import(common, config, args)).await,
        Command::Worker => Box::pin(worker::worker(common, config)).await,
        Command::Jobs(args) => Box::pin(jobs::jobs(common, config, args)).await,
        Command::Label(args) => Box::pin(label::label(common, config, args)).await,
        Command::Review(args) => Box::pin(review::review(common, config, args)).await,
        Command::Experiments(args) => Box::pin(experiments::experiments(common, config, args)).await,
        Command::Actions(args) => Box::pin(actions::actions(common, config, args)).await,
        Command::Plans(args) => Box::pin(plans::plans(common, config, args)).await,
        Command::Cleanup(args) => Box::pin(cleanup::cleanup(common, config, args)).await,
        Command::Migrate(args) => Box::pin(migrate::migrate(common, config, args)).await,
        Command::Results(args) => Box::pin(results::results(common, config, args)).await,
        Command::Compare(args) => Box::pin(compare::compare(common, config, args)).await,
        Command::Leaderboard(args) => Box::pin(leaderboard::leaderboard(common, config, args)).await,
        Command::Report(args) => Box::pin(report::report(common, config, args)).await,
        Command::Reasoning(args) => Box::pin(reasoning::reasoning(common, config, args)).await,
        Command::SeenBy(args) => Box::pin(seen_by::seen_by(common, config, args)).await,
        Command::Memory(args) => Box::pin(memory::memory(common, config, args)).await,
        Command::Probe(args) => Box::pin(probe::probe(common, config, args)).await,
        Command::Replay(args) => Box::pin(replay::replay(common, config, args)).await,
        Command::Audit(args) => Box::pin(audit::audit(common, config, args)).await,
        Command::Resume(args) => Box::pin(resume::resume(common, config, args)).await,
        Command::Branch(args) => Box::pin(branch::branch(common, config, args)).await,
        Command::Cancel(args) => Box::pin(cancel::cancel(common, config, args)).await,
        Command::Delete(args) => Box::pin(delete::delete(common, config, args)).await,
        Command::Bundle(args) => Box::pin(bundle::bundle(common, config, args)).await,
        Command::Export(args) => Box::pin(export::export(common, config, args)).await,
        Command::Profile(args) => Box::pin(profile::profile(common, config, args)).await,
        Command::Head(args) => Box::pin(head::head(common, config, args)).await,
        Command::Mcp(args) => Box::pin(mcp::mcp(common, config, args)).await,
        Command::Verify(args) => Box::pin(verify::verify(common, config, args)).await,
        Command::Backup(args) => Box::pin(backup::backup(common, config, args)).await,
        Command::Restore(args) => Box::pin(backup::restore(common, config, args)).await,
        Command::Doctor => Box::pin(doctor::doctor(common, config)).await,
        Command::Auth(args) => auth::auth(common, &config, &args),
        Command::Config(args) => config::config(common, &config, &args),
        Command::Data(args) => Box::pin(data::data(common, config, args)).await,
        Command::Completions(args) => completions::completions(&args),
        Command::SandboxForward(args) => Box::pin(sandbox_forward::run(args)).await,
    }
}

/// Reads the config, applies the command line's overrides, and starts the log.
fn prepare(common: &Common, command: &Command) -> Result<Config> {
    let mut config = match command {
        // An invalid config must not break shell startup.
        Command::Completions(_) => Config::default(),
        // The agent's environment is not ours.
        Command::SandboxForward(_) => Config::default(),
        // A bundle is verified anywhere, whatever is configured there.
        Command::Verify(args) if args.is_file() => Config::default(),
        Command::Leaderboard(args) if args.is_build() => Config::default(),
        _ => Config::load(common.config.as_deref()).map_err(|error| failure::usage(format!("{error:#}")))?,
    };
    if let Some(dir) = &common.data_dir {
        config.data_dir.clone_from(dir);
    }
    let default_level = match command {
        Command::Serve(_) | Command::Worker => "info",
        _ => "warn",
    };
    common.product.start_log(common.verbose, &config, default_level)?;
    Ok(config)
}
