//! How the API refuses.

use axum::Json;
use axum::http::header::{CONNECTION, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use papertape_core::ports::RecordError;
use papertape_protocol::error::ErrorBody;
use papertape_service::assistant::PostMessageError;
use papertape_service::trigger::TriggerError;
use papertape_service::view::ViewError;
use papertape_store::StoreError;
use std::sync::Arc;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// Why a request is not done.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The request must be another. Names the field.
    #[error("{0}")]
    Invalid(String),
    /// The `Host` header names another host.
    #[error("the Host header does not name this server; see server.allowed_hosts")]
    Host,
    /// A page of another origin wants to write.
    #[error("writes are taken from this server's own pages and from programs, not from other origins")]
    Origin,
    /// Nobody who may use this server is known to ask.
    #[error("this needs a token: send it as `Authorization: Bearer …`, or log in at /login")]
    Unauthorized,
    /// The token may only read.
    #[error("the token `{0}` may read alone; this needs the scope `operate`")]
    ReadOnly(String),
    /// There is nothing of the kind.
    #[error("{0}")]
    NotFound(String),
    /// The address knows other methods.
    #[error("this address does not know this method; see the Allow header")]
    MethodNotAllowed,
    /// It is not in a state for this.
    #[error("{0}")]
    Conflict(String),
    /// The address is too long.
    #[error("uri: it is longer than {0} bytes")]
    UriTooLong(usize),
    /// The body is too large.
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// The body has not come in time.
    #[error("the body has not come within {0} s")]
    TooSlow(u64),
    /// One client has so many streams open already.
    #[error("one client may have {0} streams open; see server.streams_per_client")]
    TooManyStreams(usize),
    /// The body is not JSON.
    #[error("the body must be JSON, with the Content-Type application/json")]
    MediaType,
    /// The disk of the record is full.
    #[error("{0}")]
    DiskFull(String),
    /// It failed here. What it was is logged, and not told.
    #[error("the server failed; its log says why")]
    Internal(anyhow::Error),
}

/// Every `error` of an [`ErrorBody`].
const CODES: [&str; 15] = [
    "invalid_input",
    "host_not_allowed",
    "cross_origin",
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

/// The words of `error`, for the OpenAPI document.
pub(super) fn codes() -> Object {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).enum_values(Some(CODES)).build()
}

impl ApiError {
    /// A full disk is the operator's to mend, and must not look like a fault of the server. Whichever layer met it,
    /// it is somewhere in the chain of causes.
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
            Self::Origin => (StatusCode::FORBIDDEN, "cross_origin"),
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::ReadOnly(_) => (StatusCode::FORBIDDEN, "read_only_token"),
            Self::NotFound(_) => (StatusCode::NOT_FOUND, "not_found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::Conflict(_) => (StatusCode::CONFLICT, "conflict"),
            Self::UriTooLong(_) => (StatusCode::URI_TOO_LONG, "uri_too_long"),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
            Self::TooSlow(_) => (StatusCode::REQUEST_TIMEOUT, "body_timeout"),
            Self::MediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::TooManyStreams(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_streams"),
            Self::DiskFull(_) => (StatusCode::INSUFFICIENT_STORAGE, "disk_full"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        }
    }
}

/// What failed here: left in the answer's extensions for the one place that logs it.
#[derive(Clone, Debug)]
pub(super) struct Failure(pub(super) Arc<anyhow::Error>);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let this = self.or_disk_full();
        let (status, error) = this.status();
        let body = Json(ErrorBody { error: error.to_owned(), message: this.to_string() });
        let mut response = (status, body).into_response();
        match &this {
            Self::Unauthorized => {
                let scheme = HeaderValue::from_static("Bearer realm=\"papertape\"");
                response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            }
            // What is left of the body is not waited for.
            Self::TooSlow(_) => {
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

impl From<ViewError> for ApiError {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Bad { .. } => Self::Invalid(error.to_string()),
            ViewError::NotFound(what) => Self::NotFound(what),
            ViewError::Busy(why) => Self::Conflict(why),
            ViewError::Record(cause) => Self::Internal(cause),
        }
    }
}

impl From<PostMessageError> for ApiError {
    fn from(error: PostMessageError) -> Self {
        match error {
            PostMessageError::Bad { .. } => Self::Invalid(error.to_string()),
            PostMessageError::NotFound(what) => Self::NotFound(what),
            PostMessageError::Conflict(why) => Self::Conflict(why),
            PostMessageError::Record(cause) => Self::Internal(cause),
        }
    }
}

impl From<TriggerError> for ApiError {
    fn from(error: TriggerError) -> Self {
        match error {
            TriggerError::Bad { .. } => Self::Invalid(error.to_string()),
            TriggerError::NotFound(_) | TriggerError::Missing(_) => Self::NotFound(error.to_string()),
            TriggerError::Conflict(why) => Self::Conflict(why),
            TriggerError::Record(cause) => Self::Internal(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: every error's code is among those of the document, each once. The match is there so that a new error
    /// does not compile before it is in this list.
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
            ApiError::TooSlow(1),
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
                | ApiError::ReadOnly(_)
                | ApiError::NotFound(_)
                | ApiError::MethodNotAllowed
                | ApiError::Conflict(_)
                | ApiError::UriTooLong(_)
                | ApiError::TooLarge(_)
                | ApiError::TooSlow(_)
                | ApiError::MediaType
                | ApiError::TooManyStreams(_)
                | ApiError::DiskFull(_)
                | ApiError::Internal(_) => {}
            }
        }
        assert_eq!(all.map(|error| error.status().1), CODES);
    }

    /// Goal: a write that finds the disk full answers 507 with the reason, through whichever layer it comes.
    #[test]
    fn a_full_disk_is_told_with_its_own_status() {
        let full = StoreError::Full("database or disk is full".to_owned());
        let layers = [
            anyhow::Error::from(full.clone()),
            anyhow::Error::from(RecordError::from(full.clone())),
            anyhow::Error::from(full).context("the message was not stored"),
        ];
        for cause in layers {
            let answer = ApiError::Internal(cause);
            let answer = answer.or_disk_full();
            assert_eq!(answer.status(), (StatusCode::INSUFFICIENT_STORAGE, "disk_full"));
            assert!(answer.to_string().contains("database or disk is full"), "{answer}");
        }
        let other = ApiError::Internal(anyhow::anyhow!("broken")).or_disk_full();
        assert_eq!(other.status().1, "internal_error");
    }
}
