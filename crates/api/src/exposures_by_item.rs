//! `GET /exposures`

use super::error::ApiResult;
use super::extract::Query;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::exposures::{SeenByQuery, SeenByResponse};
use papertape_service::app::App;
use papertape_service::view;

/// List the sessions that saw a bar, a news item, a fundamental or a memory
///
/// Sessions are listed newest first, each with the steps and messages in which its agent saw the item. Reads by the
/// books are not included.
#[utoipa::path(
    get,
    path = "/exposures",
    tag = "record",
    params(SeenByQuery),
    responses((status = 200, body = SeenByResponse, description = "A page of sessions; it may be empty"), ReadErrors)
)]
pub(super) async fn exposures_by_item(
    State(app): State<App>,
    Query(query): Query<SeenByQuery>,
) -> ApiResult<SeenByResponse> {
    Ok(Json(view::seen_by(&app, &query).await?))
}
