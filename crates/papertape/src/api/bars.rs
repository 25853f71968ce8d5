//! `GET /datasets/{name}/bars`

use super::error::ApiError;
use super::extract::{DatasetPath, Query, maybe_day};
use super::responses::Read;
use crate::app::App;
use crate::view::{self, BarsAnswer, BarsQuery};
use axum::Json;
use axum::extract::State;
use papertape_core::time::Date;
use serde::Deserialize;
use utoipa::IntoParams;

/// Which bars.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// Of this instrument.
    symbol: String,
    /// From this day on.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    start_date: Option<Date>,
    /// Up to this day, included.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    end_date: Option<Date>,
    /// How many at most; a page of bars may be longer than other pages.
    #[param(minimum = 1, maximum = 5000)]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// An instrument's daily bars, as they were traded
///
/// For charts. No agent reads this: what one is shown comes through a view of its instant, in the share
/// units of that instant.
#[utoipa::path(
    get,
    path = "/datasets/{name}/bars",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name, or the first digits of its hash"), Params),
    responses((status = 200, body = BarsAnswer, description = "A page of bars; it may be empty"), Read)
)]
pub(super) async fn bars(
    State(app): State<App>,
    DatasetPath(name): DatasetPath,
    Query(params): Query<Params>,
) -> Result<Json<BarsAnswer>, ApiError> {
    let Params { symbol, start_date, end_date, limit, cursor } = params;
    Ok(Json(view::bars(&app, &BarsQuery { dataset: name, symbol, start_date, end_date, limit, cursor })?))
}
