//! `GET /memory/…` and `POST /memory/…`: traders' memories.

use super::error::ApiError;
use super::extract::{Body, Query};
use super::extract::{maybe_day, rows};
use super::responses::{BodyErrors, ReadErrors};
use axum::Json;
use axum::extract::State;
use papertape_agents::memory::periods::Period;
use papertape_core::broker::parse_amount;
use papertape_core::ledger::Direction;
use papertape_core::record::ErrorTag;
use papertape_core::time::Date;
use papertape_protocol::memory::{
    ArchivesResponse, CompactBody, OpenPositionsResponse, PeriodBody, ReembedBody, ReembedResponse,
    RoundsResponse, SearchBy, SideParam, TradesResponse,
};
use papertape_service::app::App;
use papertape_service::view::{self, MemoryQuery, TradesQuery};
use rust_decimal::Decimal;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use utoipa::IntoParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Params {
    /// Only of this agent.
    model: Option<String>,
    /// Only of this job.
    job_id: Option<String>,
    /// Max rows.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

impl From<Params> for MemoryQuery {
    fn from(params: Params) -> Self {
        let Params { model, job_id, limit, cursor } = params;
        Self { model, job_id, limit, cursor }
    }
}

/// Filters; all of them apply.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TradeParams {
    /// Keyword search: reflections with all of these words, in the reflection or its thesis. Semantic search:
    /// reflections with a similar meaning.
    query: Option<String>,
    /// The search mode: `keyword`, `semantic` or `both`. Absent: `both` if an embedding model is configured, else
    /// `keyword`.
    #[serde(default, deserialize_with = "search")]
    #[param(value_type = Option<String>, example = "keyword")]
    search: Option<SearchBy>,
    /// Only this instrument.
    symbol: Option<String>,
    /// The side of the position.
    #[param(inline)]
    side: Option<SideParam>,
    /// Only with this tag.
    #[serde(default, deserialize_with = "tag")]
    #[param(value_type = Option<String>, example = "stop_too_tight")]
    tag: Option<ErrorTag>,
    /// The min result, in money.
    #[serde(default, deserialize_with = "amount")]
    #[param(value_type = Option<f64>)]
    min_pnl: Option<Decimal>,
    /// The max result, in money.
    #[serde(default, deserialize_with = "amount")]
    #[param(value_type = Option<f64>)]
    max_pnl: Option<Decimal>,
    /// Closed on this day (UTC) or later.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    from: Option<Date>,
    /// Closed on this day (UTC) or earlier.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-12-31")]
    to: Option<Date>,
    /// Only of this agent.
    model: Option<String>,
    /// Only of this job.
    job_id: Option<String>,
    /// Max rows.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List round memories, newest first
#[utoipa::path(
    get,
    path = "/memory/rounds",
    tag = "memory",
    params(Params),
    responses((status = 200, body = RoundsResponse, description = "A page of rounds"), ReadErrors)
)]
pub(super) async fn rounds_of(
    State(app): State<App>,
    Query(params): Query<Params>,
) -> Result<Json<RoundsResponse>, ApiError> {
    Ok(Json(view::memory_rounds(&app, params.into()).await?))
}

/// List the contexts of open positions, newest first
#[utoipa::path(
    get,
    path = "/memory/open-positions",
    tag = "memory",
    params(Params),
    responses(
        (status = 200, body = OpenPositionsResponse, description = "A page of contexts"),
        ReadErrors
    )
)]
pub(super) async fn open_positions(
    State(app): State<App>,
    Query(params): Query<Params>,
) -> Result<Json<OpenPositionsResponse>, ApiError> {
    Ok(Json(view::memory_open(&app, params.into()).await?))
}

/// List reflections on closed trades
///
/// The newest exit comes first; in a semantic search, the best match.
#[utoipa::path(
    get,
    path = "/memory/trades",
    tag = "memory",
    params(TradeParams),
    responses(
        (status = 200, body = TradesResponse, description = "A page of reflections"),
        ReadErrors
    )
)]
pub(super) async fn trades(
    State(app): State<App>,
    Query(params): Query<TradeParams>,
) -> Result<Json<TradesResponse>, ApiError> {
    let TradeParams { model, job_id, limit, cursor, .. } = params;
    let query = TradesQuery {
        of: MemoryQuery { model, job_id, limit, cursor },
        query: params.query,
        search: params.search,
        symbol: params.symbol,
        side: params.side.map(|side| match side {
            SideParam::Long => Direction::Long,
            SideParam::Short => Direction::Short,
        }),
        tag: params.tag,
        min_pnl: params.min_pnl,
        max_pnl: params.max_pnl,
        from: params.from,
        to: params.to,
    };
    Ok(Json(view::memory_trades(&app, query).await?))
}

/// List compacted reflections, by period
#[utoipa::path(
    get,
    path = "/memory/archives",
    tag = "memory",
    params(Params),
    responses((status = 200, body = ArchivesResponse, description = "A page of archives"), ReadErrors)
)]
pub(super) async fn archives(
    State(app): State<App>,
    Query(params): Query<Params>,
) -> Result<Json<ArchivesResponse>, ApiError> {
    Ok(Json(view::memory_archives(&app, params.into()).await?))
}

/// Compact old reflections into one per instrument and period
///
/// The originals remain.
#[utoipa::path(
    post,
    path = "/memory/compact",
    tag = "memory",
    request_body = CompactBody,
    responses((status = 200, body = ArchivesResponse, description = "The new archives"), BodyErrors)
)]
pub(super) async fn compact(
    State(app): State<App>,
    Body(body): Body<CompactBody>,
) -> Result<Json<ArchivesResponse>, ApiError> {
    let query = MemoryQuery { model: body.model, job_id: body.job_id, ..MemoryQuery::default() };
    let period = match body.period {
        PeriodBody::Quarter => Period::Quarter,
        PeriodBody::HalfYear => Period::HalfYear,
    };
    Ok(Json(view::memory_compact(&app, query, period).await?))
}

/// Embed the reflections that have no vector of the configured embedding model
#[utoipa::path(
    post,
    path = "/memory/reembed",
    tag = "memory",
    request_body = ReembedBody,
    responses((status = 200, body = ReembedResponse, description = "The number of embedded reflections"), BodyErrors)
)]
pub(super) async fn reembed(
    State(app): State<App>,
    Body(body): Body<ReembedBody>,
) -> Result<Json<ReembedResponse>, ApiError> {
    let query = MemoryQuery { model: body.model, job_id: body.job_id, ..MemoryQuery::default() };
    Ok(Json(view::memory_reembed(&app, query).await?))
}

fn search<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SearchBy>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(D::Error::custom)
}

fn tag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ErrorTag>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(D::Error::custom)
}

fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_amount(&serde_json::Value::String(text)).map(Some).map_err(D::Error::custom)
}
