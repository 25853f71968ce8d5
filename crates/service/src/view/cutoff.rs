//! Warnings about days that a model's training data may cover.

use crate::app::App;
use papertape_agents::config::AgentConfig;
use papertape_core::id::AgentName;
use papertape_core::message::ModelName;
use papertape_core::time::Date;
use papertape_protocol::cutoff::TrainingCutoffResponse;
use papertape_runtime::config::SimulationConfig;
use std::collections::BTreeSet;

/// The status of a model whose vendor states no cut-off.
const NOT_STATED: &str = "not_stated";

/// The language models of an agent, after changes by a branch. Empty if the job has no such agent.
pub(crate) fn language_models(config: &SimulationConfig, agent: &AgentName) -> BTreeSet<ModelName> {
    let changed = config.branch.as_ref().and_then(|branch| branch.agent.as_ref());
    let all = changed.into_iter().chain(&config.agents);
    let models = all.filter(|other| other.name == *agent).take(1).flat_map(AgentConfig::models);
    models.filter(|model| !model.is_house()).collect()
}

/// The training cut-off of each language model, compared with these days.
pub(crate) fn training_cutoffs(
    app: &App,
    models: &BTreeSet<ModelName>,
    dates: &BTreeSet<Date>,
) -> Vec<TrainingCutoffResponse> {
    models.iter().filter(|model| !model.is_house()).map(|model| training_cutoff(app, model, dates)).collect()
}

pub(crate) fn training_cutoff(
    app: &App,
    model: &ModelName,
    dates: &BTreeSet<Date>,
) -> TrainingCutoffResponse {
    let found = app.gateway.cutoff(model);
    let date = found.and_then(|cutoff| cutoff.date);
    let stated = TrainingCutoffResponse {
        model: model.to_string(),
        status: match (found, date) {
            (_, Some(_)) => "stated",
            (Some(_), None) => NOT_STATED,
            (None, None) => "unknown",
        }
        .to_owned(),
        date,
        states: found.map(|cutoff| cutoff.states.clone()),
        source: found.map(|cutoff| cutoff.source.clone()),
        checked: found.and_then(|cutoff| cutoff.checked),
        days: 0,
        days_before: None,
        warning: None,
    };
    over_days(stated, dates)
}

/// A training cut-off, compared with these days instead of its own.
pub(crate) fn over_days(cutoff: TrainingCutoffResponse, dates: &BTreeSet<Date>) -> TrainingCutoffResponse {
    let (model, days) = (&cutoff.model, dates.len());
    let days_before = cutoff.date.map(|cutoff| dates.iter().filter(|day| **day <= cutoff).count());
    let warning = match (cutoff.status.as_str(), cutoff.date.zip(days_before)) {
        (_, Some((_, 0))) => None,
        (_, Some((cutoff, before))) => Some(format!(
            "{before} of {days} days lie before the stated training cut-off of {model} ({cutoff})"
        )),
        (NOT_STATED, None) => Some(format!(
            "the vendor of {model} states no training cut-off: it may have been trained on these days"
        )),
        (_, None) => Some(format!(
            "the training cut-off of {model} is unknown: it may have been trained on these days"
        )),
    };
    TrainingCutoffResponse { days, days_before, warning, ..cutoff }
}
