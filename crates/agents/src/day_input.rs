//! The input of one agent's day.

use crate::config::{AgentConfig, MemorySettings};
use crate::graph::Graph;
use crate::prompt::PromptSet;
use crate::recorded::ImportedDay;
use papertape_core::market::{Dataset, Listed, TradingDay};
use papertape_core::message::ModelName;
use std::collections::BTreeMap;

/// The input of one agent's day, besides its start state.
pub struct DayInput<'a> {
    /// The agent as configured when the day begins.
    pub agent: &'a AgentConfig,
    /// The changes of a branch, each from a node of the day on, oldest first.
    pub changes: &'a [AgentOverride],
    /// The versions of those of its models that are house models.
    pub house_versions: &'a BTreeMap<ModelName, u32>,
    /// The prompts.
    pub prompts: &'a PromptSet,
    /// The symbols of the day, see [`symbols_of`](crate::universe::symbols_of).
    pub symbols: &'a Listed,
    /// The index whose members on the day may be traded; `None`: all of `symbols`.
    pub universe: Option<&'a str>,
    /// The data. The agent reads only views of it.
    pub dataset: &'a Dataset,
    /// The trading day.
    pub day: TradingDay,
    /// Whether it is the job's last day, after which pending orders expire.
    pub last: bool,
    /// The memory settings.
    pub memory: MemorySettings,
    /// The model that embeds lessons; absent: they are ranked by keywords only.
    pub embedding: Option<&'a ModelName>,
    /// The day's log, for an imported agent.
    pub recorded: Option<ImportedDay<'a>>,
}

/// An agent's config from a node of the day on.
#[derive(Clone, Debug)]
pub struct AgentOverride {
    /// The node, `solo#1` or `AAPL/Trader#1`.
    pub at: String,
    /// The agent from there on.
    pub agent: AgentConfig,
}

impl DayInput<'_> {
    /// The agent as configured in a scope: the newest change at or before it.
    #[must_use]
    pub fn agent_at(&self, scope: &str) -> &AgentConfig {
        if self.changes.is_empty() {
            return self.agent;
        }
        let graph = Graph::of(self.agent, self.symbols);
        let mut newest_first = self.changes.iter().rev();
        let change = newest_first.find(|change| graph.is_at_or_after(scope, &change.at));
        change.map_or(self.agent, |change| &change.agent)
    }
}
