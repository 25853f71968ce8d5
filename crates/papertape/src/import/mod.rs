//! `papertape import`: what the importers share. Each tool's module reads its files into an [`ImportPlan`], which is
//! reported, and written if requested and nothing is wrong.

mod ai_trader;
mod prices;
mod print;
mod stockbench;
mod tradingagents;

use anyhow::{Context as _, Result};
use papertape_agents::imported::ImportedOutcome;
use papertape_agents::prompt::PromptSet;
use papertape_cli::data::{market_error, name_taken_error};
use papertape_cli::failure::{FAILED, service_error};
use papertape_cli::import::{ImportSource, WriteArgs};
use papertape_cli::output::{count, json, note};
use papertape_cli::{Common, Outcome, execute, record_access};
use papertape_core::broker::MarketProfile;
use papertape_core::market::Dataset;
use papertape_core::record::JobStatus;
use papertape_core::time::Date;
use papertape_integrations::imports::dry_run::{self, InMemoryHost};
use papertape_integrations::imports::{Disagreement, RunReport};
use papertape_protocol::jobs::StatusQuery;
use papertape_service::app::{Access, App, database_file};
use papertape_service::config::Config;
use papertape_service::trigger::{self, ImportRequest, PlannedImport, RecordedAgent};
use papertape_service::view;
use print::print_report;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

/// How many disagreements the job's warnings list. The sessions record all of them.
const WARNINGS: usize = 100;

/// Imports the runs of a tool, or reports what would be imported.
pub(crate) async fn import(common: &Common, config: Config, source: ImportSource) -> Outcome {
    match source {
        ImportSource::AiTrader(args) => Box::pin(ai_trader::import(common, config, *args)).await,
        ImportSource::TradingAgents(args) => Box::pin(tradingagents::import(common, config, *args)).await,
        ImportSource::StockBench(args) => Box::pin(stockbench::import(common, config, *args)).await,
    }
}

/// Agents that trade under the same rules. Those with the same initial cash become one job.
struct Group {
    agents: Vec<RecordedAgent>,
    market: MarketProfile,
    /// Where the files are.
    source: String,
    /// Warnings for readers of the job.
    warnings: Vec<String>,
}

/// What was read, and what would be written.
struct ImportPlan {
    /// The name of the files' format in the job's config.
    format: &'static str,
    report: RunReport,
    /// `None`: the files have prices that were rejected.
    dataset: Option<Arc<Dataset>>,
    /// The market of a dataset that the import creates; `None`: it uses an existing one.
    new_dataset: Option<&'static str>,
    groups: Vec<Group>,
}

impl ImportPlan {
    /// Whether nothing prevents the import.
    fn can_be_written(&self, options: &WriteArgs) -> bool {
        let adds_up = self.report.disagreements.count == 0 || options.accept_disagreements;
        let has_content = !self.report.agents.is_empty() || self.is_data_only();
        self.report.problems.count == 0 && adds_up && has_content && self.dataset.is_some()
    }

    /// Whether the files have prices and no runs.
    fn is_data_only(&self) -> bool {
        self.groups.is_empty() && self.new_dataset.is_some() && self.dataset.is_some()
    }

    /// The jobs.
    fn jobs(&self, app: &App, options: &WriteArgs) -> Result<Vec<PlannedImport>> {
        let mut jobs = Vec::new();
        for group in &self.groups {
            let request = ImportRequest {
                format: self.format,
                source: group.source.clone(),
                market: group.market.clone(),
                writer: options.writer.clone(),
                language: options.language,
                memory: options.memory,
                summaries: options.no_summaries.then_some(false),
                warnings: group.warnings.clone(),
            };
            if let Some(dataset) = &self.dataset {
                let planned = trigger::plan_import(app, dataset, &group.agents, &request);
                jobs.extend(planned.map_err(service_error)?);
            }
        }
        Ok(jobs)
    }
}

/// Reports the plan, and writes it if requested and nothing prevents it.
async fn finish(common: &Common, config: Config, plan: ImportPlan, options: &WriteArgs) -> Outcome {
    let can_write = plan.can_be_written(options);
    if !(options.write && can_write) {
        let jobs = if can_write { existing_jobs(common, config, &plan, options).await? } else { Vec::new() };
        print_report(common, &plan.report, &jobs)?;
        return Ok(conclude(&plan.report, options, can_write));
    }
    if !common.json {
        print_report(common, &plan.report, &[])?;
    }
    let app = record_access::open_exclusive(common, config, Access::Own).await?;
    let jobs = plan.jobs(&app, options)?;
    let mut has_stored = false;
    if let (Some(market), Some(dataset)) = (plan.new_dataset, &plan.dataset) {
        has_stored = app.catalogue.store(dataset, Some(market), false).map_err(dataset_name_error)?;
    }
    if plan.is_data_only() {
        let dataset = &plan.report.dataset.name;
        if common.json {
            json(&json!({ "written": has_stored, "jobs": [], "report": plan.report }))?;
        } else if has_stored {
            note!("dataset {dataset} written");
        } else {
            note!("dataset {dataset} already has this content; nothing written");
        }
        return Ok(ExitCode::SUCCESS);
    }
    write(common, &app, jobs, options, &plan.report).await
}

