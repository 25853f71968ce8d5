//! `GET /sessions/{session_id}/state`

use super::error::ApiResult;
use super::extract::{Query, SessionPath};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::live::TickerQuery;
use papertape_service::app::App;
use papertape_service::view;
use serde_json::Value;

/// Get a desk's full state for an instrument, in TradingAgents' log format
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/state",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), TickerQuery),
    responses(
        (status = 200, body = Object, description = "The state. The six provenance fields are in `investment_debate_state`"),
        ReadErrors
    )
)]
pub(super) async fn state(
    State(app): State<App>,
    SessionPath(session): SessionPath,
    Query(TickerQuery { ticker }): Query<TickerQuery>,
) -> ApiResult<Value> {
    Ok(Json(view::desk_state(&app, session, ticker).await?.state))
}
