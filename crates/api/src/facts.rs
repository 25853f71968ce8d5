//! `GET /datasets/{name}/news`, `…/fundamentals` and `…/macros`

use super::error::ApiResult;
use super::extract::{DatasetPath, Query};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::facts::{
    FactsQuery, FundamentalsResponse, MacrosQuery, MacrosResponse, NewsResponse,
};
use papertape_service::app::App;
use papertape_service::view;

/// List a dataset's news, newest first
#[utoipa::path(
    get,
    path = "/datasets/{name}/news",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name or hash prefix"), FactsQuery),
    responses((status = 200, body = NewsResponse, description = "A page of news"), ReadErrors)
)]
pub(super) async fn news(
    State(app): State<App>,
    DatasetPath(name): DatasetPath,
    Query(query): Query<FactsQuery>,
) -> ApiResult<NewsResponse> {
    Ok(Json(view::news(&app, &name, &query)?))
}

/// List reported fundamentals, by instrument and publication
#[utoipa::path(
    get,
    path = "/datasets/{name}/fundamentals",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name or hash prefix"), FactsQuery),
    responses((status = 200, body = FundamentalsResponse, description = "A page of fundamentals"), ReadErrors)
)]
pub(super) async fn fundamentals(
    State(app): State<App>,
    DatasetPath(name): DatasetPath,
    Query(query): Query<FactsQuery>,
) -> ApiResult<FundamentalsResponse> {
    Ok(Json(view::fundamentals(&app, &name, &query)?))
}

/// List a dataset's macroeconomic values, by series and publication
#[utoipa::path(
    get,
    path = "/datasets/{name}/macros",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name or hash prefix"), MacrosQuery),
    responses((status = 200, body = MacrosResponse, description = "A page of values"), ReadErrors)
)]
pub(super) async fn macros(
    State(app): State<App>,
    DatasetPath(name): DatasetPath,
    Query(query): Query<MacrosQuery>,
) -> ApiResult<MacrosResponse> {
    Ok(Json(view::macros(&app, &name, &query)?))
}
