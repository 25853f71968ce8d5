//! The selection of a comparison.

use crate::app::App;
use crate::error::ServiceError;
use crate::view::plain;
use papertape_core::id::{AgentName, ExperimentId, JobId, Symbol};
use papertape_core::record::JobKind;
use papertape_evidence::Mismatch;
use papertape_protocol::compare::CompareQuery;
use papertape_store::{JobFilter, PageRequest};

/// A part of `select`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selector {
    /// A job, and one of its agents.
    Job(JobId, Option<AgentName>),
    /// An experiment, and one of its agents.
    Experiment(ExperimentId, Option<AgentName>),
    Baseline(Baseline),
    Symbol(Symbol),
    /// The random baseline: a test of each agent, not an item.
    Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Baseline {
    BuyAndHold,
    EqualWeight,
}

impl Baseline {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::BuyAndHold => "buy_and_hold",
            Self::EqualWeight => "equal_weight",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::BuyAndHold, Self::EqualWeight].into_iter().find(|baseline| baseline.as_str() == text)
    }
}

/// What an experiment varies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Varied {
    pub(super) names: Vec<String>,
    pub(super) conditions: Vec<Mismatch>,
    pub(super) model: bool,
    pub(super) prompt: bool,
}

impl Varied {
    /// Whether the experiment varies one setting of the agents, so that they may not differ in anything else.
    pub(super) fn is_strict(&self) -> bool {
        self.model || self.prompt
    }

    pub(super) fn parse(text: Option<&str>) -> Result<Self, ServiceError> {
        let mut varied = Self::default();
        for name in text.into_iter().flat_map(|text| text.split(',')).map(str::trim) {
            match name {
                "mask" => varied.conditions.push(Mismatch::Mask),
                "costs" => varied.conditions.push(Mismatch::Costs),
                "model" => varied.model = true,
                "prompt" => varied.prompt = true,
                _ => {
                    let name = name.escape_default();
                    let message = format!("unknown `{name}`; expected mask, model, costs or prompt");
                    return Err(ServiceError::invalid("vary", message));
                }
            }
            varied.names.push(name.to_owned());
        }
        Ok(varied)
    }
}

/// Parses `select`.
pub(super) async fn selectors(app: &App, query: &CompareQuery) -> Result<Vec<Selector>, ServiceError> {
    plain("select", Some(&query.select))?;
    let mut found = Vec::new();
    for text in query.select.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        let one = selector(app, text).await?;
        if !found.contains(&one) {
            found.push(one);
        }
    }
    Ok(found)
}

async fn selector(app: &App, text: &str) -> Result<Selector, ServiceError> {
    if let Some(name) = text.strip_prefix("baseline:") {
        return match Baseline::parse(name) {
            Some(baseline) => Ok(Selector::Baseline(baseline)),
            None if name == "random" => Ok(Selector::Random),
            None => {
                let name = name.escape_default();
                let known = "buy_and_hold, equal_weight or random";
                Err(ServiceError::invalid("select", format!("unknown baseline `{name}`; expected {known}")))
            }
        };
    }
    if let Some(symbol) = text.strip_prefix("symbol:") {
        return Ok(Selector::Symbol(Symbol::new(symbol)));
    }
    let (kind, rest) = match text.split_once(':') {
        Some(("job", rest)) => (Some(true), rest),
        Some(("experiment", rest)) => (Some(false), rest),
        _ => (None, text),
    };
    let (id, agent) = match rest.split_once('/') {
        Some((id, agent)) => (id, Some(AgentName::new(agent))),
        None => (rest, None),
    };
    if id == "latest" && kind != Some(false) {
        return Ok(Selector::Job(latest(app).await?, agent));
    }
    let is_job = match kind {
        Some(is_job) => is_job,
        None => app.store.job_overview(&JobId::new(id)).await?.is_some(),
    };
    if is_job {
        return Ok(Selector::Job(JobId::new(id), agent));
    }
    let experiment = ExperimentId::new(id);
    if kind.is_none() && app.store.experiment(&experiment).await?.is_none() {
        let id = id.escape_default();
        return Err(ServiceError::NotFound(format!("there is no job or experiment {id}")));
    }
    Ok(Selector::Experiment(experiment, agent))
}

/// The newest simulation.
async fn latest(app: &App) -> Result<JobId, ServiceError> {
    let filter = JobFilter { kind: Some(JobKind::Simulate), ..JobFilter::default() };
    let page = app.store.jobs(&filter, &PageRequest::first(1)).await?;
    let newest = page.items.into_iter().next().map(|item| item.job.id);
    newest.ok_or_else(|| ServiceError::NotFound("there is no simulation".to_owned()))
}
