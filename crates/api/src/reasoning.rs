//! `GET /reasoning`

use super::error::ApiResult;
use super::extract::Query;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_protocol::reasoning::{ReasoningQuery, ReasoningResponse};
use papertape_service::app::App;
use papertape_service::view;

/// List what agents said and did, by session
#[utoipa::path(
    get,
    path = "/reasoning",
    tag = "record",
    params(ReasoningQuery),
    responses(
        (status = 200, body = ReasoningResponse, description = "Sessions, oldest first", example = json!({
            "sessions": [{
                "session_id": 123,
                "job_id": "550e8400-e29b-41d4-a716-446655440000",
                "date": "2025-10-02",
                "model": "gpt-5",
                "is_llm": true,
                "status": "completed",
                "error": null,
                "session_summary": "Established positions in NVDA and GOOGL on AI demand; kept half in cash.",
                "summary_error": null,
                "started_at": "2025-10-02T10:00:00Z",
                "completed_at": "2025-10-02T10:05:23Z",
                "total_messages": 4,
                "positions": [{
                    "action_id": 1,
                    "action_type": "buy",
                    "symbol": "NVDA",
                    "amount": 10.0,
                    "price": 189.60,
                    "cash_after": 8104.00,
                    "portfolio_value": 10000.00
                }]
            }],
            "count": 1,
            "next_cursor": null,
            "deployment_mode": "prod",
            "is_dev_mode": false,
            "preserve_dev_data": null
        })),
        ReadErrors
    )
)]
pub(super) async fn reasoning(
    State(app): State<App>,
    Query(query): Query<ReasoningQuery>,
) -> ApiResult<ReasoningResponse> {
    Ok(Json(view::reasoning(&app, query).await?))
}
