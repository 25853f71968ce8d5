//! What can be run, and the defaults.

use crate::deployment::Deployment;
use crate::desk::AnalystBody;
use crate::number::Number;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What can be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OptionsResponse {
    /// How agents work: `solo`, `desk`, `external`.
    pub kinds: Vec<String>,
    /// Agents of the server's config, by name.
    pub agents: Vec<AgentOption>,
    /// Known models: house models, models of configured agents, models with a known price.
    /// Any other model of a provider can be named too.
    pub models: Vec<ModelOption>,
    /// Providers, `house` excluded.
    pub providers: Vec<ProviderOption>,
    /// Datasets, without replaced ones.
    pub datasets: Vec<DatasetOption>,
    /// The baselines of every run.
    pub baselines: Vec<String>,
    /// Market profiles.
    pub markets: Vec<MarketOption>,
    /// The nodes of a session, in the order of the day.
    pub nodes: Vec<SessionNodeOption>,
    /// A desk's analysts.
    #[schema(value_type = Vec<AnalystBody>)]
    pub analysts: Vec<String>,
    /// Settings of the memory.
    pub memory: Vec<String>,
    /// Languages of prompts.
    pub languages: Vec<String>,
    /// External tool servers that a simulation may use.
    pub tools: Vec<String>,
    /// The maximum number of agents of one job.
    pub max_agents: usize,
    /// The maximum number of debate rounds.
    pub max_rounds: u32,
    /// Defaults of a run.
    pub defaults: DefaultsOption,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// An agent of the config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentOption {
    /// Its name.
    pub name: String,
    /// `solo`, `desk` or `external`.
    pub kind: String,
    /// `provider::model`.
    pub model: String,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: bool,
    /// Why it cannot be run now; `null`: it can.
    pub problem: Option<String>,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ModelOption {
    /// `provider::model`.
    pub model: String,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: bool,
    /// Whether it can be called; `false` if it needs a key and has none.
    pub usable: bool,
}

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProviderOption {
    /// The part before `::`.
    pub provider: String,
    /// Whether it is configured.
    pub configured: bool,
    /// Why it cannot be called, such as a missing key; `null`: it can.
    pub problem: Option<String>,
}

/// A dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DatasetOption {
    /// Its name.
    pub name: String,
    /// Its content hash.
    pub hash: String,
    /// Its tradable symbols.
    pub symbols: Vec<String>,
    /// The symbols of its indexes: a run can name one as its benchmark.
    pub indexes: Vec<String>,
    /// The indexes whose members over time it has: a run can name one as its universe.
    pub universes: Vec<String>,
    /// Its first trading day.
    #[schema(value_type = Option<String>, format = Date)]
    pub first_day: Option<Date>,
    /// Its last trading day.
    #[schema(value_type = Option<String>, format = Date)]
    pub last_day: Option<Date>,
    /// The market profile of runs that name none.
    pub market: Option<String>,
}

/// A market profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MarketOption {
    /// Its name.
    pub name: String,
    /// Quantities are multiples of this, unless fractions are allowed.
    pub lot: Number,
    /// Whether fractional quantities are allowed.
    pub fractional: bool,
    /// Whether purchases are locked until a later day.
    pub t_plus_one: bool,
    /// Whether short selling is allowed.
    pub shorting: bool,
    /// The largest leverage.
    pub max_leverage: Number,
}

/// A node of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionNodeOption {
    /// Its name in a path, without symbol and round: `close`, `Bull Researcher`.
    pub name: String,
    /// `books`: the broker fills orders and values positions. `solo`: a solo agent's conversation. `external`: an
    /// external agent's requests and model calls. `analyst`, `research`, `trading`, `risk`, `portfolio`: a role of a
    /// desk. `orders`: a desk's orders are sized. `memory`: memories are written after the close.
    pub phase: String,
    /// Its place among the nodes. Debaters share one: they take turns.
    pub order: u32,
    /// Of a desk's role: its model, `quick` or `deep`; `null` for other nodes.
    pub llm: Option<String>,
    /// Whether its last response is the agent's decision.
    pub decides: bool,
}

/// Defaults of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DefaultsOption {
    /// The dataset's name, or the first digits of its hash.
    pub dataset: String,
    /// The market profile of datasets that name none.
    pub market: String,
    /// What trading costs: `market` or `frictionless`.
    pub costs: String,
    /// The tradable symbols; empty: all.
    pub symbols: Vec<String>,
    /// The index whose members of each day may be traded, in place of `symbols`.
    pub universe: Option<String>,
    /// The initial cash of each agent.
    pub initial_cash: Number,
    /// The symbol or index that results are compared with; `null`: none.
    pub benchmark: Option<String>,
    /// Whether summaries are written.
    pub summaries: bool,
    /// The memories that are enabled.
    pub memory: String,
    /// Debate rounds of Bull and Bear.
    pub max_debate_rounds: u32,
    /// Rounds of the risk debate.
    pub max_risk_discuss_rounds: u32,
}
