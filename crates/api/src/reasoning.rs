//! `GET /reasoning`

use super::error::ApiError;
use super::extract::{Query, flag, maybe_day, rows};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_core::time::Date;
use papertape_service::app::App;
use papertape_service::view::{self, ReasoningQuery, ReasoningResponse};
use serde::Deserialize;
use utoipa::IntoParams;

/// Filters; all of them apply.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// Only of this job.
    job_id: Option<String>,
    /// Only of this trading day.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    date: Option<Date>,
    /// Only of this agent.
    model: Option<String>,
    /// Whether to include the instructions and all messages.
    #[serde(default, deserialize_with = "flag")]
    #[param(default = false)]
    include_full_conversation: bool,
    /// Only sessions with this instrument in their positions, orders or steps.
    symbol: Option<String>,
    /// Only sessions with messages of this node, in one round (`solo#1`) or in any (`solo`). The conversation then
    /// has only that node's messages.
    node: Option<String>,
    /// Only sessions in which one message has all these words.
    q: Option<String>,
    /// Max sessions; with full conversations at most 50.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List what agents said and did, by session
#[utoipa::path(
    get,
    path = "/reasoning",
    tag = "record",
    params(Params),
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
    Query(params): Query<Params>,
) -> Result<Json<ReasoningResponse>, ApiError> {
    let query = ReasoningQuery {
        job_id: params.job_id,
        date: params.date,
        model: params.model,
        include_full_conversation: params.include_full_conversation,
        symbol: params.symbol,
        node: params.node,
        q: params.q,
        limit: params.limit,
        cursor: params.cursor,
    };
    Ok(Json(view::reasoning(&app, query).await?))
}
