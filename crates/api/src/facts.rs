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

/// Which items.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct BySymbol {
    /// About this instrument alone.
    symbol: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Which values.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct BySeries {
    /// Of this series alone.
    series: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// News of a dataset, the newest first
#[utoipa::path(
    get,
    path = "/datasets/{name}/news",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name, or the first digits of its hash"), BySymbol),
    responses((status = 200, body = NewsResponse, description = "A page of news; it may be empty"), ReadErrors)
)]
pub(super) async fn news(
    State(app): State<App>,
    DatasetPath(dataset): DatasetPath,
    Query(BySymbol { symbol, limit, cursor }): Query<BySymbol>,
) -> Result<Json<NewsResponse>, ApiError> {
    Ok(Json(view::news(&app, &FactsQuery { dataset, of: symbol, limit, cursor })?))
}

/// Figures of companies' reports, by instrument and publication
#[utoipa::path(
    get,
    path = "/datasets/{name}/fundamentals",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name, or the first digits of its hash"), BySymbol),
    responses((status = 200, body = FundamentalsResponse, description = "A page of figures; it may be empty"), ReadErrors)
)]
pub(super) async fn fundamentals(
    State(app): State<App>,
    DatasetPath(dataset): DatasetPath,
    Query(BySymbol { symbol, limit, cursor }): Query<BySymbol>,
) -> Result<Json<FundamentalsResponse>, ApiError> {
    Ok(Json(view::fundamentals(&app, &FactsQuery { dataset, of: symbol, limit, cursor })?))
}

/// Macroeconomic values of a dataset, by series and publication
#[utoipa::path(
    get,
    path = "/datasets/{name}/macros",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name, or the first digits of its hash"), BySeries),
    responses((status = 200, body = MacrosResponse, description = "A page of values; it may be empty"), ReadErrors)
)]
pub(super) async fn macros(
    State(app): State<App>,
    DatasetPath(dataset): DatasetPath,
    Query(BySeries { series, limit, cursor }): Query<BySeries>,
) -> Result<Json<MacrosResponse>, ApiError> {
    Ok(Json(view::macros(&app, &FactsQuery { dataset, of: series, limit, cursor })?))
}
