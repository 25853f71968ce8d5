//! `papertape leaderboard`

use super::args::whole;
use super::failure::{FAILED, not_found, service_error};
use super::output::{
    DEFAULT_WIDTH, counted, layout, note, only_json, percent, say, terminal_width, width, wrap,
};
use super::terminal::terminal_language;
use super::{Common, Outcome, output, record_access};
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use papertape_core::language::Language;
use papertape_protocol::leaderboard::{
    Board, LeaderboardEntry, LeaderboardQuery, LeaderboardResponse, MAX_BOARDS,
};
use papertape_service::config::Config;
use papertape_service::leaderboard_site::{Site, build_site};
use papertape_service::view;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct LeaderboardArgs {
    #[command(subcommand)]
    command: Option<LeaderboardCommand>,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Debug, Args)]
struct FilterArgs {
    /// Only this board
    #[arg(long, value_name = "ID")]
    board: Option<String>,
    /// Boards on this dataset, by name or hash
    #[arg(long, value_name = "DATASET")]
    dataset: Option<String>,
    /// Boards of this market profile
    #[arg(long, value_name = "MARKET")]
    market: Option<String>,
    /// Boards with a run of this model or agent
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Only list the boards, without entries
    #[arg(long)]
    summary: bool,
    /// Max boards, 1 to 100 [default: 10]
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u32..=MAX_BOARDS))]
    limit: Option<u32>,
}

#[derive(Debug, Subcommand)]
enum LeaderboardCommand {
    /// Build a static site from verified bundles
    Build(BuildArgs),
}

#[derive(Debug, Args)]
struct BuildArgs {
    /// Directory with bundles (*.zip)
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Directory of the site; it must not exist, or be empty
    #[arg(long, value_name = "SITE")]
    out: PathBuf,
    /// Replace the leaderboard site that is there
    #[arg(long)]
    replace: bool,
    /// Language of the site: en or zh [default: the terminal's, else en]
    #[arg(long, value_parser = str::parse::<Language>)]
    language: Option<Language>,
}

impl LeaderboardArgs {
    /// Whether the command reads bundles only, and no database.
    pub(super) fn is_build(&self) -> bool {
        self.command.is_some()
    }
}

pub(super) async fn leaderboard(common: &Common, config: Config, args: LeaderboardArgs) -> Outcome {
    if let Some(LeaderboardCommand::Build(args)) = args.command {
        return build(common, args).await;
    }
    let filter = args.filter;
    let query = LeaderboardQuery {
        board: filter.board,
        dataset: filter.dataset,
        market: filter.market,
        model: filter.model,
        summary: filter.summary,
        limit: filter.limit,
    };
    let app = record_access::open_read_only(common, config).await?;
    let response = view::leaderboard(&app, query).await.map_err(service_error)?;
    if common.json {
        return only_json(&response);
    }
    print(&response)?;
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: [&str; 11] = [
    "rank",
    "entry",
    ">trials",
    ">return",
    ">95% interval",
    ">Sharpe, 95%",
    ">max drawdown",
    ">model cost",
    ">degraded",
    ">days",
    "marks",
];

fn print(response: &LeaderboardResponse) -> Result<()> {
    if response.boards.is_empty() {
        note!("no board; a board needs a completed run, such as `papertape run --demo`");
    }
    for (at, board) in response.boards.iter().enumerate() {
        if at > 0 {
            say("")?;
        }
        print_board(board)?;
    }
    let excluded = response.excluded;
    let runs = excluded.branches + excluded.continued + excluded.with_memory;
    if runs > 0 {
        note!(
            "{} on no board, because they do not start fresh: {} of branches, {} that continue an account, {} with the \
             memory of another job",
            counted(runs as u64, "run"),
            excluded.branches,
            excluded.continued,
            excluded.with_memory
        );
    }
    if excluded.unreadable > 0 {
        note!("{} whose config cannot be read", counted(excluded.unreadable as u64, "job"));
    }
    if response.is_truncated {
        note!(
            "truncated: {} of {} boards are shown, and boards evaluate at most 40 configurations; use --board, --dataset \
             or --limit",
            response.count,
            response.total
        );
    }
    Ok(())
}

fn print_board(board: &Board) -> Result<()> {
    let mask = board.mask.as_ref().map(|mask| format!(", mask {mask}")).unwrap_or_default();
    let title = format!(
        "board {}: {} ({}), {}, {}, {}, fill {}{mask}, {} to {}: {}, {}",
        board.board_id,
        board.dataset,
        board.dataset_hash.get(..8).unwrap_or_default(),
        board.market,
        board.universe,
        board.costs,
        board.fill,
        board.start_date,
        board.end_date,
        counted(board.configurations as u64, "configuration"),
        counted(board.runs as u64, "run")
    );
    say(wrap(&title, width(), ""))?;
    let Some(entries) = &board.entries else { return Ok(()) };
    let rows: Vec<_> = entries.iter().map(row).collect();
    say(layout(COLUMNS, &rows, terminal_width().unwrap_or(DEFAULT_WIDTH)))?;
    for entry in entries {
        for warning in warnings(entry) {
            say(wrap(&format!("{}: {warning}", entry.label), width(), "  "))?;
        }
    }
    let tests = format!(
        "Ranked: {} of {}, by {} adjusted by Holm. Entries whose ranks overlap are not distinguishable.",
        board.ranked,
        entries.len(),
        counted(board.tests as u64, "test")
    );
    say(wrap(&tests, width(), ""))?;
    for code in &board.notes {
        note!("note: {}", caveat(code));
    }
    Ok(())
}

fn row(entry: &LeaderboardEntry) -> [String; COLUMNS.len()] {
    let dash = || "-".to_owned();
    let rank = entry.rank.map_or_else(dash, |rank| match rank.best == rank.worst {
        true => rank.best.to_string(),
        false => format!("{}-{}", rank.best, rank.worst),
    });
    let interval = entry.interval.map_or_else(dash, |bounds| {
        format!("{} to {}", percent(Some(bounds.low)), percent(Some(bounds.high)))
    });
    let sharpe = entry.sharpe.map_or_else(dash, |sharpe| {
        let bounds = sharpe.interval;
        format!("{:.2} ({:.2} to {:.2})", sharpe.annualized, bounds.low, bounds.high)
    });
    let degraded = entry.quality.and_then(|quality| quality.degraded_share);
    [
        rank,
        entry.label.clone(),
        entry.trials.to_string(),
        percent(entry.total_return),
        interval,
        sharpe,
        percent(entry.max_drawdown),
        entry.model_cost_usd.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost}")),
        degraded.map_or_else(dash, |share| format!("{:.1}%", 100.0 * share)),
        entry.days.to_string(),
        marks(entry).join(", "),
    ]
}

