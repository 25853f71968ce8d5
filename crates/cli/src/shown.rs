//! `papertape shown`

use super::failure::of_view;
use super::output::{json, note, say, table, text_of};
use super::record_access::job_named;
use super::{Common, Outcome, record_access};
use clap::{Args, Subcommand, ValueEnum};
use papertape_core::time::{Date, Timestamp, parse_date};
use papertape_service::config::Config;
use papertape_service::view::{self, SeenByKind, SeenByQuery, SeenByRead, SeenBySession};
use std::process::ExitCode;

/// What was shown.
#[derive(Debug, Args)]
pub(super) struct ShownArgs {
    /// What it is.
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    page: PageArgs,
}

/// How many, and from where on.
#[derive(Clone, Debug, Args)]
struct PageArgs {
    /// How many sessions at most [default: 50]
    #[arg(long, global = true, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: Option<u32>,
    /// Where the page before ended
    #[arg(long, global = true)]
    cursor: Option<String>,
}

/// What it is.
#[derive(Debug, Subcommand)]
enum What {
    /// A day's bar of an instrument, or several; its open is a part of it
    Bar(BarArgs),
    /// A news item
    News(NewsArgs),
    /// A figure of a company's reports
    Fundamental(FundamentalArgs),
    /// A value of a macroeconomic series
    Macro(MacroArgs),
    /// A memory of a trader
    Memory(MemoryArgs),
}

/// Of which sessions, and on which data.
#[derive(Debug, Args)]
struct Where {
    /// The dataset's name, or the first digits of its hash [default: the config's]
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Of sessions of this job alone, or of `latest`
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Of sessions of this agent alone
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
    /// The last day, included [default: the first]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    to: Option<Date>,
    #[command(flatten)]
    place: Where,
}

#[derive(Debug, Args)]
struct NewsArgs {
    /// Its id in the dataset
    id: String,
    #[command(flatten)]
    place: Where,
}

#[derive(Debug, Args)]
struct FundamentalArgs {
    /// The instrument
    symbol: String,
    /// What it measures, as `revenue`
    metric: String,
    /// The last day of its period
    #[arg(value_name = "YYYY-MM-DD", value_parser = parse_date)]
    period: Date,
    /// As it was published at this instant [default: as it ever was]
    #[arg(long, value_name = "INSTANT")]
    published_at: Option<Timestamp>,
    #[command(flatten)]
    place: Where,
}

#[derive(Debug, Args)]
struct MacroArgs {
    /// The series, as `CPIAUCSL`
    series: String,
    /// The first day of its period
    #[arg(value_name = "YYYY-MM-DD", value_parser = parse_date)]
    period: Date,
    /// As it was published at this instant [default: as it ever was]
    #[arg(long, value_name = "INSTANT")]
    published_at: Option<Timestamp>,
    #[command(flatten)]
    place: Where,
}

#[derive(Debug, Args)]
struct MemoryArgs {
    /// What kind
    kind: MemoryKind,
    /// Its id: the round's, the position's or the trade's
    id: String,
    /// The job whose memory it is, or `latest`
    #[arg(long, value_name = "JOB")]
    job: String,
    /// The agent whose memory it is
    #[arg(long, value_name = "NAME")]
    agent: String,
}

/// A kind of memory.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum MemoryKind {
    /// A round
    Round,
    /// The thesis of a position that was open
    OpenPosition,
    /// A reflection on a closed trade
    Trade,
}

/// Prints the sessions that were shown it.
pub(super) async fn shown(common: &Common, config: Config, args: ShownArgs) -> Outcome {
    let usual = config.simulation.dataset.clone();
    let app = record_access::to_read(common, config).await?;
    let mut query = query(args.what, &usual);
    query.limit = args.page.limit;
    query.cursor = args.page.cursor;
    if let Some(job) = &query.job_id {
        query.job_id = Some(job_named(&app, job).await?.to_string());
    }
    let answer = view::seen_by(&app, &query).await.map_err(of_view)?;
    if common.json {
        json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    if answer.sessions.is_empty() {
        note!("no session was shown it");
    } else {
        let mut rows = table(["session", "job", "day", "agent", "shown by", "message", "times"]);
        for session in &answer.sessions {
            rows.add_row(row(session));
        }
        say(text_of(&rows))?;
    }
    if let Some(cursor) = answer.next_cursor {
        note!("there are more sessions: the same with --cursor {cursor}");
    }
    Ok(ExitCode::SUCCESS)
}

fn row(session: &SeenBySession) -> [String; 7] {
    let first = session.reads.first();
    let by = |read: &SeenByRead| match &read.tool {
        Some(tool) => format!("{} ({tool})", read.path),
        None => read.path.clone(),
    };
    [
        session.session_id.to_string(),
        session.job_id.clone(),
        session.date.to_string(),
        session.model.clone(),
        first.map(by).unwrap_or_default(),
        first.and_then(|read| read.message_index).map(|index| index.to_string()).unwrap_or_default(),
        session.read_count.to_string(),
    ]
}

fn query(what: What, usual: &str) -> SeenByQuery {
    let none = |kind| SeenByQuery {
        kind,
        dataset: None,
        symbol: None,
        from: None,
        to: None,
        news_id: None,
        metric: None,
        series: None,
        period: None,
        published_at: None,
        memory_id: None,
        job_id: None,
        model: None,
        limit: None,
        cursor: None,
    };
    let at = |kind, place: Where| SeenByQuery {
        dataset: Some(place.dataset.unwrap_or_else(|| usual.to_owned())),
        job_id: place.job,
        model: place.agent,
        ..none(kind)
    };
    match what {
        What::Bar(BarArgs { symbol, from, to, place }) => {
            SeenByQuery { symbol: Some(symbol), from: Some(from), to, ..at(SeenByKind::Bar, place) }
        }
        What::News(NewsArgs { id, place }) => {
            SeenByQuery { news_id: Some(id), ..at(SeenByKind::News, place) }
        }
        What::Fundamental(FundamentalArgs { symbol, metric, period, published_at, place }) => SeenByQuery {
            symbol: Some(symbol),
            metric: Some(metric),
            period: Some(period),
            published_at,
            ..at(SeenByKind::Fundamental, place)
        },
        What::Macro(MacroArgs { series, period, published_at, place }) => SeenByQuery {
            series: Some(series),
            period: Some(period),
            published_at,
            ..at(SeenByKind::Macro, place)
        },
        What::Memory(MemoryArgs { kind, id, job, agent }) => SeenByQuery {
            memory_id: Some(id),
            job_id: Some(job),
            model: Some(agent),
            ..none(match kind {
                MemoryKind::Round => SeenByKind::TraderRound,
                MemoryKind::OpenPosition => SeenByKind::OpenPositionContext,
                MemoryKind::Trade => SeenByKind::Trade,
            })
        },
    }
}
