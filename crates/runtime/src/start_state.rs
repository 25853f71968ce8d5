//! The states that agents start from.

use crate::config::SimulationConfig;
use crate::tape_reader::{self, stop_of};
use papertape_agents::config::AgentConfig;
use papertape_agents::day::StartState;
use papertape_core::id::{AgentName, JobId};
use papertape_core::ledger::Account;
use papertape_core::ports::RecordStore;
use papertape_core::tape::SessionStop;
use papertape_core::time::Date;
use serde_json::Value;

/// An agent's state before the first day of its job.
pub(crate) async fn initial(
    record: &dyn RecordStore,
    config: &SimulationConfig,
    agent: &AgentConfig,
) -> Result<StartState, SessionStop> {
    let missing = |why: String| SessionStop::Record(why);
    let hash = config.starts.get(&agent.name).copied();
    let hash = hash.ok_or_else(|| missing(format!("{} has no start state", agent.name)))?;
    let state = tape_reader::document(record, hash).await.map_err(stop_of)?;
    read(state.ok_or_else(|| missing(format!("the start state {hash} is not in the record")))?)
}

/// The newest state of an agent in a job, and the day after which it was stored.
pub(crate) async fn newest(
    record: &dyn RecordStore,
    config: &SimulationConfig,
    job: &JobId,
    agent: &AgentConfig,
) -> Result<(StartState, Option<Date>), SessionStop> {
    match record.agent_state(job, &agent.name, None).await.map_err(stop_of)? {
        Some(found) => {
            let state = tape_reader::expand_stored(record, &found.state).await.map_err(stop_of)?;
            Ok((read(state)?, found.after))
        }
        None => Ok((initial(record, config, agent).await?, config.done_until(&agent.name))),
    }
}

/// The state that an agent's session on a day started from.
pub(crate) async fn before(
    record: &dyn RecordStore,
    config: &SimulationConfig,
    (job, agent): (&JobId, &AgentConfig),
    date: Date,
) -> Result<StartState, SessionStop> {
    let until = date.yesterday().ok();
    let found = match until {
        Some(_) => record.agent_state(job, &agent.name, until).await.map_err(stop_of)?,
        None => None,
    };
    match found {
        Some(found) => read(tape_reader::expand_stored(record, &found.state).await.map_err(stop_of)?),
        None => initial(record, config, agent).await,
    }
}

/// An agent's account before its session on a day.
///
/// # Errors
/// A state that is not in the record or cannot be read, or a record that fails.
pub async fn account_before(
    record: &dyn RecordStore,
    config: &SimulationConfig,
    (job, agent): (&JobId, &AgentName),
    date: Date,
) -> Result<Account, SessionStop> {
    let own = config.agents.iter().find(|other| other.name == *agent);
    let own = own.ok_or_else(|| SessionStop::Record(format!("job {job} has no agent {agent}")))?;
    Ok(before(record, config, (job, own), date).await?.books.account().clone())
}

fn read(state: Value) -> Result<StartState, SessionStop> {
    serde_json::from_value(state)
        .map_err(|error| SessionStop::Record(format!("a start state cannot be read: {error}")))
}
