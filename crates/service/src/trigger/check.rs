//! Checks of a request: which agents, symbols and benchmarks it may name.

use super::Request;
use crate::app::App;
use crate::config::{Mode, SimulationDefaults};
use crate::error::ServiceError;
use crate::view::unknown_benchmark;
use papertape_agents::config::{AgentConfig, DEFAULT_MODELS};
use papertape_core::external::ExternalAgentFacts;
use papertape_core::id::{AgentName, Symbol};
use papertape_core::market::{Dataset, NoBenchmark};
use papertape_core::message::{ModelName, Usage};
use papertape_core::record::NewModelDay;
use papertape_core::time::Date;
use papertape_runtime::budget::Budget;
use papertape_runtime::config::SimulationConfig;
use std::collections::BTreeSet;

/// The agents of a request: inline ones, then those it names.
pub(crate) fn agents(app: &App, request: &Request) -> Result<Vec<AgentConfig>, ServiceError> {
    let mut agents = request.agents.clone();
    for name in &request.models {
        agents.push(named(app, name)?);
    }
    if agents.is_empty() {
        agents.clone_from(&app.config.agents);
    }
    if agents.is_empty() {
        agents = DEFAULT_MODELS.iter().map(|name| named(app, name)).collect::<Result<_, _>>()?;
    }
    let mut names = BTreeSet::new();
    for agent in &agents {
        let name = agent.name.as_str();
        if name.trim().is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
            return Err(ServiceError::invalid("agents", "an agent's name must have 1 to 200 characters"));
        }
        if !names.insert(&agent.name) {
            return Err(ServiceError::invalid("agents", format!("duplicate name `{name}`")));
        }
    }
    for agent in &mut agents {
        redact(app, agent);
        resolve_external(app, agent)?;
    }
    Ok(agents)
}

/// Takes an external agent's settings from the server's configuration.
fn resolve_external(app: &App, agent: &mut AgentConfig) -> Result<(), ServiceError> {
    let Some(external) = &mut agent.external else { return Ok(()) };
    let facts = app.services.external.facts(&external.name);
    let ExternalAgentFacts { models, normalize, sandbox } =
        facts.map_err(|message| ServiceError::invalid("agents", format!("{}: {message}", agent.name)))?;
    (external.models, external.normalize, external.sandbox) =
        (models, normalize, sandbox || external.sandbox);
    agent.model = external.model();
    Ok(())
}

/// Redacts an agent's texts before they are hashed or stored.
pub(super) fn redact(app: &App, agent: &mut AgentConfig) {
    let clean = |text: &String| app.services.redactor.redact_text(text).value;
    agent.instructions = agent.instructions.as_ref().map(clean);
    agent.sampling.stop = agent.sampling.stop.iter().map(clean).collect();
}

