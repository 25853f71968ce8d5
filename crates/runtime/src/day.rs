//! What one agent's day is run with: the same for a live run and for a replay.

use crate::branch::changes_on;
use crate::config::SimulationConfig;
use crate::services::Services;
use papertape_agents::config::AgentConfig;
use papertape_agents::day::{Change, DayInput};
use papertape_agents::graph::Graph;
use papertape_core::market::{Dataset, TradingDay};
use papertape_core::message::ModelName;
use papertape_core::time::Date;
use std::collections::BTreeMap;

/// An agent on a day, as the job's branch has it.
pub(crate) struct AgentDay {
    agent: AgentConfig,
    changes: Vec<Change>,
    house_versions: BTreeMap<ModelName, u32>,
    graph: Graph,
}

impl AgentDay {
    pub(crate) fn of(services: &Services, config: &SimulationConfig, own: &AgentConfig, date: Date) -> Self {
        let graph = Graph::of(own, &config.symbols);
        let changes = changes_on(config.branch.as_ref(), &graph, date);
        let models = changes.iter().map(|change| &change.agent).chain([own]).flat_map(AgentConfig::models);
        let versioned = |model: ModelName| Some((model.clone(), services.models.house_version(&model)?));
        let house_versions = models.filter_map(versioned).collect();
        // What holds from the day's first node on is what the agent is.
        let from_start = |change: &&Change| change.at == graph.start();
        let agent = changes.iter().rev().find(from_start).map_or(own, |change| &change.agent).clone();
        Self { agent, changes, house_versions, graph }
    }

    /// The agent as it is when the day begins.
    pub(crate) fn agent(&self) -> &AgentConfig {
        &self.agent
    }

    /// The graph of its day.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn input<'a>(
        &'a self,
        services: &'a Services,
        config: &'a SimulationConfig,
        dataset: &'a Dataset,
        (day, last): (TradingDay, bool),
    ) -> DayInput<'a> {
        DayInput {
            agent: &self.agent,
            changes: &self.changes,
            house_versions: &self.house_versions,
            prompts: &services.prompts,
            symbols: &config.symbols,
            dataset,
            day,
            last,
            memory: config.memory,
            embedding: config.embedding.as_ref(),
        }
    }
}
