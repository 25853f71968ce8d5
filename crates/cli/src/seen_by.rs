//! `papertape seen-by`

use super::args::whole;
use super::failure::service_error;
use super::output::{note, only_json, say, table, text_of};
use super::record_access::find_filter;
use super::{Common, Outcome, record_access};
use clap::{Args, Subcommand, ValueEnum};
use papertape_core::time::{Date, Timestamp, parse_date};
use papertape_protocol::exposures::{SeenByKind, SeenByQuery, SeenByRead, SeenBySession};
use papertape_service::config::Config;
use papertape_service::view;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct SeenByArgs {
    #[command(subcommand)]
    item: Item,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Clone, Debug, Args)]
struct PageArgs {
    /// Max sessions, 1 to 200 [default: 50]
    #[arg(long, global = true, value_name = "COUNT", value_parser = whole(1_u32..=200))]
    limit: Option<u32>,
    /// Continue after a cursor from an earlier page
    #[arg(long, global = true)]
    cursor: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Item {
    /// Find sessions that saw an instrument's daily bars
    Bar(BarArgs),
    /// Find sessions that saw a news item
    News(NewsArgs),
    /// Find sessions that saw a company's fundamental
    Fundamental(FundamentalArgs),
    /// Find sessions that saw a value of a macroeconomic series
    Macro(MacroArgs),
    /// Find sessions that saw a trader's memory
    Memory(MemoryArgs),
}

#[derive(Debug, Args)]
struct FilterArgs {
    /// The dataset's name, or six or more digits of its hash [default: the configured one]
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Only this job, or `latest`
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

#[derive(Debug, Args)]
struct BarArgs {
    /// The instrument
    symbol: String,
    /// The first day
    #[arg(value_name = "YYYY-MM-DD", value_parser = parse_date)]
    from: Date,
    /// The last day, inclusive [default: the first]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    to: Option<Date>,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Debug, Args)]
struct NewsArgs {
    /// The item's ID in the dataset
    id: String,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Debug, Args)]
struct FundamentalArgs {
    /// The instrument
    symbol: String,
    /// The metric, such as revenue
    metric: String,
    /// The last day of its period
    #[arg(value_name = "YYYY-MM-DD", value_parser = parse_date)]
    period: Date,
    /// Only the value published at this instant [default: all]
    #[arg(long, value_name = "INSTANT")]
    published_at: Option<Timestamp>,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Debug, Args)]
struct MacroArgs {
    /// The series, such as CPIAUCSL
    series: String,
    /// The first day of its period
    #[arg(value_name = "YYYY-MM-DD", value_parser = parse_date)]
    period: Date,
    /// Only the value published at this instant [default: all]
    #[arg(long, value_name = "INSTANT")]
    published_at: Option<Timestamp>,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Debug, Args)]
struct MemoryArgs {
    /// The kind of memory
    kind: MemoryKind,
    /// The ID of the round, the position or the trade
    id: String,
    /// The job that the memory belongs to, or `latest`
    #[arg(long, value_name = "JOB")]
    job: String,
    /// The agent that the memory belongs to
    #[arg(long, value_name = "NAME")]
    agent: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MemoryKind {
    /// A round memory
    Round,
    /// The thesis of an open position
    OpenPosition,
    /// A reflection on a closed trade
    Trade,
}

pub(super) async fn seen_by(common: &Common, config: Config, args: SeenByArgs) -> Outcome {
    let default_dataset = config.simulation.dataset.clone();
    let app = record_access::open_read_only(common, config).await?;
    let mut query = query(args.item, &default_dataset);
    query.limit = args.page.limit;
    query.cursor = args.page.cursor;
    query.job_id = find_filter(&app, query.job_id.as_deref()).await?;
    let response = view::seen_by(&app, &query).await.map_err(service_error)?;
    if common.json {
        return only_json(&response);
    }
    if response.sessions.is_empty() {
        note!("no session saw it");
    } else {
        let mut rows = table(["session", "job", "day", "agent", "first step", "message", "reads"]);
        for session in &response.sessions {
            rows.add_row(row(session));
        }
        say(text_of(&rows))?;
    }
    if let Some(cursor) = response.next_cursor {
        note!("more sessions: repeat the command with --cursor {cursor}");
    }
    Ok(ExitCode::SUCCESS)
}

fn row(session: &SeenBySession) -> [String; 7] {
    let first = session.reads.first();
    let step = |read: &SeenByRead| match &read.tool {
        Some(tool) => format!("{} ({tool})", read.path),
        None => read.path.clone(),
    };
    [
        session.session_id.to_string(),
        session.job_id.clone(),
        session.date.to_string(),
        session.model.clone(),
        first.map(step).unwrap_or_default(),
        first.and_then(|read| read.message_index).map(|index| index.to_string()).unwrap_or_default(),
        session.read_count.to_string(),
    ]
}

fn query(item: Item, default_dataset: &str) -> SeenByQuery {
    let filtered = |kind, filter: FilterArgs| SeenByQuery {
        dataset: Some(filter.dataset.unwrap_or_else(|| default_dataset.to_owned())),
        job_id: filter.job,
        model: filter.agent,
        kind,
        ..SeenByQuery::default()
    };
    match item {
        Item::Bar(BarArgs { symbol, from, to, filter }) => {
            SeenByQuery { symbol: Some(symbol), from: Some(from), to, ..filtered(SeenByKind::Bar, filter) }
        }
        Item::News(NewsArgs { id, filter }) => {
            SeenByQuery { news_id: Some(id), ..filtered(SeenByKind::News, filter) }
        }
        Item::Fundamental(FundamentalArgs { symbol, metric, period, published_at, filter }) => SeenByQuery {
            symbol: Some(symbol),
            metric: Some(metric),
            period: Some(period),
            published_at,
            ..filtered(SeenByKind::Fundamental, filter)
        },
        Item::Macro(MacroArgs { series, period, published_at, filter }) => SeenByQuery {
            series: Some(series),
            period: Some(period),
            published_at,
            ..filtered(SeenByKind::Macro, filter)
        },
        Item::Memory(MemoryArgs { kind, id, job, agent }) => SeenByQuery {
            memory_id: Some(id),
            job_id: Some(job),
            model: Some(agent),
            kind: match kind {
                MemoryKind::Round => SeenByKind::TraderRound,
                MemoryKind::OpenPosition => SeenByKind::OpenPositionContext,
                MemoryKind::Trade => SeenByKind::Trade,
            },
            ..SeenByQuery::default()
        },
    }
}
