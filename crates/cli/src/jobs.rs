//! `papertape jobs`

use super::args::whole;
use super::failure::service_error;
use super::output::{count, json, note, only_json, say, seconds, table, text_of};
use super::record_access::{Target, find_target, short_id};
use super::{Common, Outcome, experiments, label, record_access};
use anyhow::Result;
use clap::Args;
use papertape_core::job_list::{JobOrder, ListQuality};
use papertape_core::record::JobStatus;
use papertape_core::time::{Date, Timestamp, parse_date};
use papertape_protocol::jobs::{JobSummary, JobsQuery, StatusQuery, StatusResponse};
use papertape_protocol::number::Number;
use papertape_protocol::progress::Progress;
use papertape_protocol::usage::UsageSummary;
use papertape_service::config::Config;
use papertape_service::view;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct JobsArgs {
    /// Show this job or experiment, or `latest`, in detail
    job: Option<String>,
    #[command(flatten)]
    filters: Filters,
    /// Max jobs, 1 to 200
    #[arg(long, value_name = "COUNT", conflicts_with = "job", value_parser = whole(1_u32..=200))]
    limit: Option<u32>,
    /// Continue after a cursor from an earlier page
    #[arg(long, conflicts_with = "job")]
    cursor: Option<String>,
}

/// Which jobs, and in which order.
#[derive(Debug, Args)]
struct Filters {
    /// Words that all occur in the ID, name, tags, note, dataset, agents or models
    #[arg(long, value_name = "WORDS", conflicts_with = "job")]
    search: Option<String>,
    /// Only jobs with this tag
    #[arg(long, conflicts_with = "job")]
    tag: Option<String>,
    /// Only jobs with an agent of this name or model
    #[arg(long, conflicts_with = "job")]
    model: Option<String>,
    /// Only jobs on this dataset, by name or hash
    #[arg(long, conflicts_with = "job")]
    dataset: Option<String>,
    /// Only jobs that are queued, running, completed, partial, failed or cancelled
    #[arg(long, conflicts_with = "job")]
    status: Option<JobStatus>,
    /// Only jobs of this quality: ok, or degraded (a model-day failed or is degraded)
    #[arg(long, conflicts_with = "job")]
    quality: Option<ListQuality>,
    /// Only jobs requested on this day (UTC) or later
    #[arg(long, value_name = "YYYY-MM-DD", conflicts_with = "job", value_parser = parse_date)]
    since: Option<Date>,
    /// created, name, status, dataset, model, start_date or quality; `-` in front: descending [default: -created]
    #[arg(long, value_name = "KEY", conflicts_with = "job", allow_hyphen_values = true)]
    sort: Option<JobOrder>,
}

impl Filters {
    /// The query that continues this list after a cursor.
    fn query(&self, limit: Option<u32>, cursor: Option<String>) -> JobsQuery {
        JobsQuery {
            search: self.search.clone(),
            tag: self.tag.clone(),
            model: self.model.clone(),
            dataset: self.dataset.clone(),
            status: self.status,
            quality: self.quality,
            from: self.since,
            sort: self.sort,
            limit,
            cursor,
            ..JobsQuery::default()
        }
    }
}

