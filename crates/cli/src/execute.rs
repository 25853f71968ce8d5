//! Runs a job to its end, or follows one that runs elsewhere, and reports the outcome.

use super::api_client::ApiClient;
use super::failure::{FAILED, STOPPED, no_job, service_error};
use super::output::{json, note, seconds};
use super::progress::{Progress, Track};
use super::{Common, Outcome, record_access, signals, summary};
use anyhow::{Context as _, Result};
use papertape_core::id::{AgentName, JobId};
use papertape_core::money::Money;
use papertape_core::ports::{Queue as _, RecordError};
use papertape_core::record::{DayStatus, JobStatus};
use papertape_protocol::jobs::{DayDetail, StatusQuery};
use papertape_runtime::cancellation::{CancelSource, CancelToken};
use papertape_runtime::config::SimulationConfig;
use papertape_runtime::simulate::{NoopObserver, Observer};
use papertape_service::app::App;
use papertape_service::view;
use papertape_store::JobDetails;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

/// The interval at which a job that runs elsewhere is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Runs a queued job in this process and prints its results.
pub async fn run_local(app: &App, common: &Common, job: &JobId) -> Outcome {
    run_to_completion(app, job).await?;
    finish(app, common, job, None).await
}

/// Runs a queued job in this process until it ends or is stopped.
pub async fn run_to_completion(app: &App, job: &JobId) -> Result<()> {
    let cancel = CancelSource::default();
    let id = job.clone();
    signals::listen(&cancel, move || {
        note!("job {id} stops after its current step; press Ctrl-C again to stop immediately");
    })?;
    let progress = Progress::new(tracks(app, job).await?);
    while !try_run(app, job, &cancel, &progress).await? {
        // Another worker on the same database runs it, and may release it.
        if follow(app, job, &progress, cancel.signal()).await? != JobStatus::Queued {
            break;
        }
    }
    drop(progress);
    app.flush().await;
    Ok(())
}

/// Follows a job that the server runs and prints its results.
pub(super) async fn run_remote(server: &ApiClient, common: &Common, job: &JobId) -> Outcome {
    let cancel = CancelSource::default();
    signals::listen(&cancel, || {})?;
    note!("job {job} runs in the server at {}", server.url());
    let app = record_access::open_read_only(common, server.config.clone()).await?;
    let progress = Progress::new(tracks(&app, job).await?);
    // The server also picks it up if it is queued again.
    while follow(&app, job, &progress, cancel.signal()).await? == JobStatus::Queued {}
    drop(progress);
    finish(&app, common, job, Some(server.url())).await
}

