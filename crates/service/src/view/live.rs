//! A desk's analysis of one instrument, with its provenance: the live contract.

use super::node_times::NodeTimes;
use super::plain;
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::ports::Queue as _;
use papertape_core::provenance::{DataQuality, Degradation, DegradationKind, Provenance, extract};
use papertape_core::record::{JobRow, SessionId};
use papertape_core::time::Timestamp;
use papertape_protocol::live::{LiveDegradation, LiveError, LiveQuery, LiveResponse, LiveResult, LiveStatus};
use papertape_store::{AnalysisFilter, SessionResult};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The version of the live contract.
pub const CONTRACT_VERSION: &str = "papertape.live.v1";

/// The newest analysis of an instrument that matches.
///
/// # Errors
/// A bad field; no such analysis; a database error.
pub async fn live(app: &App, ticker: String, query: LiveQuery) -> Result<LiveResponse, ServiceError> {
    plain("ticker", Some(&ticker))?;
    let symbol = Symbol::new(ticker.trim());
    let filter = AnalysisFilter {
        symbol: symbol.clone(),
        date: query.date,
        job: plain("job_id", query.job_id.as_ref())?.map(JobId::from),
        agent: plain("model", query.model.as_ref())?.map(AgentName::from),
    };
    let found = app.store.newest_analysis(&filter).await?.ok_or_else(|| none_of(&symbol))?;
    of_session(app, found, symbol).await
}

/// The analysis of an instrument in one session; without a ticker, of the only one.
///
/// # Errors
/// No such session, or none of a desk; a session that is still running; a ticker that must be given.
pub async fn session_live(
    app: &App,
    session: i64,
    ticker: Option<String>,
) -> Result<LiveResponse, ServiceError> {
    let symbol = ticker_of(app, session, ticker).await?;
    of_session(app, SessionId(session), symbol).await
}

/// The requested instrument of a session.
pub(super) async fn ticker_of(
    app: &App,
    session: i64,
    ticker: Option<String>,
) -> Result<Symbol, ServiceError> {
    plain("ticker", ticker.as_ref())?;
    if let Some(ticker) = ticker {
        return Ok(Symbol::new(ticker.trim()));
    }
    let id = SessionId(session);
    let found = app.store.result(id).await?.ok_or_else(|| ServiceError::no_session(id))?;
    let by_symbol = symbols(found.metadata.as_ref());
    match &by_symbol[..] {
        [only] => Ok(only.clone()),
        [] => Err(ServiceError::NotFound(format!("session {session} has no desk analysis"))),
        several => {
            let names: Vec<&str> = several.iter().map(Symbol::as_str).collect();
            Err(ServiceError::invalid("ticker", format!("the session has several: {}", names.join(", "))))
        }
    }
}

/// The instruments of a desk's session, in byte order.
pub(super) fn symbols(metadata: Option<&Value>) -> Vec<Symbol> {
    let by_symbol = metadata.and_then(|metadata| metadata["by_symbol"].as_object());
    by_symbol.into_iter().flatten().map(|(symbol, _)| Symbol::new(symbol)).collect()
}

fn none_of(symbol: &Symbol) -> ServiceError {
    ServiceError::NotFound(format!("no desk analysis of {} matches", symbol.as_str().escape_default()))
}

