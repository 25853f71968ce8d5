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
use papertape_service::app::App;
use papertape_service::streams::{self, OpenStream, StreamReader};
use serde::Deserialize;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamQuery {
    after: Option<i64>,
}

/// A job as it goes on, as server-sent events
///
/// Begins with a `snapshot`, or behind event number `after`. The names of events are `snapshot`,
/// `log_entry`, `message`, `node`, `order`, `progress`, `job` and `end`, after which the stream closes;
/// `id` is the event's number in the job, without gaps. A `delta` brings words of an answer that is being
/// written: it has no `id`, some may be lost, and the `message` that follows has them all. A reconnect with
/// the `Last-Event-ID` of the end gets 204. A number that the job has not come to gets a `snapshot`, and what
/// follows it.
#[utoipa::path(
    get,
    path = "/jobs/{job_id}/stream",
    tag = "simulation",
    params(
        ("job_id" = String, Path, description = "The job"),
        ("after" = Option<i64>, Query, minimum = 0, description = "Go on behind this event; 0: from the first one on"),
        ("Last-Event-ID" = Option<i64>, Header, minimum = 0, description = "The same, sent by browsers; it wins over `after`"),
    ),
    responses(
        (status = 200, description = "`text/event-stream`: events, each with `data` of the form of `StreamData`"),
        (status = 204, description = "The job has ended, and its end has been told"),
        (status = 429, body = papertape_protocol::error::ErrorBody, description = "Too many streams of one client"),
        ReadErrors
    )
)]
pub(super) async fn stream(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(asked): Query<StreamQuery>,
    headers: HeaderMap,
    version: Version,
    extensions: Extensions,
) -> Result<Response, ApiError> {
    if asked.after.is_some_and(|after| after < 0) {
        return Err(ApiError::Invalid("after: it is below 0".to_owned()));
    }
    let after = last_event_id(&headers)?.or(asked.after);
    let most = app.config.server.max_streams_per_client;
    let open = app.streams.open(client(&extensions), most).ok_or(ApiError::TooManyStreams(most))?;
    let reader = match streams::read(&app, &job, after).await {
        Ok(Some(reader)) => reader,
        // There is nothing to follow.
        nothing => {
            return nothing.map(|_| StatusCode::NO_CONTENT.into_response()).map_err(ApiError::from);
        }
    };
    let mut response = Body::from_stream(events(reader, open)).into_response();
    response.extensions_mut().insert(Endless);
    let answer = response.headers_mut();
    answer.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    answer.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    answer.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    if version == Version::HTTP_11 {
        answer.insert(CONNECTION, HeaderValue::from_static("keep-alive"));
    }
    Ok(response)
}

/// The number of the last event that a browser has seen. Browsers that have seen none do not send it.
fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>, ApiError> {
    let Some(value) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| ApiError::Invalid("Last-Event-ID: it is not a whole number".to_owned()))
}

/// Who asks. A router that is called in the process itself has nobody before it.
pub(super) fn client(extensions: &Extensions) -> IpAddr {
    let address = extensions.get::<ConnectInfo<SocketAddr>>();
    address.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ConnectInfo(address)| address.ip())
}

/// The reader's events. They are asked for when the connection has room for them, and all that are ready
/// leave together.
fn events(reader: StreamReader, open: OpenStream) -> impl Stream<Item = Result<Bytes, Infallible>> {
    unfold((reader, open), async |(mut reader, mut open)| {
        // Whoever asks for the head alone reads none.
        open.begun();
        let events = reader.next().await;
        // Who has the end may leave before it asks for more.
        if reader.has_ended() {
            open.ended();
        }
        events.map(|events| (Ok(events), (reader, open)))
    })
}
