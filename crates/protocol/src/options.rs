//! What can be run, and the defaults.

use crate::deployment::Deployment;
use crate::number::Number;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What can be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OptionsResponse {
    /// How agents work: `solo`, `desk`.
    pub kinds: Vec<String>,
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
    pub baselines: Vec<String>,
    /// Market profiles.
    pub markets: Vec<MarketOption>,
    /// A desk's analysts.
    pub analysts: Vec<String>,
    /// Settings of the memory.
    pub memory: Vec<String>,
    /// Languages of prompts.
    pub languages: Vec<String>,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentOption {
    /// Its name.
    pub name: String,
    /// `solo` or `desk`.
    pub kind: String,
    /// `provider::model`.
    pub model: String,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: bool,
    /// Why it cannot be run now; `null`: it can.
    pub problem: Option<String>,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ModelOption {
    /// `provider::model`.
    pub model: String,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: bool,
    /// Can it be called: is its key there, where it needs one?
    pub usable: bool,
}

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProviderOption {
    /// What stands before `::`.
    pub provider: String,
    /// Does the config name it?
    pub configured: bool,
    /// Why it cannot be called, as where its key is not there; `null`: it can.
    pub problem: Option<String>,
}

/// A dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DefaultsOption {
    /// The dataset's name, or the first digits of its hash.
    pub dataset: String,
    /// The market profile of datasets that name none.
    pub market: String,
    /// What trading costs: `market` or `frictionless`.
    pub costs: String,
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
    pub memory: String,
    /// How often Bull and Bear speak each.
    pub max_debate_rounds: u32,
    /// How often each risk analyst speaks.
    pub max_risk_discuss_rounds: u32,
}
