//! The error responses that endpoints share, for the OpenAPI document.

use papertape_protocol::error::ErrorBody;
use serde_json::json;
use std::collections::BTreeMap;
use utoipa::IntoResponses;
use utoipa::ToSchema as _;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder, ResponsesBuilder};

type Responses = BTreeMap<String, RefOr<Response>>;

const INVALID: (&str, &str, &str) = ("400", "invalid_input", "limit: 0 is out of range; expected 1 to 200");
const UNAUTHORIZED: (&str, &str, &str) = (
    "401",
    "unauthorized",
    "authentication required: send a token as `Authorization: Bearer …`, or log in at /login",
);
const NO_SESSION: (&str, &str, &str) = (
    "401",
    "unauthorized",
    "no running session has this token: send the session's own token as `Authorization: Bearer …`",
);
const FORBIDDEN: (&str, &str, &str) =
    ("403", "host_not_allowed", "the Host header does not name this server; see server.allowed_hosts");
const NOT_FOUND: (&str, &str, &str) = ("404", "not_found", "no session matches");
const TIMEOUT: (&str, &str, &str) = ("408", "body_timeout", "request body timed out after 30 s");
const CONFLICT: (&str, &str, &str) = ("409", "conflict", "the job is completed");
const TOO_LARGE: (&str, &str, &str) = ("413", "body_too_large", "request body exceeds 1048576 bytes");
const DISK_FULL: (&str, &str, &str) = ("507", "disk_full", "the disk is full (database or disk is full)");
const MEDIA_TYPE: (&str, &str, &str) =
    ("415", "unsupported_media_type", "the body must be JSON, with Content-Type application/json");

/// Errors of a request that reads.
pub(super) struct ReadErrors;

/// Errors of a request that changes something that exists.
pub(super) struct WriteErrors;

/// Errors of a request with a body.
pub(super) struct BodyErrors;

/// Errors of a request of an external agent.
pub(super) struct DoorErrors;

impl IntoResponses for DoorErrors {
    fn responses() -> Responses {
        error_responses(&[NO_SESSION, FORBIDDEN, TIMEOUT, TOO_LARGE, MEDIA_TYPE])
    }
}

impl IntoResponses for ReadErrors {
    fn responses() -> Responses {
        error_responses(&[INVALID, UNAUTHORIZED, FORBIDDEN, NOT_FOUND])
    }
}

impl IntoResponses for WriteErrors {
    fn responses() -> Responses {
        error_responses(&[INVALID, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, CONFLICT, DISK_FULL])
    }
}

impl IntoResponses for BodyErrors {
    fn responses() -> Responses {
        error_responses(&[
            INVALID,
            UNAUTHORIZED,
            FORBIDDEN,
            NOT_FOUND,
            TIMEOUT,
            CONFLICT,
            TOO_LARGE,
            MEDIA_TYPE,
            DISK_FULL,
        ])
    }
}

fn error_responses(errors: &[(&str, &str, &str)]) -> Responses {
    let mut responses = ResponsesBuilder::new();
    for (status, error, message) in errors {
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name(ErrorBody::name())))
            .example(Some(json!({ "error": error, "message": message })))
            .build();
        let description = error.replace('_', " ");
        let response = ResponseBuilder::new().description(description).content("application/json", content);
        responses = responses.response(*status, response);
    }
    responses.build().into()
}
