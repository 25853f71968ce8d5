//! `GET /datasets/{name}/bars`

use super::error::ApiResult;
use super::extract::{DatasetPath, Query};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::bars::{BarsQuery, BarsResponse};
use papertape_service::app::App;
use papertape_service::view;

/// Get an instrument's bars, for charts
///
/// Prices are as traded. Daily bars exist even if the dataset has intraday bars only. Agents do not read this:
/// they see the market through a view of their instant, in that instant's share units.
#[utoipa::path(
    get,
    path = "/datasets/{name}/bars",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name or hash prefix"), BarsQuery),
    responses((status = 200, body = BarsResponse, description = "A page of bars"), ReadErrors)
)]
pub(super) async fn bars(
    State(app): State<App>,
    DatasetPath(name): DatasetPath,
    Query(query): Query<BarsQuery>,
) -> ApiResult<BarsResponse> {
    Ok(Json(view::bars(&app, &name, &query)?))
}
