//! A desk's full state of one instrument, in the format of TradingAgents' log.

use super::live::{symbols, ticker_of};
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::record::SessionId;
use papertape_core::time::Date;
use papertape_runtime::document;
use papertape_store::SessionResult;
use serde_json::Value;

/// One instrument's state in a session.
#[derive(Clone, Debug, PartialEq)]
pub struct DeskStateResponse {
    /// The instrument.
    pub ticker: Symbol,
    /// The trading day.
    pub date: Date,
    /// TradingAgents' full state, the six fields of provenance flat in its `investment_debate_state`.
    pub state: Value,
}

/// The state of an instrument in a session; without a ticker, of the only one.
///
/// # Errors
/// No such session, or none that has the state; a ticker that must be given; a database error.
pub async fn desk_state(
    app: &App,
    session: i64,
    ticker: Option<String>,
) -> Result<DeskStateResponse, ServiceError> {
    let symbol = ticker_of(app, session, ticker).await?;
    let id = SessionId(session);
    let found = app.store.result(id).await?.ok_or_else(|| ServiceError::no_session(id))?;
    read(app, &found, &symbol).await
}

/// The states of all instruments of a session, in byte order; empty for an agent that is not a desk.
///
/// # Errors
/// A database error.
pub async fn desk_states(app: &App, session: &SessionResult) -> Result<Vec<DeskStateResponse>, ServiceError> {
    let mut states = Vec::new();
    for symbol in symbols(session.metadata.as_ref()) {
        states.push(read(app, session, &symbol).await?);
    }
    Ok(states)
}

async fn read(
    app: &App,
    session: &SessionResult,
    symbol: &Symbol,
) -> Result<DeskStateResponse, ServiceError> {
    let missing = || {
        let (id, symbol) = (session.id, symbol.as_str().escape_default());
        ServiceError::NotFound(format!("session {id} has no state of {symbol}"))
    };
    let metadata = session.metadata.as_ref().ok_or_else(missing)?;
    let at = metadata["by_symbol"][symbol.as_str()]["state"].as_str().ok_or_else(missing)?;
    let at = ContentHash::from_hex(at).ok_or_else(missing)?;
    let mut state = document(&*app.services.record, at).await?.ok_or_else(missing)?;
    if let Some(map) = state.as_object_mut() {
        // The name under which TradingAgents logs what its state calls `trader_investment_plan`.
        let plan = map.get("trader_investment_plan").cloned().unwrap_or_default();
        map.insert("trader_investment_decision".to_owned(), plan);
    }
    Ok(DeskStateResponse { ticker: symbol.clone(), date: session.date, state })
}
