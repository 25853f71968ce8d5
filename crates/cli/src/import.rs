//! `papertape import`

use super::data::Exchange;
use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_agents::config::MemoryMode;
use papertape_core::language::Language;
use papertape_core::message::ModelName;
use papertape_service::config::Config;
use rust_decimal::Decimal;
use std::path::PathBuf;

/// Arguments of `papertape import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    source: ImportSource,
}

/// The tool whose runs are imported.
#[derive(Debug, Subcommand)]
pub enum ImportSource {
    /// Import AI-Trader's runs
    ///
    /// Reads prices, position.jsonl and log.jsonl. Without --write, only reports what would be written.
    AiTrader(Box<AiTraderArgs>),
    /// Import TradingAgents' analyses
    ///
    /// Reads full state logs, the memory log and the output of a backtest. Without --write, only reports what would be
    /// written.
    #[command(name = "tradingagents")]
    TradingAgents(Box<TradingAgentsArgs>),
    /// Import StockBench's runs and its data
    ///
    /// Reads trades, NAV and metrics of backtests, and the prices, dividends, splits and news of the storage. Without
    /// --write, only reports what would be written.
    #[command(name = "stockbench")]
    StockBench(Box<StockBenchArgs>),
}

/// What and how to write. The same for every tool.
#[derive(Debug, Args)]
pub struct WriteArgs {
    /// Write the jobs; without this, only report what would be written
    #[arg(long)]
    pub write: bool,
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
    /// Import despite disagreements, recomputed where possible; the job lists them
    #[arg(long)]
    pub accept_disagreements: bool,
    /// Import again, and mark the earlier job as superseded
    #[arg(long)]
    pub replace: bool,
}

/// Arguments of `papertape import ai-trader`.
#[derive(Debug, Args)]
pub struct AiTraderArgs {
    /// AI-Trader's data folder: prices, and agent_data/AGENT/position and log
    pub dir: PathBuf,
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
    /// Skip log lines that cannot be read, and list them in the job's warnings
    #[arg(long)]
    pub skip_unreadable: bool,
    /// What and how to write
    #[command(flatten)]
    pub options: WriteArgs,
}

/// Arguments of `papertape import tradingagents`.
#[derive(Debug, Args)]
pub struct TradingAgentsArgs {
    /// TradingAgents' results, its home folder, or any folder with its files
    pub dir: PathBuf,
    /// Dataset that defines the trading days
    #[arg(long, value_name = "NAME")]
    pub dataset: String,
    /// Name of the imported agent
    #[arg(long, value_name = "NAME", default_value = "tradingagents")]
    pub agent: String,
    /// Cash of the account, for a branch that continues trading. The files have no account
    #[arg(long, value_name = "AMOUNT", default_value = "0")]
    pub initial_cash: Decimal,
    /// Skip lines of the decision store that cannot be read, and list them in the job's warnings
    #[arg(long)]
    pub skip_unreadable: bool,
    /// What and how to write
    #[command(flatten)]
    pub options: WriteArgs,
}

/// Arguments of `papertape import stockbench`.
#[derive(Debug, Args)]
pub struct StockBenchArgs {
    /// StockBench's folder, its storage, or the folder of one run
    pub dir: PathBuf,
    /// Import only this run; repeat for more [default: all]
    #[arg(long = "agent", value_name = "NAME")]
    pub agents: Vec<String>,
    /// StockBench's storage with prices and news [default: found in or above the folder]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Name of the dataset created from the storage
    #[arg(long, default_value = "stockbench")]
    pub name: String,
    /// Use this dataset instead of the storage's prices
    #[arg(long, value_name = "NAME", conflicts_with_all = ["name", "data"])]
    pub dataset: Option<String>,
    /// Initial cash of runs whose files do not state it
    #[arg(long, value_name = "AMOUNT")]
    pub initial_cash: Option<Decimal>,
    /// What and how to write
    #[command(flatten)]
    pub options: WriteArgs,
}

pub(super) async fn import(common: &Common, config: Config, args: ImportArgs) -> Outcome {
    common.product.import_runs(common, config, args.source).await
}
