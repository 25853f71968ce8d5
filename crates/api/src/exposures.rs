//! `GET /sessions/{session_id}/exposures`

use super::error::ApiResult;
use super::extract::{Query, SessionPath};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::query::SessionPageQuery;
use papertape_protocol::sessions::ExposuresResponse;
use papertape_service::app::App;
use papertape_service::view;

/// List the market data that a session read
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/exposures",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), SessionPageQuery),
    responses((status = 200, body = ExposuresResponse, description = "A page of reads"), ReadErrors)
)]
pub(super) async fn exposures(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
    Query(query): Query<SessionPageQuery>,
) -> ApiResult<ExposuresResponse> {
    Ok(Json(view::exposures(&app, session_id, query).await?))
}