fn named(app: &App, name: &str) -> Result<AgentConfig, ServiceError> {
    if let Some(agent) = app.config.agents.iter().find(|agent| agent.name.as_str() == name) {
        return Ok(agent.clone());
    }
    let model: ModelName = name.parse().map_err(|_| {
        let known: Vec<&str> = app.config.agents.iter().map(|agent| agent.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        ServiceError::invalid(
            "models",
            format!("unknown agent `{name}`; expected a configured agent ({known}) or `provider::model`"),
        )
    })?;
    Ok(AgentConfig::solo(AgentName::new(name), model))
}

pub(super) fn check_agent(app: &App, agent: &AgentConfig, budget: Budget) -> Result<(), ServiceError> {
    agent
        .validate()
        .map_err(|message| ServiceError::invalid("agents", format!("{}: {message}", agent.name)))?;
    for model in agent.models() {
        app.services.models.check(&model).map_err(|message| ServiceError::invalid("models", message))?;
        if model.is_house() && model.model == papertape_house::ASSISTANT {
            return Err(ServiceError::invalid(
                "models",
                format!("{model} is the assistant and cannot trade"),
            ));
        }
        if app.config.mode == Mode::Dev && !model.is_house() {
            return Err(ServiceError::invalid("models", format!("{model}: dev mode runs only house models")));
        }
        if budget.bounds_money() && app.services.models.cost(&model, &Usage::default()).is_none() {
            return Err(ServiceError::invalid(
                "budget",
                format!("a budget in USD requires a price for {model}"),
            ));
        }
    }
    for tool in &agent.tools {
        let Some(server) = app.config.tools.get(tool) else {
            return Err(ServiceError::invalid(
                "agents",
                format!("{}: unknown tool server `{tool}`; configure it in [tools.{tool}]", agent.name),
            ));
        };
        if !server.allow_unbounded {
            let message = format!(
                "{}: `{tool}` can return data from after the simulated day. Set allow_unbounded = true in [tools.{tool}] to \
                 allow it; the results are then marked as unverified",
                agent.name
            );
            return Err(ServiceError::invalid("agents", message));
        }
    }
    Ok(())
}

/// Checks the model of a memory probe, and that its budget can be kept.
pub(crate) fn check_probe_model(app: &App, model: &ModelName, budget: Budget) -> Result<(), ServiceError> {
    check_budget(budget)?;
    if model.is_recorded() {
        return Err(ServiceError::invalid("model", format!("{model} is imported and cannot be called")));
    }
    app.services.models.check(model).map_err(|message| ServiceError::invalid("model", message))?;
    if app.config.mode == Mode::Dev && !model.is_house() {
        return Err(ServiceError::invalid("model", format!("{model}: dev mode runs only house models")));
    }
    if budget.bounds_money() && app.services.models.cost(model, &Usage::default()).is_none() {
        return Err(ServiceError::invalid("budget", format!("a budget in USD requires a price for {model}")));
    }
    Ok(())
}

pub(super) fn check_budget(budget: Budget) -> Result<(), ServiceError> {
    budget.check().map_err(|message| ServiceError::invalid("budget", message))
}

pub(super) fn pick_agent(config: &SimulationConfig, name: Option<&str>) -> Result<AgentConfig, ServiceError> {
    let names = || config.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ");
    match (name, config.agents.as_slice()) {
        (None, [agent]) => Ok(agent.clone()),
        (None, _) => Err(ServiceError::invalid(
            "agent",
            format!("the job has several agents; expected one of {}", names()),
        )),
        (Some(name), agents) => {
            agents.iter().find(|agent| agent.name.as_str() == name).cloned().ok_or_else(|| {
                ServiceError::invalid("agent", format!("unknown agent `{name}`; expected one of {}", names()))
            })
        }
    }
}

/// The tradable symbols: those that are named, or all past and present members of an index, with the index as universe.
/// The request overrides the config.
pub(super) fn tradable(
    dataset: &Dataset,
    request: &Request,
    defaults: &SimulationDefaults,
) -> Result<(BTreeSet<Symbol>, Option<String>), ServiceError> {
    if request.universe.is_some() && !request.symbols.is_empty() {
        return Err(ServiceError::invalid("universe", "not allowed together with `symbols`"));
    }
    let requested = if request.symbols.is_empty() { &defaults.symbols } else { &request.symbols };
    let default = defaults.universe.as_ref().filter(|_| request.symbols.is_empty());
    let Some(index) = request.universe.as_ref().or(default) else {
        return Ok((symbols(dataset, requested)?, None));
    };
    let mut indexes = dataset.universes();
    if let Some(members) = indexes.remove(index.as_str()) {
        return Ok((members, Some(index.clone())));
    }
    let known: Vec<&str> = indexes.keys().take(20).copied().collect();
    let known = match known[..] {
        [] => "it has no indexes with members; import rows of index, symbol, from and until".to_owned(),
        _ => format!("expected one of {}", known.join(", ")),
    };
    Err(ServiceError::invalid("universe", format!("unknown index `{index}` in {}; {known}", dataset.name())))
}

/// A warning if the universe has no members on the first day.
///
/// # Errors
/// It has no members on any day.
pub(super) fn without_members(
    dataset: &Dataset,
    config: &SimulationConfig,
    days: &[NewModelDay],
) -> Result<Option<String>, ServiceError> {
    let Some(index) = &config.universe else { return Ok(None) };
    let dates: BTreeSet<Date> = days.iter().map(|day| day.date).collect();
    let has_any = |date: &&Date| {
        let view = dataset.day(**date).map(|day| dataset.view(day.open));
        view.is_some_and(|view| view.members(index).is_ok_and(|read| !view.listed(&read.value).is_empty()))
    };
    match (dates.first(), dates.iter().find(has_any)) {
        (Some(first), Some(found)) if first != found => Ok(Some(format!(
            "{index} has no members that are known and listed before {found}: until then agents have nothing to trade"
        ))),
        (Some(_), Some(_)) | (None, _) => Ok(None),
        (Some(_), None) => Err(ServiceError::invalid(
            "universe",
            format!("{index} has no known, listed members from {} to {}", config.start_date, config.end_date),
        )),
    }
}

fn symbols(dataset: &Dataset, requested: &[String]) -> Result<BTreeSet<Symbol>, ServiceError> {
    let all: BTreeSet<Symbol> = dataset.tradable_symbols().cloned().collect();
    if all.is_empty() {
        let message =
            format!("{} has only indexes, which cannot be traded; import stocks too", dataset.name());
        return Err(ServiceError::invalid("symbols", message));
    }
    if requested.is_empty() {
        return Ok(all);
    }
    let requested: BTreeSet<Symbol> = requested.iter().map(|symbol| Symbol::new(symbol.trim())).collect();
    if let Some(index) = dataset.indexes().find(|index| requested.contains(*index)) {
        let message = format!(
            "{index} is an index of {} and cannot be traded; compare the run with it as its `benchmark` \
             (`--benchmark {index}`)",
            dataset.name()
        );
        return Err(ServiceError::invalid("symbols", message));
    }
    match requested.iter().find(|symbol| !all.contains(*symbol)) {
        None => Ok(requested),
        Some(unknown) => {
            let known: Vec<&str> = all.iter().take(20).map(Symbol::as_str).collect();
            let more = if all.len() > known.len() { ", …" } else { "" };
            Err(ServiceError::invalid(
                "symbols",
                format!(
                    "unknown symbol `{unknown}` in {}; expected one of {}{more}",
                    dataset.name(),
                    known.join(", ")
                ),
            ))
        }
    }
}

/// A benchmark must have a price on the first day. A requested one without a price is an error. A configured one is
/// dropped, and the result is the warning.
pub(super) fn benchmark(
    dataset: &Dataset,
    config: &mut SimulationConfig,
    days: &[NewModelDay],
    is_requested: bool,
) -> Result<Option<String>, ServiceError> {
    let (Some(symbol), Some(first)) = (&config.benchmark, days.iter().map(|day| day.date).min()) else {
        return Ok(None);
    };
    let problem = match dataset.benchmark(symbol, &[first], true) {
        Ok(_) => return Ok(None),
        Err(NoBenchmark::Unknown(_)) => {
            let message = unknown_benchmark(dataset, symbol);
            format!("{message}, or import a dataset that has `{symbol}`")
        }
        Err(other) => format!("{other}; name another, or start later"),
    };
    if is_requested {
        return Err(ServiceError::invalid("benchmark", problem));
    }
    config.benchmark = None;
    Ok(Some(format!("the run has no benchmark, simulation.benchmark does not fit: {problem}")))
}
