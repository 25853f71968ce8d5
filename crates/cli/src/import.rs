//! `papertape import`

use super::data::Exchange;
use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_agents::config::Language;
use papertape_agents::memory::MemoryMode;
use papertape_core::message::ModelName;
use papertape_service::config::Config;
use std::path::PathBuf;

/// What to import.
#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    from: From,
}

/// The tool that recorded the runs.
#[derive(Debug, Subcommand)]
pub enum From {
    /// Runs of AI-Trader: its prices, position.jsonl and log.jsonl. Tells what would be written, and writes it
    /// with --write
    AiTrader(Box<AiTraderArgs>),
}

/// What of AI-Trader's to import, and how.
#[derive(Debug, Args)]
pub struct AiTraderArgs {
    /// AI-Trader's data folder: prices, and agent_data/AGENT/position and log
    pub dir: PathBuf,
    /// Write it; without this, only tell what would be written
    #[arg(long)]
    pub write: bool,
    /// An agent's folder; repeat for more [default: all]
    #[arg(long = "only", value_name = "AGENT")]
    pub only: Vec<String>,
    /// The name of the dataset that the prices become
    #[arg(long, default_value = "ai-trader")]
    pub name: String,
    /// A dataset that is at hand, in place of the folder's prices
    #[arg(long, value_name = "NAME", conflicts_with = "name")]
    pub dataset: Option<String>,
    /// Zone, hours, currency and market of the exchange; trades were free of fees
    #[arg(long, value_enum, default_value_t = Exchange::Us)]
    pub exchange: Exchange,
    /// The model that writes memories and summaries, for the one that spoke cannot be asked
    #[arg(long, value_name = "PROVIDER::MODEL", default_value = "house::momentum")]
    pub writer: ModelName,
    /// The language of the memories: en or zh
    #[arg(long, value_parser = language, default_value = "en")]
    pub language: Language,
    /// Which of the traders' memories are written: off, rounds, rounds+open, all [default: all]
    #[arg(long, value_name = "SETTING")]
    pub memory: Option<MemoryMode>,
    /// Do not summarise what agents said
    #[arg(long)]
    pub no_summaries: bool,
    /// Leave lines of logs out that cannot be read, as a process that was killed leaves its last one; they are
    /// told, and stand in the job
    #[arg(long)]
    pub skip_unreadable: bool,
    /// Import books that do not add up as actions and prices have them; what differs stands in the job
    #[arg(long)]
    pub accept_disagreements: bool,
    /// Import once more what is there, and mark the job that has it as superseded
    #[arg(long)]
    pub replace: bool,
}

fn language(text: &str) -> Result<Language, String> {
    [Language::En, Language::Zh]
        .into_iter()
        .find(|language| language.as_str() == text)
        .ok_or_else(|| format!("`{text}` is none of: en, zh"))
}

/// Imports it.
pub(super) async fn import(common: &Common, config: Config, args: ImportArgs) -> Outcome {
    let From::AiTrader(args) = args.from;
    common.product.import_ai_trader(common, config, *args).await
}
