//! Tokens and cost.

use crate::number::Number;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Usage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageSummary {
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// Of these, tokens from a provider's cache.
    pub cached_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars; `null` if the price of any call is unknown.
    pub cost_usd: Option<Number>,
    /// `known`, or `unknown` if the price of any call is unknown.
    #[schema(value_type = String)]
    pub cost: CostState,
    /// US dollars of the calls whose price is known.
    pub priced_cost_usd: Number,
    /// Calls without usable usage from the provider; the other numbers include an estimate.
    pub estimated_calls: u64,
}

/// Whether the cost is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostState {
    /// Every call has a known price.
    Known,
    /// The price of at least one call is unknown.
    Unknown,
}

impl CostState {
    /// As responses spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Unknown => "unknown",
        }
    }
}
