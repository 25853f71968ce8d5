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

/// Which results.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// One day; not together with a range.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    date: Option<Date>,
    /// First day of a range; absent: the first that there is.
    #[serde(default, deserialize_with = "maybe_day")]
    start_date: Option<Date>,
    /// Last day of a range, included; absent: the last that there is.
    #[serde(default, deserialize_with = "maybe_day")]
    end_date: Option<Date>,
    /// Of this agent; absent: of all.
    model: Option<String>,
    /// Of this job, however far it is; absent: of each agent the newest completed job that no other has
    /// replaced.
    job_id: Option<String>,
    /// The symbol or index of the job's dataset that a range is compared with; absent: the job's own benchmark. Not together
    /// with `date`.
    #[param(example = "AAPL")]
    benchmark: Option<String>,
    /// With how much of what was said.
    #[serde(default)]
    #[param(inline, default = "none")]
    reasoning: ReasoningLevel,
}

/// What trading came to, on a day or over a range beside its baselines
#[utoipa::path(
    get,
    path = "/results",
    tag = "record",
    params(Params),
    responses(
        (status = 200, body = ResultsResponse, description = "With `date` a day's results, else a range's; an entry a model"),
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
