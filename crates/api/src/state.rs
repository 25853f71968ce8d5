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

/// A desk's whole state of an instrument, in the shape that TradingAgents logs it
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/state",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), Ticker),
    responses(
        (status = 200, body = Object, description = "The state; the six fields of provenance stand in `investment_debate_state`"),
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
