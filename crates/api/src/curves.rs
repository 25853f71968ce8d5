//! `GET /jobs/{job_id}/curves`

use super::error::ApiResult;
use super::extract::JobPath;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::curves::CurvesResponse;
use papertape_service::app::App;
use papertape_service::view;

/// Get chart data: each agent's value and state on each day
///
/// Each list is parallel to the job's days. One response holds years of many agents. For metrics and baselines see
/// `/results`.
#[utoipa::path(
    get,
    path = "/jobs/{job_id}/curves",
    tag = "record",
    params(("job_id" = String, Path, description = "The job")),
    responses((status = 200, body = CurvesResponse, description = "The agents, day by day", example = json!({
        "job_id": "550e8400-e29b-41d4-a716-446655440000",
        "cancel_requested": false,
        "dates": ["2012-10-01", "2012-10-02"],
        "agents": [{
            "model": "house::momentum",
            "is_llm": false,
            "starting_portfolio_value": 10000.0,
            "portfolio_values": [10120.5, null],
            "statuses": ["completed", "running"],
            "full_research": [true, null]
        }],
        "deployment_mode": "prod",
        "is_dev_mode": false,
        "preserve_dev_data": null
    })), ReadErrors)
)]
pub(super) async fn curves(State(app): State<App>, JobPath(job): JobPath) -> ApiResult<CurvesResponse> {
    Ok(Json(view::curves(&app, &job).await?))
}
