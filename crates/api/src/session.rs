//! `GET /sessions/{session_id}`

use super::error::ApiResult;
use super::extract::SessionPath;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::results::head::SessionHeadResponse;
use papertape_service::app::App;
use papertape_service::view;

/// Get a session's summary: agent, day, decisions and results, without messages
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
) -> ApiResult<SessionHeadResponse> {
    Ok(Json(view::session_head(&app, session_id).await?))
}
