//! Collects the telemetry: the process's counters, the database's totals, the files' sizes.

use super::models::ModelFigures;
use super::prometheus::{Family, Kind};
use anyhow::Result;
use papertape_service::app::App;
use papertape_service::config::{Config, Mode};
use papertape_store::Figures;
use rust_decimal::Decimal;
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
pub async fn collect(app: &App) -> Result<Vec<Family>> {
    let figures = figures(app).await?;
    let mut families = process(app);
    families.extend(record(&figures));
    families.push(sizes(&app.config, &figures));
    Ok(families)
}

async fn figures(app: &App) -> Result<Figures> {
    let known = app.metrics.figures().as_ref().filter(|(at, _)| at.elapsed() < CACHE_FOR).cloned();
    if let Some((_, figures)) = known {
        return Ok(figures);
    }
    let figures = app.store.figures().await?;
    *app.metrics.figures() = Some((Instant::now(), figures.clone()));
    Ok(figures)
}

/// The counters of this process.
fn process(app: &App) -> Vec<Family> {
    let metrics = &app.metrics;
    let (version, mode) = (env!("CARGO_PKG_VERSION"), app.config.mode.as_str());
    let one = |name, kind, help, value: u64| Family::new(name, kind, help).with(&[], value);
    let mut families = vec![
        Family::new("papertape_info", Kind::Gauge, "Always 1; the labels have the version and the mode.")
            .with(&[("version", version), ("mode", mode)], 1),
        one(
            "papertape_action_log_write_errors_total",
            Kind::Counter,
            "Rows of the action log that could not be written.",
            metrics.action_log_write_errors.get(),
        ),
        one("papertape_streams_open", Kind::Gauge, "Open streams of jobs.", app.streams.count() as u64),
        one(
            "papertape_streams_broken_total",
            Kind::Counter,
            "Streams that were closed by their client before the end.",
            app.streams.broken(),
        ),
        one(
            "papertape_client_retries_total",
            Kind::Counter,
            "Polls of a job by clients whose stream had failed, as reported by the clients.",
            metrics.client_retries.get(),
        ),
        one(
            "papertape_otlp_spans_sent_total",
            Kind::Counter,
            "Spans that the receiver accepted.",
            metrics.otlp_spans_sent.get(),
        ),
        one(
            "papertape_otlp_spans_rejected_total",
            Kind::Counter,
            "Spans that the receiver rejected permanently.",
            metrics.otlp_spans_rejected.get(),
        ),
        one(
            "papertape_otlp_retries_total",
            Kind::Counter,
            "Failed export requests that are retried.",
            metrics.otlp_retries.get(),
        ),
    ];
    let mut rejections = Family::new(
        "papertape_otlp_rejections_total",
        Kind::Counter,
        "Export requests that the receiver rejected permanently, by HTTP status.",
    );
    for (status, count) in metrics.otlp_rejections().iter() {
        rejections = rejections.with(&[("status", &status.to_string())], count);
    }
    families.push(rejections);
    families.extend(models(&metrics.models().clone().into_iter().collect::<Vec<_>>()));
    families
}

fn models(models: &[(String, ModelFigures)]) -> [Family; 4] {
    let mut calls = Family::new(
        "papertape_model_calls_total",
        Kind::Counter,
        "Model calls by this process; every attempt counts.",
    );
    let mut tokens =
        Family::new("papertape_model_tokens_total", Kind::Counter, "Tokens used by these calls.");
    let mut cost = Family::new(
        "papertape_model_cost_usd_total",
        Kind::Counter,
        "Cost of these calls in USD, without models that have a call with an unknown price.",
    );
    let mut unpriced = Family::new(
        "papertape_model_unpriced_calls_total",
        Kind::Counter,
        "Calls that used tokens and have an unknown price.",
    );
    for (model, figures) in models {
        for (result, count) in [("ok", figures.succeeded), ("failed", figures.failed)] {
            calls = calls.with(&[("model", model), ("result", result)], count);
        }
        let usage = figures.usage;
        for (kind, count) in
            [("input", usage.input_tokens), ("cached", usage.cached_tokens), ("output", usage.output_tokens)]
        {
            tokens = tokens.with(&[("model", model), ("kind", kind)], count);
        }
        unpriced = unpriced.with(&[("model", model)], figures.unpriced_calls);
        if figures.unpriced_calls == 0 {
            cost = cost.with(&[("model", model)], plain(figures.cost_usd));
        }
    }
    [calls, tokens, cost, unpriced]
}

/// The totals of the database.
fn record(figures: &Figures) -> [Family; 5] {
    let mut jobs = Family::new("papertape_jobs", Kind::Gauge, "Jobs in the database by status.");
    for (status, count) in &figures.jobs {
        jobs = jobs.with(&[("status", status)], count);
    }
    let mut tokens = Family::new(
        "papertape_record_tokens",
        Kind::Gauge,
        "Tokens used by all sessions in the database, including summaries.",
    );
    let usage = figures.used.usage;
    for (kind, count) in
        [("input", usage.input_tokens), ("cached", usage.cached_tokens), ("output", usage.output_tokens)]
    {
        tokens = tokens.with(&[("kind", kind)], count);
    }
    let cost = Family::new(
        "papertape_record_cost_usd",
        Kind::Gauge,
        "Cost of all sessions in the database in USD; NaN if the price of any call is unknown.",
    );
    let cost = match figures.used.unpriced_calls {
        0 => cost.with(&[], plain(figures.used.cost_usd)),
        _ => cost.with(&[], "NaN"),
    };
    let unpriced = Family::new(
        "papertape_record_unpriced_calls",
        Kind::Gauge,
        "Calls of all sessions in the database that used tokens and have an unknown price.",
    )
    .with(&[], figures.used.unpriced_calls);
    let estimated = Family::new(
        "papertape_record_estimated_calls",
        Kind::Gauge,
        "Calls whose provider reported no usage; their tokens and cost are estimates.",
    )
    .with(&[], figures.used.estimated_calls);
    [jobs, tokens, cost, unpriced, estimated]
}

fn plain(amount: Decimal) -> String {
    amount.normalize().to_string()
}

/// Bytes by database and file.
fn sizes(config: &Config, figures: &Figures) -> Family {
    let mut sizes = Family::new(
        "papertape_database_bytes",
        Kind::Gauge,
        "Size in bytes by database and file; the plans' files are summed.",
    );
    if let Some(bytes) = figures.bytes {
        let schema = match config.mode {
            Mode::Prod => "papertape",
            Mode::Dev => "papertape_dev",
        };
        sizes = sizes.with(&[("database", schema), ("file", "postgresql")], bytes);
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
        sizes = sizes.with(&[("database", database), ("file", &file)], bytes);
    }
    if let Some(bytes) = plans(&config.data_dir.join(PLANS)) {
        sizes = sizes.with(&[("database", PLANS), ("file", "plan_*.sqlite")], bytes);
    }
    sizes
}

/// The size of all files of the plans; `None` if the folder does not exist.
fn plans(folder: &Path) -> Option<u64> {
    let files = std::fs::read_dir(folder).ok()?.flatten();
    let ours = files.filter(|file| file.file_name().to_string_lossy().starts_with("plan_"));
    Some(ours.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum())
}
