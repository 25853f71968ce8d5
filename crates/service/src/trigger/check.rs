//! What a request may name, and what of it can be run.

use super::{Request, TriggerError, bad};
use crate::app::App;
use crate::config::{Mode, SimulationDefaults};
use crate::view::unknown_benchmark;
use papertape_agents::config::{AgentConfig, DEFAULT_MODELS};
use papertape_core::id::{AgentName, Symbol};
use papertape_core::market::{Dataset, NoBenchmark};
use papertape_core::message::{ModelName, Usage};
use papertape_core::record::NewModelDay;
use papertape_core::time::Date;
use papertape_runtime::budget::Budget;
use papertape_runtime::config::SimulationConfig;
use std::collections::BTreeSet;

/// The agents of a request: those given whole, and those named.
pub(super) fn agents(app: &App, request: &Request) -> Result<Vec<AgentConfig>, TriggerError> {
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
            return Err(bad("agents", "an agent's name is a text of 1 to 200 characters"));
        }
        if !names.insert(&agent.name) {
            return Err(bad("agents", format!("the name `{name}` stands twice")));
        }
    }
    for agent in &mut agents {
        redact(app, agent);
    }
    Ok(agents)
}

/// Takes secrets out of what an agent is told, before it is hashed or kept.
pub(super) fn redact(app: &App, agent: &mut AgentConfig) {
    let clean = |text: &String| app.services.redactor.redact_text(text).value;
    agent.instructions = agent.instructions.as_ref().map(clean);
    agent.sampling.stop = agent.sampling.stop.iter().map(clean).collect();
}

fn named(app: &App, name: &str) -> Result<AgentConfig, TriggerError> {
    if let Some(agent) = app.config.agents.iter().find(|agent| agent.name.as_str() == name) {
        return Ok(agent.clone());
    }
    let model: ModelName = name.parse().map_err(|_| {
        let known: Vec<&str> = app.config.agents.iter().map(|agent| agent.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        bad(
            "models",
            format!("`{name}` is neither a configured agent ({known}) nor of the form provider::model"),
        )
    })?;
    Ok(AgentConfig::solo(AgentName::new(name), model))
}

pub(super) fn check_agent(app: &App, agent: &AgentConfig, budget: Budget) -> Result<(), TriggerError> {
    agent.validate().map_err(|message| bad("agents", format!("{}: {message}", agent.name)))?;
    for model in agent.models() {
        app.services.models.check(&model).map_err(|message| bad("models", message))?;
        if model.is_house() && model.model == papertape_llm::house::ASSISTANT {
            return Err(bad("models", format!("{model} answers people, and trades nothing")));
        }
        if app.config.mode == Mode::Dev && !model.is_house() {
            return Err(bad("models", format!("{model}: dev mode runs house models alone")));
        }
        if budget.bounds_money() && app.services.models.cost(&model, &Usage::default()).is_none() {
            return Err(bad("budget", format!("a budget in USD needs a price for {model}")));
        }
    }
    for tool in &agent.tools {
        let Some(server) = app.config.tools.get(tool) else {
            return Err(bad(
                "agents",
                format!("{}: there is no tool server `{tool}` in the config", agent.name),
            ));
        };
        if !server.allow_unbounded {
            let message = format!(
                "{}: `{tool}` can see later than the day that is simulated; set allow_unbounded = true in \
                 [tools.{tool}] to let it, and have the results marked as unverified",
                agent.name
            );
            return Err(bad("agents", message));
        }
    }
    Ok(())
}

pub(super) fn pick_agent(config: &SimulationConfig, name: Option<&str>) -> Result<AgentConfig, TriggerError> {
    let names = || config.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ");
    match (name, config.agents.as_slice()) {
        (None, [agent]) => Ok(agent.clone()),
        (None, _) => Err(bad("agent", format!("the job has several agents; name one of: {}", names()))),
        (Some(name), agents) => agents
            .iter()
            .find(|agent| agent.name.as_str() == name)
            .cloned()
            .ok_or_else(|| bad("agent", format!("the job has no agent `{name}`; it has: {}", names()))),
    }
}

/// What may be traded: the symbols that are named, or an index as universe with all that ever were its members. What
/// the request names takes the place of the config's.
pub(super) fn tradable(
    dataset: &Dataset,
    request: &Request,
    defaults: &SimulationDefaults,
) -> Result<(BTreeSet<Symbol>, Option<String>), TriggerError> {
    if request.universe.is_some() && !request.symbols.is_empty() {
        return Err(bad("universe", "`universe` and `symbols` exclude each other; give one of the two"));
    }
    let wanted = if request.symbols.is_empty() { &defaults.symbols } else { &request.symbols };
    let default = defaults.universe.as_ref().filter(|_| request.symbols.is_empty());
    let Some(index) = request.universe.as_ref().or(default) else {
        return Ok((symbols(dataset, wanted)?, None));
    };
    let mut indexes = dataset.universes();
    if let Some(members) = indexes.remove(index.as_str()) {
        return Ok((members, Some(index.clone())));
    }
    let known: Vec<&str> = indexes.keys().take(20).copied().collect();
    let known = match known[..] {
        [] => "it has none; import them as rows of index, symbol, from and until".to_owned(),
        _ => format!("it has: {}", known.join(", ")),
    };
    Err(bad("universe", format!("{} has no members of an index `{index}`; {known}", dataset.name())))
}

/// What is to be said where the universe has no member on the first day that is run.
///
/// # Errors
/// Where it has none on any of the days.
pub(super) fn without_members(
    dataset: &Dataset,
    config: &SimulationConfig,
    days: &[NewModelDay],
) -> Result<Option<String>, TriggerError> {
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
        (Some(_), None) => Err(bad(
            "universe",
            format!(
                "{index} has no members that are known and listed from {} to {}",
                config.start_date, config.end_date
            ),
        )),
    }
}

