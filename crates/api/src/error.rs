//! The API's errors.

use axum::Json;
use axum::http::header::{CONNECTION, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use papertape_core::ports::RecordError;
use papertape_protocol::error::ErrorBody;
use papertape_service::ServiceError;
use papertape_store::StoreError;
use std::sync::Arc;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// The response of an endpoint.
pub(super) type ApiResult<T> = Result<Json<T>, ApiError>;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// Invalid input. The message starts with the field.
    #[error("{0}")]
    Invalid(String),
    /// 403: see `server.allowed_hosts`.
    #[error("the Host header does not name this server; see server.allowed_hosts")]
    Host,
    /// 403: see `server.allowed_origins`.
    #[error("cross-origin writes are not allowed")]
    Origin,
    /// No known token.
    #[error("authentication required: send a token as `Authorization: Bearer …`, or log in at /login")]
    Unauthorized,
    /// No running session has the token.
    #[error("no running session has this token: send the session's own token as `Authorization: Bearer …`")]
    NoSession,
    /// 403, with the token's name.
    #[error("token `{0}` is read-only; this requires the `operate` scope")]
    ReadOnly(String),
    /// 404, with what is missing.
    #[error("{0}")]
    NotFound(String),
    /// 405. The router sets the `Allow` header.
    #[error("method not allowed; see the Allow header")]
    MethodNotAllowed,
    /// The resource's state does not allow the request.
    #[error("{0}")]
    Conflict(String),
    /// 414, with the limit in bytes.
    #[error("uri: exceeds {0} bytes")]
    UriTooLong(usize),
    /// 413, with the limit in bytes.
    #[error("request body exceeds {0} bytes")]
    TooLarge(usize),
    /// 408, with the timeout in seconds.
    #[error("request body timed out after {0} s")]
    Timeout(u64),
    /// 429, with the limit per client.
    #[error("too many streams: a client may have {0} open; see server.max_streams_per_client")]
    TooManyStreams(usize),
    /// 415.
    #[error("the body must be JSON, with Content-Type application/json")]
    MediaType,
    /// 507, with what to do.
    #[error("{0}")]
    DiskFull(String),
    /// The server failed. The cause is logged, not returned.
    #[error("internal error; see the server log")]
    Internal(anyhow::Error),
}

/// All values of [`ErrorBody::error`].
const CODES: [&str; 15] = [
    "invalid_input",
    "host_not_allowed",
    "origin_not_allowed",
    "unauthorized",
    "read_only_token",
    "not_found",
    "method_not_allowed",
    "conflict",
    "uri_too_long",
    "body_too_large",
    "body_timeout",
    "unsupported_media_type",
    "too_many_streams",
    "disk_full",
    "internal_error",
];

/// The schema of `error`, for the OpenAPI document.
pub(super) fn codes() -> Object {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).enum_values(Some(CODES)).build()
}

impl ApiError {
    /// A full disk is for the operator to fix, so it gets its own status. Whichever layer noticed it, it is in the chain
    /// of causes.
    fn or_disk_full(self) -> Self {
        let Self::Internal(cause) = &self else { return self };
        let full = cause.chain().find_map(|cause| {
            let store = cause.downcast_ref::<StoreError>();
            let record = cause.downcast_ref::<RecordError>();
            let is_full =
                matches!(store, Some(StoreError::Full(_))) || matches!(record, Some(RecordError::Full(_)));
            is_full.then(|| cause.to_string())
        });
        full.map_or(self, Self::DiskFull)
    }

