//! `GET /health`

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_service::access::Caller;
use papertape_service::app::App;
use papertape_service::view::{self, HealthResponse, HealthState};
use serde::Serialize;
use utoipa::ToSchema;

/// The server's health. Callers with access also get the reasons.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum HealthBody {
    /// For callers with a token, and for everyone if no token is configured.
    Full(HealthResponse),
    /// For a probe without a token.
    Status(HealthStatus),
}

/// Only whether the server works.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HealthStatus {
    /// Whether the server works.
    status: HealthState,
}

/// Check the server's health
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    responses(
        (status = 200, body = HealthBody, description = "The server works"),
        (status = 503, body = HealthBody, description = "The server fails: see `problems`"),
        (status = 403, body = super::error::ErrorBody, description = "The Host header names another host")
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
