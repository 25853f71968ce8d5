//! `GET /doctor`

use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::doctor::DoctorResponse;
use papertape_service::app::App;
use papertape_service::doctor::report;

/// Is everything there that a simulation needs?
///
/// The looks of `papertape doctor`: data, disk, database, dataset, models, prompts, tools. Nothing is made or
/// changed, and nothing secret is told. Asking starts the configured tool servers, one question at a time.
#[utoipa::path(
    get,
    path = "/doctor",
    tag = "server",
    responses((status = 200, body = DoctorResponse, description = "What was found"), ReadErrors)
)]
pub(super) async fn doctor(State(app): State<App>) -> Json<DoctorResponse> {
    Json(report(&app).await)
}
