//! `GET /profiles/compare`

use super::error::ApiError;
use super::extract::Query;
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_service::app::App;
use papertape_service::view::{self, CompareQuery};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// The first job.
    a: String,
    /// The second job.
    b: String,
    /// The first job's label in the response.
    label_a: Option<String>,
    /// The second job's label in the response.
    label_b: Option<String>,
    /// What may differ: `ticker`, `date`, `provider`, `model`, `overall-timeout`, `max-debate-rounds`,
    /// `max-risk-discuss-rounds`, separated by commas.
    vary: Option<String>,
}

/// Compare the node timings of two jobs' desks
///
/// The same report as `papertape profile ab` on the traces of these jobs.
#[utoipa::path(
    get,
    path = "/profiles/compare",
    tag = "record",
    params(Params),
    responses((status = 200, body = Object, description = "Both cohorts, and which one is recommended"), ReadErrors)
)]
pub(super) async fn compare_traces(
    State(app): State<App>,
    Query(params): Query<Params>,
) -> Result<Json<Value>, ApiError> {
    let Params { a, b, label_a, label_b, vary } = params;
    let report = view::compare_traces(&app, &CompareQuery { a, b, label_a, label_b, vary }).await?;
    Ok(Json(serde_json::to_value(report).map_err(|error| ApiError::Internal(error.into()))?))
}
