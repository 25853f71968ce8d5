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

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// The instrument.
    symbol: String,
    /// The interval of intraday bars (`5m`, `1h`), one of the dataset's `intervals`; absent: daily bars.
    interval: Option<String>,
    /// The first day.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    start_date: Option<Date>,
    /// The last day, included.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    end_date: Option<Date>,
    /// Max bars. A page of bars may be longer than other pages.
    #[param(minimum = 1, maximum = 5000)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Get an instrument's bars, for charts
///
/// Prices are as traded. Daily bars exist even if the dataset has intraday bars only. Agents do not read this:
/// they see the market through a view of their instant, in that instant's share units.
#[utoipa::path(
    get,
    path = "/datasets/{name}/bars",
    tag = "data",
    params(("name" = String, Path, description = "The dataset's name or hash prefix"), Params),
    responses((status = 200, body = BarsResponse, description = "A page of bars"), ReadErrors)
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
