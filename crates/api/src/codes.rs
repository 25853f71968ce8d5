//! Every code that an answer can hold, in the OpenAPI document: whoever shows codes to people finds the whole
//! list there, and the pages do not compile without words for each.

use super::error;
use papertape_service::view::vocabulary;
use utoipa::ToSchema;

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
    #[schema(schema_with = vocabulary::cut_code)]
    cut: String,
    /// How a node failed: the end of a reason code, behind the node's name in small letters and an underscore
    /// (`bull_researcher_timeout`).
    #[schema(schema_with = vocabulary::node_failure)]
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
