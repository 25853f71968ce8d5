//! The mark of what a masked job shows.

use crate::number::Number;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The mark of a masked job: its agents saw other names, days or prices than those shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MaskedResponse {
    /// What was masked: `dates`, `entities` or `all`.
    pub mask: String,
    /// What is shown in real terms, and what is not.
    #[schema(example = "shown under real names and dates; prices and quantities are masked")]
    pub note: String,
    /// By symbol: the masked price per real price. A masked share is a real one divided by it. Empty if prices are
    /// real.
    pub price_factors: BTreeMap<String, Number>,
}
