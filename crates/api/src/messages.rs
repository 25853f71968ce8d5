//! `GET /sessions/{session_id}/messages`

use super::error::ApiError;
use super::extract::{Query, SessionPath, session_rows};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_service::app::App;
use papertape_service::view::{self, MessagesQuery, MessagesResponse};
use serde::Deserialize;
use utoipa::IntoParams;

/// Which messages.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// Of this node alone, with its round (`solo#1`) or of any (`solo`).
    node: Option<String>,
    /// From the message of this number on; not together with a cursor.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    from: Option<u32>,
    /// How many at most; pages of one session's rows may be longer than others.
    #[serde(default, deserialize_with = "session_rows")]
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// What was said in a session, by message
///
/// As `conversation` of `GET /reasoning` has it, in pages.
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/messages",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), Params),
    responses((status = 200, body = MessagesResponse, description = "A page of messages; it may be empty"), ReadErrors)
)]
pub(super) async fn messages(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
    Query(Params { node, from, limit, cursor }): Query<Params>,
) -> Result<Json<MessagesResponse>, ApiError> {
    Ok(Json(view::messages(&app, MessagesQuery { session_id, node, from, limit, cursor }).await?))
}
