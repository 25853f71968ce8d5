//! `GET /sessions/{session_id}`

use super::error::ApiError;
use super::extract::SessionPath;
use super::responses::ReadErrors;
use crate::app::App;
use crate::view::{self, SessionHeadResponse};
use axum::Json;
use axum::extract::State;

/// One session's head: who, when, what was decided and what it came to, without what was said
#[utoipa::path(
    get,
    path = "/sessions/{session_id}",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1)),
    responses((status = 200, body = SessionHeadResponse, description = "The session"), ReadErrors)
)]
pub(super) async fn session(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
) -> Result<Json<SessionHeadResponse>, ApiError> {
    Ok(Json(view::session_head(&app, session_id).await?))
}
