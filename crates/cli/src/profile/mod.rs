//! `papertape profile`: how long each node of a desk takes, and whether a change made it better.

mod ab;
mod chain;
mod export;
mod files;
mod show;
mod waterfall;

use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_service::config::Config;

/// Where traces are written that are not sent elsewhere.
const DUMP_DIR: &str = "profile-runs";

/// What to do.
#[derive(Debug, Args)]
pub(super) struct ProfileArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Run one ticker-day of a desk and write its trace
    Chain(Box<chain::ChainArgs>),
    /// Write the traces of a job's ticker-days
    Export(export::ExportArgs),
    /// Compare two sets of traces; calls no model
    Ab(ab::AbArgs),
    /// Draw a trace as a waterfall
    Show(show::ShowArgs),
}

/// Does it.
pub(super) async fn profile(common: &Common, config: Config, args: ProfileArgs) -> Outcome {
    match args.what {
        What::Chain(args) => Box::pin(chain::chain(common, config, *args)).await,
        What::Export(args) => Box::pin(export::export(common, config, args)).await,
        What::Ab(args) => ab::ab(common, &args),
        What::Show(args) => show::show(common, &args),
    }
}
