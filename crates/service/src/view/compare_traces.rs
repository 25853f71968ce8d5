//! Two jobs' desks compared by their timing.

use super::{job_id, no_job, traces};
use crate::app::App;
use crate::error::ServiceError;
use papertape_protocol::compare_traces::CompareQuery;
use papertape_runtime::config::SimulationConfig;
use papertape_runtime::profile::ab::{AbReport, compare};
use papertape_runtime::profile::cohort::Run;
use papertape_runtime::profile::invariant::Invariant;
use std::collections::BTreeSet;

/// The maximum number of ticker-days of one job: each is read with all its steps.
const MAX_RUNS: usize = 2000;

/// Compares the traces of two jobs' desks, a run for each ticker-day.
///
/// # Errors
/// No such job; one without a desk, or with more ticker-days than are read at once; cohorts that differ in
/// more than `vary` names; a database error.
pub async fn compare_traces(app: &App, query: &CompareQuery) -> Result<AbReport, ServiceError> {
    let vary: BTreeSet<Invariant> = query
        .vary
        .iter()
        .flat_map(|names| names.split(','))
        .filter(|name| !name.trim().is_empty())
        .map(|name| name.trim().parse().map_err(|error| ServiceError::invalid("vary", error)))
        .collect::<Result<_, _>>()?;
    let a = runs(app, "a", &query.a).await?;
    let b = runs(app, "b", &query.b).await?;
    let label = |given: &Option<String>, usual: &str| given.clone().unwrap_or_else(|| usual.to_owned());
    let (label_a, label_b) = (label(&query.label_a, "A"), label(&query.label_b, "B"));
    compare((&label_a, &a), (&label_b, &b), &vary)
        .map_err(|refusal| ServiceError::invalid("b", refusal.to_string()))
}

async fn runs(app: &App, field: &'static str, job: &str) -> Result<Vec<Run>, ServiceError> {
    let id = job_id(job)?;
    let details = app.store.job_details(&id).await?.ok_or_else(|| no_job(job))?;
    let config: Option<SimulationConfig> = serde_json::from_value(details.job.config).ok();
    let Some(config) = config else {
        return Err(ServiceError::invalid(field, format!("{id} is not a simulation")));
    };
    let most = details.days.len() * config.symbols.len();
    if most > MAX_RUNS {
        let message = format!(
            "{id} has up to {most} ticker-days, more than {MAX_RUNS}; compare files of them: papertape profile export"
        );
        return Err(ServiceError::invalid(field, message));
    }
    let mut runs = Vec::new();
    traces(app, &id, false, |trace| {
        let name = format!("{}_{}_{}", trace.ticker, trace.date, trace.run_id);
        runs.push(Run::of(&trace, name));
        Ok(())
    })
    .await?;
    Ok(runs)
}
