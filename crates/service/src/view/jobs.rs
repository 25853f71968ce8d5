//! Jobs: their configuration, progress and usage.

use super::actions::Log;
use super::job_result::job_result;
use super::progress::{count, progress};
use super::{is_llm, job_id, masked, no_job, quality};
use crate::app::App;
use crate::error::ServiceError;
use crate::resumable::can_resume;
use crate::view::deployment;
use crate::view::usage::usage;
use papertape_agents::config::AgentKind;
use papertape_core::id::{AgentName, JobId};
use papertape_core::language::Language;
use papertape_core::time::{Date, Timestamp};
use papertape_protocol::actions::LogQuery;
use papertape_protocol::agent::KindBody;
use papertape_protocol::jobs::{
    AgentSummary, BranchPoint, ContinuesFrom, DatasetSummary, DayDetail, ImportedFrom, JobExperiment,
    JobResponse, JobSummary, SimulationSummary, StatusQuery, StatusResponse,
};
use papertape_protocol::number::number;
use papertape_protocol::quality::{DayQualityResponse, JobQuality};
use papertape_runtime::config::SimulationConfig;
use papertape_store::{DayRow, DegradedDay, JobOverview};
use std::collections::{BTreeMap, BTreeSet};

/// One job.
///
/// # Errors
/// No such job; a database error.
pub async fn job_summary(app: &App, job: &str) -> Result<JobSummary, ServiceError> {
    let found = app.store.job_overview(&job_id(job)?).await?.ok_or_else(|| no_job(job))?;
    let degraded = app.store.degraded_counts(std::slice::from_ref(&found.job.id)).await?;
    let quality = degraded.get(&found.job.id).map(quality::counted).unwrap_or_default();
    Ok(summary(found, quality))
}

/// One job, with the newest rows of its action log.
///
/// # Errors
/// No such job; a bad limit or cursor; a database error.
pub async fn job(
    app: &App,
    job: &str,
    query: LogQuery,
    language: Language,
) -> Result<JobResponse, ServiceError> {
    let summary = job_summary(app, job).await?;
    let log = Log::of(app, &job_id(job)?, query, language).await?;
    let result = job_result(app, &job_id(job)?, &summary.kind.as_str().into()).await?;
    Ok(JobResponse {
        result,
        job: summary,
        logs: log.logs,
        next_cursor: log.next_cursor,
        before: log.before,
        actions_summary: log.actions_summary,
        deployment: deployment(app),
    })
}

/// The status of a job, by model-day.
///
/// # Errors
/// No such job; a database error.
pub async fn status(app: &App, job: &str, query: &StatusQuery) -> Result<StatusResponse, ServiceError> {
    let details = app.store.job_details(&job_id(job)?).await?.ok_or_else(|| no_job(job))?;
    let used = details.used.and(details.used_by_summaries);
    let degraded = app.store.degraded_days(&details.job.id).await?;
    let quality = quality::listed(&degraded);
    let degraded: BTreeMap<(Date, &str), &DegradedDay> =
        degraded.iter().map(|day| ((day.date, day.agent.as_str()), day)).collect();
    let dates: BTreeSet<Date> = details.days.iter().map(|day| day.date).collect();
    let models: BTreeSet<&str> = details.days.iter().map(|day| day.agent.as_str()).collect();
    let row = details.job;
    let config: Option<SimulationConfig> = serde_json::from_value(row.config.clone()).ok();
    let requested_date = query.date.map(|date| masked::own_date(config.as_ref(), date));
    let is_requested = |day: &&DayRow| {
        requested_date.is_none_or(|date| date == day.date)
            && query.model.as_ref().is_none_or(|model| *model == day.agent.as_str())
    };
    let parts = match row.parts {
        0 | 1 => None,
        _ => Some(app.store.parts(&row.id).await?),
    };
    let status = StatusResponse {
        parts,
        job_id: row.id.to_string(),
        status: row.status,
        progress: count(&details.days),
        date_range: dates.into_iter().collect(),
        models: models.into_iter().map(str::to_owned).collect(),
        details: details
            .days
            .iter()
            .filter(is_requested)
            .map(|day| detail(day, degraded.get(&(day.date, day.agent.as_str())).copied()))
            .collect(),
        quality,
        created_at: row.created_at,
        started_at: row.started_at,
        completed_at: row.completed_at,
        total_duration_seconds: seconds(row.started_at, row.completed_at),
        usage: usage(used),
        warnings: row.warnings,
        error: row.error,
        cancel_requested: details.cancel_requested,
        parent: row.parent.map(|job| job.to_string()),
        superseded_by: row.superseded_by.map(|job| job.to_string()),
        superseded: names(details.superseded),
        rules_version: row.rules_version,
        masked: config.as_ref().and_then(masked::mark),
        deployment: deployment(app),
    };
    match config.as_ref().and_then(SimulationConfig::translation) {
        Some(masking) => masked::real(masking, status),
        None => Ok(status),
    }
}

