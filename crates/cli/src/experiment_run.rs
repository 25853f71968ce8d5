//! Runs the jobs of an experiment in parallel, or follows them, and reports their common outcome.

use super::api_client::ApiClient;
use super::execute::run_quietly;
use super::experiments;
use super::failure::{FAILED, STOPPED, service_error};
use super::output::{json, note, seconds};
use super::{Common, Outcome, record_access, signals, terminal};
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::record::JobStatus;
use papertape_protocol::experiments::{ExperimentResponse, ExperimentSummary};
use papertape_runtime::cancellation::{CancelSource, CancelToken};
use papertape_service::app::App;
use papertape_service::view;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The interval at which progress is read.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Runs the queued jobs in this process, up to `worker.parallel_jobs` at a time, and prints the results.
pub(super) async fn run_local(app: &App, common: &Common, id: &ExperimentId) -> Outcome {
    let cancel = CancelSource::default();
    let text = id.clone();
    signals::listen(&cancel, move || {
        note!("experiment {text} stops after the current steps; press Ctrl-C again to stop immediately");
    })?;
    let found = view::experiment(app, id.as_str()).await.map_err(service_error)?;
    let slots = Arc::new(Semaphore::new(app.config.worker.parallel_jobs.max(1)));
    let mut running = JoinSet::new();
    for one in found.jobs.iter().filter(|one| !one.status.is_stopped()) {
        let (app, cancel, slots) = (app.clone(), cancel.clone(), Arc::clone(&slots));
        let job = JobId::new(&one.job_id);
        running.spawn(async move {
            // The semaphore is never closed.
            let _slot = slots.acquire_owned().await.ok();
            match cancel.signal().reason() {
                Some(_) => Ok(()),
                None => run_quietly(&app, &job, &cancel).await,
            }
        });
    }
    let mut progress = Progress::new(&found.experiment);
    let mut outcome = Ok(());
    while !running.is_empty() {
        tokio::select! {
            Some(ended) = running.join_next() => outcome = outcome.and(ended?),
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
        progress.update(&view::experiment(app, id.as_str()).await.map_err(service_error)?.experiment);
    }
    drop(progress);
    app.flush().await;
    outcome?;
    finish(app, common, id, None).await
}

/// Follows jobs that the server runs, and prints the results.
pub(super) async fn run_remote(server: &ApiClient, common: &Common, id: &ExperimentId) -> Outcome {
    let cancel = CancelSource::default();
    signals::listen(&cancel, || {})?;
    note!("experiment {id} runs in the server at {}", server.url());
    let app = record_access::open_read_only(common, server.config.clone()).await?;
    follow(&app, id, cancel.signal()).await?;
    finish(&app, common, id, Some(server.url())).await
}

/// Polls an experiment until all its jobs have stopped, or this command is interrupted.
async fn follow(app: &App, id: &ExperimentId, stop: CancelToken) -> Result<()> {
    let mut progress: Option<Progress> = None;
    loop {
        let found = view::experiment(app, id.as_str()).await.map_err(service_error)?.experiment;
        progress.get_or_insert_with(|| Progress::new(&found)).update(&found);
        if found.status.is_stopped() {
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = stop.stopped() => return Ok(()),
        }
    }
}

/// Reports the outcome and returns the exit code. `server` is the URL of the server that runs the jobs.
async fn finish(app: &App, common: &Common, id: &ExperimentId, server: Option<&str>) -> Outcome {
    let found = view::experiment(app, id.as_str()).await.map_err(service_error)?;
    if common.json {
        json(&found)?;
    } else {
        experiments::print_results(app, id).await?;
        note!("");
    }
    Ok(report(&found, server))
}

fn report(found: &ExperimentResponse, server: Option<&str>) -> ExitCode {
    let experiment = &found.experiment;
    let id = &experiment.experiment_id;
    let stopped = found.jobs.iter().filter_map(|one| Some((one, one.error.as_ref()?)));
    for (one, error) in stopped {
        note!("window {}, trial {} (job {}) {}: {error}", one.window, one.trial, one.job_id, one.status);
    }
    match experiment.status {
        JobStatus::Completed => {
            let times = found.jobs.iter().filter_map(|one| Some((one.started_at?, one.completed_at?)));
            let (first, last): (Vec<_>, Vec<_>) = times.unzip();
            let took = first.iter().min().zip(last.iter().max());
            let took = took.map(|(first, last)| seconds(last.duration_since(*first).as_secs_f64()));
            let took = took.map(|took| format!(" in {took}")).unwrap_or_default();
            note!("experiment {id} completed: {} jobs{took}", experiment.completed_jobs);
            ExitCode::SUCCESS
        }
        JobStatus::Queued | JobStatus::Running if server.is_some() => {
            note!("experiment {id} continues in the server; to stop it:\n  papertape cancel {id}");
            ExitCode::from(STOPPED)
        }
        JobStatus::Queued | JobStatus::Running | JobStatus::Cancelled => {
            note!("experiment {id} stopped; to resume it:\n  papertape resume {id}");
            ExitCode::from(STOPPED)
        }
        status if experiment.progress.pending > 0 => {
            note!("experiment {id} {status}");
            let is_exhausted = |error: &String| error.contains("budget exhausted");
            let larger = found.jobs.iter().any(|one| one.error.as_ref().is_some_and(is_exhausted));
            let option = if larger { " --budget-tokens COUNT" } else { "" };
            note!("to resume it:\n  papertape resume {id}{option}");
            ExitCode::from(STOPPED)
        }
        status => {
            note!("experiment {id} {status}: {} model-days failed", experiment.progress.failed);
            ExitCode::from(FAILED)
        }
    }
}

/// The progress of all jobs together: a bar in a terminal, elsewhere a line for every tenth of the model-days.
struct Progress {
    bar: ProgressBar,
    tenths: u64,
}

impl Progress {
    fn new(experiment: &ExperimentSummary) -> Self {
        terminal::hide_control_echo();
        let bar = terminal::add_bar(ProgressBar::new(experiment.progress.total_model_days));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {bar:20} {pos:>4}/{len} model-days  {msg}")
        {
            bar.set_style(style.progress_chars("━╸─").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        let tenths = tenths(experiment);
        Self { bar, tenths }
    }

    fn update(&mut self, experiment: &ExperimentSummary) {
        let text = text(experiment);
        if terminal::bars_are_hidden() {
            if tenths(experiment) > self.tenths {
                let progress = &experiment.progress;
                note!("{} of {} model-days, {text}", done(experiment), progress.total_model_days);
            }
        } else {
            self.bar.set_position(done(experiment));
            self.bar.set_message(text);
        }
        self.tenths = tenths(experiment);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        terminal::restore_echo();
    }
}

fn text(experiment: &ExperimentSummary) -> String {
    let cost = experiment.usage.priced_cost_usd;
    let cost = if cost.is_zero() { String::new() } else { format!(", ${cost:.4}") };
    let failed = match experiment.progress.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    format!("{} of {} jobs completed{cost}{failed}", experiment.completed_jobs, experiment.planned_jobs)
}

/// Model-days that have ended.
fn done(experiment: &ExperimentSummary) -> u64 {
    experiment.progress.total_model_days - experiment.progress.pending
}

fn tenths(experiment: &ExperimentSummary) -> u64 {
    (done(experiment) * 10).checked_div(experiment.progress.total_model_days).unwrap_or(10)
}
