//! `GET /results`

use super::error::ApiResult;
use super::extract::Query;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::results::{ResultsQuery, ResultsResponse};
use papertape_service::app::App;
use papertape_service::view;

/// Get trading results for a day, or for a range with its baselines
#[utoipa::path(
    get,
    path = "/results",
    tag = "record",
    params(ResultsQuery),
    responses(
        (status = 200, body = ResultsResponse, description = "With `date`, the day's results, else the range's; one entry per model"),
        ReadErrors
    )
)]
pub(super) async fn results(
    State(app): State<App>,
    Query(query): Query<ResultsQuery>,
) -> ApiResult<ResultsResponse> {
    Ok(Json(view::results(&app, query).await?))
}
