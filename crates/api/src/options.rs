//! `GET /simulate/options`

use super::error::ApiResult;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::options::OptionsResponse;
use papertape_service::app::App;
use papertape_service::view;

/// List what can be run: agents, models, datasets, markets, defaults
///
/// The response says whether a model's key is set. Keys are never returned.
#[utoipa::path(
    get,
    path = "/simulate/options",
    tag = "simulation",
    responses((status = 200, body = OptionsResponse, description = "The available values and the defaults"), ReadErrors)
)]
pub(super) async fn options(State(app): State<App>) -> ApiResult<OptionsResponse> {
    Ok(Json(view::options(&app)?))
}
