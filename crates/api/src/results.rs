//! `GET /results`

use super::error::ApiError;
use super::extract::{Query, maybe_day};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_core::time::Date;
use papertape_service::app::App;
use papertape_service::view::{self, ReasoningLevel, ResultsQuery, ResultsResponse};
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// A single day; not together with a range.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    date: Option<Date>,
    /// The first day of a range; absent: the first available day.
    #[serde(default, deserialize_with = "maybe_day")]
    start_date: Option<Date>,
    /// The last day of a range, included; absent: the last available day.
    #[serde(default, deserialize_with = "maybe_day")]
    end_date: Option<Date>,
    /// Only this agent; absent: all agents.
    model: Option<String>,
    /// Only this job, finished or not; absent: for each agent, the newest completed job that no other job has
    /// replaced.
    job_id: Option<String>,
    /// The symbol or index of the job's dataset to compare a range with; absent: the job's own benchmark. Not together
    /// with `date`.
    #[param(example = "AAPL")]
    benchmark: Option<String>,
    /// How much of the conversations to include.
    #[serde(default)]
    #[param(inline, default = "none")]
    reasoning: ReasoningLevel,
}

/// Get trading results for a day, or for a range with its baselines
#[utoipa::path(
    get,
    path = "/results",
    tag = "record",
    params(Params),
    responses(
        (status = 200, body = ResultsResponse, description = "With `date`, the day's results, else the range's; one entry per model"),
        ReadErrors
    )
)]
pub(super) async fn results(
    State(app): State<App>,
    Query(params): Query<Params>,
) -> Result<Json<ResultsResponse>, ApiError> {
    let query = ResultsQuery {
        date: params.date,
        start_date: params.start_date,
        end_date: params.end_date,
        model: params.model,
        job_id: params.job_id,
        benchmark: params.benchmark,
        reasoning: params.reasoning,
    };
    Ok(Json(view::results(&app, query).await?))
}
