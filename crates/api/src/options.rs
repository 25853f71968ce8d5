//! `GET /simulate/options`

use super::error::ApiError;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_service::app::App;
use papertape_service::view::{self, OptionsResponse};

/// What can be run: agents, models, datasets, markets, and the defaults
///
/// Whether a model's key is there is told, the key never.
#[utoipa::path(
    get,
    path = "/simulate/options",
    tag = "simulation",
    responses((status = 200, body = OptionsResponse, description = "What can be run"), ReadErrors)
)]
pub(super) async fn options(State(app): State<App>) -> Result<Json<OptionsResponse>, ApiError> {
    Ok(Json(view::options(&app)?))
}
