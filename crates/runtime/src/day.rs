//! One agent's day: the same for a live run and a replay.

use crate::branch::changes_on;
use crate::config::{Imported, SimulationConfig};
use crate::services::Services;
use crate::tape_reader::{self, stop_of};
use papertape_agents::config::AgentConfig;
use papertape_agents::day::{DayResult, StartState, run_day, run_open_phases, unbounded};
use papertape_agents::day_input::{AgentOverride, DayInput};
use papertape_agents::graph::Graph;
use papertape_agents::recorded::{ImportedDay, RecordedDay};
use papertape_agents::universe::symbols_of;
use papertape_core::id::{AgentName, ContentHash};
use papertape_core::market::{Dataset, Listed, TradingDay};
use papertape_core::message::ModelName;
use papertape_core::point_in_time::UnverifiedKind;
use papertape_core::ports::RecordStore;
use papertape_core::tape::{Host, SessionRun, SessionStop, Tape};
use papertape_core::time::Date;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The inputs of the days of one job.
#[derive(Clone, Copy)]
pub(crate) struct JobInputs<'a> {
    pub(crate) services: &'a Services,
    pub(crate) config: &'a SimulationConfig,
    pub(crate) dataset: &'a Dataset,
}

/// An agent on a day, with the branch's changes.
pub(crate) struct AgentDay<'a> {
    inputs: JobInputs<'a>,
    day: TradingDay,
    is_last: bool,
    agent: AgentConfig,
    changes: Vec<AgentOverride>,
    house_versions: BTreeMap<ModelName, u32>,
    /// The tradable instruments that are listed at the day's open.
    symbols: Listed,
    graph: Graph,
    recorded: Option<(RecordedDay, ModelName)>,
}

impl<'a> AgentDay<'a> {
    /// # Errors
    /// Returns an error if the log of an imported day is missing from the record or cannot be read.
    pub(crate) async fn of(
        inputs: JobInputs<'a>,
        own: &AgentConfig,
        (day, is_last): (TradingDay, bool),
        start: &StartState,
    ) -> Result<Self, SessionStop> {
        let JobInputs { services, config, dataset } = inputs;
        let date = day.date;
        let recorded = match config.imported.as_ref().filter(|_| own.model.is_recorded()) {
            Some(imported) => {
                let day = recorded_day(&*services.record, imported, &own.name, date).await?;
                Some((day, imported.writer.clone()))
            }
            None => None,
        };
        let symbols = symbols_of((dataset, day), config.universe.as_deref(), &config.symbols, &start.books);
        let graph = Graph::of(own, &symbols);
        let changes = changes_on(config.branch.as_ref(), &graph, date);
        let models = changes.iter().map(|change| &change.agent).chain([own]).flat_map(AgentConfig::models);
        let models = models.chain(recorded.iter().map(|(_, writer)| writer.clone()));
        let versioned = |model: ModelName| Some((model.clone(), services.models.house_version(&model)?));
        let house_versions = models.filter_map(versioned).collect();
        // Changes from the day's first node on define the agent itself.
        let from_start = |change: &&AgentOverride| change.at == graph.start();
        let agent = changes.iter().rev().find(from_start).map_or(own, |change| &change.agent).clone();
        Ok(Self { inputs, day, is_last, agent, changes, house_versions, symbols, graph, recorded })
    }

    /// The agent at the start of the day.
    pub(crate) fn agent(&self) -> &AgentConfig {
        &self.agent
    }

    /// The graph of its day.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Runs the day: replayed from its tape as far as that goes, then by the host. The session is to be finished.
    pub(crate) async fn run(
        &self,
        host: Arc<dyn Host>,
        tape: Tape,
        start: StartState,
    ) -> Result<(DayResult, Arc<SessionRun>), SessionStop> {
        let session = self.session(host, tape, &start);
        let result = run_day(&mut session.root(), &self.input(), start).await?;
        Ok((result, session))
    }

    /// Runs only the phases of the open. For audits.
    pub(crate) async fn run_open_phases(
        &self,
        host: Arc<dyn Host>,
        tape: Tape,
        start: StartState,
    ) -> Result<Arc<SessionRun>, SessionStop> {
        let session = self.session(host, tape, &start);
        run_open_phases(&mut session.root(), &self.input(), start).await?;
        Ok(session)
    }

    /// Why the session can see more than the market view; `None`: it cannot.
    pub(crate) fn unbounded(&self) -> Option<UnverifiedKind> {
        unbounded(self.input().agent_at(self.graph.start()))
    }

    fn session(&self, host: Arc<dyn Host>, tape: Tape, start: &StartState) -> Arc<SessionRun> {
        let seed = start.day_seed(&self.agent, self.day.date);
        SessionRun::new(host, tape, Arc::clone(&self.inputs.services.redactor), seed)
    }

    fn input(&self) -> DayInput<'_> {
        let JobInputs { services, config, dataset } = self.inputs;
        DayInput {
            agent: &self.agent,
            changes: &self.changes,
            house_versions: &self.house_versions,
            prompts: &services.prompts,
            symbols: &self.symbols,
            universe: config.universe.as_deref(),
            dataset,
            day: self.day,
            last: self.is_last,
            memory: config.memory,
            embedding: config.embedding.as_ref(),
            recorded: self.recorded.as_ref().map(|(day, writer)| ImportedDay { day, writer }),
        }
    }
}

/// The log of an imported agent on a day; empty if its logs do not have the day.
async fn recorded_day(
    record: &dyn RecordStore,
    imported: &Imported,
    agent: &AgentName,
    date: Date,
) -> Result<RecordedDay, SessionStop> {
    let broken = |what: &str| SessionStop::Record(format!("the imported log of {agent} on {date} {what}"));
    let Some(index) = imported.logs.get(agent) else { return Ok(RecordedDay::default()) };
    let index = tape_reader::document(record, *index).await.map_err(stop_of)?;
    let index = index.ok_or_else(|| broken("has no index"))?;
    let Some(hash) = index.get(date.to_string()) else { return Ok(RecordedDay::default()) };
    let hash = hash.as_str().and_then(ContentHash::from_hex).ok_or_else(|| broken("has a torn index"))?;
    let day = tape_reader::document(record, hash).await.map_err(stop_of)?;
    let day = day.ok_or_else(|| broken("is not in the record"))?;
    serde_json::from_value(day).map_err(|error| broken(&format!("cannot be read: {error}")))
}