fn detail(day: &DayRow, degraded: Option<&DegradedDay>) -> DayDetail {
    DayDetail {
        quality: degraded.and_then(quality::quality).map(DayQualityResponse::from),
        date: day.date,
        model: day.agent.to_string(),
        status: day.status,
        error: day.error.clone(),
        started_at: day.started_at,
        completed_at: day.completed_at,
        duration_seconds: seconds(day.started_at, day.completed_at),
    }
}

fn names(superseded: BTreeMap<AgentName, JobId>) -> BTreeMap<String, String> {
    superseded.into_iter().map(|(agent, job)| (agent.to_string(), job.to_string())).collect()
}

pub(super) fn summary(found: JobOverview, quality: JobQuality) -> JobSummary {
    let JobOverview { job: row, days, used, superseded, labels, experiment } = found;
    let progress = progress(days);
    JobSummary {
        quality,
        job_id: row.id.to_string(),
        kind: row.kind.to_string(),
        status: row.status,
        can_resume: can_resume(row.status, &row.config),
        error: row.error,
        progress,
        created_at: row.created_at,
        started_at: row.started_at,
        completed_at: row.completed_at,
        total_duration_seconds: seconds(row.started_at, row.completed_at),
        usage: usage(used),
        warnings: row.warnings,
        parent: row.parent.map(|job| job.to_string()),
        superseded_by: row.superseded_by.map(|job| job.to_string()),
        superseded: names(superseded),
        rules_version: row.rules_version,
        labels: labels.into(),
        experiment: experiment.map(|(id, window, trial)| JobExperiment {
            experiment_id: id.to_string(),
            window,
            trial,
        }),
        simulation: serde_json::from_value(row.config).ok().map(|config| simulation(&config)),
    }
}

fn simulation(config: &SimulationConfig) -> SimulationSummary {
    let changed = config.branch.as_ref().and_then(|branch| branch.agent.as_ref());
    let agent = |agent: &papertape_agents::config::AgentConfig| {
        let now = changed.filter(|changed| changed.name == agent.name).unwrap_or(agent);
        AgentSummary {
            name: agent.name.to_string(),
            kind: match agent.kind {
                AgentKind::Solo => KindBody::Solo,
                AgentKind::Desk => KindBody::Desk,
                AgentKind::External => KindBody::External,
            },
            model: now.model.to_string(),
            is_llm: is_llm(config, &agent.name).unwrap_or(true),
        }
    };
    let from = |(agent, from): (&AgentName, &papertape_runtime::config::Continuation)| {
        (agent.to_string(), ContinuesFrom { job: from.job.to_string(), date: from.date })
    };
    let summary = SimulationSummary {
        dataset: DatasetSummary { name: config.dataset.name.clone(), hash: config.dataset.hash.to_hex() },
        start_date: config.start_date,
        end_date: config.end_date,
        symbols: config.symbols.iter().map(ToString::to_string).collect(),
        universe: config.universe.clone(),
        market: config.market.name.clone(),
        costs: if config.market.is_frictionless() { "frictionless" } else { "market" }.to_owned(),
        initial_cash: number(config.initial_cash.0),
        benchmark: config.benchmark.as_ref().map(ToString::to_string),
        seed: config.seed,
        summaries: config.summaries,
        memory: config.memory.mode.as_str().to_owned(),
        read_window: config.memory.read_window,
        read_window_after_loss: config.memory.read_window_after_loss,
        memory_from: config.memory_from.as_ref().map(ToString::to_string),
        agents: config.agents.iter().map(agent).collect(),
        continues: config.continues.iter().map(from).collect(),
        branch: config.branch.as_ref().map(|branch| BranchPoint {
            job_id: branch.job.to_string(),
            date: branch.date,
            at: branch.at.clone(),
        }),
        imported: config.imported.as_ref().map(|imported| ImportedFrom {
            format: imported.format.clone(),
            source: imported.source.clone(),
            writer: imported.writer.to_string(),
        }),
        masked: masked::mark(config),
    };
    let Some(masking) = masked::translation(config, None) else { return summary };
    let dataset = DatasetSummary { name: masking.source.clone(), hash: masking.source_hash.to_hex() };
    // A summary is read from what it was just written to.
    masked::real(&masking, SimulationSummary { dataset, ..summary.clone() }).unwrap_or(summary)
}

fn seconds(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<f64> {
    let span = to?.duration_since(from?);
    Some(span.as_secs_f64())
}
