//! Limits on what a tool server may send, and the HTTP client that stops reading beyond them.

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use papertape_llm::bounds::{Bound, MAX_DEPTH, MAX_ERROR_BYTES, Shape};
use papertape_llm::{Unread, read_body};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Client, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse, SseStream};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Bytes of one message: a line from a child, an event or a body over HTTP. Larger than the maximum response,
/// because images are named but not stored.
pub(super) const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// JSON values in one message: as a tree they take up to a hundred times the memory of their text.
const MAX_VALUES: usize = 100_000;

/// The prefix of every reason that is a limit.
pub(super) const EXCEEDED: &str = "sent more than is read: ";
pub(super) const TOO_LARGE: &str = "sent more than is read: a message of more than 4 MiB";
const TOO_DEEP: &str = "sent more than is read: JSON nested deeper than 64 levels";
const TOO_MANY_VALUES: &str = "sent more than is read: more than 100000 JSON values in a message";

const SSE: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION_ID: &str = "mcp-session-id";

/// The limit that a message of this shape exceeds.
pub(super) fn check(shape: &Shape) -> Option<&'static str> {
    if shape.depth > MAX_DEPTH {
        Some(TOO_DEEP)
    } else if shape.values > MAX_VALUES {
        Some(TOO_MANY_VALUES)
    } else {
        None
    }
}

/// The reason in an error caused by a limit, however deeply it is nested.
pub(super) fn reason_in(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    let text = error.to_string();
    [TOO_LARGE, TOO_DEEP, TOO_MANY_VALUES].into_iter().find(|reason| text.contains(reason))
}

type HttpError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The SDK's client over HTTP, with our own reader for responses: the SDK's limit on a whole response is four
/// times ours, and it parses everything below that.
#[derive(Clone, Debug)]
pub(super) struct BoundedClient(pub(super) Client);

impl StreamableHttpClient for BoundedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let mut post = self.0.post(uri.as_ref()).header(ACCEPT, format!("{SSE}, {JSON}")).json(&message);
        if let Some(token) = auth_header {
            post = post.bearer_auth(token);
        }
        for (name, value) in custom_headers {
            post = post.header(name, value);
        }
        if let Some(session) = &session_id {
            post = post.header(SESSION_ID, session.as_ref());
        }
        let response = post.send().await.map_err(StreamableHttpError::Client)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session_id.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return error_response(&message, session_id.is_some(), response).await;
        }
        let needs_no_response = !matches!(message, ClientJsonRpcMessage::Request(_));
        if needs_no_response && response.content_length() == Some(0) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = header(&response, SESSION_ID);
        if has_type(&response, SSE) {
            return Ok(StreamableHttpPostResponse::Sse(events(response), session));
        }
        if !has_type(&response, JSON) {
            return Err(StreamableHttpError::UnexpectedContentType(header(&response, CONTENT_TYPE.as_str())));
        }
        let body = read(response, MAX_MESSAGE_BYTES).await?;
        match parse(&body)? {
            Some(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
            None if needs_no_response => Ok(StreamableHttpPostResponse::Accepted),
            None => Err(StreamableHttpError::UnexpectedServerResponse("no JSON-RPC message".into())),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), HttpError> {
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let max = MAX_MESSAGE_BYTES;
        let stream = self.0.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            max,
        );
        Ok(stream.await?.map(|event| event.and_then(checked)).boxed())
    }
}

/// Interprets a status other than success. A server with an older protocol version rejects the request for
/// its version, and that is a valid response.
async fn error_response(
    message: &ClientJsonRpcMessage,
    has_session: bool,
    response: Response,
) -> Result<StreamableHttpPostResponse, HttpError> {
    let status = response.status();
    let challenge = header(&response, WWW_AUTHENTICATE.as_str());
    let failed = || HttpStatusError::new(status.as_u16(), None);
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(match challenge {
            Some(challenge) => StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)),
            None => failed().into(),
        });
    }
    let is_json = has_type(&response, JSON);
    let answer = match read(response, MAX_ERROR_BYTES).await {
        Ok(body) if is_json => parse(&body)?,
        _ => None,
    };
    let error = match answer {
        Some(JsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    if let ClientJsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && !has_session
        && status.is_client_error()
    {
        let why = || ErrorData::invalid_request(format!("rejected with HTTP {}", status.as_u16()), None);
        let data = error.map_or_else(why, |error| error.error);
        let answer = ServerJsonRpcMessage::error(data, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match error {
        Some(error) if status != StatusCode::TOO_MANY_REQUESTS => {
            Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), None))
        }
        _ => Err(failed().into()),
    }
}

/// The events of a response; each stays within the limits.
fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    // Bytes since the last empty line, and whether a line has just ended.
    let bytes = stream::unfold(Some((response, 0_usize, true)), async |state| {
        let (mut response, mut event, mut at_line_start) = state?;
        let bytes = match response.chunk().await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return None,
            Err(error) => return Some((Err(io::Error::other(error)), None)),
        };
        for byte in &bytes {
            event += 1;
            match byte {
                b'\n' if at_line_start => event = 0,
                b'\n' => at_line_start = true,
                b'\r' => {}
                _ => at_line_start = false,
            }
            if event > MAX_MESSAGE_BYTES {
                return Some((Err(io::Error::other(TOO_LARGE)), None));
            }
        }
        Some((Ok(bytes), Some((response, event, at_line_start))))
    });
    SseStream::from_bytes_stream(bytes.boxed()).map(|event| event.and_then(checked)).boxed()
}

fn checked(event: Sse) -> Result<Sse, SseError> {
    let shape = Shape::of(event.data.as_deref().unwrap_or_default().as_bytes());
    match check(&shape) {
        Some(reason) => Err(SseError::Body(Box::new(io::Error::other(reason)))),
        None => Ok(event),
    }
}

async fn read(response: Response, max: usize) -> Result<Vec<u8>, HttpError> {
    read_body(response, max, Bound::Body).await.map_err(|unread| match unread {
        Unread::Exceeded(_) => StreamableHttpError::ResponseBodyTooLarge { max_size: max },
        Unread::Failed(error) => StreamableHttpError::Client(error),
    })
}

/// `None` if the body is not a message.
fn parse(body: &[u8]) -> Result<Option<ServerJsonRpcMessage>, HttpError> {
    match check(&Shape::of(body)) {
        Some(reason) => Err(io::Error::other(reason).into()),
        None => Ok(serde_json::from_slice(body).ok()),
    }
}

fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn has_type(response: &Response, kind: &str) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|given| given.as_bytes().starts_with(kind.as_bytes()))
}
