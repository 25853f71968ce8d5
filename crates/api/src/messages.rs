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

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// Only this node, in one round (`solo#1`) or in all (`solo`).
    node: Option<String>,
    /// The number of the first message; not together with `cursor`.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    from: Option<u32>,
    /// Max messages. Pages of one session's rows may be longer than others.
    #[serde(default, deserialize_with = "session_rows")]
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List a session's messages
///
/// The same messages as `conversation` of `GET /reasoning`, in pages.
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/messages",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), Params),
    responses((status = 200, body = MessagesResponse, description = "A page of messages"), ReadErrors)
)]
pub(super) async fn messages(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
    Query(Params { node, from, limit, cursor }): Query<Params>,
) -> Result<Json<MessagesResponse>, ApiError> {
    Ok(Json(view::messages(&app, MessagesQuery { session_id, node, from, limit, cursor }).await?))
}
