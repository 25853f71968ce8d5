//! Stored states of agents, read from the record.

use crate::app::App;
use papertape_agents::day::StartState;
use papertape_agents::universe::symbols_of;
use papertape_core::broker::Books;
use papertape_core::id::{AgentName, JobId};
use papertape_core::market::{Dataset, Listed, TradingDay};
use papertape_core::ports::RecordStore as _;
use papertape_core::tape::{inline, references};
use papertape_runtime::config::SimulationConfig;
use serde_json::Value;

/// A stored document in full.
pub(crate) async fn full_document(app: &App, stored: &Value) -> anyhow::Result<Value> {
    let texts = app.store.texts(references(stored)).await?;
    Ok(inline(stored, &|hash| texts.get(&hash).cloned())?)
}

/// A stored state, read.
pub(crate) async fn start_state(app: &App, stored: &Value) -> anyhow::Result<StartState> {
    Ok(serde_json::from_value(full_document(app, stored).await?)?)
}

/// The symbols of an agent's day in a job. With a universe they depend on what the agent held and waited for.
pub(crate) async fn symbols_on(
    app: &App,
    (job, config): (&JobId, &SimulationConfig),
    agent: &AgentName,
    (dataset, day): (&Dataset, TradingDay),
) -> anyhow::Result<Listed> {
    let universe = config.universe.as_deref();
    let mut books = Books::new(agent.as_str(), config.market.clone(), config.initial_cash);
    if universe.is_some() {
        let before = day.date.yesterday()?;
        if let Some(state) = app.store.agent_state(job, agent, Some(before)).await? {
            books = start_state(app, &state.state).await?.books;
        }
    }
    Ok(symbols_of((dataset, day), universe, &config.symbols, &books))
}
