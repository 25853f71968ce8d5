//! `GET /sessions/{session_id}/messages`

use super::error::ApiResult;
use super::extract::{Query, SessionPath};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::sessions::{MessagesQuery, MessagesResponse};
use papertape_service::app::App;
use papertape_service::view;

/// List a session's messages
///
/// The same messages as `conversation` of `GET /reasoning`, in pages.
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/messages",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), MessagesQuery),
    responses((status = 200, body = MessagesResponse, description = "A page of messages"), ReadErrors)
)]
pub(super) async fn messages(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
    Query(query): Query<MessagesQuery>,
) -> ApiResult<MessagesResponse> {
    Ok(Json(view::messages(&app, session_id, query).await?))
}
