//! Errors in the shape of each protocol. All of them tell the client not to retry: the endpoint has done so.

use super::super::error::ApiError;
use axum::Json;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use papertape_core::external::DoorProtocol;
use papertape_core::message::{CallFailure, FailureKind};
use serde_json::{Value, json};

/// What the clients of both providers' libraries read before they retry.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// The shape of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorShape {
    /// `{"error": {"message", "type", "param", "code"}}`
    OpenAi,
    /// `{"type": "error", "error": {"type", "message"}}`
    Anthropic,
}

impl ErrorShape {
    pub(super) const fn of(protocol: DoorProtocol) -> Self {
        match protocol {
            DoorProtocol::AnthropicMessages => Self::Anthropic,
            DoorProtocol::ChatCompletions | DoorProtocol::Responses | DoorProtocol::Embeddings => {
                Self::OpenAi
            }
        }
    }

    /// The shape for a request whose path does not tell.
    pub(super) fn of_client(headers: &HeaderMap) -> Self {
        if headers.contains_key("anthropic-version") { Self::Anthropic } else { Self::OpenAi }
    }
}

/// Why a request has no answer.
#[derive(Clone, Debug)]
pub(super) struct DoorError {
    status: StatusCode,
    code: Option<&'static str>,
    message: String,
}

impl DoorError {
    pub(super) fn new(status: StatusCode, code: Option<&'static str>, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// The request is not one that is served.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, None, message)
    }

    /// The token is unknown, or its session has ended.
    pub(super) fn unauthorized() -> Self {
        let message = "unknown API key: send the token of the running session, `doors.token` of its `day` message; it \
                       ends with the session";
        Self::new(StatusCode::UNAUTHORIZED, Some("invalid_api_key"), message)
    }

    /// The session stopped before it had the answer.
    pub(super) fn stopped() -> Self {
        let message =
            "the session stopped before the answer came; when its job is resumed, the day begins again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, Some("session_stopped"), message)
    }

    /// The words that were sent early are not the beginning of the answer.
    pub(super) fn begun_differently() -> Self {
        let message = "an attempt failed after words had been sent, and the next one began differently; the recorded answer \
                       cannot follow these words";
        Self::new(StatusCode::BAD_GATEWAY, Some(FailureKind::BadAnswer.as_str()), message)
    }

    /// The call failed after all retries. A key or an account that the provider rejects is the server's, not the
    /// client's.
    pub(super) fn from_failure(failure: &CallFailure) -> Self {
        let status = match failure.kind {
            FailureKind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
            FailureKind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            FailureKind::BadRequest | FailureKind::ContextLength => StatusCode::BAD_REQUEST,
            FailureKind::ToolError => StatusCode::INTERNAL_SERVER_ERROR,
            FailureKind::Unavailable
            | FailureKind::BadAnswer
            | FailureKind::EmptyAnswer
            | FailureKind::Unauthorised
            | FailureKind::PaymentRequired
            | FailureKind::Forbidden
            | FailureKind::UnknownModel => StatusCode::BAD_GATEWAY,
        };
        let code = match failure.kind {
            FailureKind::ContextLength => "context_length_exceeded",
            kind => kind.as_str(),
        };
        Self::new(status, Some(code), failure.message.clone())
    }

    /// An error of reading the request's body.
    pub(super) fn from_api(error: ApiError) -> Self {
        let status = match &error {
            ApiError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ApiError::Timeout(_) => StatusCode::REQUEST_TIMEOUT,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, None, error.to_string())
    }

    /// The body of the error.
    pub(super) fn body(&self, shape: ErrorShape) -> Value {
        let (message, code) = (&self.message, self.code);
        match shape {
            ErrorShape::OpenAi => {
                json!({ "error": { "message": message, "type": self.kind(shape), "param": null, "code": code } })
            }
            ErrorShape::Anthropic => {
                json!({ "type": "error", "error": { "type": self.kind(shape), "message": message } })
            }
        }
    }

    /// The code and the message, for an event of a stream.
    pub(super) fn parts(&self) -> (Option<&'static str>, &str) {
        (self.code, &self.message)
    }

    fn kind(&self, shape: ErrorShape) -> &'static str {
        match (self.status.as_u16(), shape) {
            (401, _) => "authentication_error",
            (413, ErrorShape::Anthropic) => "request_too_large",
            (429, _) => "rate_limit_error",
            (504, ErrorShape::Anthropic) => "timeout_error",
            (400..500, _) => "invalid_request_error",
            (_, ErrorShape::OpenAi) => "server_error",
            (_, ErrorShape::Anthropic) => "api_error",
        }
    }

    pub(super) fn into_response_in(self, shape: ErrorShape) -> Response {
        let headers = [(SHOULD_RETRY, HeaderValue::from_static("false"))];
        (self.status, headers, Json(self.body(shape))).into_response()
    }
}
