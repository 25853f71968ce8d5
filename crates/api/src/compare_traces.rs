//! `GET /profiles/compare`

use super::error::{ApiError, ApiResult};
use super::extract::Query;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::compare_traces::CompareQuery;
use papertape_service::app::App;
use papertape_service::view;
use serde_json::Value;

/// Compare the node timings of two jobs' desks
///
/// The same report as `papertape profile ab` on the traces of these jobs.
#[utoipa::path(
    get,
    path = "/profiles/compare",
    tag = "record",
    params(CompareQuery),
    responses((status = 200, body = Object, description = "Both cohorts, and which one is recommended"), ReadErrors)
)]
pub(super) async fn compare_traces(
    State(app): State<App>,
    Query(query): Query<CompareQuery>,
) -> ApiResult<Value> {
    let report = view::compare_traces(&app, &query).await?;
    Ok(Json(serde_json::to_value(report).map_err(|error| ApiError::Internal(error.into()))?))
}
