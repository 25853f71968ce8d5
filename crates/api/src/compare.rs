//! `GET /compare`

use super::error::ApiResult;
use super::extract::Query;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::compare::{CompareQuery, CompareResponse};
use papertape_service::app::App;
use papertape_service::view;

/// Compare runs: differences with intervals, and verdicts
///
/// Runs that differ in dataset, market, universe, costs, fill, mask or days are `not_comparable`, and the response
/// names the difference. p-values are adjusted over the family of all tests in the response.
#[utoipa::path(
    get,
    path = "/compare",
    tag = "record",
    params(CompareQuery),
    responses((status = 200, body = CompareResponse, description = "Each item, and each pair with its verdict"), ReadErrors)
)]
pub(super) async fn compare(
    State(app): State<App>,
    Query(query): Query<CompareQuery>,
) -> ApiResult<CompareResponse> {
    Ok(Json(view::compare(&app, query).await?))
}
