//! `GET /sessions/{session_id}/lineage`

use super::error::ApiResult;
use super::extract::{Query, SessionPath};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::lineage::{LineageQuery, LineageResponse};
use papertape_service::app::App;
use papertape_service::view;

/// Get what led to a fill: its order, the decision, the nodes upstream, and the data and memories seen before
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/lineage",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), LineageQuery),
    responses((status = 200, body = LineageResponse, description = "The lineage"), ReadErrors)
)]
pub(super) async fn lineage(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
    Query(query): Query<LineageQuery>,
) -> ApiResult<LineageResponse> {
    Ok(Json(view::lineage(&app, session_id, query).await?))
}
