//! `GET /sessions/{session_id}/steps`

use super::error::ApiResult;
use super::extract::{Query, SessionPath};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::query::SessionPageQuery;
use papertape_protocol::sessions::StepsResponse;
use papertape_service::app::App;
use papertape_service::view;

/// List a session's tape: its steps in the order in which they started
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/steps",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), SessionPageQuery),
    responses((status = 200, body = StepsResponse, description = "A page of steps"), ReadErrors)
)]
pub(super) async fn steps(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
    Query(query): Query<SessionPageQuery>,
) -> ApiResult<StepsResponse> {
    Ok(Json(view::steps(&app, session_id, query).await?))
}