fn dataset_name_error(error: papertape_market::MarketError) -> anyhow::Error {
    match error {
        papertape_market::MarketError::NameTaken { .. } => market_error(error)
            .context("the dataset name is taken by other prices; set another one with --name"),
        other => name_taken_error(other),
    }
}

/// Runs every agent's days without storing them. Returns the outcomes of each agent's days.
async fn dry_run_all(
    dataset: &Dataset,
    market: &MarketProfile,
    agents: &[RecordedAgent],
    report: &mut RunReport,
) -> Result<Vec<Vec<(Date, ImportedOutcome)>>> {
    let prompts = PromptSet::with_overrides(BTreeMap::new()).context("prompts")?;
    let mut outcomes = Vec::new();
    for group in trigger::by_cash(agents).into_values() {
        let symbols = trigger::symbols_of(dataset, &group);
        let days = trigger::days_of(dataset, &group);
        let host = InMemoryHost { dataset, market, symbols: &symbols, days, prompts: &prompts };
        for agent in group {
            outcomes.push(dry_run::run(&host, agent, report).await?);
        }
    }
    Ok(outcomes)
}

/// The warnings of a job with this agent; `None`: with all of them. They are part of its stored config, so their wording must not change.
fn warnings(report: &RunReport, agent: Option<&str>) -> Vec<String> {
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
    let is_own = |one: &&Disagreement| agent.is_none_or(|agent| one.agent == agent);
    let own: Vec<&Disagreement> = report.disagreements.first.iter().filter(is_own).collect();
    warnings.extend(own.iter().take(WARNINGS).map(|one| format!("books: {one}")));
    let unlisted = report.disagreements.count.saturating_sub(report.disagreements.first.len() as u64);
    let more = own.len().saturating_sub(WARNINGS) as u64 + unlisted;
    if more > 0 {
        warnings.push(format!("books: {} more disagreements", count(more)));
    }
    warnings
}

/// A job in the JSON report.
fn job_entry(job: &str, status: JobStatus, is_new: bool) -> Value {
    json!({ "job_id": job, "status": status, "imported": is_new })
}

/// The jobs that already have this content, if the database exists.
async fn existing_jobs(
    common: &Common,
    config: Config,
    plan: &ImportPlan,
    options: &WriteArgs,
) -> Result<Vec<Value>> {
    let file = database_file(&config.data_dir, config.mode);
    if config.database_url.is_none() && !file.try_exists().with_context(|| file.display().to_string())? {
        return Ok(Vec::new());
    }
    let app = record_access::open_read_only(common, config).await?;
    let mut jobs = Vec::new();
    for job in plan.jobs(&app, options)? {
        if let Some(row) = job.existing(&app).await.map_err(service_error)? {
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
    options: &WriteArgs,
    report: &RunReport,
) -> Outcome {
    let mut jobs = Vec::new();
    let mut exit_code = ExitCode::SUCCESS;
    for plan in plans {
        let (job, queued) = trigger::import(app, plan, options.replace).await.map_err(service_error)?;
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

/// Prints the next step, if nothing was written.
fn conclude(report: &RunReport, options: &WriteArgs, can_write: bool) -> ExitCode {
    if can_write {
        note!("nothing written; to import, use --write");
        return ExitCode::SUCCESS;
    }
    if report.problems.count > 0 {
        note!(
            "error: {} unreadable row(s); nothing imported. Import agents without errors with --agent NAME, or, of \
             tools with logs of lines, skip unreadable ones with --skip-unreadable",
            count(report.problems.count)
        );
    } else if report.disagreements.count > 0 && !options.accept_disagreements {
        note!(
            "error: {} place(s) do not add up; nothing imported. To import them all the same, with books that are \
             recomputed from actions and prices, use --accept-disagreements",
            count(report.disagreements.count)
        );
    } else {
        note!("error: no agent to import");
    }
    ExitCode::from(FAILED)
}
