//! The memory that traders start with.

use super::Request;
use super::inherit::{Ancestor, unmarked};
use crate::app::App;
use crate::config::Mode;
use crate::error::ServiceError;
use papertape_agents::config::{AgentConfig, MemorySettings};
use papertape_agents::day::StartState;
use papertape_agents::memory::Memory;
use papertape_core::id::JobId;
use papertape_core::market::TradingDay;
use papertape_core::message::ModelName;
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::tape::{inline, references};

/// The config's settings, overridden by the request's.
pub(super) fn memory_settings(
    request: &Request,
    defaults: MemorySettings,
) -> Result<MemorySettings, ServiceError> {
    let settings = MemorySettings {
        mode: request.memory.unwrap_or(defaults.mode),
        read_window: request.read_window.unwrap_or(defaults.read_window),
        read_window_after_loss: request.read_window_after_loss.unwrap_or(defaults.read_window_after_loss),
        ..defaults
    };
    settings.check().map_err(|(field, message)| ServiceError::invalid(field, message))?;
    if request.memory_from.is_some() && settings.is_off() {
        return Err(ServiceError::invalid("memory_from", "the memory is off"));
    }
    Ok(settings)
}

/// The model that embeds reflections, if one is configured and reflections are on.
pub(super) fn embedding(app: &App, memory: MemorySettings) -> Result<Option<ModelName>, ServiceError> {
    let Some(model) = app.config.embeddings.model.as_ref().filter(|_| memory.mode.trades()) else {
        return Ok(None);
    };
    app.embeddings.check(model).map_err(|why| ServiceError::invalid("embeddings.model", why))?;
    if app.config.mode == Mode::Dev && !model.is_house() {
        return Err(ServiceError::invalid(
            "embeddings.model",
            format!("{model}: dev mode runs only house models"),
        ));
    }
    Ok(Some(model.clone()))
}

/// The memory of the same agent in another job, as known before a day began. Positions are not imported, and neither
/// are their theses.
pub(super) async fn import_memory(
    app: &App,
    job: &JobId,
    agent: &AgentConfig,
    first: &TradingDay,
) -> Result<Memory, ServiceError> {
    let row = app.store.get_job(job).await?;
    if row.is_none() {
        return Err(ServiceError::invalid("memory_from", format!("there is no job {job}")));
    }
    let until =
        first.date.yesterday().map_err(|error| ServiceError::invalid("start_date", error.to_string()))?;
    let state = app.store.agent_state(job, &agent.name, Some(until)).await?;
    let Some(state) = state else {
        let name = &agent.name;
        return Err(ServiceError::invalid(
            "memory_from",
            format!("job {job} has no state of {name} before {}", first.date),
        ));
    };
    let texts = app.store.texts(references(&state.state)).await?;
    let whole = inline(&state.state, &|hash| texts.get(&hash).cloned()).map_err(anyhow::Error::from)?;
    let state: StartState = serde_json::from_value(whole).map_err(anyhow::Error::from)?;
    let unmarked = unmarked(app, Ancestor { job, agent: &agent.name, until }, &state).await?;
    Ok(state.memory.known_at(first.open).of_job(job, unmarked.as_ref()))
}
