//! Collects the telemetry: the process's counters, the database's totals, the files' sizes.

use super::Metrics;
use super::models::ModelFigures;
use super::prometheus::{Family, MetricType};
use anyhow::Result;
use papertape_service::config::{Config, Mode};
use papertape_service::integrations::ProcessState;
use papertape_store::Figures;
use rust_decimal::prelude::ToPrimitive as _;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// How long the database's totals are cached: computing them reads every session.
const CACHE_FOR: Duration = Duration::from_secs(5);
/// The folder with plans' portable records.
const PLANS: &str = "plans";

/// All telemetry.
///
/// # Errors
/// A database that cannot be read.
pub(super) async fn collect(metrics: &Metrics, state: ProcessState<'_>) -> Result<Vec<Family>> {
    let figures = figures(metrics, state).await?;
    let mut families = process(metrics, state);
    families.extend(record(&figures));
    families.push(sizes(state.config, &figures));
    Ok(families)
}

async fn figures(metrics: &Metrics, state: ProcessState<'_>) -> Result<Figures> {
    let known = metrics.figures().as_ref().filter(|(at, _)| at.elapsed() < CACHE_FOR).cloned();
    if let Some((_, figures)) = known {
        return Ok(figures);
    }
    let figures = state.store.figures().await?;
    *metrics.figures() = Some((Instant::now(), figures.clone()));
    Ok(figures)
}

/// The counters of this process.
fn process(metrics: &Metrics, state: ProcessState<'_>) -> Vec<Family> {
    let (version, mode) = (env!("CARGO_PKG_VERSION"), state.config.mode.as_str());
    let one = |name, kind, help, value: u64| Family::new(name, kind, help).with(&[], value as f64);
    let mut families = vec![
        Family::new(
            "papertape_info",
            MetricType::GAUGE,
            "Always 1; the labels have the version and the mode.",
        )
        .with(&[("version", version), ("mode", mode)], 1.0),
        one(
            "papertape_action_log_write_errors_total",
            MetricType::COUNTER,
            "Rows of the action log that could not be written.",
            metrics.action_log_write_errors.get(),
        ),
        one("papertape_streams_open", MetricType::GAUGE, "Open streams of jobs.", state.open_streams),
        one(
            "papertape_streams_broken_total",
            MetricType::COUNTER,
            "Streams that were closed by their client before the end.",
            state.broken_streams,
        ),
        one(
            "papertape_client_retries_total",
            MetricType::COUNTER,
            "Polls of a job by clients whose stream had failed, as reported by the clients.",
            metrics.client_retries.get(),
        ),
        one(
            "papertape_otlp_spans_sent_total",
            MetricType::COUNTER,
            "Spans that the receiver accepted.",
            metrics.otlp_spans_sent.get(),
        ),
        one(
            "papertape_otlp_spans_rejected_total",
            MetricType::COUNTER,
            "Spans that the receiver rejected permanently.",
            metrics.otlp_spans_rejected.get(),
        ),
        one(
            "papertape_otlp_retries_total",
            MetricType::COUNTER,
            "Failed export requests that are retried.",
            metrics.otlp_retries.get(),
        ),
    ];
    let mut rejections = Family::new(
        "papertape_otlp_rejections_total",
        MetricType::COUNTER,
        "Export requests that the receiver rejected permanently, by HTTP status.",
    );
    for (status, count) in metrics.otlp_rejections().iter() {
        rejections = rejections.with(&[("status", &status.to_string())], *count as f64);
    }
    families.push(rejections);
    families.extend(models(&metrics.models().clone().into_iter().collect::<Vec<_>>()));
    families
}

fn models(models: &[(String, ModelFigures)]) -> [Family; 4] {
    let mut calls = Family::new(
        "papertape_model_calls_total",
        MetricType::COUNTER,
        "Model calls by this process; every attempt counts.",
    );
    let mut tokens =
        Family::new("papertape_model_tokens_total", MetricType::COUNTER, "Tokens used by these calls.");
    let mut cost = Family::new(
        "papertape_model_cost_usd_total",
        MetricType::COUNTER,
        "Cost of these calls in USD, without models that have a call with an unknown price.",
    );
    let mut unpriced = Family::new(
        "papertape_model_unpriced_calls_total",
        MetricType::COUNTER,
        "Calls that used tokens and have an unknown price.",
    );
    for (model, figures) in models {
        for (result, count) in [("ok", figures.succeeded), ("failed", figures.failed)] {
            calls = calls.with(&[("model", model), ("result", result)], count as f64);
        }
        let usage = figures.usage;
        for (kind, count) in
            [("input", usage.input_tokens), ("cached", usage.cached_tokens), ("output", usage.output_tokens)]
        {
            tokens = tokens.with(&[("model", model), ("kind", kind)], count as f64);
        }
        unpriced = unpriced.with(&[("model", model)], figures.unpriced_calls as f64);
        if figures.unpriced_calls == 0 {
            cost = cost.with(&[("model", model)], figures.cost_usd.to_f64().unwrap_or(f64::NAN));
        }
    }
    [calls, tokens, cost, unpriced]
}

