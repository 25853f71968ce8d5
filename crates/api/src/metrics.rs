//! `GET /metrics`

use super::error::ApiError;
use super::responses::ReadErrors;
use crate::metrics::{collect, render};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use papertape_service::app::App;

/// The highest number of a poll.
const MAX_RETRIES: u32 = 1_000_000;

/// Figures for a monitoring system, in Prometheus' text format
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses(
        (status = 200, body = String, content_type = "text/plain", description = "The figures; see docs/operations.md"),
        ReadErrors
    )
)]
pub(super) async fn metrics(State(app): State<App>) -> Result<Response, ApiError> {
    let families = collect(&app).await.map_err(ApiError::Internal)?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], render(&families)).into_response())
}

/// Counts a poll of a job that stands in for its stream, by the number that the client gives it.
pub(super) fn count_retries(app: &App, retries: Option<u32>) -> Result<(), ApiError> {
    match retries {
        // Each poll tells its number, so each is one.
        Some(1..=MAX_RETRIES) => app.metrics.client_retries.one_more(),
        None | Some(0) => {}
        Some(more) => {
            return Err(ApiError::Invalid(format!("retries: {more} is not from 0 to {MAX_RETRIES}")));
        }
    }
    Ok(())
}
