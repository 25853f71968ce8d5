//! `papertape jobs`

use super::failure::{of_view, usage};
use super::output::{count, json, note, say, seconds, table, text_of};
use super::record_access::{job_named, short_id};
use super::{Common, Outcome, record_access};
use anyhow::Result;
use clap::Args;
use papertape_core::record::JobStatus;
use papertape_core::time::Timestamp;
use papertape_service::config::Config;
use papertape_service::view::{self, JobSummary, JobsQuery, Number, Progress, StatusResponse, UsageSummary};
use std::process::ExitCode;

/// Which jobs.
#[derive(Debug, Args)]
pub(super) struct JobsArgs {
    /// Show this job, or `latest`, in detail
    job: Option<String>,
    /// Only those in this status: queued, running, completed, partial, failed or cancelled
    #[arg(long, conflicts_with = "job")]
    status: Option<JobStatus>,
    /// How many at most, 1 to 200
    #[arg(long, value_name = "COUNT", conflicts_with = "job")]
    limit: Option<u32>,
    /// Go on from an earlier page
    #[arg(long, conflicts_with = "job")]
    cursor: Option<String>,
}

/// Lists them, or shows one.
pub(super) async fn jobs(common: &Common, config: Config, args: JobsArgs) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    if let Some(job) = &args.job {
        let job = job_named(&app, job).await?;
        let answer =
            view::status(&app, job.as_str(), &view::StatusQuery::default()).await.map_err(of_view)?;
        let about = view::job_summary(&app, job.as_str()).await.map_err(of_view)?;
        if common.json {
            json(&answer)?
        } else {
            details(&answer, &about)?
        }
        return Ok(ExitCode::SUCCESS);
    }
    if args.limit == Some(0) {
        return Err(usage("--limit: 0 is not from 1 to 200"));
    }
    let query = JobsQuery { kind: None, status: args.status, limit: args.limit, cursor: args.cursor };
    let answer = view::jobs(&app, query).await.map_err(of_view)?;
    if common.json {
        json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    if answer.jobs.is_empty() {
        note!("there are no jobs");
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
        "asked for (UTC)",
    ]);
    for job in &answer.jobs {
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
        ]);
    }
    say(text_of(&table))?;
    if let Some(cursor) = answer.next_cursor {
        note!("there are more: papertape jobs --cursor {cursor}");
    }
    Ok(ExitCode::SUCCESS)
}

fn details(answer: &StatusResponse, about: &JobSummary) -> Result<()> {
    say(format_args!("job       {}", answer.job_id))?;
    say(format_args!("status    {}", status(about)))?;
    if let Some(error) = &answer.error {
        say(format_args!("because   {error}"))?;
    }
    say(format_args!(
        "days      {}, {} model-days: {}",
        span(about),
        answer.progress.total_model_days,
        progress(&answer.progress)
    ))?;
    if let Some(simulation) = &about.simulation {
        let cash = super::output::money(simulation.initial_cash);
        say(format_args!(
            "trades    {} in the market {}, from {cash} each",
            match &simulation.universe {
                Some(index) => format!("the members of {index} on each day"),
                None => simulation.symbols.join(", "),
            },
            if simulation.costs == "frictionless" {
                format!("{} (frictionless)", simulation.market)
            } else {
                simulation.market.clone()
            }
        ))?;
        say(format_args!("data      {} {}", simulation.dataset.name, &simulation.dataset.hash[..12]))?;
        if let Some(benchmark) = &simulation.benchmark {
            say(format_args!("benchmark {benchmark}"))?;
        }
        for agent in &simulation.agents {
            let what = if agent.is_llm { agent.model.as_str() } else { "house model, no LLM" };
            say(format_args!("agent     {} ({what})", agent.name))?;
        }
        for (agent, from) in &simulation.continues {
            say(format_args!("goes on   {agent} from {} of job {}", from.date, from.job))?;
        }
        if let Some(imported) = &simulation.imported {
            let (format, source, writer) = (&imported.format, &imported.source, &imported.writer);
            say(format_args!("imported  from {source} ({format}); memories and summaries by {writer}"))?;
        }
        if let Some(branch) = &simulation.branch {
            say(format_args!("branched  at {} on {} of job {}", branch.at, branch.date, branch.job_id))?;
        }
    }
    let usage = &answer.usage;
    say(format_args!(
        "used      {} tokens read, {} written, {}",
        estimated(usage, count(usage.input_tokens)),
        estimated(usage, count(usage.output_tokens)),
        estimated(usage, cost(usage))
    ))?;
    say(format_args!("rules     {}", answer.rules_version))?;
    if usage.estimated_calls > 0 {
        say(format_args!(
            "estimate  the provider reported no usage for {} calls; ~ marks what is estimated for them",
            usage.estimated_calls
        ))?;
    }
    say(format_args!("asked for {} UTC", at(answer.created_at)))?;
    if let Some(took) = answer.total_duration_seconds {
        say(format_args!("took      {}", seconds(took)))?;
    }
    for (agent, job) in &answer.superseded {
        say(format_args!("replaced  {agent} by job {job}"))?;
    }
    for warning in &answer.warnings {
        say(format_args!("note      {warning}"))?;
    }
    let total = answer.progress.total_model_days;
    if let Some(warning) = answer.quality.warning(total) {
        say(format_args!("warning   {warning}"))?;
    }
    let broken: Vec<_> = answer.details.iter().filter_map(|day| Some((day, day.quality.as_ref()?))).collect();
    if !broken.is_empty() {
        let mut table = table(["day", "agent", "quality", "~because"]);
        for (day, quality) in broken {
            let because = quality.reason.clone().unwrap_or_default();
            table.add_row([day.date.to_string(), day.model.clone(), quality.state.to_owned(), because]);
        }
        say(format_args!("\n{}", text_of(&table)))?;
    }
    Ok(())
}

fn status(job: &JobSummary) -> String {
    match &job.superseded_by {
        Some(_) => format!("{}, replaced", job.status),
        None if !job.superseded.is_empty() => format!("{}, replaced in part", job.status),
        None => job.status.to_string(),
    }
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

/// A figure, marked where an estimate is in it.
fn estimated(usage: &UsageSummary, figure: impl std::fmt::Display) -> String {
    if usage.estimated_calls > 0 { format!("~{figure}") } else { figure.to_string() }
}