fn symbols(dataset: &Dataset, wanted: &[String]) -> Result<BTreeSet<Symbol>, TriggerError> {
    let all: BTreeSet<Symbol> = dataset.tradable_symbols().cloned().collect();
    if all.is_empty() {
        let message =
            format!("{} has only indexes, which cannot be traded; import stocks with them", dataset.name());
        return Err(bad("symbols", message));
    }
    if wanted.is_empty() {
        return Ok(all);
    }
    let wanted: BTreeSet<Symbol> = wanted.iter().map(|symbol| Symbol::new(symbol.trim())).collect();
    if let Some(index) = dataset.indexes().find(|index| wanted.contains(*index)) {
        let message = format!(
            "{index} is an index of {} and cannot be traded; compare the run with it as its `benchmark` \
             (`--benchmark {index}`)",
            dataset.name()
        );
        return Err(bad("symbols", message));
    }
    match wanted.iter().find(|symbol| !all.contains(*symbol)) {
        None => Ok(wanted),
        Some(unknown) => {
            let known: Vec<&str> = all.iter().take(20).map(Symbol::as_str).collect();
            let more = if all.len() > known.len() { ", …" } else { "" };
            Err(bad(
                "symbols",
                format!("{} has no `{unknown}`; it has: {}{more}", dataset.name(), known.join(", ")),
            ))
        }
    }
}

/// A benchmark must have a price to begin with. A requested one that has none is an error; a configured one is dropped,
/// and the result is the warning.
pub(super) fn benchmark(
    dataset: &Dataset,
    config: &mut SimulationConfig,
    days: &[NewModelDay],
    is_requested: bool,
) -> Result<Option<String>, TriggerError> {
    let (Some(symbol), Some(first)) = (&config.benchmark, days.iter().map(|day| day.date).min()) else {
        return Ok(None);
    };
    let problem = match dataset.benchmark(symbol, &[first], true) {
        Ok(_) => return Ok(None),
        Err(NoBenchmark::Unknown(_)) => {
            let known = unknown_benchmark(dataset, symbol);
            format!("{known}, or import a dataset that has `{symbol}`")
        }
        Err(other) => format!("{other}; name another, or start later"),
    };
    if is_requested {
        return Err(bad("benchmark", problem));
    }
    config.benchmark = None;
    Ok(Some(format!("the run has no benchmark, simulation.benchmark does not fit: {problem}")))
}
