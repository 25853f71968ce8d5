//! `GET /live/{ticker}` and `GET /sessions/{session_id}/live`

use super::error::ApiResult;
use super::extract::{Query, SessionPath, TickerPath};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::live::{LiveQuery, LiveResponse, TickerQuery};
use papertape_service::app::App;
use papertape_service::view;

/// Get a desk's newest analysis of an instrument
#[utoipa::path(
    get,
    path = "/live/{ticker}",
    tag = "record",
    params(("ticker" = String, Path, description = "The instrument"), LiveQuery),
    responses(
        (status = 200, body = LiveResponse, description = "The newest analysis that matches"),
        (status = 409, body = papertape_protocol::error::ErrorBody, description = "The analysis is still running"),
        ReadErrors
    )
)]
pub(super) async fn live(
    State(app): State<App>,
    TickerPath(ticker): TickerPath,
    Query(query): Query<LiveQuery>,
) -> ApiResult<LiveResponse> {
    Ok(Json(view::live(&app, ticker, query).await?))
}

/// Get a desk's analysis of an instrument in one session
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/live",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), TickerQuery),
    responses(
        (status = 200, body = LiveResponse, description = "The analysis"),
        (status = 409, body = papertape_protocol::error::ErrorBody, description = "The analysis is still running"),
        ReadErrors
    )
)]
pub(super) async fn session_live(
    State(app): State<App>,
    SessionPath(session): SessionPath,
    Query(TickerQuery { ticker }): Query<TickerQuery>,
) -> ApiResult<LiveResponse> {
    Ok(Json(view::session_live(&app, session, ticker).await?))
}
