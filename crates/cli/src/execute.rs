//! Running a job to its end, or following one that runs elsewhere, and telling how it ended.

use super::api_client::ApiClient;
use super::failure::{FAILED, STOPPED, no_job, of_view};
use super::output::{json, note, seconds};
use super::progress::{Progress, Track};
use super::{Common, Outcome, record_access, signals, summary};
use anyhow::{Context as _, Result};
use papertape_core::id::{AgentName, JobId};
use papertape_core::money::Money;
use papertape_core::ports::RecordError;
use papertape_core::record::{DayStatus, JobStatus};
use papertape_runtime::cancellation::{CancelSource, CancelToken};
use papertape_runtime::config::SimulationConfig;
use papertape_runtime::simulate::{NoopObserver, Observer};
use papertape_service::app::App;
use papertape_service::view;
use papertape_store::JobDetails;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

/// How often a job that runs elsewhere is looked at.
const LOOK: Duration = Duration::from_millis(300);

/// Runs a queued job in this process and shows what it came to.
pub(super) async fn run_local(app: &App, common: &Common, job: &JobId) -> Outcome {
    run_to_completion(app, job).await?;
    finish(app, common, job, None).await
}

/// Runs a queued job in this process until it ends or is stopped.
pub(super) async fn run_to_completion(app: &App, job: &JobId) -> Result<()> {
    let stopper = CancelSource::default();
    let id = job.clone();
    signals::listen(&stopper, move || {
        note!("job {id} stops after the step under way; once more stops it at once");
    })?;
    let progress = Progress::new(tracks(app, job).await?);
    while !ran(app, job, &stopper, &progress).await? {
        // Somebody else has it: another worker on the same database, which may be about to let it go, or nobody.
        if follow(app, job, &progress, stopper.signal()).await? != JobStatus::Queued {
            break;
        }
    }
    drop(progress);
    app.flush().await;
    Ok(())
}

/// Follows a job that the server runs and shows what it came to.
pub(super) async fn run_remote(server: &ApiClient, common: &Common, job: &JobId) -> Outcome {
    let stopper = CancelSource::default();
    signals::listen(&stopper, || {})?;
    note!("job {job} runs in the server at {}", server.url());
    let app = record_access::to_read(common, server.config.clone()).await?;
    let progress = Progress::new(tracks(&app, job).await?);
    // A queued one is the server's.
    while follow(&app, job, &progress, stopper.signal()).await? == JobStatus::Queued {}
    drop(progress);
    finish(&app, common, job, Some(server.url())).await
}

/// Runs a queued job in this process. `false`: somebody else has it, from the beginning or by now.
async fn ran(app: &App, job: &JobId, stopper: &CancelSource, observer: &dyn Observer) -> Result<bool> {
    match app.worker.run_job(job, &stopper.signal(), observer).await {
        Ok(ended) => Ok(ended.is_some()),
        Err(RecordError::LostLease) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Runs a queued job in this process and shows nothing.
pub(super) async fn quietly(app: &App, job: &JobId, stopper: &CancelSource) -> Result<()> {
    while !ran(app, job, stopper, &NoopObserver).await? {
        let progress = Progress::new(Vec::new());
        if follow(app, job, &progress, stopper.signal()).await? != JobStatus::Queued {
            break;
        }
    }
    app.flush().await;
    Ok(())
}

/// The bars' beginnings.
async fn tracks(app: &App, job: &JobId) -> Result<Vec<Track>> {
    let Some(details) = app.store.job_details(job).await? else { return Err(no_job(job.as_str())) };
    let config: SimulationConfig =
        serde_json::from_value(details.job.config.clone()).context("the job's config cannot be read")?;
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
            tracks.push(Track { agent: agent.name.clone(), days, done, initial });
        }
    }
    Ok(tracks)
}

/// What an agent has when it begins with this job's days.
async fn initial(app: &App, config: &SimulationConfig, agent: &AgentName) -> Result<Money> {
    let Some(from) = config.continues.get(agent) else { return Ok(config.initial_cash) };
    let values = app.store.daily_values(&from.job, Some(agent)).await?;
    let reached = values.into_iter().rev().find(|value| value.date <= from.date);
    Ok(reached.map_or(config.initial_cash, |value| value.portfolio_value))
}

const fn is_over(status: DayStatus) -> bool {
    matches!(status, DayStatus::Completed | DayStatus::Failed)
}

