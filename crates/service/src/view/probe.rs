//! A memory probe and its result.

use super::usage::usage;
use super::{cutoff, deployment, job_id, no_job};
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::record::JobKind;
use papertape_evidence::{KindReport, ProbeVerdict, QuizScore};
use papertape_protocol::compare::pair::IntervalResponse;
use papertape_protocol::number::figure;
use papertape_protocol::probes::{ProbeKindResult, ProbeReport, ProbeResponse, ProbeScore};
use papertape_runtime::memory_probe::{MemoryProbeConfig, MemoryProbeReport, controls_name};

/// What no result of a probe can show.
const LIMITS: [&str; 4] = [
    "Recall that is shown need not have been used in a backtest; only a counterfactual run says something about that.",
    "A result without recall does not prove that the model recalls nothing: it may decline, or recall what was not asked.",
    "Declined items score as chance: a model that declines most of them is hardly tested.",
    "The training cut-off is the vendor's statement, and is not verified.",
];

/// A probe.
///
/// # Errors
/// No such job, or of another kind; a database error.
pub async fn probe(app: &App, job: &str) -> Result<ProbeResponse, ServiceError> {
    let found = app.store.job_overview(&job_id(job)?).await?.ok_or_else(|| no_job(job))?;
    let row = found.job;
    if row.kind != JobKind::MemoryProbe {
        return Err(ServiceError::NotFound(format!("job {} is not a memory probe", row.id)));
    }
    let config: MemoryProbeConfig = serde_json::from_value(row.config)
        .map_err(|error| anyhow::anyhow!("cannot read the config of {}: {error}", row.id))?;
    let stored = app.store.outcome(&row.id).await?;
    let report: Option<MemoryProbeReport> = stored.and_then(|stored| serde_json::from_value(stored).ok());
    let is_llm = !config.model.is_house();
    let dataset = app.services.datasets.open(config.dataset.hash).ok();
    let days = dataset.map(|dataset| config.days(&dataset)).unwrap_or_default();
    Ok(ProbeResponse {
        job_id: row.id.to_string(),
        status: row.status,
        error: row.error,
        model: config.model.to_string(),
        is_llm,
        dataset: config.dataset.name,
        dataset_hash: config.dataset.hash.to_hex(),
        symbols: config.probe_symbols.iter().map(ToString::to_string).collect(),
        seed: config.seed,
        temperature: config.sampling.temperature,
        training_cutoff: is_llm.then(|| cutoff::training_cutoff(app, &config.model, &days)),
        created_at: row.created_at,
        completed_at: row.completed_at,
        usage: usage(found.used),
        warnings: row.warnings,
        report: report.map(|report| ProbeReport {
            controls: controls_name(report.controls).to_owned(),
            calls: report.calls,
            kinds: report.kinds.iter().map(kind_result).collect(),
        }),
        limits: LIMITS.map(str::to_owned).to_vec(),
        deployment: deployment(app),
    })
}

fn kind_result(report: &KindReport) -> ProbeKindResult {
    let (difference, interval, holm_p, would_have_seen_points, verdict) = match report.verdict {
        ProbeVerdict::RecallShown { difference, interval, holm_p } => {
            (Some(difference), Some(interval), Some(holm_p), None, "recall_shown")
        }
        ProbeVerdict::NotShown { difference, interval, holm_p, would_have_seen_points } => {
            (Some(difference), Some(interval), Some(holm_p), Some(would_have_seen_points), "not_shown")
        }
        ProbeVerdict::NotTestable => (None, None, None, None, "not_testable"),
    };
    ProbeKindResult {
        kind: report.kind().name().to_owned(),
        chance: report.items.chance(),
        items: score(&report.items),
        controls: score(&report.controls),
        difference: difference.map(figure),
        interval: interval
            .map(|bounds| IntervalResponse { low: figure(bounds.low), high: figure(bounds.high) }),
        holm_p: holm_p.map(figure),
        permutation_p: report.permutation_p.map(figure),
        critical_correct: report.critical_correct,
        failed_calls: report.failed_calls,
        verdict: verdict.to_owned(),
        would_have_seen_points: would_have_seen_points.map(figure),
        words: report.verdict.words(),
    }
}

fn score(score: &QuizScore) -> ProbeScore {
    ProbeScore {
        count: score.items,
        correct: score.correct,
        declined: score.declined,
        accuracy: score.accuracy().map(figure),
    }
}
