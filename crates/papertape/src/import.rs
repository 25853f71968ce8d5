//! `papertape import`

use super::{Common, Outcome, execute, record_access};
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use papertape_agents::config::Language;
use papertape_agents::memory::MemoryMode;
use papertape_agents::prompt::PromptSet;
use papertape_cli::data::{Exchange, of_market, of_taken, parse_hours};
use papertape_cli::failure::{FAILED, of_trigger, of_view, usage};
use papertape_cli::output::{count, json, money, note, percent, say, table, text_of};
use papertape_core::broker::MarketProfile;
use papertape_core::market::Dataset;
use papertape_core::message::ModelName;
use papertape_core::record::JobStatus;
use papertape_integrations::ai_trader::dry_run::{self, InMemoryHost};
use papertape_integrations::ai_trader::{
    self, AiTraderReport, CappedList, Layout, RecordedAgent, ReportLine,
};
use papertape_market::Catalogue;
use papertape_market::import::{ImportError, ImportOptions, Source, import as read_prices};
use papertape_service::app::{Access, App, database_file};
use papertape_service::config::Config;
use papertape_service::trigger::{self, ImportRequest, PlannedImport};
use papertape_service::view::{self, number};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// How many disagreements a job carries word by word; its sessions have all that they come to.
const WARNINGS: usize = 100;

/// What to import.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, Subcommand)]
enum From {
    /// Runs of AI-Trader: its prices, position.jsonl and log.jsonl. Tells what would be written, and writes it
    /// with --write
    AiTrader(Box<AiTraderArgs>),
}

/// What of AI-Trader's to import, and how.
#[derive(Debug, Args)]
struct AiTraderArgs {
    /// AI-Trader's data folder: prices, and agent_data/AGENT/position and log
    dir: PathBuf,
    /// Write it; without this, only tell what would be written
    #[arg(long)]
    write: bool,
    /// An agent's folder; repeat for more [default: all]
    #[arg(long = "only", value_name = "AGENT")]
    only: Vec<String>,
    /// The name of the dataset that the prices become
    #[arg(long, default_value = "ai-trader")]
    name: String,
    /// A dataset that is at hand, in place of the folder's prices
    #[arg(long, value_name = "NAME", conflicts_with = "name")]
    dataset: Option<String>,
    /// Zone, hours, currency and market of the exchange; trades were free of fees
    #[arg(long, value_enum, default_value_t = Exchange::Us)]
    exchange: Exchange,
    /// The model that writes memories and summaries, for the one that spoke cannot be asked
    #[arg(long, value_name = "PROVIDER::MODEL", default_value = "house::momentum")]
    writer: ModelName,
    /// The language of the memories: en or zh
    #[arg(long, value_parser = language, default_value = "en")]
    language: Language,
    /// Which of the traders' memories are written: off, rounds, rounds+open, all [default: all]
    #[arg(long, value_name = "SETTING")]
    memory: Option<MemoryMode>,
    /// Do not summarise what agents said
    #[arg(long)]
    no_summaries: bool,
    /// Leave lines of logs out that cannot be read, as a process that was killed leaves its last one; they are
    /// told, and stand in the job
    #[arg(long)]
    skip_unreadable: bool,
    /// Import books that do not add up as actions and prices have them; what differs stands in the job
    #[arg(long)]
    accept_disagreements: bool,
    /// Import once more what is there, and mark the job that has it as superseded
    #[arg(long)]
    replace: bool,
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
    let layout = ai_trader::find(&args.dir).map_err(|error| usage(error.to_string()))?;
    check_names(&layout, &args)?;
    let mut report = AiTraderReport { skips_unreadable: args.skip_unreadable, ..AiTraderReport::default() };
    for (what, why) in &layout.skipped {
        report.skip(what, why);
    }
    let market = market(args.exchange)?;
    let catalogue = Catalogue::at(config.datasets_dir());
    let found = match prices(&catalogue, &layout, &args, &mut report)? {
        Some(dataset) => {
            let agents = ai_trader::read(&layout, &dataset, &args.only, &mut report)?;
            try_out(&dataset, &market, &agents, &mut report).await?;
            report.reject(args.accept_disagreements);
            Some((dataset, agents))
        }
        None => None,
    };
    let request = ImportRequest {
        source: args.dir.display().to_string(),
        market,
        writer: args.writer.clone(),
        language: args.language,
        memory: args.memory,
        summaries: args.no_summaries.then_some(false),
        warnings: warnings(&report),
    };
    let can_write = can_be_written(&report, &args);
    let Some((dataset, agents)) = found.as_ref().filter(|_| args.write && can_write) else {
        let jobs = match &found {
            Some((dataset, agents)) if can_write => there(config, dataset, agents, &request).await?,
            _ => Vec::new(),
        };
        print_report(common, &report, &jobs)?;
        return Ok(end(&report, &args, can_write));
    };
    if !common.json {
        print_report(common, &report, &[])?;
    }
    let app = record_access::open_exclusive(common, config, Access::Own).await?;
    let plans = trigger::plan_import(&app, dataset, agents, &request).map_err(of_trigger)?;
    if args.dataset.is_none() {
        let market = args.exchange.habits().3;
        app.catalogue.store(dataset, Some(market), false).map_err(of_name_taken)?;
    }
    write(common, &app, plans, &args, &report).await
}

