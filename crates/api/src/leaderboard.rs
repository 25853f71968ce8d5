//! `GET /leaderboard`

use super::error::ApiResult;
use super::extract::Query;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::leaderboard::{LeaderboardQuery, LeaderboardResponse};
use papertape_service::app::App;
use papertape_service::view;

/// Rank configurations over comparable runs
///
/// A board has the completed runs with the same dataset, market, universe, costs, fill, mask and days. Runs that differ
/// in any of these are on different boards. Entries that are not distinguishable share their ranks.
#[utoipa::path(
    get,
    path = "/leaderboard",
    tag = "record",
    params(LeaderboardQuery),
    responses((status = 200, body = LeaderboardResponse, description = "The boards with their entries"), ReadErrors)
)]
pub(super) async fn leaderboard(
    State(app): State<App>,
    Query(query): Query<LeaderboardQuery>,
) -> ApiResult<LeaderboardResponse> {
    Ok(Json(view::leaderboard(&app, query).await?))
}