/// Looks at a job until it has stopped, somebody can take it, or this command is told to stop. Gives its status then;
/// `running` where it goes on without this command.
async fn follow(app: &App, job: &JobId, progress: &Progress, mut stop: CancelToken) -> Result<JobStatus> {
    loop {
        let Some(details) = app.store.job_details(job).await? else { return Err(no_job(job.as_str())) };
        show(app, &details, progress).await?;
        let status = details.job.status;
        if status.is_stopped() {
            return Ok(status);
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
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
        progress.reached(&value.agent, over, failed, (value.date, value.portfolio_value));
    }
    Ok(())
}

/// Reports how the job ended, and gives the exit code. `server`: the address of the server that runs the job, which
/// then continues when this command ends.
async fn finish(app: &App, common: &Common, job: &JobId, server: Option<&str>) -> Outcome {
    let status = view::status(app, job.as_str(), &view::StatusQuery::default()).await.map_err(of_view)?;
    let days_left = status.progress.pending > 0;
    let lines = if common.json {
        json(&status)?;
        Vec::new()
    } else {
        summary::show(app, job).await?
    };
    if !lines.is_empty() {
        // Apart from what is said of the job.
        note!("");
    }
    let took = status.total_duration_seconds.map(|took| format!(" in {}", seconds(took))).unwrap_or_default();
    let because = status.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
    if let Some(warning) = status.quality.warning(status.progress.total_model_days) {
        note!("warning: {warning}");
    }
    // Failed and never closed: the agent stopped on something that somebody has to fix.
    let is_stopped = |day: &view::DayDetail| day.status == DayStatus::Failed && day.completed_at.is_none();
    let is_to_be_fixed = status.details.iter().any(is_stopped);
    Ok(match status.status {
        JobStatus::Completed => {
            if status.progress.skipped == status.progress.total_model_days {
                let jobs = lines.iter().flat_map(|line| &line.result.done_before);
                let jobs: BTreeSet<&str> = jobs.map(|span| span.job_id.as_str()).collect();
                let jobs = jobs.into_iter().collect::<Vec<_>>().join(", ");
                note!("every day of job {job} was done before, by {jobs}");
            } else {
                note!("job {job} completed{took}");
            }
            what_next(&lines);
            page(app, job, server);
            ExitCode::SUCCESS
        }
        JobStatus::Queued | JobStatus::Running if server.is_some() => {
            note!("job {job} goes on in the server; `papertape cancel {job}` stops it");
            ExitCode::from(STOPPED)
        }
        JobStatus::Queued | JobStatus::Running | JobStatus::Cancelled => {
            note!("job {job} stopped after its step; go on with:\n  papertape resume {job}");
            ExitCode::from(STOPPED)
        }
        JobStatus::Partial | JobStatus::Failed if is_to_be_fixed => {
            note!("job {job} {}{because}", status.status);
            note!(
                "fix the key, the account or the model's name, then continue with:\n  papertape resume {job}"
            );
            ExitCode::from(FAILED)
        }
        JobStatus::Partial | JobStatus::Failed if days_left => {
            note!("job {job} {}{because}", status.status);
            if because.contains("budget exhausted") {
                note!("go on with a larger budget:\n  papertape resume {job} --budget-tokens COUNT");
            } else {
                note!("go on with:\n  papertape resume {job}");
            }
            ExitCode::from(if status.status == JobStatus::Failed { FAILED } else { STOPPED })
        }
        JobStatus::Partial | JobStatus::Failed => {
            note!("job {job} {}{because}", status.status);
            ExitCode::from(FAILED)
        }
    })
}

/// What somebody may want to do with a job that is completed.
fn what_next(lines: &[summary::Line]) {
    let Some(line) = lines.iter().max_by_key(|line| line.trades) else { return };
    let (job, date) = &line.look_at;
    note!("\nNext:");
    note!("  why it traded        papertape reasoning {job} --date {date} --agent {}", line.result.model);
    note!("  again, unplugged     papertape replay {job}");
}

/// The job's page: the last line, as terminals make a link of it. Where no server runs, after the command that starts
/// one.
fn page(app: &App, job: &JobId, server: Option<&str>) {
    let own = format!("http://{}", app.config.listen);
    if server.is_none() {
        note!("  its page             papertape serve");
    }
    note!("{}/app/runs/{job}", server.unwrap_or(&own).trim_end_matches('/'));
}
