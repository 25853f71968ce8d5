//! `GET /health`

use crate::app::App;
use crate::view::{self, HealthAnswer, HealthState};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

/// Is the server well?
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    responses(
        (status = 200, body = HealthAnswer, description = "It does all that it is there for"),
        (status = 503, body = HealthAnswer, description = "It does not: `problems` says why"),
        (status = 403, body = super::error::ErrorBody, description = "The Host header names another host")
    )
)]
pub(super) async fn health(State(app): State<App>) -> (StatusCode, Json<HealthAnswer>) {
    let health = view::health(&app).await;
    let status = match health.status {
        HealthState::Ok => StatusCode::OK,
        HealthState::Failing => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(health))
}