/// Every agent that was named is there.
fn check_names(layout: &Layout, args: &AiTraderArgs) -> Result<()> {
    let known: Vec<&str> = layout.agents.iter().map(|agent| agent.name.as_str()).collect();
    if known.is_empty() {
        let dir = args.dir.display();
        return Err(usage(format!("{dir} has no AGENT/position/position.jsonl, nor has its agent_data")));
    }
    match args.only.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => {
            Err(usage(format!("--only: there is no agent `{name}`; there are: {}", known.join(", "))))
        }
        None => Ok(()),
    }
}

fn of_name_taken(error: papertape_market::MarketError) -> anyhow::Error {
    match error {
        papertape_market::MarketError::NameTaken { .. } => {
            of_market(error).context("the name stands for other prices; --name gives these one of their own")
        }
        other => of_taken(other),
    }
}

/// The exchange's rules as AI-Trader has them: nothing costs a fee, nothing is lent, and neither volume nor price
/// limits bound an order.
fn market(exchange: Exchange) -> Result<MarketProfile> {
    let name = exchange.habits().3;
    let preset = MarketProfile::preset(name).with_context(|| format!("there is no market {name}"))?;
    Ok(MarketProfile { board_lots: Vec::new(), ..preset.frictionless().without_price_limits() })
}

/// The prices: a dataset at hand, or one made of the folder's files. `None`: rows of them were refused.
fn prices(
    catalogue: &Catalogue,
    layout: &Layout,
    args: &AiTraderArgs,
    report: &mut AiTraderReport,
) -> Result<Option<Arc<Dataset>>> {
    let (dataset, files) = match &args.dataset {
        Some(name) => (catalogue.open(name).map_err(of_market)?, 0),
        None => match made(layout, args, report)? {
            Some(dataset) => (Arc::new(dataset), layout.prices.len()),
            None => return Ok(None),
        },
    };
    report.dataset = ai_trader::DatasetReport {
        name: dataset.name().to_owned(),
        hash: dataset.hash().to_hex(),
        symbols: dataset.all_symbols().count(),
        days: dataset.days().len(),
        bars: dataset.bar_count(),
        is_there: catalogue.find(&dataset.hash().to_hex()).is_ok(),
        files,
    };
    Ok(Some(dataset))
}

