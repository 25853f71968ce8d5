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

/// What was shown. Which fields it needs follows from its kind; any other is refused.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// What it is. `bar` needs `dataset`, `symbol` and `from`; `news` `dataset` and `news_id`; `fundamental`
    /// `dataset`, `symbol`, `metric` and `period`; `macro` `dataset`, `series` and `period`; a memory
    /// (`trader_round`, `open_position_context`, `trade`) `memory_id`, `job_id` and `model`.
    #[param(inline)]
    kind: SeenByKind,
    /// The dataset's name, or the first digits of its hash.
    dataset: Option<String>,
    /// The instrument.
    symbol: Option<String>,
    /// The first day of the bars.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    from: Option<Date>,
    /// The last day of the bars, included; absent: the first.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    to: Option<Date>,
    /// The news item's id.
    news_id: Option<String>,
    /// What a company's figure measures.
    metric: Option<String>,
    /// The macroeconomic series.
    series: Option<String>,
    /// The last day of a figure's period, or the first of a macroeconomic value's.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    period: Option<Date>,
    /// The figure as it was published at this instant; absent: as it was ever published.
    #[param(value_type = Option<String>)]
    published_at: Option<String>,
    /// The round's, the position's or the trade's id.
    memory_id: Option<String>,
    /// Market data: of sessions of this job alone. A memory: the job whose it is.
    job_id: Option<String>,
    /// Market data: of sessions of this agent alone. A memory: the agent whose it is.
    model: Option<String>,
    /// How many sessions at most.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Which sessions were shown a bar, a news item, a figure or a memory
///
/// Those that were opened last come first, each with the steps and messages in which its agent was shown
/// it. What only the books have read is not among them.
#[utoipa::path(
    get,
    path = "/exposures",
    tag = "record",
    params(Params),
    responses((status = 200, body = SeenByResponse, description = "A page of sessions; it may be empty"), ReadErrors)
)]
pub(super) async fn shown(
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
