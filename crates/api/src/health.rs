//! `GET /health`

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use papertape_protocol::health::{HealthBody, HealthState, HealthStatus};
use papertape_service::access::Caller;
use papertape_service::app::App;
use papertape_service::view;

/// Check the server's health
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    responses(
        (status = 200, body = HealthBody, description = "The server works"),
        (status = 503, body = HealthBody, description = "The server does not work: see `problems`"),
        (status = 403, body = papertape_protocol::error::ErrorBody, description = "The Host header names another host")
    )
)]
pub(super) async fn health(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
) -> (StatusCode, Json<HealthBody>) {
    let health = view::health(&app).await;
    let status = match health.status {
        HealthState::Ok => StatusCode::OK,
        HealthState::Failing => StatusCode::SERVICE_UNAVAILABLE,
    };
    let is_known = caller.is_some() || app.authenticator.is_open();
    (
        status,
        Json(if is_known {
            HealthBody::Full(health)
        } else {
            HealthBody::Status(HealthStatus { status: health.status })
        }),
    )
}