fn made(layout: &Layout, args: &AiTraderArgs, report: &mut AiTraderReport) -> Result<Option<Dataset>> {
    if layout.prices.is_empty() {
        let dir = args.dir.display();
        let message =
            format!("{dir} has neither merged.jsonl nor daily_prices_*.json; --dataset names prices");
        return Err(usage(message));
    }
    papertape_market::check_name(&args.name).map_err(of_market)?;
    let (zone, hours, currency, _) = args.exchange.habits();
    let options = ImportOptions {
        name: args.name.clone(),
        zone: zone.to_owned(),
        hours: parse_hours(zone, hours).map_err(usage)?,
        currency: currency.to_owned(),
        format: None,
        symbol: None,
        interval: None,
        basis: None,
    };
    let sources: Vec<Source> = layout.prices.iter().map(Source::file).collect();
    match read_prices(&sources, &options, None, &mut |_| {}) {
        Ok(imported) => {
            imported.report.notes.iter().for_each(|one| report.note(format!("prices: {one}")));
            Ok(Some(imported.dataset))
        }
        Err(ImportError::Refused(refused)) => {
            for refusal in &refused.refusals {
                let at = ai_trader::RowPlace { file: refusal.file.clone(), line: refusal.line };
                report.problem(at, refusal.reason.clone());
            }
            report.problems.count = refused.refused.max(report.problems.count);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Runs every agent's days without keeping them.
async fn try_out(
    dataset: &Dataset,
    market: &MarketProfile,
    agents: &[RecordedAgent],
    report: &mut AiTraderReport,
) -> Result<()> {
    let prompts = PromptSet::with_overrides(BTreeMap::new()).context("prompts")?;
    for together in trigger::by_cash(agents).into_values() {
        let symbols = trigger::symbols_of(dataset, &together);
        let days = trigger::days_of(dataset, &together);
        let world = InMemoryHost { dataset, market, symbols: &symbols, days, prompts: &prompts };
        for agent in together {
            dry_run::run(&world, agent, report).await?;
        }
    }
    Ok(())
}

/// What whoever reads the job should know.
fn warnings(report: &AiTraderReport) -> Vec<String> {
    let mut warnings = vec![
        "its days were traded elsewhere, and nobody knows what its agents were shown there, so its results carry \
         point_in_time = unverified"
            .to_owned(),
    ];
    let unreadable = &report.unreadable;
    warnings.extend(unreadable.first.iter().take(WARNINGS).map(|one| format!("left out: {one}")));
    let more = unreadable.count.saturating_sub(WARNINGS as u64);
    if more > 0 {
        warnings.push(format!("left out: {} more lines of logs", count(more)));
    }
    let told = &report.disagreements;
    warnings.extend(told.first.iter().take(WARNINGS).map(|one| format!("books: {one}")));
    let more = told.count.saturating_sub(WARNINGS as u64);
    if more > 0 {
        warnings.push(format!("books: {} more disagreements", count(more)));
    }
    warnings
}

fn can_be_written(report: &AiTraderReport, args: &AiTraderArgs) -> bool {
    let adds_up = report.disagreements.count == 0 || args.accept_disagreements;
    report.problems.count == 0 && adds_up && !report.agents.is_empty()
}

/// A job of an import, for its report.
fn job_of(job: &str, status: JobStatus, is_new: bool) -> Value {
    json!({ "job_id": job, "status": status, "imported": is_new })
}

/// The jobs that have this content already, where there is a record.
async fn there(
    config: Config,
    dataset: &Dataset,
    agents: &[RecordedAgent],
    request: &ImportRequest,
) -> Result<Vec<Value>> {
    let file = database_file(&config.data_dir, config.mode);
    if config.database_url.is_none() && !file.try_exists().with_context(|| file.display().to_string())? {
        return Ok(Vec::new());
    }
    let app = record_access::to_read(common, config).await?;
    let mut jobs = Vec::new();
    for plan in trigger::plan_import(&app, dataset, agents, request).map_err(of_trigger)? {
        if let Some(row) = plan.there(&app).await.map_err(of_trigger)? {
            jobs.push(job_of(row.id.as_str(), row.status, false));
        }
    }
    Ok(jobs)
}

/// Writes the jobs, one after the other, and runs their days.
async fn write(
    common: &Common,
    app: &App,
    plans: Vec<PlannedImport>,
    args: &AiTraderArgs,
    report: &AiTraderReport,
) -> Outcome {
    let mut jobs = Vec::new();
    let mut ends = ExitCode::SUCCESS;
    for plan in plans {
        let (job, queued) = trigger::import(app, plan, args.replace).await.map_err(of_trigger)?;
        if queued.is_none() {
            note!("job {job} has these days already: nothing is written; --replace imports them again");
        } else if common.json {
            execute::run_to_completion(app, &job).await?;
        } else {
            let ended = execute::run_local(app, common, &job).await?;
            if ended != ExitCode::SUCCESS {
                ends = ended;
            }
        }
        let query = view::StatusQuery::default();
        let status = view::status(app, job.as_str(), &query).await.map_err(of_view)?.status;
        if status != JobStatus::Completed && ends == ExitCode::SUCCESS {
            ends = ExitCode::from(FAILED);
        }
        jobs.push(job_of(job.as_str(), status, queued.is_some()));
    }
    if common.json {
        json(&json!({ "written": true, "jobs": jobs, "report": report }))?;
    }
    Ok(ends)
}

/// Tells what was found: the data to stdout, what is wrong or left out to stderr.
fn print_report(common: &Common, report: &AiTraderReport, jobs: &[Value]) -> Result<()> {
    if common.json {
        json(&json!({ "written": false, "jobs": jobs, "report": report }))?;
    } else {
        show(report)?;
    }
    each("left out", &report.skipped);
    each("left out, as it cannot be read", &report.unreadable);
    for (what, times) in &report.notes {
        note!(
            "note: {what}{}",
            if *times > 1 { format!(" ({} times)", count(*times)) } else { String::new() }
        );
    }
    each("cannot be read", &report.problems);
    each("does not add up", &report.disagreements);
    for job in jobs {
        note!("job {} has these days already ({})", text(&job["job_id"]), text(&job["status"]));
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// One sentence for each kind.
fn each<T: ReportLine>(what: &str, all: &CappedList<T>) {
    for kind in all.by_kind() {
        note!("{what}: {kind}");
    }
    let more = all.count.saturating_sub(all.first.len() as u64);
    if more > 0 {
        note!("{what}: {} more", count(more));
    }
}

/// An amount; `-` for an agent that is rejected.
fn figure(amount: Option<Decimal>) -> String {
    amount.map_or_else(|| "-".to_owned(), |amount| money(number(amount)))
}

fn show(report: &AiTraderReport) -> Result<()> {
    let dataset = &report.dataset;
    if !dataset.hash.is_empty() {
        say(format_args!(
            "prices  {} {}: {} symbols, {} days, {} daily bars{}",
            dataset.name,
            &dataset.hash[..12],
            count(dataset.symbols as u64),
            count(dataset.days as u64),
            count(dataset.bars as u64),
            if dataset.is_there { ", at hand already" } else { "" },
        ))?;
    }
    if report.agents.is_empty() {
        return Ok(());
    }
    let mut rows = table([
        "agent", "days", "sessions", "messages", "trades", "of 0", "closings", "from", "cash", "value",
        "return",
    ]);
    for agent in &report.agents {
        let span = match (agent.first_day, agent.last_day) {
            (Some(first), Some(last)) => format!("{first} to {last}"),
            _ => "-".to_owned(),
        };
        rows.add_row([
            agent.agent.clone(),
            span,
            count(agent.sessions),
            count(agent.messages),
            count(agent.trades),
            count(agent.trades_of_nothing),
            count(agent.closings),
            money(number(agent.initial_cash)),
            figure(agent.computed_cash),
            figure(agent.portfolio_value),
            percent(agent.return_of_all().and_then(|part| part.to_f64())),
        ]);
    }
    say(text_of(&rows))?;
    for agent in &report.agents {
        if let Some(reason) = &agent.rejected {
            note!("{} is rejected: {reason}", agent.agent);
        }
    }
    Ok(())
}

/// Says what follows from the report, where nothing was written.
fn end(report: &AiTraderReport, args: &AiTraderArgs, can_write: bool) -> ExitCode {
    if can_write {
        note!("nothing is written; --write writes it");
        return ExitCode::SUCCESS;
    }
    if report.problems.count > 0 {
        note!(
            "error: {} row(s) cannot be read, and nothing is imported; --only AGENT imports the agents that are \
             whole, --skip-unreadable leaves lines of logs out",
            count(report.problems.count)
        );
    } else if report.disagreements.count > 0 && !args.accept_disagreements {
        note!(
            "error: {} time(s) the books do not add up, and nothing is imported; --accept-disagreements imports \
             them as actions and prices have them, and keeps with the job what differs",
            count(report.disagreements.count)
        );
    } else {
        note!("error: there is no agent to import");
    }
    ExitCode::from(FAILED)
}
