//! `papertape profile`: how long each node of a desk takes, and whether a change helped.

mod ab;
mod chain;
mod export;
mod files;
mod show;
mod waterfall;

use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_service::config::Config;

/// The default directory for traces.
const DUMP_DIR: &str = "profile-runs";

#[derive(Debug, Args)]
pub(super) struct ProfileArgs {
    #[command(subcommand)]
    command: ProfileCommand,
}

#[derive(Debug, Subcommand)]
enum ProfileCommand {
    /// Run one ticker-day of a desk and write its trace
    Chain(Box<chain::ChainArgs>),
    /// Write a trace for each ticker-day of a job
    Export(export::ExportArgs),
    /// Compare two sets of traces, without calling a model
    Ab(ab::AbArgs),
    /// Draw traces as waterfalls
    Show(show::ShowArgs),
}

pub(super) async fn profile(common: &Common, config: Config, args: ProfileArgs) -> Outcome {
    match args.command {
        ProfileCommand::Chain(args) => Box::pin(chain::chain(common, config, *args)).await,
        ProfileCommand::Export(args) => Box::pin(export::export(common, config, args)).await,
        ProfileCommand::Ab(args) => ab::ab(common, &args),
        ProfileCommand::Show(args) => show::show(common, &args),
    }
}
