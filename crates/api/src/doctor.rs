//! `GET /doctor`

use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::doctor::DoctorResponse;
use papertape_service::app::App;
use papertape_service::doctor::report;

/// Check the installation
///
/// Runs the checks of `papertape doctor`: data, disk, database, dataset, models, prompts, tools. It changes nothing
/// and returns no secrets. It starts the configured tool servers. Concurrent requests run one after the other.
#[utoipa::path(
    get,
    path = "/doctor",
    tag = "server",
    responses((status = 200, body = DoctorResponse, description = "The results of the checks"), ReadErrors)
)]
pub(super) async fn doctor(State(app): State<App>) -> Json<DoctorResponse> {
    Json(report(&app).await)
}
