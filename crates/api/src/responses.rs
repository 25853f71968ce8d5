//! The refusals that endpoints have in common, for the OpenAPI document.

use papertape_protocol::error::ErrorBody;
use serde_json::json;
use std::collections::BTreeMap;
use utoipa::IntoResponses;
use utoipa::ToSchema as _;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder, ResponsesBuilder};

type Responses = BTreeMap<String, RefOr<Response>>;

const INVALID: (&str, &str, &str) = ("400", "invalid_input", "limit: 0 is not from 1 to 200");
const UNAUTHORIZED: (&str, &str, &str) =
    ("401", "unauthorized", "this needs a token: send it as `Authorization: Bearer …`, or log in at /login");
const FORBIDDEN: (&str, &str, &str) =
    ("403", "host_not_allowed", "the Host header does not name this server; see server.allowed_hosts");
const NOT_FOUND: (&str, &str, &str) = ("404", "not_found", "no session matches");
const TOO_SLOW: (&str, &str, &str) = ("408", "body_timeout", "the body has not come within 30 s");
const CONFLICT: (&str, &str, &str) = ("409", "conflict", "the job is completed");
const TOO_LARGE: (&str, &str, &str) = ("413", "body_too_large", "the body is larger than 1048576 bytes");
const DISK_FULL: (&str, &str, &str) = ("507", "disk_full", "the disk is full (database or disk is full)");
const MEDIA_TYPE: (&str, &str, &str) =
    ("415", "unsupported_media_type", "the body must be JSON, with the Content-Type application/json");

/// Of a request that reads.
pub(super) struct ReadErrors;

/// Of a request that changes something that must be there.
pub(super) struct WriteErrors;

/// Of a request that sends a body.
pub(super) struct BodyErrors;

impl IntoResponses for ReadErrors {
    fn responses() -> Responses {
        these(&[INVALID, UNAUTHORIZED, FORBIDDEN, NOT_FOUND])
    }
}

impl IntoResponses for WriteErrors {
    fn responses() -> Responses {
        these(&[INVALID, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, CONFLICT, DISK_FULL])
    }
}

impl IntoResponses for BodyErrors {
    fn responses() -> Responses {
        these(&[
            INVALID,
            UNAUTHORIZED,
            FORBIDDEN,
            NOT_FOUND,
            TOO_SLOW,
            CONFLICT,
            TOO_LARGE,
            MEDIA_TYPE,
            DISK_FULL,
        ])
    }
}

fn these(which: &[(&str, &str, &str)]) -> Responses {
    let mut responses = ResponsesBuilder::new();
    for (status, error, message) in which {
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
