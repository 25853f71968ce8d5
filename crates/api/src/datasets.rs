//! `GET /datasets`

use super::error::ApiResult;
use super::extract::Query;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::datasets::{DatasetsQuery, DatasetsResponse};
use papertape_service::app::App;
use papertape_service::view;

/// List the available datasets, by name
#[utoipa::path(
    get,
    path = "/datasets",
    tag = "data",
    params(DatasetsQuery),
    responses((status = 200, body = DatasetsResponse, description = "A page of datasets"), ReadErrors)
)]
pub(super) async fn datasets(
    State(app): State<App>,
    Query(query): Query<DatasetsQuery>,
) -> ApiResult<DatasetsResponse> {
    Ok(Json(view::datasets(&app, &query)?))
}
