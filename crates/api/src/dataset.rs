//! `GET /datasets/{name}`

use super::error::ApiResult;
use super::extract::DatasetPath;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::datasets::DatasetResponse;
use papertape_service::app::App;
use papertape_service::view;

/// Get a dataset by name or hash prefix
///
/// A hash prefix has at least six digits.
#[utoipa::path(
    get,
    path = "/datasets/{name}",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name or hash prefix")),
    responses((status = 200, body = DatasetResponse, description = "The dataset"), ReadErrors)
)]
pub(super) async fn dataset(
    State(app): State<App>,
    DatasetPath(name): DatasetPath,
) -> ApiResult<DatasetResponse> {
    Ok(Json(view::dataset(&app, &name)?))
}
