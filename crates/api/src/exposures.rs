//! `GET /sessions/{session_id}/exposures`

use super::error::ApiError;
use super::extract::{Query, SessionPageParams, SessionPath};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_service::app::App;
use papertape_service::view::{self, ExposuresResponse, SessionQuery};

/// List the market data that a session read
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/exposures",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), SessionPageParams),
    responses((status = 200, body = ExposuresResponse, description = "A page of reads"), ReadErrors)
)]
pub(super) async fn exposures(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
    Query(SessionPageParams { limit, cursor }): Query<SessionPageParams>,
) -> Result<Json<ExposuresResponse>, ApiError> {
    Ok(Json(view::exposures(&app, SessionQuery { session_id, limit, cursor }).await?))
}
