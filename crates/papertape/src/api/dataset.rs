//! `GET /datasets/{name}`

use super::error::ApiError;
use super::extract::DatasetPath;
use super::responses::Read;
use crate::app::App;
use crate::view::{self, DatasetAnswer};
use axum::Json;
use axum::extract::State;

/// One dataset, by its name or six or more digits of its hash
#[utoipa::path(
    get,
    path = "/datasets/{name}",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name, or the first digits of its hash")),
    responses((status = 200, body = DatasetAnswer, description = "The dataset"), Read)
)]
pub(super) async fn dataset(
    State(app): State<App>,
    DatasetPath(name): DatasetPath,
) -> Result<Json<DatasetAnswer>, ApiError> {
    Ok(Json(view::dataset(&app, &name)?))
}
