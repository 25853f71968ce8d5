//! What can be run: agents, models, datasets, markets, and what holds where nothing is said.

use super::{Deployment, Number, ViewError, number};
use crate::app::App;
use crate::config::Mode;
use papertape_agents::config::{AgentKind, Analyst, DeskConfig};
use papertape_core::message::ModelName;
use papertape_core::ports::ModelClient as _;
use papertape_llm::house;
use papertape_market::Entry;
use serde::Serialize;
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// The most datasets that are listed; `/datasets` has all.
const MAX_DATASETS: usize = 200;

/// What can be run.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct OptionsResponse {
    /// How agents work: `solo`, `desk`.
    pub kinds: Vec<&'static str>,
    /// Agents of the server's config, by name.
    pub agents: Vec<AgentOption>,
    /// Models that are known by name: the house's, those of configured agents, those with a known price.
    /// Any other of a provider can be named too.
    pub models: Vec<ModelOption>,
    /// Providers, `house` excluded.
    pub providers: Vec<ProviderOption>,
    /// Datasets, without those that others have replaced.
    pub datasets: Vec<DatasetOption>,
    /// What every run is compared with.
    pub baselines: Vec<&'static str>,
    /// Market profiles.
    pub markets: Vec<MarketOption>,
    /// A desk's analysts.
    pub analysts: Vec<&'static str>,
    /// Settings of the memory.
    pub memory: Vec<&'static str>,
    /// Languages of prompts.
    pub languages: Vec<&'static str>,
    /// Outside tool servers that a simulation may use.
    pub tools: Vec<String>,
    /// The most agents of one job.
    pub most_agents: usize,
    /// The most rounds of a debate.
    pub most_rounds: u32,
    /// What holds where a run does not say.
    pub defaults: DefaultsOption,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// An agent of the config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct AgentOption {
    /// Its name.
    pub name: String,
    /// `solo` or `desk`.
    pub kind: &'static str,
    /// `provider::model`.
    pub model: String,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: bool,
    /// Why it cannot be run now; `null`: it can.
    pub problem: Option<String>,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ModelOption {
    /// `provider::model`.
    pub model: String,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: bool,
    /// Can it be called: is its key there, where it needs one?
    pub usable: bool,
}

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProviderOption {
    /// What stands before `::`.
    pub provider: String,
    /// Does the config name it?
    pub configured: bool,
    /// Why it cannot be called, as where its key is not there; `null`: it can.
    pub problem: Option<String>,
}

/// A dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DatasetOption {
    /// Its name.
    pub name: String,
    /// Its content hash.
    pub hash: String,
    /// Its symbols that can be traded.
    pub symbols: Vec<String>,
    /// The symbols of its indexes: a run can name one as its benchmark.
    pub indexes: Vec<String>,
    /// The indexes whose members over time it has: a run can name one as its universe.
    pub universes: Vec<String>,
    /// Its first trading day.
    #[schema(value_type = Option<String>, format = Date)]
    pub first_day: Option<papertape_core::time::Date>,
    /// Its last trading day.
    #[schema(value_type = Option<String>, format = Date)]
    pub last_day: Option<papertape_core::time::Date>,
    /// The market profile of runs that name none.
    pub market: Option<String>,
}

/// A market profile.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct MarketOption {
    /// Its name.
    pub name: String,
    /// Quantities are multiples of this; without meaning where fractions are traded.
    pub lot: Number,
    /// May fractions be traded?
    pub fractional: bool,
    /// Is what was bought locked until a later day?
    pub t_plus_one: bool,
    /// May shares be sold short?
    pub shorting: bool,
    /// The largest leverage.
    pub max_leverage: Number,
}

/// What holds where a run does not say.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DefaultsOption {
    /// The dataset's name, or the first digits of its hash.
    pub dataset: String,
    /// The market profile of datasets that name none.
    pub market: String,
    /// What trading costs: `market` or `frictionless`.
    pub costs: &'static str,
    /// What may be traded; empty: all.
    pub symbols: Vec<String>,
    /// The index whose members of each day may be traded, in place of `symbols`.
    pub universe: Option<String>,
    /// What each agent starts with.
    pub initial_cash: Number,
    /// The symbol or index that results are compared with; `null`: none.
    pub benchmark: Option<String>,
    /// Are summaries written?
    pub summaries: bool,
    /// Which memories are on.
    pub memory: &'static str,
    /// How often Bull and Bear speak each.
    pub max_debate_rounds: u32,
    /// How often each risk analyst speaks.
    pub max_risk_discuss_rounds: u32,
}

/// What can be run on this server. Keys are looked for, and never told.
///
/// # Errors
/// A catalogue that cannot be read.
pub fn options(app: &App) -> Result<OptionsResponse, ViewError> {
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
        kinds: vec!["solo", "desk"],
        agents: agents(app),
        models: models(app),
        providers: providers(app),
        datasets: datasets.map(DatasetOption::from).collect(),
        baselines: vec!["buy_and_hold", "equal_weight"],
        markets: config.market_names().filter_map(market).collect(),
        analysts: Analyst::ALL.map(Analyst::as_str).to_vec(),
        memory: vec!["all", "rounds+open", "rounds", "off"],
        languages: vec!["en", "zh"],
        tools: tools.map(|(name, _)| name.clone()).collect(),
        most_agents: crate::api::MAX_AGENTS,
        most_rounds: papertape_agents::config::MAX_ROUNDS,
        defaults: DefaultsOption {
            dataset: defaults.dataset.clone(),
            market: defaults.market.clone(),
            costs: defaults.costs.as_str(),
            symbols: defaults.symbols.clone(),
            universe: defaults.universe.clone(),
            initial_cash: number(defaults.initial_cash),
            benchmark: defaults.benchmark.clone(),
            summaries: defaults.summaries,
            memory: defaults.memory.mode.as_str(),
            max_debate_rounds: desk.max_debate_rounds,
            max_risk_discuss_rounds: desk.max_risk_discuss_rounds,
        },
        deployment: Deployment::of(app),
    })
}

fn agents(app: &App) -> Vec<AgentOption> {
    let agent = |agent: &papertape_agents::config::AgentConfig| AgentOption {
        name: agent.name.to_string(),
        kind: match agent.kind {
            AgentKind::Solo => "solo",
            AgentKind::Desk => "desk",
        },
        model: agent.model.to_string(),
        is_llm: agent.models().iter().any(|model| !model.is_house()),
        problem: agent.models().iter().find_map(|model| problem(app, model)),
    };
    let mut agents: Vec<AgentOption> = app.config.agents.iter().map(agent).collect();
    agents.sort_by(|a, b| a.name.cmp(&b.name));
    agents
}

/// The house's first, then those that can be called, then the others.
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
        return Some("dev mode runs house models alone".to_owned());
    }
    app.gateway.check(model).err()
}

impl From<Entry> for DatasetOption {
    fn from(entry: Entry) -> Self {
        Self {
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
}
