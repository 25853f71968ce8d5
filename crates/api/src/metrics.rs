//! `GET /metrics`

use super::error::ApiError;
use super::responses::ReadErrors;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use papertape_service::app::App;

const MAX_RETRIES: u32 = 1_000_000;

/// Get telemetry in Prometheus's text format
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses(
        (status = 200, body = String, content_type = "text/plain", description = "The telemetry; see docs/operations.md"),
        ReadErrors
    )
)]
pub(super) async fn metrics(State(app): State<App>) -> Result<Response, ApiError> {
    let text = app.telemetry().await.map_err(ApiError::Internal)?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

/// Counts a poll of a job by a client whose stream has failed. `retries` is the client's number of the poll.
pub(super) fn count_retries(app: &App, retries: Option<u32>) -> Result<(), ApiError> {
    match retries {
        // Each poll sends its own number, so each counts as one.
        Some(1..=MAX_RETRIES) => app.telemetry.client_retried(),
        None | Some(0) => {}
        Some(retries) => {
            return Err(ApiError::Invalid(format!(
                "retries: {retries} is out of range; expected 0 to {MAX_RETRIES}"
            )));
        }
    }
    Ok(())
}
