//! `GET /datasets/{name}/news`, `…/fundamentals` and `…/macros`

use super::error::ApiError;
use super::extract::{DatasetPath, Query};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_service::app::App;
use papertape_service::view::{self, FactsQuery, FundamentalsResponse, MacrosResponse, NewsResponse};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct BySymbol {
    /// Only this instrument.
    symbol: Option<String>,
    /// Max rows.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct BySeries {
    /// Only this series.
    series: Option<String>,
    /// Max rows.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List a dataset's news, newest first
#[utoipa::path(
    get,
    path = "/datasets/{name}/news",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name or hash prefix"), BySymbol),
    responses((status = 200, body = NewsResponse, description = "A page of news"), ReadErrors)
)]
pub(super) async fn news(
    State(app): State<App>,
    DatasetPath(dataset): DatasetPath,
    Query(BySymbol { symbol, limit, cursor }): Query<BySymbol>,
) -> Result<Json<NewsResponse>, ApiError> {
    Ok(Json(view::news(&app, &FactsQuery { dataset, of: symbol, limit, cursor })?))
}

/// List reported fundamentals, by instrument and publication
#[utoipa::path(
    get,
    path = "/datasets/{name}/fundamentals",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name or hash prefix"), BySymbol),
    responses((status = 200, body = FundamentalsResponse, description = "A page of fundamentals"), ReadErrors)
)]
pub(super) async fn fundamentals(
    State(app): State<App>,
    DatasetPath(dataset): DatasetPath,
    Query(BySymbol { symbol, limit, cursor }): Query<BySymbol>,
) -> Result<Json<FundamentalsResponse>, ApiError> {
    Ok(Json(view::fundamentals(&app, &FactsQuery { dataset, of: symbol, limit, cursor })?))
}

/// List a dataset's macroeconomic values, by series and publication
#[utoipa::path(
    get,
    path = "/datasets/{name}/macros",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name or hash prefix"), BySeries),
    responses((status = 200, body = MacrosResponse, description = "A page of values"), ReadErrors)
)]
pub(super) async fn macros(
    State(app): State<App>,
    DatasetPath(dataset): DatasetPath,
    Query(BySeries { series, limit, cursor }): Query<BySeries>,
) -> Result<Json<MacrosResponse>, ApiError> {
    Ok(Json(view::macros(&app, &FactsQuery { dataset, of: series, limit, cursor })?))
}
