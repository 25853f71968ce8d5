//! `GET /datasets/{name}/bars`

use super::error::ApiError;
use super::extract::{DatasetPath, Query, maybe_day};
use super::responses::ReadErrors;
use axum::Json;
use axum::extract::State;
use papertape_core::time::Date;
use papertape_service::app::App;
use papertape_service::view::{self, BarsQuery, BarsResponse};
use serde::Deserialize;
use utoipa::IntoParams;

/// Which bars.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// Of this instrument.
    symbol: String,
    /// Of this length within the day (`5m`, `1h`), one of the dataset's `intervals`; absent: of whole days.
    interval: Option<String>,
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

/// An instrument's bars, as they were traded
///
/// For charts. A day's bar is there too where the dataset has bars within the day alone. No agent reads this: what one is shown comes through a view of its instant, in the share
/// units of that instant.
#[utoipa::path(
    get,
    path = "/datasets/{name}/bars",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name, or the first digits of its hash"), Params),
    responses((status = 200, body = BarsResponse, description = "A page of bars; it may be empty"), ReadErrors)
)]
pub(super) async fn bars(
    State(app): State<App>,
    DatasetPath(name): DatasetPath,
    Query(params): Query<Params>,
) -> Result<Json<BarsResponse>, ApiError> {
    let Params { symbol, interval, start_date, end_date, limit, cursor } = params;
    let query = BarsQuery { dataset: name, symbol, interval, start_date, end_date, limit, cursor };
    Ok(Json(view::bars(&app, &query)?))
}