pub(super) async fn jobs(common: &Common, config: Config, args: JobsArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    if let Some(job) = &args.job {
        let job = match find_target(&app, job).await? {
            Target::Job(job) => job,
            Target::Experiment(id) => return experiments::show(&app, common, &id).await,
        };
        let response =
            view::status(&app, job.as_str(), &StatusQuery::default()).await.map_err(service_error)?;
        let summary = view::job_summary(&app, job.as_str()).await.map_err(service_error)?;
        if common.json {
            json(&response)?
        } else {
            print_details(&response, &summary)?
        }
        return Ok(ExitCode::SUCCESS);
    }
    let query = args.filters.query(args.limit, args.cursor);
    let response = view::jobs(&app, query).await.map_err(service_error)?;
    if common.json {
        return only_json(&response);
    }
    if response.jobs.is_empty() {
        note!("no jobs");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = table([
        "job",
        "status",
        "days",
        "agents",
        ">done",
        ">degraded",
        ">failed",
        ">cost",
        "created (UTC)",
        "~name",
    ]);
    for job in &response.jobs {
        table.add_row([
            short_id(&job.job_id).to_owned(),
            status(job),
            span(job),
            agents(job),
            done(&job.progress),
            count(job.quality.degraded_days),
            count(job.quality.failed_days),
            estimated(&job.usage, cost(&job.usage)),
            at(job.created_at),
            name(job),
        ]);
    }
    say(text_of(&table))?;
    if let Some(cursor) = response.next_cursor {
        note!("more jobs: repeat the command with --cursor {cursor}");
    }
    Ok(ExitCode::SUCCESS)
}

fn print_details(response: &StatusResponse, summary: &JobSummary) -> Result<()> {
    for (label, value) in details(response, summary) {
        say(format_args!("{label:<10} {value}"))?;
    }
    let degraded: Vec<_> =
        response.details.iter().filter_map(|day| Some((day, day.quality.as_ref()?))).collect();
    if !degraded.is_empty() {
        let mut table = table(["day", "agent", "quality", "~reason"]);
        for (day, quality) in degraded {
            let reason = quality.reason.clone().unwrap_or_default();
            table.add_row([day.date.to_string(), day.model.clone(), quality.state.to_owned(), reason]);
        }
        say(format_args!("\n{}", text_of(&table)))?;
    }
    Ok(())
}

fn details(response: &StatusResponse, summary: &JobSummary) -> Vec<(&'static str, String)> {
    let mut lines = vec![("job", response.job_id.to_string())];
    lines.extend(label::lines(&summary.labels));
    lines.extend(summary.experiment.as_ref().map(|of| {
        let (id, window, trial) = (&of.experiment_id, of.window, of.trial);
        ("experiment", format!("{id}, window {window}, trial {trial}"))
    }));
    lines.push(("status", status(summary)));
    if is_stopped(summary) {
        let id = &response.job_id;
        lines.push(("resume", format!("it stopped early; `papertape resume {}` continues it", short_id(id))));
    }
    lines.extend(response.error.as_ref().map(|error| ("error", error.to_string())));
    let total = response.progress.total_model_days;
    lines.push(("days", format!("{}, {total} model-days: {}", span(summary), progress(&response.progress))));
    if let Some(simulation) = &summary.simulation {
        let symbols = match &simulation.universe {
            Some(index) => format!("the members of {index} on each day"),
            None => simulation.symbols.join(", "),
        };
        let costs = if simulation.costs == "frictionless" { " (frictionless)" } else { "" };
        lines.push(("symbols", symbols));
        lines.push(("market", format!("{}{costs}", simulation.market)));
        lines.push(("cash", format!("{} per agent", super::output::money(simulation.initial_cash))));
        lines.push(("dataset", format!("{} {}", simulation.dataset.name, &simulation.dataset.hash[..12])));
        lines.extend(
            simulation.masked.as_ref().map(|masked| ("mask", format!("{}: {}", masked.mask, masked.note))),
        );
        lines.extend(simulation.benchmark.as_ref().map(|benchmark| ("benchmark", benchmark.to_string())));
        lines.extend(simulation.agents.iter().map(|agent| {
            let model = if agent.is_llm { agent.model.as_str() } else { "house model, not an LLM" };
            ("agent", format!("{} ({model})", agent.name))
        }));
        lines.extend(
            simulation.continues.iter().map(|(agent, from)| {
                ("continues", format!("{agent} from {} of job {}", from.date, from.job))
            }),
        );
        lines.extend(simulation.imported.as_ref().map(|imported| {
            let (format, source, writer) = (&imported.format, &imported.source, &imported.writer);
            ("imported", format!("from {source} ({format}); memories and summaries by {writer}"))
        }));
        lines.extend(simulation.branch.as_ref().map(|branch| {
            ("branched", format!("at {} on {} of job {}", branch.at, branch.date, branch.job_id))
        }));
    }
    let usage = &response.usage;
    lines.push((
        "usage",
        format!(
            "{} input tokens, {} output tokens, {}",
            estimated(usage, count(usage.input_tokens)),
            estimated(usage, count(usage.output_tokens)),
            estimated(usage, cost(usage))
        ),
    ));
    if usage.estimated_calls > 0 {
        lines.push((
            "estimate",
            format!("~ marks estimates: the provider reported no usage for {} calls", usage.estimated_calls),
        ));
    }
    lines.push(("rules", response.rules_version.to_string()));
    lines.push(("created", format!("{} UTC", at(response.created_at))));
    lines.extend(response.total_duration_seconds.map(|took| ("duration", seconds(took))));
    lines.extend(
        response.superseded.iter().map(|(agent, job)| ("superseded", format!("{agent} by job {job}"))),
    );
    lines.extend(response.warnings.iter().map(|warning| ("note", warning.clone())));
    lines.extend(response.quality.warning(total).map(|warning| ("warning", warning)));
    lines
}

fn status(job: &JobSummary) -> String {
    match &job.superseded_by {
        _ if is_stopped(job) => format!("{} (stopped)", job.status),
        Some(_) => format!("{}, superseded", job.status),
        None if !job.superseded.is_empty() => format!("{}, partly superseded", job.status),
        None => job.status.to_string(),
    }
}

/// Whether the job waits in the queue after a worker has run a part of it, as after Ctrl-C.
fn is_stopped(job: &JobSummary) -> bool {
    job.status == JobStatus::Queued && job.started_at.is_some()
}

/// The job's name and tags.
fn name(job: &JobSummary) -> String {
    let tags = job.labels.tags.iter().map(|tag| format!("#{tag}"));
    job.labels.name.iter().cloned().chain(tags).collect::<Vec<_>>().join(" ")
}

fn span(job: &JobSummary) -> String {
    job.simulation.as_ref().map_or_else(
        || job.kind.clone(),
        |simulation| format!("{} to {}", simulation.start_date, simulation.end_date),
    )
}

fn agents(job: &JobSummary) -> String {
    match job.simulation.as_ref().map_or(&[][..], |simulation| &simulation.agents[..]) {
        [] => "-".to_owned(),
        [agent] => agent.name.clone(),
        agents => format!("{} agents", agents.len()),
    }
}

fn done(progress: &Progress) -> String {
    let over = progress.completed + progress.failed + progress.skipped;
    format!("{over}/{}", progress.total_model_days)
}

fn progress(progress: &Progress) -> String {
    let parts = [
        (progress.completed, "completed"),
        (progress.failed, "failed"),
        (progress.skipped, "skipped"),
        (progress.pending, "pending"),
    ];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    parts.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}

fn cost(usage: &UsageSummary) -> String {
    let plain = |usd: Number| if usd.is_zero() { "$0".to_owned() } else { format!("${usd:.4}") };
    match usage.cost_usd {
        Some(usd) => plain(usd),
        None if usage.priced_cost_usd.is_zero() => usage.cost.as_str().to_owned(),
        None => format!("{}, over {}", usage.cost.as_str(), plain(usage.priced_cost_usd)),
    }
}

fn at(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Marks a value that contains an estimate.
fn estimated(usage: &UsageSummary, value: impl std::fmt::Display) -> String {
    if usage.estimated_calls > 0 { format!("~{value}") } else { value.to_string() }
}
