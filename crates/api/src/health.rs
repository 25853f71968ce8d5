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

/// What a probe learns. Whoever may read also learns why.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum HealthBody {
    /// For callers with a token, and for everyone where no token is configured.
    Full(HealthResponse),
    /// For a probe without a token.
    Status(HealthStatus),
}

/// Whether the server works, and nothing else.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HealthStatus {
    /// Whether the server works.
    status: HealthState,
}

/// Is the server well?
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    responses(
        (status = 200, body = HealthBody, description = "It does all that it is there for"),
        (status = 503, body = HealthBody, description = "It does not: `problems` says why"),
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
    let is_known = caller.is_some() || app.doorkeeper.is_open();
    (
        status,
        Json(if is_known {
            HealthBody::Full(health)
        } else {
            HealthBody::Status(HealthStatus { status: health.status })
        }),
    )
}
