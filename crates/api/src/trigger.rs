//! `POST /simulate/trigger`

use super::error::ApiError;
use super::extract::Body;
use super::job_response::queued_response;
use super::responses::BodyErrors;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_protocol::simulate::{QueuedResponse, TriggerBody};
use papertape_service::app::App;
use papertape_service::trigger;

/// Queue a simulation
#[utoipa::path(
    post,
    path = "/simulate/trigger",
    tag = "simulation",
    request_body = TriggerBody,
    responses(
        (status = 202, body = QueuedResponse, description = "The job is queued", example = json!({
            "job_id": "01a20080-76d9-7776-80b8-d40317d19915",
            "status": "queued",
            "total_model_days": 10,
            "message": "the simulation is queued: 10 model-days",
            "warnings": [],
            "continues": {},
            "parent": null,
            "deployment_mode": "prod",
            "is_dev_mode": false,
            "preserve_dev_data": null
        })),
        BodyErrors
    )
)]
pub(super) async fn trigger(
    State(app): State<App>,
    Body(body): Body<TriggerBody>,
) -> Result<(StatusCode, Json<QueuedResponse>), ApiError> {
    let queued = trigger::trigger(&app, trigger::request_of(body)?).await?;
    Ok((StatusCode::ACCEPTED, Json(queued_response(&app, queued, None).await?)))
}
