//! The curves of a run: each agent's value and status on each day. A few bytes per model-day, so that ten years of
//! ten agents load at once; the numbers are those of [`super::results`].

use super::results::FullResearch;
use super::{is_llm, job_id, masked, no_job};
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::{AgentName, JobId};
use papertape_core::money::Money;
use papertape_core::time::Date;
use papertape_protocol::curves::{AgentCurve, CurvesResponse};
use papertape_protocol::deployment::Deployment;
use papertape_protocol::number::number;
use papertape_protocol::results::range::DoneBefore;
use papertape_runtime::config::SimulationConfig;
use papertape_store::JobCurves;
use std::collections::BTreeMap;

/// The curves of a job.
///
/// # Errors
/// There is no such job; a database error.
pub async fn curves(app: &App, job: &str) -> Result<CurvesResponse, ServiceError> {
    let id = job_id(job)?;
    let found = app.store.job_curves(&id).await?.ok_or_else(|| no_job(job))?;
    let deployment = super::deployment(app);
    // For long runs, this is CPU work.
    let drawn = tokio::task::spawn_blocking(move || drawn(found, deployment));
    drawn.await.map_err(anyhow::Error::from)?
}

fn drawn(found: JobCurves, deployment: Deployment) -> Result<CurvesResponse, ServiceError> {
    let mut dates: Vec<Date> = found.days.iter().map(|(date, ..)| *date).collect();
    dates.dedup();
    let config: Option<SimulationConfig> = serde_json::from_value(found.job.config).ok();
    let mut agents: BTreeMap<AgentName, AgentCurve> = BTreeMap::new();
    let starts: BTreeMap<AgentName, Money> = found.starts.into_iter().collect();
    let mut at = 0;
    let mut done_in: BTreeMap<AgentName, Vec<(Date, JobId)>> = BTreeMap::new();
    for (date, agent, status, job) in found.days {
        if let Some(job) = job {
            done_in.entry(agent.clone()).or_default().push((date, job));
        }
        // By date: the index advances with them.
        while dates.get(at).is_some_and(|reached| *reached < date) {
            at += 1;
        }
        let curve = agents.entry(agent).or_insert_with_key(|agent| AgentCurve {
            model: agent.to_string(),
            is_llm: config.as_ref().and_then(|config| is_llm(config, agent)),
            starting_portfolio_value: starts.get(agent).map(|start| number(start.0)),
            done_before: Vec::new(),
            portfolio_values: vec![None; dates.len()],
            statuses: vec![None; dates.len()],
            full_research: vec![None; dates.len()],
        });
        curve.statuses[at] = Some(status);
    }
    for (agent, days) in done_in {
        if let Some(curve) = agents.get_mut(&agent) {
            curve.done_before = DoneBefore::spans(&found.job.id, days.iter().map(|(date, job)| (*date, job)));
        }
    }
    let mut full_research = FullResearch::default();
    for close in found.closes {
        let (Some(curve), Ok(at)) = (agents.get_mut(&close.agent), dates.binary_search(&close.date)) else {
            continue;
        };
        curve.portfolio_values[at] = Some(number(close.portfolio_value.0));
        curve.full_research[at] = Some(full_research.of(&close.metadata));
    }
    let mut agents: Vec<AgentCurve> = agents.into_values().collect();
    if let Some(config) = &config {
        let place = |name: &str| config.agents.iter().position(|agent| agent.name.as_str() == name);
        agents.sort_by_key(|agent| place(&agent.model).unwrap_or(usize::MAX));
    }
    let curves = CurvesResponse {
        job_id: found.job.id.to_string(),
        cancel_requested: found.cancel_requested,
        dates,
        agents,
        masked: config.as_ref().and_then(masked::mark),
        deployment,
    };
    match config.as_ref().and_then(SimulationConfig::translation) {
        Some(masking) => masked::real(masking, curves),
        None => Ok(curves),
    }
}