async fn of_session(app: &App, id: SessionId, symbol: Symbol) -> Result<LiveResponse, ServiceError> {
    let session = app.store.result(id).await?.ok_or_else(|| ServiceError::no_session(id))?;
    let job = app.store.get_job(&session.job).await?;
    // A session that stopped on something to be fixed is failed and still open.
    if session.metadata.is_none() {
        return match job {
            Some(job) if job.status.is_stopped() => Ok(broken_off(app, session, symbol, &job)),
            _ => Err(ServiceError::Conflict(format!("session {id} is still running"))),
        };
    }
    let metadata = session.metadata.clone().unwrap_or_default();
    let about = metadata["by_symbol"][symbol.as_str()].clone();
    if !about.is_object() {
        return Err(none_of(&symbol));
    }
    let mut provenance = extract(&about);
    let times = NodeTimes::of(app, id).await?;
    times.fill_in(&mut provenance.degradations);
    let completed_at = app.store.closed_at(id).await?;
    let result = result_of(&about, completed_at);
    let error = result.is_none().then(|| error_of(&session, &provenance));
    let status = match (&result, provenance.is_degraded()) {
        (None, _) => LiveStatus::Failed,
        (Some(_), true) => LiveStatus::DegradedSuccess,
        (Some(_), false) => LiveStatus::Completed,
    };
    let missing = missing_of(&metadata, &about);
    Ok(LiveResponse {
        contract_version: CONTRACT_VERSION.to_owned(),
        ticker: symbol.to_string(),
        date: session.date,
        status,
        result,
        error,
        degradation: degradation_of(&provenance, &missing),
        data_quality: DataQuality { sources_missing: missing, ..provenance.data_quality.clone() },
        research: provenance.research,
        job_id: session.job.to_string(),
        session_id: id.0,
        model: session.agent.to_string(),
        deployment: deployment(app),
    })
}

/// A session that its job has left open: there is no result, and may be one when the job is resumed.
fn broken_off(app: &App, session: SessionResult, symbol: Symbol, job: &JobRow) -> LiveResponse {
    let reason = session
        .error
        .clone()
        .or_else(|| job.error.clone())
        .unwrap_or_else(|| format!("the job is {}", job.status));
    let provenance = Provenance::default();
    LiveResponse {
        contract_version: CONTRACT_VERSION.to_owned(),
        ticker: symbol.to_string(),
        date: session.date,
        status: LiveStatus::Failed,
        result: None,
        error: Some(LiveError { code: format!("job_{}", job.status), message: reason, retryable: true }),
        degradation: degradation_of(&provenance, &BTreeMap::new()),
        data_quality: serde_json::from_value(json!({ "state": "failed" })).unwrap_or_default(),
        research: None,
        job_id: session.job.to_string(),
        session_id: session.id.0,
        model: session.agent.to_string(),
        deployment: deployment(app),
    }
}

fn result_of(about: &Value, timestamp: Option<Timestamp>) -> Option<LiveResult> {
    Some(LiveResult {
        direction: about["direction"].as_i64()?,
        confidence: about["confidence"].as_f64(),
        rating: about["rating"].as_str()?.to_owned(),
        timestamp,
    })
}

/// Why a closed session has no rating of an instrument: the last node that gave nothing is the one that
/// should have given it.
fn error_of(session: &SessionResult, provenance: &Provenance) -> LiveError {
    match (provenance.degradations.last(), &session.error) {
        (Some(gone), _) => LiveError {
            code: gone.reason.clone(),
            message: format!("the {} gave no decision", gone.node),
            retryable: gone.kind == DegradationKind::Timeout || !gone.reason.ends_with("unauthorised"),
        },
        (None, Some(error)) => {
            LiveError { code: "session_failed".to_owned(), message: error.clone(), retryable: true }
        }
        (None, None) => LiveError {
            code: "no_decision".to_owned(),
            message: "the session ended without a decision".to_owned(),
            retryable: true,
        },
    }
}

/// The sources that the instrument's nodes missed, with the session's reasons.
fn missing_of(metadata: &Value, about: &Value) -> BTreeMap<String, String> {
    let reasons = &metadata["data_quality"]["sources_missing"];
    let names = about["sources_missing"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let reason = |name: &str| reasons[name].as_str().unwrap_or("not available").to_owned();
    names.map(|name| (name.to_owned(), reason(name))).collect()
}

fn degradation_of(provenance: &Provenance, missing: &BTreeMap<String, String>) -> LiveDegradation {
    let mut diagnostics = Map::new();
    for Degradation { node, kind, reason, elapsed_ms, .. } in &provenance.degradations {
        let about = json!({ "kind": kind, "reason": reason, "elapsed_ms": elapsed_ms });
        diagnostics.insert(node.clone(), about);
    }
    if !missing.is_empty() {
        diagnostics.insert("sources_missing".to_owned(), json!(missing));
    }
    LiveDegradation {
        degraded: provenance.is_degraded(),
        reason_codes: provenance.data_quality.reason_codes.clone(),
        source_diagnostics: diagnostics,
    }
}
