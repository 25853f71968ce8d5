//! A run as it is drawn: each agent's value and state on each day, and nothing else of it. Some bytes a
//! model-day, so that ten years of ten agents are there at once; figures are those of [`super::results`].

use super::results::{DoneBefore, Researched};
use super::{Deployment, Number, ViewError, is_llm, job_id, no_job, number};
use crate::app::App;
use papertape_core::id::{AgentName, JobId};
use papertape_core::money::Money;
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use papertape_runtime::config::SimulationConfig;
use papertape_store::JobCurves;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The curves of a job's agents.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct CurvesResponse {
    /// The job.
    pub job_id: String,
    /// Has somebody asked for it to be cancelled?
    pub cancel_requested: bool,
    /// Its trading days, oldest first: all lists of an agent are along them.
    pub dates: Vec<Date>,
    /// Its agents, as the job names them.
    pub agents: Vec<AgentCurve>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One agent, day by day.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct AgentCurve {
    /// The agent.
    pub model: String,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: Option<bool>,
    /// The portfolio value before the first day that is closed; `null` while none is.
    pub starting_portfolio_value: Option<Number>,
    /// Which of the days other jobs did before, oldest first.
    pub done_before: Vec<DoneBefore>,
    /// Cash and holdings at each close; `null` where the day is not closed.
    pub portfolio_values: Vec<Option<Number>>,
    /// How each day stands; `null` where the day is none of the agent's.
    #[schema(value_type = Vec<Option<String>>)]
    pub statuses: Vec<Option<DayStatus>>,
    /// Was it a day of full research? `null` where the day is not closed.
    pub full_research: Vec<Option<bool>>,
}

/// The curves of a job.
///
/// # Errors
/// There is no such job; the record's.
pub async fn curves(app: &App, job: &str) -> Result<CurvesResponse, ViewError> {
    let id = job_id(job)?;
    let found = app.store.job_curves(&id).await?.ok_or_else(|| no_job(job))?;
    let deployment = Deployment::of(app);
    // Of years, that is some work.
    let drawn = tokio::task::spawn_blocking(move || drawn(found, deployment));
    Ok(drawn.await.map_err(anyhow::Error::from)?)
}

fn drawn(found: JobCurves, deployment: Deployment) -> CurvesResponse {
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
        // By date: the place goes on with them.
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
    for close in found.closes {
        let (Some(curve), Ok(at)) = (agents.get_mut(&close.agent), dates.binary_search(&close.date)) else {
            continue;
        };
        curve.portfolio_values[at] = Some(number(close.portfolio_value.0));
        curve.full_research[at] = Some(Researched::read(Some(&close.metadata)).is_full());
    }
    let mut agents: Vec<AgentCurve> = agents.into_values().collect();
    if let Some(config) = &config {
        let place = |name: &str| config.agents.iter().position(|agent| agent.name.as_str() == name);
        agents.sort_by_key(|agent| place(&agent.model).unwrap_or(usize::MAX));
    }
    CurvesResponse {
        job_id: found.job.id.to_string(),
        cancel_requested: found.cancel_requested,
        dates,
        agents,
        deployment,
    }
}
