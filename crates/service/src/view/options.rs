//! What can be run: agents, models, datasets, markets, and the defaults.

use crate::app::App;
use crate::config::Mode;
use crate::error::ServiceError;
use crate::view::deployment;
use papertape_agents::config::{AgentKind, Analyst, DeskConfig, LlmKind};
use papertape_agents::nodes::{SessionNode, session_nodes};
use papertape_core::message::ModelName;
use papertape_core::ports::ModelClient as _;
use papertape_house as house;
use papertape_market::Entry;
use papertape_protocol::agent::MAX_AGENTS;
use papertape_protocol::number::number;
use papertape_protocol::options::{
    AgentOption, DatasetOption, DefaultsOption, MarketOption, ModelOption, OptionsResponse, ProviderOption,
    SessionNodeOption,
};
use std::collections::BTreeSet;

/// The maximum number of listed datasets; `/datasets` has all.
const MAX_DATASETS: usize = 200;

/// What can be run on this server. Keys are checked, never returned.
///
/// # Errors
/// A catalogue that cannot be read.
pub fn options(app: &App) -> Result<OptionsResponse, ServiceError> {
    let (config, defaults) = (&app.config, &app.config.simulation);
    let desk = DeskConfig::default();
    let entries = app.catalogue.list().map_err(anyhow::Error::from)?;
    let datasets = entries.into_iter().filter(|entry| !entry.replaced).take(MAX_DATASETS);
    let market = |name: &str| {
        let profile = config.market(name).ok()?;
        Some(MarketOption {
            name: name.to_owned(),
            lot: number(profile.lot.0),
            fractional: profile.fractional,
            t_plus_one: profile.t_plus_one,
            shorting: profile.shorting,
            max_leverage: number(profile.leverage_limit()),
        })
    };
    let tools = config.tools.iter().filter(|(_, server)| server.allow_unbounded);
    Ok(OptionsResponse {
        kinds: texts(&["solo", "desk", "external"]),
        agents: agents(app),
        models: models(app),
        providers: providers(app),
        datasets: datasets.map(dataset).collect(),
        baselines: texts(&["buy_and_hold", "equal_weight"]),
        markets: config.market_names().filter_map(market).collect(),
        nodes: session_nodes().into_iter().map(node).collect(),
        analysts: texts(&Analyst::ALL.map(Analyst::as_str)),
        memory: texts(&["all", "rounds+open", "rounds", "off"]),
        languages: texts(&["en", "zh"]),
        tools: tools.map(|(name, _)| name.clone()).collect(),
        max_agents: MAX_AGENTS,
        max_rounds: papertape_agents::config::MAX_ROUNDS,
        defaults: DefaultsOption {
            dataset: defaults.dataset.clone(),
            market: defaults.market.clone(),
            costs: defaults.costs.as_str().to_owned(),
            symbols: defaults.symbols.clone(),
            universe: defaults.universe.clone(),
            initial_cash: number(defaults.initial_cash),
            benchmark: defaults.benchmark.clone(),
            summaries: defaults.summaries,
            memory: defaults.memory.mode.as_str().to_owned(),
            max_debate_rounds: desk.max_debate_rounds,
            max_risk_discuss_rounds: desk.max_risk_discuss_rounds,
        },
        deployment: deployment(app),
    })
}

fn node(node: SessionNode) -> SessionNodeOption {
    let llm = node.llm.map(|llm| match llm {
        LlmKind::Quick => "quick",
        LlmKind::Deep => "deep",
    });
    SessionNodeOption {
        name: node.name.to_owned(),
        phase: node.phase.to_owned(),
        order: node.order,
        llm: llm.map(str::to_owned),
        decides: node.decides,
    }
}

fn agents(app: &App) -> Vec<AgentOption> {
    let agent = |agent: &papertape_agents::config::AgentConfig| AgentOption {
        name: agent.name.to_string(),
        kind: match agent.kind {
            AgentKind::Solo => "solo".to_owned(),
            AgentKind::Desk => "desk".to_owned(),
            AgentKind::External => "external".to_owned(),
        },
        model: agent.model.to_string(),
        is_llm: !agent.is_rule_based(),
        problem: agent
            .external
            .as_ref()
            .and_then(|external| app.services.external.facts(&external.name).err())
            .or_else(|| agent.models().iter().find_map(|model| problem(app, model))),
    };
    let mut agents: Vec<AgentOption> = app.config.agents.iter().map(agent).collect();
    agents.sort_by(|a, b| a.name.cmp(&b.name));
    agents
}

/// House models first, then callable ones, then the others.
fn models(app: &App) -> Vec<ModelOption> {
    let named = |name: &str| ModelName { provider: "house".to_owned(), model: name.to_owned() };
    let house = house::NAMES.iter().map(|name| named(name));
    let configured = app.config.agents.iter().flat_map(|agent| agent.models());
    let priced = app.gateway.prices().iter().map(|price| price.model.clone());
    let all: BTreeSet<ModelName> = house.chain(configured).chain(priced).collect();
    let mut models: Vec<ModelOption> = all
        .iter()
        .map(|model| ModelOption {
            model: model.to_string(),
            is_llm: !model.is_house(),
            usable: problem(app, model).is_none(),
        })
        .collect();
    models.sort_by_key(|model| (model.is_llm, !model.usable));
    models
}

fn providers(app: &App) -> Vec<ProviderOption> {
    let provider = |provider: &str| {
        let model = ModelName { provider: provider.to_owned(), model: "any".to_owned() };
        ProviderOption {
            provider: provider.to_owned(),
            configured: app.config.models.providers.contains_key(provider),
            problem: problem(app, &model),
        }
    };
    app.gateway.providers().map(provider).collect()
}

/// Why a model cannot be called here.
fn problem(app: &App, model: &ModelName) -> Option<String> {
    if app.config.mode == Mode::Dev && !model.is_house() {
        return Some("dev mode runs only house models".to_owned());
    }
    app.gateway.check(model).err()
}

fn dataset(entry: Entry) -> DatasetOption {
    DatasetOption {
        name: entry.name,
        hash: entry.hash.to_hex(),
        symbols: entry.symbols.iter().map(ToString::to_string).collect(),
        universes: entry.universes.into_iter().map(|index| index.name).collect(),
        indexes: entry.indexes.iter().map(ToString::to_string).collect(),
        first_day: entry.first_day,
        last_day: entry.last_day,
        market: entry.market,
    }
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
