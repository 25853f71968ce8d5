//! `papertape probe memory --counterfactual`: a model trades a resampled future, and its positions are compared with the
//! real one.

use crate::execute::run_to_completion;
use crate::failure::{STOPPED, service_error, usage};
use crate::output::{json, layout, note, only_json, say, terminal_width, width, wrap};
use crate::record_access::{self, RecordAccess};
use crate::{Common, Outcome, experiments, summary};
use anyhow::Result;
use papertape_core::id::JobId;
use papertape_core::record::JobStatus;
use papertape_protocol::experiments::EstimateResponse;
use papertape_protocol::jobs::StatusQuery;
use papertape_protocol::probes::{CounterfactualResponse, CounterfactualScore};
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::experiments::ExperimentRequest;
use papertape_service::probes::counterfactual::{self, CounterfactualRequest};
use papertape_service::{trigger, view};
use std::process::ExitCode;

pub(super) async fn run(
    common: &Common,
    config: Config,
    request: &CounterfactualRequest,
    is_estimate: bool,
) -> Outcome {
    let RecordAccess::Local(app) = record_access::open_for_writing(common, config).await? else {
        return Err(usage(
            "a server owns the database; stop it, or use another --data-dir: a counterfactual run derives its dataset in \
             this process",
        ));
    };
    // The same days and symbols, so the same number of calls.
    let simulation = counterfactual::simulation(request);
    let estimated =
        ExperimentRequest { simulation, trials: 1, windows: None, compare: None, masks: Vec::new() };
    let (manifest, estimate, warnings) =
        papertape_service::experiments::estimate(&app, &estimated).await.map_err(service_error)?;
    if is_estimate && common.json {
        return only_json(&EstimateResponse {
            manifest,
            estimate,
            warnings,
            deployment: view::deployment(&app),
        });
    }
    experiments::print_estimate(&manifest, &estimate, &warnings);
    if is_estimate {
        return Ok(ExitCode::SUCCESS);
    }
    let prepared = counterfactual::prepare(&app, request).map_err(service_error)?;
    note!(
        "dataset {}: real until the day before {}, resampled from then on",
        prepared.dataset.as_deref().unwrap_or_default(),
        request.start
    );
    let queued = trigger::trigger(&app, prepared).await.map_err(service_error)?;
    for warning in &queued.warnings {
        note!("note: {warning}");
    }
    run_to_completion(&app, &queued.job).await?;
    let status =
        view::status(&app, queued.job.as_str(), &StatusQuery::default()).await.map_err(service_error)?;
    if status.status != JobStatus::Completed {
        let reason = status.error.map(|error| format!(": {error}")).unwrap_or_default();
        note!(
            "job {0} {1}{reason}; to continue:\n  papertape resume {0}\n  papertape probe show {0}",
            queued.job,
            status.status
        );
        return Ok(ExitCode::from(STOPPED));
    }
    if !common.json {
        summary::print_job(&app, &queued.job).await?;
        say("")?;
    }
    show(&app, common, &queued.job).await
}

/// Prints the score of a counterfactual run.
pub(super) async fn show(app: &App, common: &Common, job: &JobId) -> Outcome {
    let found = view::counterfactual(app, job.as_str()).await.map_err(service_error)?;
    if common.json {
        json(&found)?;
    } else {
        print(&found)?;
    }
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: [&str; 6] = ["agent", ">days", ">mean of weight x real return", ">p", ">would see", "verdict"];

fn print(found: &CounterfactualResponse) -> Result<()> {
    let head = format!(
        "Counterfactual future of {}, {} to {} (job {}): do positions on the resampled path follow the real next five days?",
        found.real_dataset, found.start_date, found.end_date, found.job_id
    );
    say(wrap(&head, width(), ""))?;
    let rows: Vec<[String; COLUMNS.len()]> = found.agents.iter().map(row).collect();
    say(format_args!(
        "\n{}\n",
        layout(COLUMNS, &rows, terminal_width().unwrap_or(crate::output::DEFAULT_WIDTH))
    ))?;
    if found.agents.iter().any(|agent| !agent.is_llm) {
        say(wrap("House models are rules, not LLMs: they remember no prices.", width(), ""))?;
    }
    let cutoffs = found.agents.iter().flat_map(|agent| &agent.training_cutoffs);
    for warning in cutoffs.filter_map(|cutoff| cutoff.warning.as_ref()) {
        say(wrap(&format!("Warning: {warning}."), width(), ""))?;
    }
    say(wrap(
        "One run shows recall that moved positions, on these days. It does not show recall that changed none.",
        width(),
        "",
    ))
}

fn row(score: &CounterfactualScore) -> [String; COLUMNS.len()] {
    let dash = || "-".to_owned();
    let percent = |value: Option<f64>| value.map_or_else(dash, |value| format!("{:+.3}%", 100.0 * value));
    [
        score.agent.clone(),
        score.days.to_string(),
        percent(score.statistic),
        score.p_value.map_or_else(dash, |p| format!("{p:.3}")),
        percent(score.detectable),
        score.words.clone(),
    ]
}
