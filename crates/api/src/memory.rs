//! `GET /memory/…` and `POST /memory/…`: traders' memories.

use super::error::ApiResult;
use super::extract::{Body, Query};
use super::responses::{BodyErrors, ReadErrors};
use axum::Json;
use axum::extract::State;
use papertape_protocol::memory::{
    ArchivesResponse, CompactBody, MemoryQuery, OpenPositionsResponse, ReembedBody, ReembedResponse,
    RoundsResponse, TradesQuery, TradesResponse,
};
use papertape_service::app::App;
use papertape_service::view;

/// List round memories, newest first
#[utoipa::path(
    get,
    path = "/memory/rounds",
    tag = "memory",
    params(MemoryQuery),
    responses((status = 200, body = RoundsResponse, description = "A page of rounds"), ReadErrors)
)]
pub(super) async fn rounds_of(
    State(app): State<App>,
    Query(query): Query<MemoryQuery>,
) -> ApiResult<RoundsResponse> {
    Ok(Json(view::memory_rounds(&app, query).await?))
}

/// List the contexts of open positions, newest first
#[utoipa::path(
    get,
    path = "/memory/open-positions",
    tag = "memory",
    params(MemoryQuery),
    responses(
        (status = 200, body = OpenPositionsResponse, description = "A page of contexts"),
        ReadErrors
    )
)]
pub(super) async fn open_positions(
    State(app): State<App>,
    Query(query): Query<MemoryQuery>,
) -> ApiResult<OpenPositionsResponse> {
    Ok(Json(view::memory_open(&app, query).await?))
}

/// List reflections on closed trades
///
/// The newest exit comes first; in a semantic search, the best match.
#[utoipa::path(
    get,
    path = "/memory/trades",
    tag = "memory",
    params(TradesQuery),
    responses(
        (status = 200, body = TradesResponse, description = "A page of reflections"),
        ReadErrors
    )
)]
pub(super) async fn trades(
    State(app): State<App>,
    Query(query): Query<TradesQuery>,
) -> ApiResult<TradesResponse> {
    Ok(Json(view::memory_trades(&app, query).await?))
}

/// List compacted reflections, by period
#[utoipa::path(
    get,
    path = "/memory/archives",
    tag = "memory",
    params(MemoryQuery),
    responses((status = 200, body = ArchivesResponse, description = "A page of archives"), ReadErrors)
)]
pub(super) async fn archives(
    State(app): State<App>,
    Query(query): Query<MemoryQuery>,
) -> ApiResult<ArchivesResponse> {
    Ok(Json(view::memory_archives(&app, query).await?))
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
) -> ApiResult<ArchivesResponse> {
    Ok(Json(view::memory_compact(&app, &body).await?))
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
) -> ApiResult<ReembedResponse> {
    Ok(Json(view::memory_reembed(&app, &body).await?))
}