/// What an entry is, in a few words.
fn marks(entry: &LeaderboardEntry) -> Vec<String> {
    let mut marks = Vec::new();
    match (entry.kind.as_str(), entry.is_llm) {
        ("baseline", _) => marks.push("baseline".to_owned()),
        (_, Some(false)) => marks.push("rules, not an LLM".to_owned()),
        _ => {}
    }
    marks.extend(entry.unranked.as_ref().map(|code| code.replace('_', " ")));
    if entry.point_in_time.as_deref() == Some("unverified") {
        marks.push("unverified".to_owned());
    }
    marks.extend(entry.mask.as_ref().map(|mask| format!("mask {mask}")));
    if entry.training_cutoffs.iter().any(|cutoff| cutoff.warning.is_some()) {
        marks.push("training cut-off".to_owned());
    }
    marks
}

fn warnings(entry: &LeaderboardEntry) -> Vec<String> {
    let mut found = Vec::new();
    if entry.unranked.as_deref() == Some("two_trials") {
        found.push("two trials support no claim; run a third".to_owned());
    }
    found.extend(entry.insolvent_on.map(|on| format!("lost everything on {on}")));
    found.extend(entry.interim.as_ref().map(|why| format!("interim: {why}")));
    found.extend(entry.point_in_time_reason.as_ref().map(|why| format!("unverified: {}", why.sentence())));
    found.extend(entry.imported_from.as_ref().map(|program| format!("imported from {program}")));
    found.extend(entry.training_cutoffs.iter().filter_map(|cutoff| cutoff.warning.clone()));
    if let Some(quality) = entry.quality.filter(|quality| quality.no_decision_days > 0) {
        found.push(format!("no decision on {}", counted(quality.no_decision_days as u64, "day")));
    }
    if entry.omitted_runs > 0 {
        found.push(format!("{} not counted as trials", counted(entry.omitted_runs as u64, "more run")));
    }
    found
}

fn caveat(code: &str) -> &str {
    match code {
        "single_runs" => "an entry of one trial is about that run, not about a model: run 3 or more trials",
        "mixed_trials" => "single runs are not compared with configurations of three or more trials",
        "no_baseline" => "buy and hold is missing: the dataset is not available",
        "omitted_runs" => {
            "repeated days, repeated runs of rules and trials beyond the newest 10 are not counted as trials"
        }
        other => other,
    }
}

async fn build(common: &Common, args: BuildArgs) -> Outcome {
    if !args.dir.is_dir() {
        return Err(not_found(format!("no such directory: {}", args.dir.display())));
    }
    let language = args.language.or_else(terminal_language).unwrap_or(Language::En);
    let (dir, out, replace) = (args.dir, args.out.clone(), args.replace);
    // Verification reads and hashes every byte.
    let built = tokio::task::spawn_blocking(move || build_site(&dir, &out, language, replace)).await;
    let site = built.context("the build stopped")??;
    if common.json {
        output::json(&site)?;
    } else {
        print_site(&site)?;
    }
    if !site.is_complete() {
        let missing = site.bundles.iter().filter(|bundle| !bundle.is_included).count();
        note!("{} not included; the site names them with the reason", counted(missing as u64, "bundle"));
        return Ok(ExitCode::from(FAILED));
    }
    note!("open {} in a browser", args.out.join("index.html").display());
    Ok(ExitCode::SUCCESS)
}

fn print_site(site: &Site) -> Result<()> {
    let mut rows = output::table(["bundle", "result", "sha256"]);
    for bundle in &site.bundles {
        let result = if bundle.is_included { "intact" } else { "NOT INCLUDED" };
        rows.add_row([bundle.file.as_str(), result, bundle.sha256.as_str()]);
    }
    say(output::text_of(&rows))?;
    for bundle in &site.bundles {
        for reason in &bundle.reasons {
            say(wrap(&format!("{}: {reason}", bundle.file), width(), "  "))?;
        }
    }
    let boards = site.boards.len();
    let runs: usize = site.boards.iter().map(|board| board.runs).sum();
    say(format_args!("{} with {}", counted(boards as u64, "board"), counted(runs as u64, "run")))
}