/// Runs a queued job in this process. `false`: another worker runs it, or has taken it over.
async fn try_run(app: &App, job: &JobId, cancel: &CancelSource, observer: &dyn Observer) -> Result<bool> {
    if has_external_agent(app, job).await? {
        app.open_doors().await?;
    }
    match app.worker.run_job(job, &cancel.signal(), observer).await {
        Ok(ended) => Ok(ended.is_some()),
        Err(RecordError::LostLease) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether the job's agents reach their sessions over HTTP.
async fn has_external_agent(app: &App, job: &JobId) -> Result<bool> {
    let row = app.store.get_job(job).await?;
    let agents = row.as_ref().and_then(|row| row.config.get("agents")?.as_array());
    Ok(agents.is_some_and(|agents| agents.iter().any(|agent| agent["kind"] == "external")))
}

/// As [`run_to_completion`], without progress.
pub(super) async fn run_quietly(app: &App, job: &JobId, cancel: &CancelSource) -> Result<()> {
    while !try_run(app, job, cancel, &NoopObserver).await? {
        let progress = Progress::new(Vec::new());
        if follow(app, job, &progress, cancel.signal()).await? != JobStatus::Queued {
            break;
        }
    }
    app.flush().await;
    Ok(())
}

/// Where each agent's progress starts.
async fn tracks(app: &App, job: &JobId) -> Result<Vec<Track>> {
    let Some(details) = app.store.job_details(job).await? else { return Err(no_job(job.as_str())) };
    let config: SimulationConfig =
        serde_json::from_value(details.job.config.clone()).context("invalid job config")?;
    let mut tracks = Vec::new();
    for agent in &config.agents {
        let (mut days, mut done) = (0, 0);
        for day in
            details.days.iter().filter(|day| day.agent == agent.name && day.status != DayStatus::Skipped)
        {
            days += 1;
            done += u64::from(is_over(day.status));
        }
        if days > 0 {
            let initial = initial(app, &config, &agent.name).await?;
            let masking = config.translation().cloned();
            tracks.push(Track { agent: agent.name.clone(), days, done, initial, masking });
        }
    }
    Ok(tracks)
}

/// The agent's portfolio value before this job's first day.
async fn initial(app: &App, config: &SimulationConfig, agent: &AgentName) -> Result<Money> {
    let Some(from) = config.continues.get(agent) else { return Ok(config.initial_cash) };
    let values = app.store.daily_values(&from.job, Some(agent)).await?;
    let newest = values.into_iter().rev().find(|value| value.date <= from.date);
    Ok(newest.map_or(config.initial_cash, |value| value.portfolio_value))
}

const fn is_over(status: DayStatus) -> bool {
    matches!(status, DayStatus::Completed | DayStatus::Failed)
}

/// Polls a job until it has stopped, is queued again, or this command is interrupted. Returns its status; after an
/// interrupt `running`, since the job continues without this command.
async fn follow(app: &App, job: &JobId, progress: &Progress, stop: CancelToken) -> Result<JobStatus> {
    loop {
        let Some(details) = app.store.job_details(job).await? else { return Err(no_job(job.as_str())) };
        show(app, &details, progress).await?;
        let status = details.job.status;
        if status.is_stopped() {
            return Ok(status);
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = stop.stopped() => return Ok(JobStatus::Running),
        }
        if status == JobStatus::Queued {
            return Ok(status);
        }
    }
}

async fn show(app: &App, details: &JobDetails, progress: &Progress) -> Result<()> {
    let values = app.store.daily_values(&details.job.id, None).await?;
    for value in values.chunk_by(|one, next| one.agent == next.agent).filter_map(<[_]>::last) {
        let of_agent = details.days.iter().filter(|day| day.agent == value.agent);
        let over = of_agent.clone().filter(|day| is_over(day.status)).count() as u64;
        let failed = of_agent.filter(|day| day.status == DayStatus::Failed).count() as u64;
        progress.update(&value.agent, over, failed, (value.date, value.portfolio_value));
    }
    Ok(())
}

/// Reports the job's outcome and returns the exit code. `server` is the URL of the server that runs the job, which
/// continues when this command ends.
async fn finish(app: &App, common: &Common, job: &JobId, server: Option<&str>) -> Outcome {
    let status = view::status(app, job.as_str(), &StatusQuery::default()).await.map_err(service_error)?;
    let days_left = status.progress.pending > 0;
    let agents = if common.json {
        json(&status)?;
        Vec::new()
    } else {
        summary::print_job(app, job).await?
    };
    if !agents.is_empty() {
        note!("");
    }
    let took = status.total_duration_seconds.map(|took| format!(" in {}", seconds(took))).unwrap_or_default();
    let reason = status.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
    if let Some(warning) = status.quality.warning(status.progress.total_model_days) {
        note!("warning: {warning}");
    }
    // A failed day without an end: the provider rejects the key, the account or the model.
    let is_aborted = |day: &DayDetail| day.status == DayStatus::Failed && day.completed_at.is_none();
    let needs_fix = status.details.iter().any(is_aborted);
    Ok(match status.status {
        JobStatus::Completed => {
            if status.progress.skipped == status.progress.total_model_days {
                let jobs = agents.iter().flat_map(|agent| &agent.result.done_before);
                let jobs: BTreeSet<&str> = jobs.map(|span| span.job_id.as_str()).collect();
                let jobs = jobs.into_iter().collect::<Vec<_>>().join(", ");
                note!("every day of job {job} was already completed, by {jobs}");
            } else {
                note!("job {job} completed{took}");
            }
            print_next_steps(&agents);
            print_page(app, job, server);
            ExitCode::SUCCESS
        }
        JobStatus::Queued | JobStatus::Running if server.is_some() => {
            note!("job {job} continues in the server; to stop it:\n  papertape cancel {job}");
            ExitCode::from(STOPPED)
        }
        JobStatus::Queued | JobStatus::Running | JobStatus::Cancelled => {
            note!("job {job} stopped; to resume it:\n  papertape resume {job}");
            ExitCode::from(STOPPED)
        }
        JobStatus::Partial | JobStatus::Failed if needs_fix => {
            note!("job {job} {}{reason}", status.status);
            note!("fix the key, the account or the model's name, then resume it:\n  papertape resume {job}");
            ExitCode::from(FAILED)
        }
        JobStatus::Partial | JobStatus::Failed if days_left => {
            note!("job {job} {}{reason}", status.status);
            if reason.contains("budget exhausted") {
                note!("to resume it with a larger budget:\n  papertape resume {job} --budget-tokens COUNT");
            } else {
                note!("to resume it:\n  papertape resume {job}");
            }
            ExitCode::from(if status.status == JobStatus::Failed { FAILED } else { STOPPED })
        }
        JobStatus::Partial | JobStatus::Failed => {
            note!("job {job} {}{reason}", status.status);
            ExitCode::from(FAILED)
        }
    })
}

fn print_next_steps(agents: &[summary::AgentSummary]) {
    let Some(agent) = agents.iter().max_by_key(|agent| agent.trades) else { return };
    let (job, date) = &agent.newest_trade;
    note!("\nNext steps:");
    note!("  see why it traded       papertape reasoning {job} --date {date} --agent {}", agent.result.model);
    note!("  replay it offline       papertape replay {job}");
}

/// Prints the URL of the job's page last, since terminals make it a link; before it, the command that serves it, if no
/// server runs.
fn print_page(app: &App, job: &JobId, server: Option<&str>) {
    let own = format!("http://{}", app.config.listen);
    if server.is_none() {
        note!("  open it in a browser    papertape serve");
    }
    note!("{}/app/runs/{job}", server.unwrap_or(&own).trim_end_matches('/'));
}
