//! `GET /exposures`

use super::error::ApiError;
use super::extract::{Query, maybe_day};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_core::time::{Date, Timestamp};
use papertape_service::app::App;
use papertape_service::view::{self, SeenByKind, SeenByQuery, SeenByResponse};
use serde::Deserialize;
use utoipa::IntoParams;

/// The item. Its kind decides which fields are required; other fields are rejected.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// The kind of item. `bar` requires `dataset`, `symbol` and `from`; `news` `dataset` and `news_id`; `fundamental`
    /// `dataset`, `symbol`, `metric` and `period`; `macro` `dataset`, `series` and `period`; a memory
    /// (`trader_round`, `open_position_context`, `trade`) `memory_id`, `job_id` and `model`.
    #[param(inline)]
    kind: SeenByKind,
    /// The dataset's name or hash prefix.
    dataset: Option<String>,
    /// The instrument.
    symbol: Option<String>,
    /// The first day of the bars.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    from: Option<Date>,
    /// The last day of the bars, included; absent: the first day.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    to: Option<Date>,
    /// The news item's ID.
    news_id: Option<String>,
    /// The metric of a fundamental, such as `revenue`.
    metric: Option<String>,
    /// The macroeconomic series.
    series: Option<String>,
    /// The last day of a fundamental's period, or the first day of a macroeconomic value's.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    period: Option<Date>,
    /// Only the value published at this instant; absent: every publication.
    #[param(value_type = Option<String>)]
    published_at: Option<String>,
    /// The ID of the round, position or trade.
    memory_id: Option<String>,
    /// Market data: only sessions of this job. A memory: the job that it belongs to.
    job_id: Option<String>,
    /// Market data: only sessions of this agent. A memory: the agent that it belongs to.
    model: Option<String>,
    /// Max sessions.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List the sessions that saw a bar, a news item, a fundamental or a memory
///
/// Sessions are listed newest first, each with the steps and messages in which its agent saw the item. Reads by the
/// books are not included.
#[utoipa::path(
    get,
    path = "/exposures",
    tag = "record",
    params(Params),
    responses((status = 200, body = SeenByResponse, description = "A page of sessions; it may be empty"), ReadErrors)
)]
pub(super) async fn exposures_by_item(
    State(app): State<App>,
    Query(params): Query<Params>,
) -> Result<Json<SeenByResponse>, ApiError> {
    let instant = |text: String| {
        text.parse::<Timestamp>().map_err(|error| ApiError::Invalid(format!("published_at: {error}")))
    };
    let query = SeenByQuery {
        kind: params.kind,
        dataset: params.dataset,
        symbol: params.symbol,
        from: params.from,
        to: params.to,
        news_id: params.news_id,
        metric: params.metric,
        series: params.series,
        period: params.period,
        published_at: params.published_at.map(instant).transpose()?,
        memory_id: params.memory_id,
        job_id: params.job_id,
        model: params.model,
        limit: params.limit,
        cursor: params.cursor,
    };
    Ok(Json(view::seen_by(&app, &query).await?))
}
