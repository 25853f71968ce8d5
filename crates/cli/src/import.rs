//! `papertape import`

use super::data::Exchange;
use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_agents::config::MemoryMode;
use papertape_core::language::Language;
use papertape_core::message::ModelName;
use papertape_service::config::Config;
use std::path::PathBuf;

/// Arguments of `papertape import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    source: ImportSource,
}

#[derive(Debug, Subcommand)]
enum ImportSource {
    /// Import AI-Trader's runs
    ///
    /// Reads prices, position.jsonl and log.jsonl. Without --write, only reports what would be written.
    AiTrader(Box<AiTraderArgs>),
}

/// Arguments of `papertape import ai-trader`.
#[derive(Debug, Args)]
pub struct AiTraderArgs {
    /// AI-Trader's data folder: prices, and agent_data/AGENT/position and log
    pub dir: PathBuf,
    /// Write the jobs; without this, only report what would be written
    #[arg(long)]
    pub write: bool,
    /// Import only this agent; repeat for more [default: all]
    #[arg(long = "agent", value_name = "NAME")]
    pub agents: Vec<String>,
    /// Name of the dataset created from the prices
    #[arg(long, default_value = "ai-trader")]
    pub name: String,
    /// Use this dataset instead of the folder's prices
    #[arg(long, value_name = "NAME", conflicts_with = "name")]
    pub dataset: Option<String>,
    /// Exchange: sets the zone, hours, currency and market. Trades are free of fees
    #[arg(long, value_enum, default_value_t = Exchange::Us)]
    pub exchange: Exchange,
    /// Model that writes memories and summaries; the imported agents have no callable model
    #[arg(long, value_name = "PROVIDER::MODEL", default_value = "house::momentum")]
    pub writer: ModelName,
    /// Language of the memories: en or zh
    #[arg(long, value_parser = str::parse::<Language>, default_value = "en")]
    pub language: Language,
    /// Traders' memories to write: off, rounds, rounds+open or all [default: all]
    #[arg(long, value_name = "SETTING")]
    pub memory: Option<MemoryMode>,
    /// Do not summarize sessions
    #[arg(long)]
    pub no_summaries: bool,
    /// Skip log lines that cannot be read, and list them in the job's warnings
    #[arg(long)]
    pub skip_unreadable: bool,
    /// Import books that do not add up, recomputed from actions and prices; the job lists the differences
    #[arg(long)]
    pub accept_disagreements: bool,
    /// Import again, and mark the earlier job as superseded
    #[arg(long)]
    pub replace: bool,
}

pub(super) async fn import(common: &Common, config: Config, args: ImportArgs) -> Outcome {
    let ImportSource::AiTrader(args) = args.source;
    common.product.import_ai_trader(common, config, *args).await
}
