//! `GET /datasets`

use super::error::ApiError;
use super::extract::{Query, rows};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_service::app::App;
use papertape_service::view::{self, DatasetsQuery, DatasetsResponse};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// Max datasets.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List the available datasets, by name
#[utoipa::path(
    get,
    path = "/datasets",
    tag = "data",
    params(Params),
    responses((status = 200, body = DatasetsResponse, description = "A page of datasets"), ReadErrors)
)]
pub(super) async fn datasets(
    State(app): State<App>,
    Query(params): Query<Params>,
) -> Result<Json<DatasetsResponse>, ApiError> {
    Ok(Json(view::datasets(&app, &DatasetsQuery { limit: params.limit, cursor: params.cursor })?))
}
