//! All codes that responses can contain, in the OpenAPI document. Clients get the complete list there, and the web
//! pages do not compile without a text for each.

use super::error;
use papertape_agents::desk::NODE_FAILURES;
use papertape_agents::desk::sizing::AdjustmentCode;
use papertape_agents::external::EXTERNAL_REASONS;
use papertape_agents::solo::SOLO_REASONS;
use papertape_core::message::FailureKind;
use papertape_core::provenance::TIMEOUT;
use papertape_protocol::vocabulary;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// All codes that responses can contain, by field. No route returns this.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it exists only for the OpenAPI document")]
pub(super) struct Codes {
    /// `error` of an error response.
    #[schema(schema_with = error::codes)]
    error: String,
    /// `code` of an order that was rejected or expired.
    #[schema(schema_with = vocabulary::reject_code)]
    order: String,
    /// `code` of an adjustment of a desk's order.
    #[schema(schema_with = cut_code)]
    cut: String,
    /// How a node failed: the last part of a reason code, after the node's name in lower case and an underscore
    /// (`bull_researcher_timeout`).
    #[schema(schema_with = node_failure)]
    node_failure: String,
    /// A reason code that does not belong to a node.
    #[schema(schema_with = vocabulary::other_reason)]
    other_reason: String,
    /// `outcome` of a step.
    #[schema(schema_with = vocabulary::outcome)]
    outcome: String,
    /// `finish_reason` of a model call.
    #[schema(schema_with = vocabulary::finish_reason)]
    finish_reason: String,
    /// `state` of a step.
    #[schema(schema_with = vocabulary::step_state)]
    step_state: String,
}

/// Why a desk's order was adjusted.
fn cut_code() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .enum_values(Some(AdjustmentCode::ALL.iter().filter_map(|code| serde_json::to_value(code).ok())))
        .build()
}

/// Why a node failed, why a solo trader made no decision, or what is known about an external agent's.
fn node_failure() -> Object {
    let of_calls = FailureKind::ALL.map(FailureKind::as_str);
    let of_solo = SOLO_REASONS.into_iter().filter(|reason| !NODE_FAILURES.contains(reason));
    let of_sessions: Vec<&str> = of_solo.chain(EXTERNAL_REASONS).collect();
    vocabulary::words(&[&[TIMEOUT], NODE_FAILURES.as_slice(), &of_sessions, of_calls.as_slice()].concat())
}
