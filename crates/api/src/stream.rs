//! `GET /jobs/{job_id}/stream`

use super::error::ApiError;
use super::extract::{JobPath, Query};
use super::listen::Endless;
use super::responses::ReadErrors;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, StatusCode, Version};
use axum::response::{IntoResponse as _, Response};
use futures::stream::{Stream, unfold};
use papertape_core::part::EventPosition;
use papertape_service::app::App;
use papertape_service::streams::{OpenStream, StreamReader};
use papertape_service::view;
use serde::Deserialize;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamQuery {
    after: Option<String>,
}

/// Stream a job's updates as server-sent events
///
/// The stream starts with a `snapshot`, or after the event with the ID `after`. Event names are `snapshot`, `log_entry`,
/// `message`, `node`, `order`, `progress`, `job` and `end`, after which the stream closes. `id` is the event's number
/// in the job, without gaps; in a job that is split into parts, it is an opaque text. A `delta` carries a part of an
/// answer that is being written: it has no `id`, some may be lost, and the `message` that follows has the whole text. A
/// reconnect with the `Last-Event-ID` of the end is a 204. An ID beyond the newest event starts with a `snapshot`.
#[utoipa::path(
    get,
    path = "/jobs/{job_id}/stream",
    tag = "simulation",
    params(
        ("job_id" = String, Path, description = "The job"),
        ("after" = Option<String>, Query, description = "Continue after this event; 0: start with the first event"),
        ("Last-Event-ID" = Option<String>, Header, description = "The same, sent by browsers; overrides `after`"),
    ),
    responses(
        (status = 200, description = "`text/event-stream`: events whose `data` is a `StreamData`"),
        (status = 204, description = "The job has ended, and the client has received its end"),
        (status = 429, body = papertape_protocol::error::ErrorBody, description = "The client has too many open streams"),
        ReadErrors
    )
)]
pub(super) async fn stream(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
    version: Version,
    extensions: Extensions,
) -> Result<Response, ApiError> {
    let after = query.after.as_deref().map(|after| position("after", after)).transpose()?;
    let after = last_event_id(&headers)?.or(after);
    let max = app.config.server.max_streams_per_client;
    let open = app.streams.open(client(&extensions), max).ok_or(ApiError::TooManyStreams(max))?;
    let reader = match view::read_stream(&app, &job, after).await {
        Ok(Some(reader)) => reader,
        // There is nothing to follow.
        nothing => {
            return nothing.map(|_| StatusCode::NO_CONTENT.into_response()).map_err(ApiError::from);
        }
    };
    let mut response = Body::from_stream(events(reader, open)).into_response();
    response.extensions_mut().insert(Endless);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    if version == Version::HTTP_11 {
        headers.insert(CONNECTION, HeaderValue::from_static("keep-alive"));
    }
    Ok(response)
}

/// The ID of the last event that a browser received. A browser that received none does not send it.
fn last_event_id(headers: &HeaderMap) -> Result<Option<EventPosition>, ApiError> {
    let Some(value) = headers.get("last-event-id") else {
        return Ok(None);
    };
    position("Last-Event-ID", value.to_str().unwrap_or_default().trim()).map(Some)
}

fn position(name: &str, text: &str) -> Result<EventPosition, ApiError> {
    text.parse().map_err(|_| ApiError::Invalid(format!("{name}: expected the ID of an event, or 0")))
}

/// The client's address. A router that is called inside the process has no client.
pub(super) fn client(extensions: &Extensions) -> IpAddr {
    let address = extensions.get::<ConnectInfo<SocketAddr>>();
    address.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ConnectInfo(address)| address.ip())
}

/// The reader's events. They are read when the connection has room for them, and all that are ready are sent
/// together.
fn events(reader: StreamReader, open: OpenStream) -> impl Stream<Item = Result<Bytes, Infallible>> {
    unfold((reader, open), async |(mut reader, mut open)| {
        // A HEAD request reads no events.
        open.begun();
        let events = reader.next().await;
        // A client that has the end may disconnect before it reads more.
        if reader.has_ended() {
            open.ended();
        }
        events.map(|events| (Ok(events), (reader, open)))
    })
}
