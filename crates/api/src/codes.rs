//! Every code that an answer can hold, in the OpenAPI document: whoever shows codes to people finds the whole
//! list there, and the pages do not compile without words for each.

use super::error;
use papertape_agents::desk::NODE_FAILURES;
use papertape_agents::desk::sizing::CutCode;
use papertape_agents::solo::SOLO_REASONS;
use papertape_core::message::FailureKind;
use papertape_core::provenance::TIMEOUT;
use papertape_service::view::vocabulary;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// Every code that an answer can hold, by where it stands. No route answers with this.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it stands in the document alone")]
pub(super) struct Codes {
    /// `error` of a refusal.
    #[schema(schema_with = error::codes)]
    error: String,
    /// `code` of an order that was rejected or expired.
    #[schema(schema_with = vocabulary::reject_code)]
    order: String,
    /// `code` of a cut of a desk's order.
    #[schema(schema_with = cut_code)]
    cut: String,
    /// How a node failed: the end of a reason code, behind the node's name in small letters and an underscore
    /// (`bull_researcher_timeout`).
    #[schema(schema_with = node_failure)]
    node_failure: String,
    /// A reason code that is no node's.
    #[schema(schema_with = vocabulary::other_reason)]
    other_reason: String,
    /// `outcome` of a step.
    #[schema(schema_with = vocabulary::outcome)]
    outcome: String,
    /// `state` of a step.
    #[schema(schema_with = vocabulary::step_state)]
    step_state: String,
}

/// Why a desk's order is not what was wanted.
fn cut_code() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .enum_values(Some(CutCode::ALL.iter().filter_map(|code| serde_json::to_value(code).ok())))
        .build()
}

/// How a node failed, or a solo trader came to no decision.
fn node_failure() -> Object {
    let of_calls = FailureKind::ALL.map(FailureKind::as_str);
    let of_solo = SOLO_REASONS.into_iter().filter(|reason| !NODE_FAILURES.contains(reason));
    let of_solo: Vec<&str> = of_solo.collect();
    vocabulary::words(&[&[TIMEOUT], NODE_FAILURES.as_slice(), &of_solo, of_calls.as_slice()].concat())
}
