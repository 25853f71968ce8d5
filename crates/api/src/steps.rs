//! `GET /sessions/{session_id}/steps`

use super::error::ApiError;
use super::extract::{Query, SessionPageParams, SessionPath};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_service::app::App;
use papertape_service::view::{self, SessionQuery, StepsResponse};

/// List a session's tape: its steps in the order in which they started
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/steps",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), SessionPageParams),
    responses((status = 200, body = StepsResponse, description = "A page of steps"), ReadErrors)
)]
pub(super) async fn steps(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
    Query(SessionPageParams { limit, cursor }): Query<SessionPageParams>,
) -> Result<Json<StepsResponse>, ApiError> {
    Ok(Json(view::steps(&app, SessionQuery { session_id, limit, cursor }).await?))
}
