//! `GET /sessions/{session_id}/memory`

use super::error::ApiResult;
use super::extract::SessionPath;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::memory::SessionMemoryResponse;
use papertape_service::app::App;
use papertape_service::view;

/// Get the memories that a session's trader received, verbatim
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/memory",
    tag = "memory",
    params(("session_id" = i64, Path, description = "The session", minimum = 1)),
    responses((status = 200, body = SessionMemoryResponse, description = "Texts and IDs"), ReadErrors)
)]
pub(super) async fn session_memory(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
) -> ApiResult<SessionMemoryResponse> {
    Ok(Json(view::session_memory(&app, session_id).await?))
}
