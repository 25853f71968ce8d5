//! `papertape import`

use anyhow::{Context as _, Result};
use papertape_agents::prompt::PromptSet;
use papertape_cli::data::{Exchange, market_error, name_taken_error, parse_hours};
use papertape_cli::failure::{FAILED, service_error, usage};
use papertape_cli::import::AiTraderArgs;
use papertape_cli::output::{count, json, money, note, percent, say, table, text_of};
use papertape_cli::{Common, Outcome, execute, record_access};
use papertape_core::broker::MarketProfile;
use papertape_core::market::Dataset;
use papertape_core::record::JobStatus;
use papertape_integrations::ai_trader::dry_run::{self, InMemoryHost};
use papertape_integrations::ai_trader::{self, AiTraderReport, CappedList, Layout, ReportLine};
use papertape_market::Catalogue;
use papertape_market::import::{ImportError, ImportOptions, Source, import as read_prices};
use papertape_protocol::jobs::StatusQuery;
use papertape_protocol::number::number;
use papertape_service::app::{Access, App, database_file};
use papertape_service::config::Config;
use papertape_service::trigger::{self, ImportRequest, PlannedImport, RecordedAgent};
use papertape_service::view;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

/// How many disagreements the job's warnings list. The sessions record all of them.
const WARNINGS: usize = 100;

/// Imports the runs, or reports what would be imported.
pub(crate) async fn import(common: &Common, config: Config, args: AiTraderArgs) -> Outcome {
    let layout = ai_trader::find(&args.dir).map_err(|error| usage(error.to_string()))?;
    check_names(&layout, &args)?;
    let mut report = AiTraderReport { skips_unreadable: args.skip_unreadable, ..AiTraderReport::default() };
    for (file, reason) in &layout.skipped {
        report.skip(file, reason);
    }
    let market = market(args.exchange)?;
    let catalogue = Catalogue::at(config.datasets_dir());
    let found = match prices(&catalogue, &layout, &args, &mut report)? {
        Some(dataset) => {
            let agents = ai_trader::read(&layout, &dataset, &args.agents, &mut report)?;
            dry_run_all(&dataset, &market, &agents, &mut report).await?;
            report.reject(args.accept_disagreements);
            Some((dataset, agents))
        }
        None => None,
    };
    let request = ImportRequest {
        format: ai_trader::FORMAT,
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
            Some((dataset, agents)) if can_write => {
                existing_jobs(common, config, dataset, agents, &request).await?
            }
            _ => Vec::new(),
        };
        print_report(common, &report, &jobs)?;
        return Ok(conclude(&report, &args, can_write));
    };
    if !common.json {
        print_report(common, &report, &[])?;
    }
    let app = record_access::open_exclusive(common, config, Access::Own).await?;
    let plans = trigger::plan_import(&app, dataset, agents, &request).map_err(service_error)?;
    if args.dataset.is_none() {
        let market = args.exchange.defaults().3;
        app.catalogue.store(dataset, Some(market), false).map_err(dataset_name_error)?;
    }
    write(common, &app, plans, &args, &report).await
}

/// Checks that the named agents exist.
fn check_names(layout: &Layout, args: &AiTraderArgs) -> Result<()> {
    let known: Vec<&str> = layout.agents.iter().map(|agent| agent.name.as_str()).collect();
    if known.is_empty() {
        let dir = args.dir.display();
        return Err(usage(format!("no AGENT/position/position.jsonl in {dir} or {dir}/agent_data")));
    }
    match args.agents.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => {
            Err(usage(format!("--agent: unknown agent `{name}`; expected one of {}", known.join(", "))))
        }
        None => Ok(()),
    }
}

fn dataset_name_error(error: papertape_market::MarketError) -> anyhow::Error {
    match error {
        papertape_market::MarketError::NameTaken { .. } => market_error(error)
            .context("the dataset name is taken by other prices; set another one with --name"),
        other => name_taken_error(other),
    }
}