/// The totals of the database.
fn record(figures: &Figures) -> [Family; 6] {
    let mut jobs = Family::new("papertape_jobs", MetricType::GAUGE, "Jobs in the database by status.");
    for (status, count) in &figures.jobs {
        jobs = jobs.with(&[("status", status)], *count as f64);
    }
    let mut parts = Family::new(
        "papertape_job_parts",
        MetricType::GAUGE,
        "Parts of queued and running jobs by state; those whose worker has died are expired.",
    );
    let found = figures.parts;
    for (state, count) in [("queued", found.queued), ("running", found.running), ("expired", found.expired)] {
        parts = parts.with(&[("state", state)], count as f64);
    }
    let mut tokens = Family::new(
        "papertape_record_tokens",
        MetricType::GAUGE,
        "Tokens used by all sessions in the database, including summaries.",
    );
    let usage = figures.used.usage;
    for (kind, count) in
        [("input", usage.input_tokens), ("cached", usage.cached_tokens), ("output", usage.output_tokens)]
    {
        tokens = tokens.with(&[("kind", kind)], count as f64);
    }
    let cost = Family::new(
        "papertape_record_cost_usd",
        MetricType::GAUGE,
        "Cost of all sessions in the database in USD; NaN if the price of any call is unknown.",
    );
    let cost = match figures.used.unpriced_calls {
        0 => cost.with(&[], figures.used.cost_usd.to_f64().unwrap_or(f64::NAN)),
        _ => cost.with(&[], f64::NAN),
    };
    let unpriced = Family::new(
        "papertape_record_unpriced_calls",
        MetricType::GAUGE,
        "Calls of all sessions in the database that used tokens and have an unknown price.",
    )
    .with(&[], figures.used.unpriced_calls as f64);
    let estimated = Family::new(
        "papertape_record_estimated_calls",
        MetricType::GAUGE,
        "Calls whose provider reported no usage; their tokens and cost are estimates.",
    )
    .with(&[], figures.used.estimated_calls as f64);
    [jobs, parts, tokens, cost, unpriced, estimated]
}

/// Bytes by database and file.
fn sizes(config: &Config, figures: &Figures) -> Family {
    let mut sizes = Family::new(
        "papertape_database_bytes",
        MetricType::GAUGE,
        "Size in bytes by database and file; the plans' files are summed.",
    );
    if let Some(bytes) = figures.bytes {
        let schema = match config.mode {
            Mode::Prod => "papertape",
            Mode::Dev => "papertape_dev",
        };
        sizes = sizes.with(&[("database", schema), ("file", "postgresql")], bytes as f64);
    }
    let mut found = Vec::new();
    let mut of = |database: &'static str, folder: &Path, name: &str| {
        for ending in ["", "-wal"] {
            let file = format!("{name}{ending}");
            if let Ok(meta) = std::fs::metadata(folder.join(&file)) {
                found.push((database, file, meta.len()));
            }
        }
    };
    if figures.bytes.is_none() {
        let file = papertape_service::app::database_file(&config.data_dir, config.mode);
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        of("papertape", &config.data_dir, &name);
    }
    of("system_jobs", &config.data_dir, "system_jobs.sqlite");
    for (database, file, bytes) in found {
        sizes = sizes.with(&[("database", database), ("file", &file)], bytes as f64);
    }
    if let Some(bytes) = plans(&config.data_dir.join(PLANS)) {
        sizes = sizes.with(&[("database", PLANS), ("file", "plan_*.sqlite")], bytes as f64);
    }
    sizes
}

/// The size of all files of the plans; `None` if the folder does not exist.
fn plans(folder: &Path) -> Option<u64> {
    let files = std::fs::read_dir(folder).ok()?.flatten();
    let ours = files.filter(|file| file.file_name().to_string_lossy().starts_with("plan_"));
    Some(ours.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum())
}
