//! `GET /live/{ticker}` and `GET /sessions/{session_id}/live`

use super::error::ApiError;
use super::extract::maybe_day;
use super::extract::{Query, SessionPath, TickerPath};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_core::time::Date;
use papertape_protocol::live::LiveResponse;
use papertape_service::app::App;
use papertape_service::view::{self, LiveQuery};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// The trading day; absent: the newest analysis.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    date: Option<Date>,
    /// Only of this job.
    job_id: Option<String>,
    /// Only of this agent.
    model: Option<String>,
}

/// Get a desk's newest analysis of an instrument
#[utoipa::path(
    get,
    path = "/live/{ticker}",
    tag = "record",
    params(("ticker" = String, Path, description = "The instrument"), Params),
    responses(
        (status = 200, body = LiveResponse, description = "The newest analysis that matches"),
        (status = 409, body = papertape_protocol::error::ErrorBody, description = "The analysis is still running"),
        ReadErrors
    )
)]
pub(super) async fn live(
    State(app): State<App>,
    TickerPath(ticker): TickerPath,
    Query(params): Query<Params>,
) -> Result<Json<LiveResponse>, ApiError> {
    let Params { date, job_id, model } = params;
    Ok(Json(view::live(&app, LiveQuery { ticker, date, job_id, model }).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Ticker {
    /// The instrument; optional if the session has only one.
    pub(super) ticker: Option<String>,
}

/// Get a desk's analysis of an instrument in one session
#[utoipa::path(
    get,
    path = "/sessions/{session_id}/live",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1), Ticker),
    responses(
        (status = 200, body = LiveResponse, description = "The analysis"),
        (status = 409, body = papertape_protocol::error::ErrorBody, description = "The analysis is still running"),
        ReadErrors
    )
)]
pub(super) async fn session_live(
    State(app): State<App>,
    SessionPath(session): SessionPath,
    Query(Ticker { ticker }): Query<Ticker>,
) -> Result<Json<LiveResponse>, ApiError> {
    Ok(Json(view::session_live(&app, session, ticker).await?))
}