    fn status(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Invalid(_) => (StatusCode::BAD_REQUEST, "invalid_input"),
            Self::Host => (StatusCode::FORBIDDEN, "host_not_allowed"),
            Self::Origin => (StatusCode::FORBIDDEN, "origin_not_allowed"),
            Self::Unauthorized | Self::NoSession => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::ReadOnly(_) => (StatusCode::FORBIDDEN, "read_only_token"),
            Self::NotFound(_) => (StatusCode::NOT_FOUND, "not_found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::Conflict(_) => (StatusCode::CONFLICT, "conflict"),
            Self::UriTooLong(_) => (StatusCode::URI_TOO_LONG, "uri_too_long"),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
            Self::Timeout(_) => (StatusCode::REQUEST_TIMEOUT, "body_timeout"),
            Self::MediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::TooManyStreams(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_streams"),
            Self::DiskFull(_) => (StatusCode::INSUFFICIENT_STORAGE, "disk_full"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        }
    }
}

/// The cause of an internal error, passed in the response's extensions to the one place that logs it.
#[derive(Clone, Debug)]
pub(super) struct Failure(pub(super) Arc<anyhow::Error>);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let this = self.or_disk_full();
        let (status, error) = this.status();
        let body = Json(ErrorBody { error: error.to_owned(), message: this.to_string() });
        let mut response = (status, body).into_response();
        match &this {
            Self::Unauthorized | Self::NoSession => {
                let scheme = HeaderValue::from_static("Bearer realm=\"papertape\"");
                response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            }
            // Do not wait for the rest of the body.
            Self::Timeout(_) => {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        if let Self::Internal(cause) = this {
            response.extensions_mut().insert(Failure(Arc::new(cause)));
        }
        response
    }
}

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Invalid { .. } => Self::Invalid(error.to_string()),
            ServiceError::UnknownJob(_) | ServiceError::NotFound(_) => Self::NotFound(error.to_string()),
            ServiceError::Conflict(message) => Self::Conflict(message),
            ServiceError::Internal(cause) => Self::Internal(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the document lists every error's code once. Because of the match, a new error does not compile until it
    /// is in this list.
    #[test]
    fn every_code_is_in_the_document() {
        let all = [
            ApiError::Invalid(String::new()),
            ApiError::Host,
            ApiError::Origin,
            ApiError::Unauthorized,
            ApiError::ReadOnly(String::new()),
            ApiError::NotFound(String::new()),
            ApiError::MethodNotAllowed,
            ApiError::Conflict(String::new()),
            ApiError::UriTooLong(1),
            ApiError::TooLarge(1),
            ApiError::Timeout(1),
            ApiError::MediaType,
            ApiError::TooManyStreams(1),
            ApiError::DiskFull(String::new()),
            ApiError::Internal(anyhow::anyhow!("broken")),
        ];
        for error in &all {
            match error {
                ApiError::Invalid(_)
                | ApiError::Host
                | ApiError::Origin
                | ApiError::Unauthorized
                | ApiError::NoSession
                | ApiError::ReadOnly(_)
                | ApiError::NotFound(_)
                | ApiError::MethodNotAllowed
                | ApiError::Conflict(_)
                | ApiError::UriTooLong(_)
                | ApiError::TooLarge(_)
                | ApiError::Timeout(_)
                | ApiError::MediaType
                | ApiError::TooManyStreams(_)
                | ApiError::DiskFull(_)
                | ApiError::Internal(_) => {}
            }
        }
        assert_eq!(all.map(|error| error.status().1), CODES);
    }

    /// Goal: a write to a full disk is a 507 with the reason, whichever layer reports it.
    #[test]
    fn a_full_disk_has_its_own_status() {
        let full = StoreError::Full("database or disk is full".to_owned());
        let layers = [
            anyhow::Error::from(full.clone()),
            anyhow::Error::from(RecordError::from(full.clone())),
            anyhow::Error::from(full).context("the message was not stored"),
        ];
        for cause in layers {
            let error = ApiError::Internal(cause).or_disk_full();
            assert_eq!(error.status(), (StatusCode::INSUFFICIENT_STORAGE, "disk_full"));
            assert!(error.to_string().contains("database or disk is full"), "{error}");
        }
        let other = ApiError::Internal(anyhow::anyhow!("broken")).or_disk_full();
        assert_eq!(other.status().1, "internal_error");
    }
}
