//! Prepares a simulation on a counterfactual future.

use crate::app::App;
use crate::counterfactual::{PREFIX, derive, origin, with_bars};
use crate::error::ServiceError;
use crate::trigger::Request;
use papertape_agents::config::AgentConfig;
use papertape_core::id::{AgentName, Symbol};
use papertape_core::message::ModelName;
use papertape_core::time::Date;
use papertape_runtime::budget::{Budget, Limit};
use std::collections::BTreeSet;

/// A requested counterfactual run.
#[derive(Clone, Debug)]
pub struct CounterfactualRequest {
    /// The model, as a solo agent.
    pub model: ModelName,
    /// The real dataset; `None`: the config's.
    pub dataset: Option<String>,
    /// The tradable symbols; empty: all that have the days.
    pub symbols: Vec<String>,
    /// The first day of the resampled path.
    pub start: Date,
    /// The last day, included.
    pub end: Date,
    /// The seed of the path and of the job.
    pub seed: u64,
    /// The budget; `None`: the config's.
    pub budget: Option<Limit>,
}

/// The simulation of a request on the real dataset, for an estimate.
#[must_use]
pub fn simulation(request: &CounterfactualRequest) -> Request {
    let name = AgentName::new(format!("{PREFIX}:{}", request.model));
    Request {
        start_date: Some(request.start),
        end_date: Some(request.end),
        agents: vec![AgentConfig::solo(name, request.model.clone())],
        dataset: request.dataset.clone(),
        symbols: request.symbols.clone(),
        seed: Some(request.seed),
        summaries: Some(false),
        budget: request.budget.map(|job| Budget { job, ..Budget::default() }),
        ..Request::default()
    }
}

/// Derives and stores the dataset, and returns the simulation on it.
///
/// # Errors
/// An invalid field, by name; a dataset that cannot be stored.
pub fn prepare(app: &App, request: &CounterfactualRequest) -> Result<Request, ServiceError> {
    let name = request.dataset.as_deref().unwrap_or(&app.config.simulation.dataset);
    let real =
        app.catalogue.open(name).map_err(|error| ServiceError::invalid("dataset", error.to_string()))?;
    if origin(real.name()).is_some() {
        return Err(ServiceError::invalid("dataset", "it is a counterfactual one already"));
    }
    let symbols: BTreeSet<Symbol> = match request.symbols.as_slice() {
        [] => with_bars(&real, request.start),
        named => named.iter().map(|symbol| Symbol::new(symbol.trim())).collect(),
    };
    let derived = derive(&real, &symbols, (request.start, request.end), request.seed)
        .map_err(|why| ServiceError::invalid("start_date", why))?;
    let market = app.catalogue.default_market(&real);
    app.catalogue
        .store(&derived, market.as_deref(), true)
        .map_err(|error| ServiceError::Internal(error.into()))?;
    let symbols = symbols.iter().map(ToString::to_string).collect();
    Ok(Request { dataset: Some(derived.name().to_owned()), symbols, ..simulation(request) })
}
