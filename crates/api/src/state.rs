//! `GET /sessions/{session_id}/state`

use super::error::ApiError;
use super::extract::{Query, SessionPath};
use super::live::Ticker;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_service::app::App;
use papertape_service::view;
use serde_json::Value;

/// Get a desk's full state for an instrument, in TradingAgents' log format
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/state",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), Ticker),
    responses(
        (status = 200, body = Object, description = "The state. The six provenance fields are in `investment_debate_state`"),
        ReadErrors
    )
)]
pub(super) async fn state(
    State(app): State<App>,
    SessionPath(session): SessionPath,
    Query(Ticker { ticker }): Query<Ticker>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(view::desk_state(&app, session, ticker).await?.state))
}