/// The exchange's rules in AI-Trader: no fees, no margin, and no limits by volume or price.
fn market(exchange: Exchange) -> Result<MarketProfile> {
    let name = exchange.defaults().3;
    let preset = MarketProfile::preset(name).with_context(|| format!("unknown market {name}"))?;
    Ok(MarketProfile { board_lots: Vec::new(), ..preset.frictionless().without_price_limits() })
}

/// The prices: the named dataset, or one created from the folder's files. `None`: some of their rows were rejected.
fn prices(
    catalogue: &Catalogue,
    layout: &Layout,
    args: &AiTraderArgs,
    report: &mut AiTraderReport,
) -> Result<Option<Arc<Dataset>>> {
    let (dataset, files) = match &args.dataset {
        Some(name) => (catalogue.open(name).map_err(market_error)?, 0),
        None => match read_dataset(layout, args, report)? {
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

fn read_dataset(
    layout: &Layout,
    args: &AiTraderArgs,
    report: &mut AiTraderReport,
) -> Result<Option<Dataset>> {
    if layout.prices.is_empty() {
        let dir = args.dir.display();
        return Err(usage(format!(
            "no merged.jsonl or daily_prices_*.json in {dir}; name a dataset with --dataset"
        )));
    }
    papertape_market::check_name(&args.name).map_err(market_error)?;
    let (zone, hours, currency, _) = args.exchange.defaults();
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

/// Runs every agent's days without storing them.
async fn dry_run_all(
    dataset: &Dataset,
    market: &MarketProfile,
    agents: &[RecordedAgent],
    report: &mut AiTraderReport,
) -> Result<()> {
    let prompts = PromptSet::with_overrides(BTreeMap::new()).context("prompts")?;
    for group in trigger::by_cash(agents).into_values() {
        let symbols = trigger::symbols_of(dataset, &group);
        let days = trigger::days_of(dataset, &group);
        let host = InMemoryHost { dataset, market, symbols: &symbols, days, prompts: &prompts };
        for agent in group {
            dry_run::run(&host, agent, report).await?;
        }
    }
    Ok(())
}

/// The job's warnings. They are part of its stored config, so their wording must not change.
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
    let disagreements = &report.disagreements;
    warnings.extend(disagreements.first.iter().take(WARNINGS).map(|one| format!("books: {one}")));
    let more = disagreements.count.saturating_sub(WARNINGS as u64);
    if more > 0 {
        warnings.push(format!("books: {} more disagreements", count(more)));
    }
    warnings
}

fn can_be_written(report: &AiTraderReport, args: &AiTraderArgs) -> bool {
    let adds_up = report.disagreements.count == 0 || args.accept_disagreements;
    report.problems.count == 0 && adds_up && !report.agents.is_empty()
}

/// A job in the JSON report.
fn job_entry(job: &str, status: JobStatus, is_new: bool) -> Value {
    json!({ "job_id": job, "status": status, "imported": is_new })
}

/// The jobs that already have this content, if the database exists.
async fn existing_jobs(
    common: &Common,
    config: Config,
    dataset: &Dataset,
    agents: &[RecordedAgent],
    request: &ImportRequest,
) -> Result<Vec<Value>> {
    let file = database_file(&config.data_dir, config.mode);
    if config.database_url.is_none() && !file.try_exists().with_context(|| file.display().to_string())? {
        return Ok(Vec::new());
    }
    let app = record_access::open_read_only(common, config).await?;
    let mut jobs = Vec::new();
    for plan in trigger::plan_import(&app, dataset, agents, request).map_err(service_error)? {
        if let Some(row) = plan.existing(&app).await.map_err(service_error)? {
            jobs.push(job_entry(row.id.as_str(), row.status, false));
        }
    }
    Ok(jobs)
}

/// Writes the jobs one after the other, and runs their days.
async fn write(
    common: &Common,
    app: &App,
    plans: Vec<PlannedImport>,
    args: &AiTraderArgs,
    report: &AiTraderReport,
) -> Outcome {
    let mut jobs = Vec::new();
    let mut exit_code = ExitCode::SUCCESS;
    for plan in plans {
        let (job, queued) = trigger::import(app, plan, args.replace).await.map_err(service_error)?;
        if queued.is_none() {
            note!("job {job} already has these days; nothing written. To import them again, use --replace");
        } else if common.json {
            execute::run_to_completion(app, &job).await?;
        } else {
            let code = execute::run_local(app, common, &job).await?;
            if code != ExitCode::SUCCESS {
                exit_code = code;
            }
        }
        let query = StatusQuery::default();
        let status = view::status(app, job.as_str(), &query).await.map_err(service_error)?.status;
        if status != JobStatus::Completed && exit_code == ExitCode::SUCCESS {
            exit_code = ExitCode::from(FAILED);
        }
        jobs.push(job_entry(job.as_str(), status, queued.is_some()));
    }
    if common.json {
        json(&json!({ "written": true, "jobs": jobs, "report": report }))?;
    }
    Ok(exit_code)
}

/// Prints the data to stdout, and problems and skipped items to stderr.
fn print_report(common: &Common, report: &AiTraderReport, jobs: &[Value]) -> Result<()> {
    if common.json {
        json(&json!({ "written": false, "jobs": jobs, "report": report }))?;
    } else {
        show(report)?;
    }
    print_kinds("skipped", &report.skipped);
    print_kinds("skipped, unreadable", &report.unreadable);
    for (text, times) in &report.notes {
        note!(
            "note: {text}{}",
            if *times > 1 { format!(" ({} times)", count(*times)) } else { String::new() }
        );
    }
    print_kinds("unreadable", &report.problems);
    print_kinds("does not add up", &report.disagreements);
    for job in jobs {
        note!("job {} already has these days ({})", text(&job["job_id"]), text(&job["status"]));
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// One line per kind.
fn print_kinds<T: ReportLine>(label: &str, all: &CappedList<T>) {
    for kind in all.by_kind() {
        note!("{label}: {kind}");
    }
    let more = all.count.saturating_sub(all.first.len() as u64);
    if more > 0 {
        note!("{label}: {} more", count(more));
    }
}

/// An amount; `-` for a rejected agent.
fn amount(amount: Option<Decimal>) -> String {
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
            if dataset.is_there { "; already imported" } else { "" },
        ))?;
    }
    if report.agents.is_empty() {
        return Ok(());
    }
    let mut rows = table([
        "agent",
        "days",
        "sessions",
        "messages",
        "trades",
        "zero trades",
        "closings",
        "initial cash",
        "cash",
        "value",
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
            amount(agent.computed_cash),
            amount(agent.portfolio_value),
            percent(agent.return_of_all().and_then(|fraction| fraction.to_f64())),
        ]);
    }
    say(text_of(&rows))?;
    for agent in &report.agents {
        if let Some(reason) = &agent.rejected {
            note!("{} rejected: {reason}", agent.agent);
        }
    }
    Ok(())
}

/// Prints the next step, if nothing was written.
fn conclude(report: &AiTraderReport, args: &AiTraderArgs, can_write: bool) -> ExitCode {
    if can_write {
        note!("nothing written; to import, use --write");
        return ExitCode::SUCCESS;
    }
    if report.problems.count > 0 {
        note!(
            "error: {} unreadable row(s); nothing imported. Import agents without errors with --agent NAME, or skip \
             unreadable log lines with --skip-unreadable",
            count(report.problems.count)
        );
    } else if report.disagreements.count > 0 && !args.accept_disagreements {
        note!(
            "error: the books do not add up in {} place(s); nothing imported. To import them as recomputed from actions \
             and prices, use --accept-disagreements",
            count(report.disagreements.count)
        );
    } else {
        note!("error: no agent to import");
    }
    ExitCode::from(FAILED)
}
