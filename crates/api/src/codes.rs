//! All codes that responses can contain, in the OpenAPI document. Clients get the complete list there, and the web
//! pages do not compile without a text for each.

use super::error;
use papertape_service::view::vocabulary;
use utoipa::ToSchema;

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
    #[schema(schema_with = vocabulary::cut_code)]
    cut: String,
    /// How a node failed: the last part of a reason code, after the node's name in lower case and an underscore
    /// (`bull_researcher_timeout`).
    #[schema(schema_with = vocabulary::node_failure)]
    node_failure: String,
    /// A reason code that does not belong to a node.
    #[schema(schema_with = vocabulary::other_reason)]
    other_reason: String,
    /// `outcome` of a step.
    #[schema(schema_with = vocabulary::outcome)]
    outcome: String,
    /// `state` of a step.
    #[schema(schema_with = vocabulary::step_state)]
    step_state: String,
}
